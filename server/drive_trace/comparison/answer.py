"""One of four answers, with its reasons, by one rule: the gate decides first, and cost where it
does not. Together they are wrong in no more than 5 % of comparisons of sides that are alike.
"""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain, product
from typing import NamedTuple

from drive_trace.comparison import power, statistics
from drive_trace.comparison import runs as compared
from drive_trace.comparison.comparability import Fact, Reason, comparability
from drive_trace.comparison.power import Power
from drive_trace.comparison.repeated import Flip, Tally, change, counted, flips, passes, tally
from drive_trace.comparison.runs import DOLLARS, Cost, CountsTold, RunsOfCase, Side, log_costs, rank
from drive_trace.grading.calibration import families_of, wilson
from drive_trace.grading.judgements import Calibrated
from drive_trace.text.wording import factor, first_of, listed, plural

MARGIN = 0.20
"""By default a lower cost is no reason where the candidate's rate of CORRECT runs may be lower by
more.
"""
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


class Dollars(NamedTuple):
    """What the candidate spends for each CORRECT run, by the dollar."""

    ratio: float | None
    """Candidate ÷ baseline; None where that is not known."""
    interval: statistics.Interval | None
    """At the level of :class:`CostRule`, from the least to the most runs that may be CORRECT; None
    where so few runs give none.
    """
    told: CountsTold
    """Of each side, how many runs tell it, and of how many."""


class CostRule(NamedTuple):
    """How cost decides, as it is set before anything is computed, but for the level."""

    margin: float = MARGIN
    """For a lower cost the candidate's rate of CORRECT runs must not be lower by more."""
    time: str = "working"
    """Which of :data:`TIMES` may decide."""
    by_dollars: bool = False
    """Whether prices are known: then dollars for each CORRECT run decide, and nothing else."""
    level: float = statistics.ALPHA
    """At which the gate decides."""
    alpha: float = 0.0
    """At which cost does: what the gate leaves."""
    look: tuple[int, int] = (1, 1)
    """Which of so many planned comparisons this is."""


RULE = CostRule()
"""Where nobody has set another."""


class JudgedShare(NamedTuple):
    """How many runs of a side a judge passed, and how many people would, by its calibration."""

    passed: int
    of: int
    interval: statistics.Interval
    corrected: float
    corrected_interval: statistics.Interval


class Comparison(NamedTuple):
    """Everything that is said of two sides."""

    answer: Answer
    reasons: tuple[Reason, ...]
    by_cost: Answer
    """What cost alone comes to, also where the gate has decided."""
    rule: CostRule
    power: tuple[Power, ...]
    """What so many runs can show, of CORRECT runs and of cost; of cost where that is known."""
    sides: tuple[Side, Side]
    gate: CorrectShare
    costs: tuple[Cost, ...]
    dollars: Dollars | None
    """None where no prices are known."""
    cases: tuple[RunsOfCase, ...]
    flips: tuple[Flip, ...]
    known: tuple[Fact, ...]
    rank: tuple[float | None, float | None] | None
    """The ranker of both sides, in milliseconds, where somebody asked for it."""
    judged: tuple[JudgedShare, JudgedShare] | None = None
    """None where the calibration of the judge is not known, or it is no better than chance."""


