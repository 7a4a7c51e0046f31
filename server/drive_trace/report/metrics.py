"""The diagnostic metrics: facts over all valid events of the traces, no score.

They say what happened, never whether the work is right: the correctness gate says that. A metric
is a function below :func:`metric`, whose name is its key in JSON. Every format follows from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from drive_trace.report.event_log import Event, EventLog
from drive_trace.scorecard.efficiency import as_double
from drive_trace.trace.times import milliseconds_between

Number = int | float
Value = object
"""A metric's value as JSON: a number, or objects and lists of them; None is *no signal*."""

GROUPS = {
    "rework": "Rework",
    "planning_quality": "Planning",
    "artefact_churn": "Churn",
    "lifecycle": "Lifecycle",
    "operator": "Operator",
}
"""The groups with their titles, in the order in which they are shown."""


class Polarity(StrEnum):
    """Which way is better, other things equal; it means nothing without a correctness signal."""

    LOWER = "lower is better"
    HIGHER = "higher is better"
    NEITHER = "neither way is better"


class Source(StrEnum):
    """Where a value comes from, so that a claim is not taken for a measurement."""

    COUNTED = "counted"
    CLOCK = "by the clock"
    ASSERTED = "author-asserted"
    NOBODY = "not recorded"


class FigureUnit(StrEnum):
    """The unit of a figure."""

    COUNT = ""
    RATIO = "ratio"
    SHARE = "share"
    MILLISECONDS = "ms"
    WORD = "word"


class Figure(NamedTuple):
    """A single figure of a metric; ``at`` are the keys that lead to it in the value."""

    label: str
    at: tuple[str, ...] = ()
    unit: FigureUnit = FigureUnit.COUNT


class Breakdown(NamedTuple):
    """A table of a metric: an object, or a list of objects whose first key names the row."""

    caption: str
    key: str
    """What the first column holds."""
    columns: Sequence[tuple[str, tuple[str, ...]]]
    """Header, and the keys that lead to the cell from a row's value."""
    at: tuple[str, ...] = ()
    unit: FigureUnit = FigureUnit.COUNT


def breakdown(
    caption: str, key: str, header: str, *at: str, unit: FigureUnit = FigureUnit.COUNT
) -> Breakdown:
    """A table with one column beside the first; ``at`` are the keys that lead to its rows."""
    return Breakdown(caption, key, ((header, ()),), at, unit)


@dataclass(frozen=True, slots=True)
class Metric:
    """The declaration of one metric."""

    group: str
    key: str
    """Where it stands in JSON: ``metrics[group][key]``."""
    title: str
    polarity: Polarity
    source: Source
    compute: Callable[[EventLog], Value]
    no_signal: str
    """Why it has no value, where it has none."""
    shows: Sequence[Figure | Breakdown]


def metric(
    group: str,
    title: str,
    polarity: Polarity,
    source: Source,
    *shows: Figure | Breakdown,
    no_signal: str = "it always has a value",
) -> Callable[[Callable[[EventLog], Value]], Metric]:
    """Declare a metric by the function that computes it. The function's name is its key."""

    def declare(compute: Callable[[EventLog], Value]) -> Metric:
        return Metric(group, compute.__name__, title, polarity, source, compute, no_signal, shows)

    return declare


class Measured(NamedTuple):
    """A metric with its value."""

    metric: Metric
    value: Value


def measure(log: EventLog) -> tuple[Measured, ...]:
    """Compute every metric."""
    return tuple(Measured(each, each.compute(log)) for each in METRICS)


def to_json(measured: Iterable[Measured]) -> dict[str, dict[str, Value]]:
    """The values by group and key, as the reference reader has them."""
    groups: dict[str, dict[str, Value]] = {name: {} for name in GROUPS}
    for each, value in measured:
        groups[each.group][each.key] = value
    return groups


# Arithmetic as the reference's, whose numbers are doubles


def _total(numbers: Iterable[int]) -> Number | None:
    """The sum as a JavaScript reader has it; None where no finite double holds it."""
    return as_double(sum(numbers))


def _ratio(part: Number, whole: int) -> Number | None:
    """A quotient as JSON writes it: whole ones without a fraction. None over nothing."""
    if not whole:
        return None
    quotient = part / whole
    return as_double(int(quotient)) if quotient.is_integer() else quotient


