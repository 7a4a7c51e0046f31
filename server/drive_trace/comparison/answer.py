"""One of four answers, with its reasons: the gate decides first, cost only where it does not."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import product
from typing import NamedTuple

from drive_trace.comparison import statistics
from drive_trace.comparison.comparability import Fact, Reason, comparability
from drive_trace.comparison.runs import (
    DIFFERENCES,
    SUMS,
    ComparedRun,
    Cost,
    RunsOfCase,
    Side,
    Tally,
    cases_of,
    costs_of,
    rank,
    spent_for_each_correct,
    tally,
)
from drive_trace.scorecard.run_score import QUALIFIED, Verdict
from drive_trace.text.wording import factor, first_of, listed, plural

MOST_LOST = 0.20
"""Cost decides nothing where the candidate's rate of CORRECT runs may be lower by more."""
_MOST = 3


class Answer(StrEnum):
    """What a comparison comes to."""

    BETTER = "better"
    WORSE = "worse"
    CANNOT_TELL = "cannot-tell"
    NOT_COMPARABLE = "not-comparable"

    @property
    def words(self) -> str:
        """For people."""
        return self.replace("-", " ")


class CorrectShare(NamedTuple):
    """Who is CORRECT how often. A run that is not computable stands among those that are not."""

    baseline: Tally
    candidate: Tally
    difference: float | None
    """Candidate − baseline; None where the sides are not comparable, as below."""
    difference_interval: statistics.Interval | None
    p: float | None
    test: str
    """``fisher`` for one case, ``permutation`` for several."""
    smallest_p: float | None
    """The least p that so many runs can reach."""
    smallest_detectable: float | None
    """The least difference that so many runs can show; None if none."""


class Flip(NamedTuple):
    """A case whose runs went from CORRECT to INCORRECT, or back; all texts are untrusted."""

    case: str
    before: Verdict
    after: Verdict
    baseline_runs: tuple[ComparedRun, ...]
    """Those with the verdict before."""
    candidate_runs: tuple[ComparedRun, ...]
    """Those with the verdict after."""

    @property
    def qualified(self) -> tuple[ComparedRun, ...]:
        """Those that are CORRECT, but for a caveat that could overturn it."""
        runs = (*self.baseline_runs, *self.candidate_runs)
        return tuple(each for each in runs if each.score.standing == QUALIFIED)


class Comparison(NamedTuple):
    """Everything that is said of two sides."""

    answer: Answer
    reasons: tuple[Reason, ...]
    sides: tuple[Side, Side]
    gate: CorrectShare
    costs: tuple[Cost, ...]
    cases: tuple[RunsOfCase, ...]
    flips: tuple[Flip, ...]
    known: tuple[Fact, ...]
    rank: tuple[float | None, float | None] | None
    """The ranker of both sides, in milliseconds, where somebody asked for it."""


def compare(
    baseline: Side, candidate: Side, allowed: Collection[str] = (), *, ranked: bool = False
) -> Comparison:
    """Compare two sides. ``allowed`` are the names of what may be unknown."""
    sides, cases = (baseline, candidate), cases_of(baseline, candidate)
    known, reasons = comparability(baseline, candidate, cases, allowed)
    answer, can_be = Answer.NOT_COMPARABLE, not reasons
    gate = _gate(sides, cases, is_tested=can_be)
    costs = costs_of(cases) if can_be else ()
    if can_be:
        answer, reasons = _answer(gate, costs, cases)
    return Comparison(
        answer=answer,
        reasons=reasons,
        sides=sides,
        gate=gate,
        costs=costs,
        cases=cases,
        flips=tuple(_flips(cases)) if can_be else (),
        known=known,
        rank=(rank(baseline.runs), rank(candidate.runs)) if ranked and can_be else None,
    )


def _gate(
    sides: tuple[Side, Side], cases: Sequence[RunsOfCase], *, is_tested: bool
) -> CorrectShare:
    counts = _counts(cases)
    sizes = [(each.baseline, each.candidate) for each in counts]
    can_be = bool(sizes) and all(map(min, sizes))
    between, interval = statistics.difference(counts) if is_tested else (None, None)
    return CorrectShare(
        tally(sides[0].runs),
        tally(sides[1].runs),
        between,
        interval,
        statistics.gate_p(counts) if is_tested else None,
        "fisher" if len(counts) == 1 else "permutation",
        statistics.smallest_p(sizes) if can_be else None,
        statistics.smallest_detectable(sizes) if can_be else None,
    )