def compare(  # noqa: PLR0913 - one for each option
    baseline: Side,
    candidate: Side,
    allowed: Collection[str] = (),
    rule: CostRule = RULE,
    *,
    ranked: bool = False,
    calibrated: Calibrated | None = None,
    refused: Sequence[Reason] = (),
) -> Comparison:
    """Compare two sides. ``allowed`` are the names of what may be unknown, ``calibrated`` is what
    somebody knows of a judge. Nothing is compared that is ``refused`` for a reason.
    """
    sides, cases = (baseline, candidate), compared.cases_of(baseline, candidate)
    known, reasons = comparability(baseline, candidate, cases, allowed)
    reasons = (*refused, *reasons)
    answer = by_cost = Answer.NOT_COMPARABLE
    can_be = not reasons
    gate = _gate(sides, cases, rule.level, is_tested=can_be)
    rule = rule._replace(by_dollars=any(side.prices for side in sides))
    costs: tuple[Cost, ...] = ()
    dollars = None
    shown: tuple[Power, ...] = ()
    if can_be:
        dollars, alpha = dollars_of(cases, rule)
        rule, dollars = rule._replace(alpha=alpha), dollars if rule.by_dollars else None
        idle = [each for name, each in compared.TIMES.items() if name != rule.time]
        costs = compared.costs_of(cases, compared.COSTS if rule.by_dollars else idle)
        by_cost, why = cost_answer(rule, costs, dollars, cases)
        answer, reasons = final_answer(gate, by_cost, why, cases, rule.level)
        reasons = (*reasons, *_own_family(known))
        shown = tuple(_powers(rule, costs, cases))
    return Comparison(
        answer=answer,
        reasons=reasons,
        by_cost=by_cost,
        rule=rule,
        power=shown,
        sides=sides,
        gate=gate,
        costs=costs,
        dollars=dollars,
        cases=cases,
        flips=tuple(flips(cases)) if can_be else (),
        known=known,
        rank=(rank(baseline.runs), rank(candidate.runs)) if ranked and can_be else None,
        judged=_judged(sides, calibrated) if calibrated is not None and can_be else None,
    )


def _judged(
    sides: tuple[Side, Side], calibrated: Calibrated
) -> tuple[JudgedShare, JudgedShare] | None:
    found = []
    for side in sides:
        calls = [run.score.judgement for run in side.runs if run.score.judgement is not None]
        passed, of = sum(each.verdict == "pass" for each in calls), len(calls)
        corrected = calibrated.corrected(passed, of)
        if corrected is None or any(each.judge.differs(calibrated.judge) for each in calls):
            return None
        found.append(JudgedShare(passed, of, wilson(passed, of), *corrected))
    return found[0], found[1]


def _own_family(known: Sequence[Fact]) -> Iterator[Reason]:
    """That a judge is of the family of what it judges, which decides nothing."""
    models, judges = (
        {family for name in (*fact.baseline, *fact.candidate) for family in families_of(name)}
        for wanted in ("model", "judge")
        for fact in known
        if fact.name == wanted
    )
    if shared := sorted(models & judges):
        what = "the judge is of a family that did the work, and may be kinder to it"
        yield Reason(what, listed(shared))


def _gate(
    sides: tuple[Side, Side], cases: Sequence[RunsOfCase], level: float, *, is_tested: bool
) -> CorrectShare:
    counts = counted(cases)
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
        statistics.smallest_detectable(sizes, level) if can_be else None,
    )


# The answer


def final_answer(
    gate: CorrectShare,
    by_cost: Answer,
    reasons: Sequence[Reason],
    cases: Sequence[RunsOfCase],
    level: float = statistics.ALPHA,
) -> tuple[Answer, tuple[Reason, ...]]:
    """What the gate says; where it does not decide, what cost says, with its reasons."""
    ways = {
        _by_gate(counted(cases, baseline=ours, candidate=theirs), level)
        for ours, theirs in product((False, True), repeat=2)
    }
    recorded = _by_gate(counted(cases), level)
    rejected = gate.candidate.rejected
    count = f"{plural(rejected, 'run')} of the candidate {'counts' if rejected == 1 else 'count'}"
    why = Reason(f"{count} as not CORRECT: no grade, or no line, of theirs counts")
    against = (why,) if rejected else ()
    if ways == {recorded} and recorded is not Answer.CANNOT_TELL:
        lost = _lost(cases) if recorded is Answer.BETTER else ()
        return recorded, (_gate_words(gate, recorded), *against, *lost)
    if len(ways) > 1:
        undecided = sum(each.most - each.least for each in (gate.baseline, gate.candidate))
        undecided -= rejected
        what = (
            f"it depends on {plural(undecided, 'run')} that may be CORRECT or not: the gate says "
            f"{listed(sorted(each.words for each in ways), 'or')}"
        )
        return Answer.CANNOT_TELL, (_gate_words(gate, Answer.CANNOT_TELL), *against, Reason(what))
    return by_cost, (_gate_words(gate, Answer.CANNOT_TELL), *against, *reasons)


def _by_gate(counts: Sequence[statistics.Counts], level: float) -> Answer:
    if not statistics.is_significant(statistics.gate_p(counts), level):
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


