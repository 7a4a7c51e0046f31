"""What the sides cost: over CORRECT runs alone, case by case. Missing is never zero."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeAlias

from drive_trace.comparison.runs import (
    COSTS,
    WALL_CLOCK,
    ComparedRun,
    CostMetric,
    RunsOfCase,
    tally,
)
from drive_trace.comparison.statistics import (
    Interval,
    Sample,
    hodges_lehmann,
    holm,
    is_significant,
    rank_test,
)
from drive_trace.scorecard.run_score import Verdict
from drive_trace.scorecard.scoring import TraceSummary
from drive_trace.vocabulary import COST, GRADE

_KEYS = [each.key for each in COSTS]
_LOST = {"": _KEYS, COST: _KEYS[:2], GRADE: [], None: _KEYS[2:]}
"""What a line of an unknown type may say, by the feed that was meant; a rejected one, all."""
Told: TypeAlias = tuple[tuple[int, int], tuple[int, int]]


class Cost(NamedTuple):
    """How one cost differs between the sides."""

    metric: CostMetric
    way: int
    """Above 0 where the candidate costs more by its ranks, below 0 where less."""
    ratio: float | None
    """Candidate ÷ baseline; None where a run costs nothing."""
    interval: Interval | None
    """None where there is no ratio, or so few runs give none."""
    p: float
    adjusted_p: float
    """The same by Holm, over all metrics."""
    cases: tuple[str, ...]
    """Those that it is over; untrusted."""
    told: Told
    """Of each side, how many CORRECT runs tell it, and of how many, in cases where both have some.
    """

    @property
    def is_significant(self) -> bool:
        """Whether chance alone hardly explains it."""
        return is_significant(self.adjusted_p)

    @property
    def is_whole(self) -> bool:
        """Whether every run tells it: the others may cost anything."""
        return all(told == of for told, of in self.told)


def lost_in(trace: TraceSummary) -> Iterator[tuple[str, set[str]]]:
    """By run, the costs that may stand on lines of a trace which readers do not count: the run's,
    and those of no run with a valid event. A rejected line may hold a part of any other.
    """
    valid = {run.run_id for run in trace.runs if run.event_count}
    strays = {each.meant for each in trace.unknown if each.run_id not in valid}
    dropped = any(run.rejected for run in trace.runs if run.run_id not in valid)
    for run in trace.runs:
        is_any = trace.unowned or dropped or run.rejected
        meant = strays.union((each.meant for each in run.unknown), [""] * bool(is_any))
        yield run.run_id, {key for each in meant for key in _LOST[each]}


def costs_of(cases: Sequence[RunsOfCase]) -> tuple[Cost, ...]:
    """The metrics that both sides tell, of CORRECT runs that no caveat qualifies."""
    told = []
    for metric in COSTS:
        samples = {case.name: found for case in cases if (found := _sample(case, metric))}
        if samples:
            told.append((metric, samples, *rank_test([*samples.values()])))
    adjusted = holm([p for _, _, p, _ in told])
    return tuple(
        Cost(
            metric,
            way,
            *_ratio([*samples.values()]),
            p,
            by_holm,
            tuple(samples),
            _told([*samples.values()], cases),
        )
        for (metric, samples, p, way), by_holm in zip(told, adjusted, strict=True)
    )


def _sample(case: RunsOfCase, metric: CostMetric) -> Sample | None:
    sides = _earned(case)
    if metric is WALL_CLOCK and len({run.clock for runs in sides for run in runs} - {None}) > 1:
        return None  # as in spent
    costs = [[run.cost(metric) for run in runs] for runs in sides]
    ours, theirs = (tuple(each for each in some if each is not None) for some in costs)
    return Sample(ours, theirs) if ours and theirs else None


def _earned(case: RunsOfCase) -> list[list[ComparedRun]]:
    return [
        [run for run in runs if run.score.is_earned] for runs in (case.baseline, case.candidate)
    ]


def _told(samples: Sequence[Sample], cases: Sequence[RunsOfCase]) -> Told:
    both = [each for each in map(_earned, cases) if all(each)]
    ours, theirs = (
        (sum(len(each[at]) for each in samples), sum(len(each[at]) for each in both))
        for at in (0, 1)
    )
    return ours, theirs


def _ratio(samples: Sequence[Sample]) -> tuple[float | None, Interval | None]:
    if any(cost <= 0 for sample in samples for side in sample for cost in side):
        return None, None
    return hodges_lehmann([Sample(*(tuple(map(math.log, s)) for s in each)) for each in samples])


def spent(runs: Sequence[ComparedRun], metric: CostMetric) -> float | None:
    """All that was spent on some runs, whatever their verdicts; None where one does not tell."""
    costs = [run.cost(metric) for run in runs]
    known = [each for each in costs if each is not None]
    if metric is WALL_CLOCK and len({run.clock for run in runs}) > 1:
        return None  # what the clock says and what authors claim are not alike
    return sum(known) if len(known) == len(costs) else None


def spent_for_each_correct(runs: Sequence[ComparedRun], metric: CostMetric) -> float | None:
    """What was spent for each CORRECT run, the others' costs included; None where that is not
    known, or no run is CORRECT.
    """
    total, correct = spent(runs, metric), tally(runs).correct
    return None if total is None or not correct else total / correct


def rank(runs: Sequence[ComparedRun]) -> float | None:
    """The reference's planned ranker, E[wall-clock | CORRECT] ÷ P(CORRECT), in milliseconds; None
    where no run is CORRECT, or one of these has no wall-clock. It is a tie-break, and can reward a
    side that fails the hard case each time.
    """
    correct = [run for run in runs if run.score.verdict is Verdict.CORRECT]
    total = spent(correct, WALL_CLOCK) if correct else None
    return None if total is None else total / len(correct) / (len(correct) / len(runs))
