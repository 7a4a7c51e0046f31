"""One of four answers, with its reasons: the gate decides first, cost only where it does not."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from enum import StrEnum
from itertools import product
from typing import NamedTuple

from drive_trace.comparison.comparability import Fact, Reason, comparability
from drive_trace.comparison.costs import Cost, Spent, costs_of, rank, spent
from drive_trace.comparison.runs import Case, ComparedRun, Side, Tally, cases_of, tally
from drive_trace.comparison.statistics import (
    Counts,
    Interval,
    difference,
    gate_p,
    is_significant,
    smallest_detectable,
    smallest_p,
)
from drive_trace.scorecard.card import QUALIFIED
from drive_trace.scorecard.verdict import Verdict
from drive_trace.text.wording import first_of, listed, plural

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


class Gate(NamedTuple):
    """Who is CORRECT how often. A run that is not computable stands among those that are not."""

    baseline: Tally
    candidate: Tally
    difference: float | None
    """Candidate − baseline; None where the sides are not comparable, as below."""
    difference_interval: Interval | None
    p: float | None
    test: str
    """``fisher`` for one case, ``permutation`` for several."""
    smallest_p: float | None
    """The least p that so many runs can reach."""
    smallest_detectable: float | None
    """The least difference that so many runs can show; None if none."""


class CaseOutcome(NamedTuple):
    """One case of both sides."""

    name: str
    """Untrusted."""
    baseline: Tally
    candidate: Tally
    spent: tuple[Spent, Spent]


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
    gate: Gate
    costs: tuple[Cost, ...]
    cases: tuple[CaseOutcome, ...]
    spent: tuple[Spent, Spent]
    flips: tuple[Flip, ...]
    known: tuple[Fact, ...]
    rank: tuple[float | None, float | None] | None
    """The ranker of both sides, in milliseconds, where somebody asked for it."""


def compare(
    baseline: Side, candidate: Side, allowed: Collection[str] = (), *, ranked: bool = False
) -> Comparison:
    """Compare two sides. ``allowed`` are the names of what may be unknown."""
    sides, cases = (baseline, candidate), cases_of(baseline, candidate)
    fit = comparability(baseline, candidate, cases, allowed)
    outcomes = tuple(
        CaseOutcome(each.name, tally(ours), tally(theirs), (spent(ours), spent(theirs)))
        for each in cases
        for ours, theirs in [(each.baseline, each.candidate)]
    )
    gate = _gate(sides, outcomes, is_tested=not fit.reasons)
    costs: tuple[Cost, ...] = ()
    answer, reasons = Answer.NOT_COMPARABLE, fit.reasons
    if not reasons:
        costs = costs_of(cases)
        answer, reasons = _answer(gate, costs, outcomes)
    return Comparison(
        answer=answer,
        reasons=reasons,
        sides=sides,
        gate=gate,
        costs=costs,
        cases=outcomes,
        spent=(spent(baseline.runs), spent(candidate.runs)),
        flips=() if fit.reasons else tuple(_flips(cases)),
        known=fit.facts,
        rank=(rank(baseline.runs), rank(candidate.runs)) if ranked and not fit.reasons else None,
    )


def _gate(sides: tuple[Side, Side], outcomes: Sequence[CaseOutcome], *, is_tested: bool) -> Gate:
    counts = [_counts(each.baseline, each.candidate) for each in outcomes]
    sizes = [(each.baseline, each.candidate) for each in counts]
    can_be = bool(sizes) and all(map(min, sizes))
    between, interval = difference(counts) if is_tested else (None, None)
    return Gate(
        tally(sides[0].runs),
        tally(sides[1].runs),
        between,
        interval,
        gate_p(counts) if is_tested else None,
        "fisher" if len(counts) == 1 else "permutation",
        smallest_p(sizes) if can_be else None,
        smallest_detectable(sizes) if can_be else None,
    )


def _counts(
    baseline: Tally, candidate: Tally, *, bounds: tuple[bool, bool] | None = None
) -> Counts:
    """What is recorded; with bounds, how many of each side are CORRECT at most, or at least."""
    passed = [
        side.correct if bounds is None else side.most if bounds[at] else side.least
        for at, side in enumerate((baseline, candidate))
    ]
    return Counts(passed[0], baseline.k, passed[1], candidate.k)


def _bounded(outcomes: Sequence[CaseOutcome], *bounds: bool) -> list[Counts]:
    both = (bounds[0], bounds[1])
    return [_counts(each.baseline, each.candidate, bounds=both) for each in outcomes]


# The answer


def _answer(
    gate: Gate, costs: Sequence[Cost], outcomes: Sequence[CaseOutcome]
) -> tuple[Answer, tuple[Reason, ...]]:
    ways = {_by_gate(_bounded(outcomes, *each)) for each in product((False, True), repeat=2)}
    recorded = _by_gate([_counts(each.baseline, each.candidate) for each in outcomes])
    if ways == {recorded} and recorded is not Answer.CANNOT_TELL:
        lost = _lost(outcomes) if recorded is Answer.BETTER else ()
        return recorded, (_gate_words(gate, recorded), *lost)
    if len(ways) > 1:
        undecided = sum(each.most - each.least for each in (gate.baseline, gate.candidate))
        what = (
            f"it depends on {plural(undecided, 'run')} that may be CORRECT or not: the gate says "
            f"{listed(sorted(each.words for each in ways), 'or')}"
        )
        return Answer.CANNOT_TELL, (_gate_words(gate, Answer.CANNOT_TELL), Reason(what))
    answer, reasons = _by_cost(costs, outcomes)
    return answer, (_gate_words(gate, Answer.CANNOT_TELL), *reasons)


def _by_gate(counts: Sequence[Counts]) -> Answer:
    if not is_significant(gate_p(counts)):
        return Answer.CANNOT_TELL
    return Answer.BETTER if difference(counts)[0] > 0 else Answer.WORSE


def _gate_words(gate: Gate, answer: Answer) -> Reason:
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
    if cost.ratio is None:
        return f"{cost.metric.title} {'up' if cost.way > 0 else 'down'}"
    return f"{cost.metric.title} × {cost.ratio:.2f}"


def _by_cost(
    costs: Sequence[Cost], outcomes: Sequence[CaseOutcome]
) -> tuple[Answer, Sequence[Reason]]:
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
    kept = [*_losses(outcomes), *(() if is_cheaper else _gains(outcomes))]
    if kept:
        return Answer.CANNOT_TELL, (Reason(f"cost differs, and does not decide: {named}"), *kept)
    answer = Answer.BETTER if is_cheaper else Answer.WORSE
    return answer, (Reason(f"cost decides, as no case loses CORRECT runs: {named}"),)


def _losses(outcomes: Sequence[CaseOutcome]) -> Iterator[Reason]:
    """Why cost must not speak for the candidate, however few of its runs may be CORRECT."""
    yield from _lost(outcomes)
    lower = difference(_bounded(outcomes, True, False))[1][0]
    if lower < -MOST_LOST:
        yield Reason(
            f"the candidate's rate of CORRECT runs may be lower by {-lower:.3f}, which is more "
            f"than {MOST_LOST:.2f} (Newcombe's interval): more runs would tell"
        )


def _lost(outcomes: Sequence[CaseOutcome]) -> Iterator[Reason]:
    lost = [each.name for each in outcomes if _change(_bounded([each], True, False)[0]) < 0]
    if lost:
        yield _moved("lost", lost)


def _gains(outcomes: Sequence[CaseOutcome]) -> Iterator[Reason]:
    """Why cost must not speak against the candidate, however many may be."""
    gained = [each.name for each in outcomes if _change(_bounded([each], False, True)[0]) > 0]
    if gained:
        yield _moved("gained", gained)


def _moved(verb: str, names: Sequence[str]) -> Reason:
    what = f"CORRECT runs are {verb}, or may be, in {plural(len(names), 'case')}"
    return Reason(what, first_of(names, _MOST))


def _change(each: Counts) -> int:
    """Above 0 where the candidate's share is larger; shares themselves have no exact doubles."""
    return each.candidate_passed * each.baseline - each.baseline_passed * each.candidate


def _flips(cases: Sequence[Case]) -> Iterator[Flip]:
    """The cases in which a run is CORRECT on one side, and INCORRECT on the other, oftener."""
    for case in cases:
        ours, theirs = tally(case.baseline), tally(case.candidate)
        change = _change(_counts(ours, theirs))
        before, after = Verdict.CORRECT, Verdict.INCORRECT
        if change > 0:
            before, after = after, before
        flip = Flip(
            case.name, before, after, _of(case.baseline, before), _of(case.candidate, after)
        )
        if change and flip.baseline_runs and flip.candidate_runs:
            yield flip


def _of(runs: Sequence[ComparedRun], verdict: Verdict) -> tuple[ComparedRun, ...]:
    return tuple(run for run in runs if run.score.verdict is verdict)