def dollars_of(cases: Sequence[RunsOfCase], rule: CostRule) -> tuple[Dollars, float]:
    """What is spent for each CORRECT run, by the dollars that all runs cost; and the level at which
    cost decides.
    """
    spent = [[[run.cost(DOLLARS) for run in runs] for runs in case[1:]] for case in cases]
    sides = [[*chain.from_iterable(side)] for side in zip(*spent, strict=True)]
    ours, theirs = ((len(each) - each.count(None), len(each)) for each in sides)
    costs = log_costs(cases, DOLLARS)
    is_known = all(map(all, sides))  # of nothing there is no ratio
    # The fewer of the baseline's runs are CORRECT, and the more of the candidate's, the less it
    # spends for each.
    least, found, most = (
        statistics.per_correct(costs, passes(cases, baseline=ours, candidate=theirs))
        if is_known
        else None
        for ours, theirs in ((False, True), (None, None), (True, False))
    )
    # The levels of several looks are for tests that divide each, whatever they have in common.
    apart = found.apart if found and rule.look[1] == 1 else 0.0
    alpha = statistics.left_by_gate(counted(cases), rule.level, apart)
    bounds = least and least.interval(alpha), most and most.interval(alpha)
    interval = (bounds[0][0], bounds[1][1]) if bounds[0] and bounds[1] else None
    return Dollars(found and math.exp(found.shift), interval, (ours, theirs)), alpha


def cost_answer(
    rule: CostRule, costs: Sequence[Cost], dollars: Dollars | None, cases: Sequence[RunsOfCase]
) -> tuple[Answer, Sequence[Reason]]:
    """What cost alone comes to: *worse* where it is higher, and *better* where it is lower, and the
    candidate's rate of CORRECT runs is not lower by more than the margin.
    """
    way, named = _by_dollars(dollars) if dollars is not None else _by_kinds(rule, costs)
    if not way:
        return Answer.CANNOT_TELL, (Reason(named),)
    if way > 0:
        return Answer.WORSE, (Reason(f"cost decides, as it is higher: {named}"),)
    kept = [*_losses(cases, rule.margin)]
    runs = [run for each in cases for run in each.candidate if run.doubted and run.score.is_earned]
    if dollars is None and runs:
        what = f"a cost of {plural(len(runs), 'CORRECT run')} of the candidate is doubted, or lost"
        kept.append(Reason(what, first_of([each.run_id for each in runs], _MOST)))
    if kept:
        return Answer.CANNOT_TELL, (Reason(f"cost is lower, and does not decide: {named}"), *kept)
    safe = f"the rate of CORRECT runs is lower by {rule.margin:.2f} at most"
    why = Reason(f"cost decides, as it is lower, and {safe}: {named}")
    return Answer.BETTER, (why, *_lost(cases))


def _powers(rule: CostRule, costs: Sequence[Cost], cases: Sequence[RunsOfCase]) -> Iterator[Power]:
    sizes = [(len(each.baseline), len(each.candidate)) for each in cases]
    passed = sum(each.baseline_passed for each in counted(cases))
    rate = power.likely_rate(passed, sum(ours for ours, _ in sizes))
    yield power.power_of_gate(sizes, rate, rule.margin, rule.level)
    told = [DOLLARS] if rule.by_dollars else [each.metric for each in costs if each.decides]
    spreads = [(each, power.spread_of(log_costs(cases, each))) for each in told]
    known = [(spread, each.title) for each, spread in spreads if spread is not None]
    if known:
        spread, title = max(known, key=lambda pair: pair[0])  # it promises too much of none
        alpha = rule.alpha / len(told)  # by Holm at the worst
        yield power.power_of(
            title,
            power.RATIO,
            sizes,
            lambda of: power.chance_of_cost(
                of, rate, spread, power.RATIO, alpha, by_dollars=rule.by_dollars
            ),
        )