def _counts(cases: Sequence[RunsOfCase], *may_be: bool) -> list[statistics.Counts]:
    """What is recorded; else of each side what may be CORRECT at most, or has to be at least. A
    candidate must not gain by a grade that readers reject: the run is not CORRECT.
    """
    tallies = [(tally(each.baseline), tally(each.candidate)) for each in cases]
    most = may_be or (None, None)
    return [
        statistics.Counts(b.hits(most[0]), b.k, min(c.hits(most[1]), c.most - c.rejected), c.k)
        for b, c in tallies
    ]


# The answer


def _answer(
    gate: CorrectShare, costs: Sequence[Cost], cases: Sequence[RunsOfCase]
) -> tuple[Answer, tuple[Reason, ...]]:
    ways = {_by_gate(_counts(cases, *each)) for each in product((False, True), repeat=2)}
    recorded = _by_gate(_counts(cases))
    rejected = gate.candidate.rejected
    count = f"{plural(rejected, 'run')} of the candidate {'counts' if rejected == 1 else 'count'}"
    why = Reason(f"{count} as not CORRECT: a grade, or every line, is rejected or unknown")
    against = (why,) if rejected else ()
    if ways == {recorded} and recorded is not Answer.CANNOT_TELL:
        lost = _moved(cases, "lost", -1) if recorded is Answer.BETTER else ()
        return recorded, (_gate_words(gate, recorded), *against, *lost)
    if len(ways) > 1:
        undecided = sum(each.most - each.hits(False) for each in (gate.baseline, gate.candidate))
        undecided -= rejected
        what = (
            f"it depends on {plural(undecided, 'run')} that may be CORRECT or not: the gate says "
            f"{listed(sorted(each.words for each in ways), 'or')}"
        )
        return Answer.CANNOT_TELL, (_gate_words(gate, Answer.CANNOT_TELL), *against, Reason(what))
    answer, reasons = _by_cost(costs, cases)
    return answer, (_gate_words(gate, Answer.CANNOT_TELL), *against, *reasons)


def _by_gate(counts: Sequence[statistics.Counts]) -> Answer:
    if not statistics.is_significant(statistics.gate_p(counts)):
        return Answer.CANNOT_TELL
    return Answer.BETTER if statistics.difference(counts)[0] > 0 else Answer.WORSE


def _gate_words(gate: CorrectShare, answer: Answer) -> Reason:
    decides = "does not decide" if answer is Answer.CANNOT_TELL else "decides"
    ours, theirs = (f"{each.passed} of {each.k:,}" for each in (gate.baseline, gate.candidate))
    shares = f"{theirs} runs of the candidate are CORRECT, and {ours} of the baseline"
    return Reason(f"the gate {decides}: {shares} ({p_is(gate.p)})")


def in_digits(p: float | None) -> str:
    """A p for people."""
    if p is None:
        return "n/a"
    return "< 0.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.001 else f"{p:.3f}"


def p_is(p: float | None) -> str:
    """A p within a sentence."""
    return f"p = {in_digits(p)}".replace("= <", "<")


def _moves(cost: Cost) -> str:
    if cost.ratio is None or math.isclose(cost.ratio, 1):  # as where many costs are equal
        return f"{cost.metric.title} {'up' if cost.way > 0 else 'down'}"
    return f"{cost.metric.title} × {factor(cost.ratio, 2)}"


def _by_cost(costs: Sequence[Cost], cases: Sequence[RunsOfCase]) -> tuple[Answer, Sequence[Reason]]:
    """What cost decides where the gate does not: *better* only if no case may have lost CORRECT
    runs, and *worse* only if none may have gained any either.
    """
    significant = [each for each in costs if each.is_significant]
    ways = {(each.way > 0) - (each.way < 0) for each in significant}
    if not significant:
        none = "no cost differs significantly" if costs else "no cost is told by both sides"
        return Answer.CANNOT_TELL, (Reason(none),)
    named = listed(f"{_moves(each)} ({p_is(each.adjusted_p)} by Holm)" for each in significant)
    if ways not in ({1}, {-1}):
        return Answer.CANNOT_TELL, (Reason(f"the costs do not point one way: {named}"),)
    if not any(each.is_whole for each in significant):
        partly = f"cost does not decide, as only some CORRECT runs tell it: {named}"
        return Answer.CANNOT_TELL, (Reason(partly),)
    is_cheaper = ways == {-1}
    kept = [*_losses(cases), *(() if is_cheaper else _moved(cases, "gained", 1))]
    runs = [run for each in cases for run in each.candidate if run.doubted and run.score.is_earned]
    if is_cheaper and runs:
        what = f"a cost of {plural(len(runs), 'CORRECT run')} of the candidate is doubted, or lost"
        kept.append(Reason(what, first_of([each.run_id for each in runs], _MOST)))
    if kept:
        return Answer.CANNOT_TELL, (Reason(f"cost differs, and does not decide: {named}"), *kept)
    answer = Answer.BETTER if is_cheaper else Answer.WORSE
    return answer, (Reason(f"cost decides, as no case loses CORRECT runs: {named}"),)