def _mean(numbers: Sequence[int]) -> Number | None:
    """The arithmetic mean; None of nothing, and where no finite double holds the sum."""
    added = _total(numbers)
    return None if added is None else _ratio(added, len(numbers))


def _counted(values: Iterable[str]) -> Mapping[str, int]:
    """How often each value occurs, in the order of first occurrence."""
    return dict(Counter(values))


def _texts(events: Iterable[Event], field: str) -> list[str]:
    return [event.text(field) for event in events]


# Rework: how often work was done again, and how long it took

UNSPECIFIED_MODEL = "(unspecified)"
"""Stands for a dispatch without a model."""


@metric(
    "rework",
    "Rounds per dispatch",
    Polarity.LOWER,
    Source.COUNTED,
    Figure("mean", ("mean",), FigureUnit.RATIO),
    breakdown("Rounds by dispatch", "dispatch", "rounds", "per_dispatch"),
    no_signal="no round-start was recorded",
)
def rounds_per_dispatch(log: EventLog) -> Value:
    """``round-start`` events by dispatch, and their mean."""
    rounds = _counted(_texts(log.of("round-start"), "dispatch_id"))
    return {"per_dispatch": rounds, "mean": _mean(list(rounds.values()))} if rounds else None


@metric(
    "rework",
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
    starts = log.of("round-start")
    numbers = {event.text("round_id"): event.number("round_number") for event in starts}
    first = {
        event.text("dispatch_id"): event.text("verdict")
        for event in log.of("round-end")
        if numbers.get(event.text("round_id")) == 1
    }
    return _ratio(sum(verdict == "satisfied" for verdict in first.values()), len(first))


@metric(
    "rework",
    "Backtrack ratio",
    Polarity.LOWER,
    Source.ASSERTED,
    Figure("rounds sent back for each one that was satisfied", unit=FigureUnit.RATIO),
    no_signal="no round ended satisfied",
)
def backtrack_ratio(log: EventLog) -> Value:
    """Rounds that ended in *another-round-needed* or *stop-condition* for each *satisfied* one."""
    verdicts = _texts(log.of("round-end"), "verdict")
    back = verdicts.count("another-round-needed") + verdicts.count("stop-condition")
    return _ratio(back, verdicts.count("satisfied"))


@metric(
    "rework",
    "Brief stability",
    Polarity.NEITHER,
    Source.ASSERTED,
    breakdown("Briefs by disposition", "disposition", "briefs", "overall"),
    Breakdown(
        "Briefs by dispatch and disposition",
        "dispatch",
        [(name, (name,)) for name in ("initial", "reissue", "amended")],
        ("per_dispatch",),
    ),
    no_signal="no brief-issued was recorded",
)
def brief_stability(log: EventLog) -> Value:
    """How briefs relate to the earlier ones of their dispatch, in all and by dispatch."""
    briefs = log.of("brief-issued")
    per_dispatch: dict[str, list[str]] = {}
    for event in briefs:
        dispositions = per_dispatch.setdefault(event.text("dispatch_id"), [])
        dispositions.append(event.text("brief_disposition"))
    if not briefs:
        return None
    return {
        "overall": _counted(_texts(briefs, "brief_disposition")),
        "per_dispatch": {key: _counted(values) for key, values in per_dispatch.items()},
    }


@metric(
    "rework",
    "Tier mix",
    Polarity.NEITHER,
    Source.ASSERTED,
    breakdown("Dispatches by model", "model", "dispatches"),
    no_signal="no dispatch-start was recorded",
)
def tier_mix(log: EventLog) -> Value:
    """Dispatches by the model that they ran on."""
    models = [event.values["model"] for event in log.of("dispatch-start")]
    return _counted(UNSPECIFIED_MODEL if each is None else str(each) for each in models) or None


@metric(
    "rework",
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
        "per_dispatch": _claimed(ends, "dispatch_id"),
        "mean": _mean(claimed),
        "total": _total(claimed),
    }


@metric(
    "rework",
    "Round wall-clock, as claimed",
    Polarity.LOWER,
    Source.ASSERTED,
    breakdown("Claimed time by round", "round", "wall-clock", unit=FigureUnit.MILLISECONDS),
    no_signal="no round-end was recorded",
)
def round_wallclock_ms(log: EventLog) -> Value:
    """Each round's own ``wall_clock_ms``, the last one recorded."""
    return _claimed(log.of("round-end"), "round_id") or None


def _claimed(ends: Iterable[Event], id_field: str) -> Mapping[str, Number | None]:
    return {each.text(id_field): as_double(each.number("wall_clock_ms")) for each in ends}


# Planning: how often plans changed

NO_TICKET = "(none)"
"""Stands for a triage verdict without ``input_ref``."""


def _amendments_shown(what: str) -> Sequence[Figure | Breakdown]:
    return (
        Figure("amendments", ("count",)),
        breakdown(f"{what} amendments by path", "path", "amendments", "per_path"),
        breakdown(f"{what} amendments by reason", "reason", "amendments", "reason_distribution"),
    )


@metric(
    "planning_quality",
    "Spec amendments",
    Polarity.LOWER,
    Source.COUNTED,
    *_amendments_shown("Spec"),
)
def spec_amendments(log: EventLog) -> Value:
    """``spec-amended`` events, by path and by reason."""
    return _amendments(log.of("spec-amended"))


@metric(
    "planning_quality",
    "Plan amendments",
    Polarity.LOWER,
    Source.COUNTED,
    *_amendments_shown("Plan"),
)
def plan_amendments(log: EventLog) -> Value:
    """``plan-amended`` events, by path and by reason."""
    return _amendments(log.of("plan-amended"))


def _amendments(events: Sequence[Event]) -> Value:
    return {
        "count": len(events),
        "per_path": _counted(map(_path, events)),
        "reason_distribution": _counted(_texts(events, "reason")),
    }


@metric(
    "planning_quality",
    "Planned dispatch sizes",
    Polarity.NEITHER,
    Source.ASSERTED,
    Breakdown(
        "Planned dispatches by size",
        "plan",
        [(size, ("distribution", size)) for size in ("S", "M", "L", "XL")],
    ),
)
def dispatch_sizes(log: EventLog) -> Value:
    """The sizes of dispatches that each ``plan-authored`` planned; those without are left out."""
    return [
        {"plan_path": event.text("plan_path"), "distribution": sizes}
        for event in log.of("plan-authored")
        if (sizes := event.values["dispatch_size_distribution"]) is not None
    ]


@metric(
    "planning_quality",
    "I12 halts",
    Polarity.LOWER,
    Source.COUNTED,
    Figure("falsified assumptions", ("count",)),
    breakdown("Halts by trigger", "trigger", "halts", "triggered_by_distribution"),
)
def i12_halts(log: EventLog) -> Value:
    """``falsified-assumption`` events, by what brought the assumption to light."""
    halts = log.of("falsified-assumption")
    triggers = _counted(_texts(halts, "triggered_by"))
    return {"count": len(halts), "triggered_by_distribution": triggers}


@metric(
    "planning_quality",
    "Triage stability",
    Polarity.LOWER,
    Source.ASSERTED,
    Breakdown(
        "Triage by ticket",
        "ticket",
        [
            ("verdicts", ("count",)),
            ("distinct verdicts", ("distinct_verdict_count",)),
            ("in order", ("verdicts",)),
        ],
    ),
    no_signal="no triage-verdict was recorded",
)
def triage_stability(log: EventLog) -> Value:
    """The verdicts that triage came to on each ticket, in order."""
    verdicts: dict[str, list[str]] = {}
    for event in log.of("triage-verdict"):
        ref = event.values["input_ref"]
        ticket = NO_TICKET if ref is None else str(ref)
        verdicts.setdefault(ticket, []).append(event.text("verdict"))
    return {
        ticket: {"count": len(each), "distinct_verdict_count": len(set(each)), "verdicts": each}
        for ticket, each in verdicts.items()
    } or None


# Churn: how much was written again

_AUTHORED = ("spec-authored", "plan-authored")
_AMENDED = ("spec-amended", "plan-amended")


@metric(
    "artefact_churn",
    "Write amplification",
    Polarity.LOWER,
    Source.COUNTED,
    Figure("mean writes a path", ("mean",), FigureUnit.RATIO),
    breakdown("Writes by path", "path", "writes", "per_path"),
)
def write_amplification(log: EventLog) -> Value:
    """How often each spec or plan was written: authored or amended."""
    writes = _counted(map(_path, log.of(*_AUTHORED, *_AMENDED)))
    return {"per_path": writes, "mean": _mean(list(writes.values()))}


@metric(
    "artefact_churn",
    "Time to stability",
    Polarity.LOWER,
    Source.CLOCK,
    breakdown(
        "From first authored to last amended, by path",
        "path",
        "time",
        "per_path",
        unit=FigureUnit.MILLISECONDS,
    ),
)
def time_to_stability_ms(log: EventLog) -> Value:
    """From a path's earliest authoring to its latest amendment; 0 where it was never amended."""
    authored: dict[str, str] = {}
    for event in log.of(*_AUTHORED):
        path = _path(event)
        authored[path] = min(authored.get(path, event.ts), event.ts)
    amended: dict[str, str] = {}
    for event in log.of(*_AMENDED):
        path = _path(event)
        amended[path] = max(amended.get(path, event.ts), event.ts)
    return {
        "per_path": {
            path: milliseconds_between(ts, amended[path]) if path in amended else 0
            for path, ts in authored.items()
        }
    }


def _path(event: Event) -> str:
    return event.text("spec_path" if event.name.startswith("spec") else "plan_path")


# The lifecycle of projects and slices, and the people who run them

_SEVERITIES = ("none", "low", "medium", "high")


@metric(
    "lifecycle",
    "Project wall-clock",
    Polarity.LOWER,
    Source.CLOCK,
    Figure("first closed − first started", unit=FigureUnit.MILLISECONDS),
    no_signal="there is no project-started with a project-closed, or a timestamp cannot be read",
)
def project_wallclock_ms(log: EventLog) -> Value:
    """From the first ``project-started`` to the first ``project-closed``."""
    started, closed = log.of("project-started"), log.of("project-closed")
    return milliseconds_between(started[0].ts, closed[0].ts) if started and closed else None


@metric(
    "lifecycle",
    "Slice wall-clock",
    Polarity.LOWER,
    Source.CLOCK,
    breakdown(
        "Last completed − last started, by slice", "slice", "time", unit=FigureUnit.MILLISECONDS
    ),
    no_signal="no slice-started and no slice-completed was recorded",
)
def slice_wallclock_ms(log: EventLog) -> Value:
    """From a slice's last ``slice-started`` to its last ``slice-completed``, by slug."""
    started = {event.text("slice_slug"): event.ts for event in log.of("slice-started")}
    completed = {event.text("slice_slug"): event.ts for event in log.of("slice-completed")}
    if not started and not completed:
        return None
    return {
        slug: milliseconds_between(started[slug], ts)
        for slug, ts in completed.items()
        if slug in started
    }


@metric(
    "lifecycle",
    "Health checks",
    Polarity.NEITHER,
    Source.ASSERTED,
    Figure("checks", ("count",)),
    Figure("worst drift found", ("max_drift_severity",), FigureUnit.WORD),
    breakdown("Health checks by cadence", "cadence", "checks", "cadence_distribution"),
)
def health_check_cadence(log: EventLog) -> Value:
    """``health-check-fired`` events by what made them fire, and the worst drift they found."""
    checks = log.of("health-check-fired")
    severities = _texts(checks, "max_drift_severity")
    return {
        "count": len(checks),
        "cadence_distribution": _counted(_texts(checks, "cadence")),
        "max_drift_severity": max(severities, key=_SEVERITIES.index, default=None),
    }


@metric(
    "lifecycle",
    "Retros",
    Polarity.NEITHER,
    Source.ASSERTED,
    Figure("retros", ("count",)),
    breakdown("Retros by trigger class", "trigger class", "retros", "trigger_class_distribution"),
    breakdown("Retros by landing surface", "surface", "retros", "landing_surfaces_distribution"),
)
def retro_distribution(log: EventLog) -> Value:
    """``retro-landed`` events by what they were held for, and by where the lessons went."""
    retros = log.of("retro-landed")
    surfaces = (event.values["landing_surfaces"] for event in retros)
    return {
        "count": len(retros),
        "trigger_class_distribution": _counted(_texts(retros, "trigger_class")),
        "landing_surfaces_distribution": _counted(
            str(surface) for each in surfaces if isinstance(each, list) for surface in each
        ),
    }


@metric(
    "operator",
    "Operator turns",
    Polarity.LOWER,
    Source.NOBODY,
    Figure("turns"),
    no_signal="no event records the operator's turns",
)
def operator_turn_count(_: EventLog) -> Value:
    """How often the operator had to step in: always None here."""
    return None


METRICS: Sequence[Metric] = tuple(each for each in globals().values() if isinstance(each, Metric))
"""Every metric of this file, in its order."""