def _by_dollars(dollars: Dollars) -> tuple[int, str]:
    """Which way dollars point, 0 for none, and in words."""
    silent = sum(of - told for told, of in dollars.told)
    if silent:
        what = f"the dollars of {plural(silent, 'run')} are not known"
        return (
            0,
            f"{what}: a kind of token is not recorded or is doubted, or the model has no price",
        )
    if dollars.ratio is None or dollars.interval is None:
        what = "dollars for each CORRECT run have no interval"
        return 0, f"{what}: there are too few runs, none is CORRECT, or one cost nothing"
    low, high = dollars.interval
    shown = f"dollars for each CORRECT run × {factor(dollars.ratio, 2)}"
    between = f"{shown} [{factor(low, 2)}, {factor(high, 2)}]"
    way = 1 if low > 1 else -1 if high < 1 else 0
    return way, between if way else f"{between}: the interval holds 1"


def _by_kinds(rule: CostRule, costs: Sequence[Cost]) -> tuple[int, str]:
    """The same of each cost by itself: without prices there is no sum."""
    told = [each for each in costs if each.decides]
    found = [each for each in told if statistics.is_significant(each.adjusted_p, rule.alpha)]
    if not found:
        return 0, "no cost differs significantly" if told else "no cost is told by both sides"
    named = listed(f"{_moves(each)} ({p_is(each.adjusted_p)} by Holm)" for each in found)
    ways = {(each.way > 0) - (each.way < 0) for each in found}
    if ways not in ({1}, {-1}):
        return 0, f"the costs do not point one way: {named}"
    if not any(each.is_whole for each in found):
        return 0, f"cost does not decide, as only some CORRECT runs tell it: {named}"
    return ways.pop(), named


def _losses(cases: Sequence[RunsOfCase], margin: float) -> Iterator[Reason]:
    """Why a lower cost must not speak for the candidate, however few of its runs may be CORRECT."""
    lower = statistics.difference(counted(cases, baseline=True, candidate=False))[1][0]
    if lower < -margin:
        yield Reason(
            f"the candidate's rate of CORRECT runs may be lower by {-lower:.3f}, which is more "
            f"than {margin:.2f} (Newcombe's interval): more runs would tell"
        )


def _lost(cases: Sequence[RunsOfCase]) -> Iterator[Reason]:
    """The cases in which the candidate's share of CORRECT runs may be smaller."""
    changes = map(change, counted(cases, baseline=True, candidate=False))
    if lost := [each.name for each, by in zip(cases, changes, strict=True) if by < 0]:
        what = f"CORRECT runs are lost, or may be, in {plural(len(lost), 'case')}"
        yield Reason(what, first_of(lost, _MOST))


# As JSON


def to_json(found: Comparison) -> dict[str, object]:
    """The interface of ``compare --output-format json``. Shares and differences are fractions, and
    null is unknown, never zero.
    """
    return {
        "answer": str(found.answer),
        "reasons": [each.sentence for each in found.reasons],
        "by_cost": str(found.by_cost),
        "rule": found.rule._asdict(),
        "power": [each._asdict() for each in found.power],
        "gate": found.gate._asdict() | _by_side([*map(_tally_json, found.gate[:2])]),
        "costs": [
            {**each._asdict(), "metric": each.metric.key, "told": _told_json(each.told)}
            for each in found.costs
        ],
        "dollars": found.dollars
        and {**found.dollars._asdict(), "told": _told_json(found.dollars.told)},
        "cases": [
            {
                "case": each.name,
                **_by_side([_tally_json(tally(runs)) for runs in each[1:]]),
                "tries": _by_side([t and t._asdict() for t in (tally(r).tries for r in each[1:])]),
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
            for title in compared.DIFFERENCES
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
        "judged": found.judged and _by_side([each._asdict() for each in found.judged]),
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
        "dead_runs": {e.run_id: e.score.gate.uncounted for e in side.runs if e.is_dead},
        "copied_runs": [run.run_id for run in side.copies],
        "doubted": {metric.key: runs for metric, runs in side.doubted.items()},
    }


def _told_json(told: CountsTold) -> Mapping[str, object]:
    return _by_side([{"runs": runs, "of": of} for runs, of in told])


def _spent_json(runs: Sequence[compared.ComparedRun]) -> Mapping[str, object]:
    return {
        each.key: compared.spent_for_each_correct(runs, each) for each in (*compared.SUMS, DOLLARS)
    }


def _by_side(sides: Sequence[object]) -> dict[str, object]:
    return dict(zip(("baseline", "candidate"), sides, strict=True))
