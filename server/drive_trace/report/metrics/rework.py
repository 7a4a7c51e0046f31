"""Metrics of the build loop: how often work was done again, and how long it took."""

from __future__ import annotations

from drive_trace.report.event_log import EventLog
from drive_trace.report.metrics.base import (
    Breakdown,
    Figure,
    FigureUnit,
    Polarity,
    Source,
    Value,
    breakdown,
    counted,
    mean,
    metric,
    ratio,
    total,
)
from drive_trace.scorecard.efficiency import as_double

_DISPOSITIONS = tuple((name, (name,)) for name in ("initial", "reissue", "amended"))
_START = "round-start"
_GROUP = "rework"

UNSPECIFIED_MODEL = "(unspecified)"
"""Stands for a dispatch without a model."""


@metric(
    _GROUP,
    "Rounds per dispatch",
    Polarity.LOWER,
    Source.COUNTED,
    Figure("mean", ("mean",), FigureUnit.RATIO),
    breakdown("Rounds by dispatch", "dispatch", "rounds", "per_dispatch"),
    no_signal="no round-start was recorded",
)
def rounds_per_dispatch(log: EventLog) -> Value:
    """``round-start`` events by dispatch, and their mean."""
    rounds = counted(event.text("dispatch_id") for event in log.of("round-start"))
    return {"per_dispatch": rounds, "mean": mean(list(rounds.values()))} if rounds else None


@metric(
    _GROUP,
    "First-pass acceptance",
    Polarity.HIGHER,
    Source.ASSERTED,
    Figure("dispatches accepted in round 1", unit=FigureUnit.SHARE),
    no_signal="no round-end belongs to a round-start with number 1",
)
def first_pass_acceptance_rate(log: EventLog) -> Value:
    """The share of dispatches whose first round ended *satisfied*.

    A round's number stands in its ``round-start``; of a dispatch's ends of round 1 the last
    counts. Dispatches without such an end are left out.
    """
    numbers = {event.text("round_id"): event.number("round_number") for event in log.of(_START)}
    first = {
        event.text("dispatch_id"): event.text("verdict")
        for event in log.of("round-end")
        if numbers.get(event.text("round_id")) == 1
    }
    return ratio(sum(verdict == "satisfied" for verdict in first.values()), len(first))


@metric(
    _GROUP,
    "Backtrack ratio",
    Polarity.LOWER,
    Source.ASSERTED,
    Figure("rounds sent back for each one that was satisfied", unit=FigureUnit.RATIO),
    no_signal="no round ended satisfied",
)
def backtrack_ratio(log: EventLog) -> Value:
    """Rounds that ended in *another-round-needed* or *stop-condition* for each *satisfied* one."""
    verdicts = [event.text("verdict") for event in log.of("round-end")]
    back = verdicts.count("another-round-needed") + verdicts.count("stop-condition")
    return ratio(back, verdicts.count("satisfied"))


@metric(
    _GROUP,
    "Brief stability",
    Polarity.NEITHER,
    Source.ASSERTED,
    breakdown("Briefs by disposition", "disposition", "briefs", "overall"),
    Breakdown("Briefs by dispatch and disposition", "dispatch", _DISPOSITIONS, ("per_dispatch",)),
    no_signal="no brief-issued was recorded",
)
def brief_stability(log: EventLog) -> Value:
    """How briefs relate to the earlier ones of their dispatch, in all and by dispatch."""
    briefs = log.of("brief-issued")
    if not briefs:
        return None
    per_dispatch: dict[str, list[str]] = {}
    for event in briefs:
        per_dispatch.setdefault(event.text("dispatch_id"), []).append(
            event.text("brief_disposition")
        )
    return {
        "overall": counted(event.text("brief_disposition") for event in briefs),
        "per_dispatch": {key: counted(values) for key, values in per_dispatch.items()},
    }


@metric(
    _GROUP,
    "Tier mix",
    Polarity.NEITHER,
    Source.ASSERTED,
    breakdown("Dispatches by model", "model", "dispatches"),
    no_signal="no dispatch-start was recorded",
)
def tier_mix(log: EventLog) -> Value:
    """Dispatches by the model that they ran on."""
    models = [event.values["model"] for event in log.of("dispatch-start")]
    return counted(UNSPECIFIED_MODEL if each is None else str(each) for each in models) or None


@metric(
    _GROUP,
    "Dispatch wall-clock, as claimed",
    Polarity.LOWER,
    Source.ASSERTED,
    Figure("mean", ("mean",), FigureUnit.MILLISECONDS),
    Figure("total", ("total",), FigureUnit.MILLISECONDS),
    breakdown(
        "Claimed time by dispatch",
        "dispatch",
        "wall-clock",
        "per_dispatch",
        unit=FigureUnit.MILLISECONDS,
    ),
    no_signal="no dispatch-end was recorded",
)
def dispatch_wallclock_ms(log: EventLog) -> Value:
    """The dispatches' own ``wall_clock_ms``: each one's last, mean and total over all ends."""
    ends = log.of("dispatch-end")
    if not ends:
        return None
    claimed = [event.number("wall_clock_ms") for event in ends]
    return {
        "per_dispatch": {
            event.text("dispatch_id"): as_double(event.number("wall_clock_ms")) for event in ends
        },
        "mean": mean(claimed),
        "total": total(claimed),
    }


@metric(
    _GROUP,
    "Round wall-clock, as claimed",
    Polarity.LOWER,
    Source.ASSERTED,
    breakdown("Claimed time by round", "round", "wall-clock", unit=FigureUnit.MILLISECONDS),
    no_signal="no round-end was recorded",
)
def round_wallclock_ms(log: EventLog) -> Value:
    """Each round's own ``wall_clock_ms``, the last one recorded."""
    rounds = {
        event.text("round_id"): as_double(event.number("wall_clock_ms"))
        for event in log.of("round-end")
    }
    return rounds or None


METRICS = (
    rounds_per_dispatch,
    first_pass_acceptance_rate,
    backtrack_ratio,
    brief_stability,
    tier_mix,
    dispatch_wallclock_ms,
    round_wallclock_ms,
)