def _losses(cases: Sequence[RunsOfCase]) -> Iterator[Reason]:
    """Why cost must not speak for the candidate, however few of its runs may be CORRECT."""
    yield from _moved(cases, "lost", -1)
    lower = statistics.difference(_counts(cases, True, False))[1][0]
    if lower < -MOST_LOST:
        yield Reason(
            f"the candidate's rate of CORRECT runs may be lower by {-lower:.3f}, which is more "
            f"than {MOST_LOST:.2f} (Newcombe's interval): more runs would tell"
        )


def _moved(cases: Sequence[RunsOfCase], verb: str, way: int) -> Iterator[Reason]:
    """The cases in which the candidate's share of CORRECT runs may be larger (above 0), or less."""
    changes = map(_change, _counts(cases, way < 0, way > 0))
    moved = [each.name for each, by in zip(cases, changes, strict=True) if by * way > 0]
    if moved:
        what = f"CORRECT runs are {verb}, or may be, in {plural(len(moved), 'case')}"
        yield Reason(what, first_of(moved, _MOST))


def _change(each: statistics.Counts) -> int:
    """Above 0 where the candidate's share is larger; shares themselves have no exact doubles."""
    return each.candidate_passed * each.baseline - each.baseline_passed * each.candidate


def _flips(cases: Sequence[RunsOfCase]) -> Iterator[Flip]:
    """The cases in which a run is CORRECT on one side, and INCORRECT on the other, oftener."""
    for case, change in zip(cases, map(_change, _counts(cases)), strict=True):
        ways = Verdict.CORRECT, Verdict.INCORRECT
        before, after = ways if change < 0 else ways[::-1]
        ours, theirs = _of(case.baseline, before), _of(case.candidate, after)
        if change and ours and theirs:
            yield Flip(case.name, before, after, ours, theirs)


def _of(runs: Sequence[ComparedRun], verdict: Verdict) -> tuple[ComparedRun, ...]:
    return tuple(run for run in runs if run.score.verdict is verdict)


# As JSON


def to_json(found: Comparison) -> dict[str, object]:
    """The interface of ``compare --output-format json``. Shares and differences are fractions, and
    null is unknown, never zero.
    """
    return {
        "answer": str(found.answer),
        "reasons": [each.sentence for each in found.reasons],
        "gate": found.gate._asdict() | _by_side([*map(_tally_json, found.gate[:2])]),
        "costs": [
            {
                **each._asdict(),
                "metric": each.metric.key,
                "told": _by_side([{"runs": told, "of": of} for told, of in each.told]),
            }
            for each in found.costs
        ],
        "cases": [
            {
                "case": each.name,
                **_by_side([_tally_json(tally(runs)) for runs in each[1:]]),
                "spent_for_each_correct": _by_side([*map(_spent_json, each[1:])]),
            }
            for each in found.cases
        ],
        "spent_for_each_correct": _by_side([_spent_json(side.runs) for side in found.sides]),
        "flips": [
            {
                "case": each.case,
                "from": each.before,
                "to": each.after,
                "baseline_runs": [run.run_id for run in each.baseline_runs],
                "candidate_runs": [run.run_id for run in each.candidate_runs],
                "qualified": {run.run_id: run.score.headline for run in each.qualified},
            }
            for each in found.flips
        ],
        "differences": {
            title: _by_side([side.facts[title].all_runs for side in found.sides])
            | {"per_run": _by_side([side.facts[title].per_run for side in found.sides])}
            for title in DIFFERENCES
        },
        "known": [
            {
                "fact": each.name,
                "state": each.state,
                "baseline": each.baseline,
                "candidate": each.candidate,
            }
            for each in found.known
        ],
        "ranker": None if found.rank is None else _by_side(found.rank),
        "complete": not any(side.not_read for side in found.sides),
        "inputs": _by_side([_input_json(side) for side in found.sides]),
    }


def _tally_json(each: Tally) -> Mapping[str, object]:
    return each._asdict() | {"interval": each.interval}


def _input_json(side: Side) -> Mapping[str, object]:
    return {
        "paths": side.paths,
        "files": [each._asdict() for each in side.files],
        "unread": [each._asdict() for each in side.unread],
        **side.left_out.as_json(),
        "copied_runs": [run.run_id for run in side.copies],
        "doubted": {metric.key: runs for metric, runs in side.doubted.items()},
    }


def _spent_json(runs: Sequence[ComparedRun]) -> Mapping[str, object]:
    return {each.key: spent_for_each_correct(runs, each) for each in SUMS}


def _by_side(sides: Sequence[object]) -> dict[str, object]:
    return dict(zip(("baseline", "candidate"), sides, strict=True))
