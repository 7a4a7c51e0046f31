"""The diagnostic metrics: facts over all valid events of the traces, no score.

They say what happened, never whether the work is right: the correctness gate says that. A metric
is a function below :func:`metric`, whose name is its key in JSON. Every format follows from it.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple

from drive_trace.report.event_log import EventLog
from drive_trace.scorecard.dispatches import Event
from drive_trace.scorecard.measures import as_double
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


LOWER, HIGHER, NEITHER = Polarity
COUNTED, CLOCK, ASSERTED, NOBODY = Source
COUNT, RATIO, SHARE, MILLISECONDS, WORD = FigureUnit


class Figure(NamedTuple):
    """A single figure of a metric. The value is the figure itself, or has it under a key."""

    label: str
    at: str = ""
    unit: FigureUnit = COUNT


class Breakdown(NamedTuple):
    """A table of a metric: an object, or a list of objects whose first key names the row."""

    caption: str
    key: str
    """What the first column holds."""
    columns: str | Mapping[str, Sequence[str]]
    """By their headers, the keys that lead to the cell from a row's value; the header alone where
    the value is the cell.
    """
    at: str = ""
    """The key of the value that has the rows; empty where the value is the rows."""
    unit: FigureUnit = COUNT


class Metric(NamedTuple):
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


Compute = Callable[[EventLog], Value]
METRICS: list[Metric] = []
"""Every metric of this file, in its order."""
_shown: dict[Compute, list[Figure | Breakdown]] = {}


def metric(  # noqa: PLR0913 - the parts of a declaration
    group: str,
    title: str,
    polarity: Polarity,
    source: Source,
    *,
    needs: str = "",
    no_signal: str = "",
) -> Callable[[Compute], Compute]:
    """Declare a metric by the function that computes it. The function's name is its key. What is
    shown of it is declared between the two. ``needs`` is the event without which it has no value;
    why else it may have none, says ``no_signal``.
    """
    why = no_signal or (f"no {needs} was recorded" if needs else "it always has a value")

    def declare(compute: Compute) -> Compute:
        def value(log: EventLog) -> Value:
            return compute(log) if not needs or log.of(needs) else None

        shows = _shown.pop(compute, [])
        METRICS.append(Metric(group, compute.__name__, title, polarity, source, value, why, shows))
        return compute

    return declare


def shows(part: Figure | Breakdown) -> Callable[[Compute], Compute]:
    """Declare what is shown of the metric below, part by part."""

    def declare(compute: Compute) -> Compute:
        _shown.setdefault(compute, []).insert(0, part)  # the lowest decorator is applied first
        return compute

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


def _ratio(part: Number, whole: int) -> Number | None:
    """A quotient as JSON writes it: whole ones without a fraction. None over nothing."""
    if not whole:
        return None
    quotient = part / whole
    return as_double(int(quotient)) if quotient.is_integer() else quotient


def _mean(numbers: Iterable[int]) -> Number | None:
    """The arithmetic mean; None of nothing, and where no finite double holds the sum."""
    every = list(numbers)
    total = as_double(sum(every))
    return None if total is None else _ratio(total, len(every))


def _counts(events: Iterable[Event], field: str) -> Mapping[str, int]:
    """How often each value of a field occurs, in the order of first occurrence."""
    return dict(Counter(event.text(field) for event in events))


def _claimed(ends: Iterable[Event], id_field: str) -> Mapping[str, Number | None]:
    """By an id, the ``wall_clock_ms`` of its last end."""
    return {each.text(id_field): as_double(each.number("wall_clock_ms")) for each in ends}


# Rework: how often work was done again, and how long it took

UNSPECIFIED_MODEL = "(unspecified)"
"""Stands for a dispatch without a model."""


@metric("rework", "Rounds per dispatch", LOWER, COUNTED, needs="round-start")
@shows(Figure("mean", "mean", RATIO))
@shows(Breakdown("Rounds by dispatch", "dispatch", "rounds", "per_dispatch"))
def rounds_per_dispatch(log: EventLog) -> Value:
    """``round-start`` events by dispatch, and their mean."""
    rounds = _counts(log.of("round-start"), "dispatch_id")
    return {"per_dispatch": rounds, "mean": _mean(rounds.values())}


@metric(
    "rework",
    "First-pass acceptance",
    HIGHER,
    ASSERTED,
    no_signal="no round-end belongs to a round-start with number 1",
)
@shows(Figure("dispatches accepted in round 1", unit=SHARE))
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


@metric("rework", "Backtrack ratio", LOWER, ASSERTED, no_signal="no round ended satisfied")
@shows(Figure("rounds sent back or stopped for each one that was satisfied", unit=RATIO))
def backtrack_ratio(log: EventLog) -> Value:
    """Rounds that ended in *another-round-needed* or *stop-condition* for each *satisfied* one."""
    verdicts = Counter(event.text("verdict") for event in log.of("round-end"))
    back = verdicts["another-round-needed"] + verdicts["stop-condition"]
    return _ratio(back, verdicts["satisfied"])


_DISPOSITIONS = ("initial", "reissue", "amended")


@metric("rework", "Brief stability", NEITHER, ASSERTED, needs="brief-issued")
@shows(Breakdown("Briefs by disposition", "disposition", "briefs", "overall"))
@shows(
    Breakdown(
        "Briefs by dispatch and disposition",
        "dispatch",
        {name: (name,) for name in _DISPOSITIONS},
        "per_dispatch",
    )
)
def brief_stability(log: EventLog) -> Value:
    """How briefs relate to the earlier ones of their dispatch, in all and by dispatch."""
    briefs = log.of("brief-issued")
    by_dispatch = _grouped(briefs, "dispatch_id")
    return {
        "overall": _counts(briefs, "brief_disposition"),
        "per_dispatch": {
            key: _counts(own, "brief_disposition") for key, own in by_dispatch.items()
        },
    }


@metric("rework", "Tier mix", NEITHER, ASSERTED, needs="dispatch-start")
@shows(Breakdown("Dispatches by model", "model", "dispatches"))
def tier_mix(log: EventLog) -> Value:
    """Dispatches by the model that they ran on."""
    starts = _grouped(log.of("dispatch-start"), "model", UNSPECIFIED_MODEL)
    return {model: len(own) for model, own in starts.items()}


@metric("rework", "Dispatch wall-clock, as claimed", LOWER, ASSERTED, needs="dispatch-end")
@shows(Figure("mean", "mean", MILLISECONDS))
@shows(Figure("total", "total", MILLISECONDS))
@shows(
    Breakdown("Claimed time by dispatch", "dispatch", "wall-clock", "per_dispatch", MILLISECONDS)
)
def dispatch_wallclock_ms(log: EventLog) -> Value:
    """The dispatches' own ``wall_clock_ms``: each one's last, mean and total over all ends."""
    ends = log.of("dispatch-end")
    claimed = [event.number("wall_clock_ms") for event in ends]
    return {
        "per_dispatch": _claimed(ends, "dispatch_id"),
        "mean": _mean(claimed),
        "total": as_double(sum(claimed)),
    }


@metric("rework", "Round wall-clock, as claimed", LOWER, ASSERTED, needs="round-end")
@shows(Breakdown("Claimed time by round", "round", "wall-clock", unit=MILLISECONDS))
def round_wallclock_ms(log: EventLog) -> Value:
    """Each round's own ``wall_clock_ms``, the last one recorded."""
    return _claimed(log.of("round-end"), "round_id")


def _grouped(
    events: Iterable[Event], field: str, absent: str = ""
) -> Mapping[str, Sequence[Event]]:
    """Events by a field that is text; ``absent`` stands for null."""
    found: dict[str, list[Event]] = {}
    for event in events:
        value = event.values[field]
        found.setdefault(absent if value is None else str(value), []).append(event)
    return found


# Planning and churn: how often plans changed, and how much was written again

NO_TICKET = "(none)"
"""Stands for a triage verdict without ``input_ref``."""
_AUTHORED = ("spec-authored", "plan-authored")
_AMENDED = ("spec-amended", "plan-amended")


def _amendments(log: EventLog, what: str) -> Value:
    amended = log.of(f"{what}-amended")
    return {
        "count": len(amended),
        "per_path": _counts(amended, f"{what}_path"),
        "reason_distribution": _counts(amended, "reason"),
    }


@metric("planning_quality", "Spec amendments", LOWER, COUNTED)
@shows(Figure("amendments", "count"))
@shows(Breakdown("Spec amendments by path", "path", "amendments", "per_path"))
@shows(Breakdown("Spec amendments by reason", "reason", "amendments", "reason_distribution"))
def spec_amendments(log: EventLog) -> Value:
    """``spec-amended`` events, by path and by reason."""
    return _amendments(log, "spec")


@metric("planning_quality", "Plan amendments", LOWER, COUNTED)
@shows(Figure("amendments", "count"))
@shows(Breakdown("Plan amendments by path", "path", "amendments", "per_path"))
@shows(Breakdown("Plan amendments by reason", "reason", "amendments", "reason_distribution"))
def plan_amendments(log: EventLog) -> Value:
    """``plan-amended`` events, by path and by reason."""
    return _amendments(log, "plan")


@metric("planning_quality", "Planned dispatch sizes", NEITHER, ASSERTED)
@shows(
    Breakdown(
        "Planned dispatches by size",
        "plan",
        {size: ("distribution", size) for size in ("S", "M", "L", "XL")},
    )
)
def dispatch_sizes(log: EventLog) -> Value:
    """The sizes of dispatches that each ``plan-authored`` planned; those without are left out."""
    return [
        {"plan_path": event.text("plan_path"), "distribution": sizes}
        for event in log.of("plan-authored")
        if (sizes := event.values["dispatch_size_distribution"]) is not None
    ]


@metric("planning_quality", "I12 halts", LOWER, COUNTED)
@shows(Figure("falsified assumptions", "count"))
@shows(Breakdown("Halts by trigger", "trigger", "halts", "triggered_by_distribution"))
def i12_halts(log: EventLog) -> Value:
    """``falsified-assumption`` events, by what brought the assumption to light."""
    halts = log.of("falsified-assumption")
    return {"count": len(halts), "triggered_by_distribution": _counts(halts, "triggered_by")}


@metric("planning_quality", "Triage stability", LOWER, ASSERTED, needs="triage-verdict")
@shows(
    Breakdown(
        "Triage by ticket",
        "ticket",
        {
            "verdicts": ("count",),
            "distinct verdicts": ("distinct_verdict_count",),
            "in order": ("verdicts",),
        },
    )
)
def triage_stability(log: EventLog) -> Value:
    """The verdicts that triage came to on each ticket, in order."""
    verdicts = {
        ticket: [event.text("verdict") for event in own]
        for ticket, own in _grouped(log.of("triage-verdict"), "input_ref", NO_TICKET).items()
    }
    return {
        ticket: {"count": len(each), "distinct_verdict_count": len(set(each)), "verdicts": each}
        for ticket, each in verdicts.items()
    }


@metric("artefact_churn", "Write amplification", LOWER, COUNTED)
@shows(Figure("mean writes a path", "mean", RATIO))
@shows(Breakdown("Writes by path", "path", "writes", "per_path"))
def write_amplification(log: EventLog) -> Value:
    """How often each spec or plan was written: authored or amended."""
    writes = dict(Counter(map(_path, log.of(*_AUTHORED, *_AMENDED))))
    return {"per_path": writes, "mean": _mean(writes.values())}


@metric("artefact_churn", "Time to stability", LOWER, CLOCK)
@shows(
    Breakdown(
        "From first authored to last amended, by path", "path", "time", "per_path", MILLISECONDS
    )
)
def time_to_stability_ms(log: EventLog) -> Value:
    """From a path's earliest authoring to its latest amendment; 0 where it was never amended."""
    authored: dict[str, str] = {}
    for event in log.of(*_AUTHORED):
        authored[_path(event)] = min(authored.get(_path(event), event.ts), event.ts)
    amended: dict[str, str] = {}
    for event in log.of(*_AMENDED):
        amended[_path(event)] = max(amended.get(_path(event), event.ts), event.ts)
    took = {
        path: milliseconds_between(ts, amended[path]) if path in amended else 0
        for path, ts in authored.items()
    }
    return {"per_path": took}


def _path(event: Event) -> str:
    return event.text(f"{event.name.partition('-')[0]}_path")


# The lifecycle of projects and slices, and the people who run them

_SEVERITIES = ("none", "low", "medium", "high")


@metric(
    "lifecycle",
    "Project wall-clock",
    LOWER,
    CLOCK,
    no_signal="there is no project-started with a project-closed, or a timestamp cannot be read",
)
@shows(Figure("first closed − first started", unit=MILLISECONDS))
def project_wallclock_ms(log: EventLog) -> Value:
    """From the first ``project-started`` to the first ``project-closed``."""
    started, closed = log.of("project-started"), log.of("project-closed")
    return milliseconds_between(started[0].ts, closed[0].ts) if started and closed else None


@metric(
    "lifecycle",
    "Slice wall-clock",
    LOWER,
    CLOCK,
    no_signal="no slice-started and no slice-completed was recorded",
)
@shows(Breakdown("Last completed − last started, by slice", "slice", "time", unit=MILLISECONDS))
def slice_wallclock_ms(log: EventLog) -> Value:
    """From a slice's last ``slice-started`` to its last ``slice-completed``, by slug."""
    started = {event.text("slice_slug"): event.ts for event in log.of("slice-started")}
    completed = {event.text("slice_slug"): event.ts for event in log.of("slice-completed")}
    took = {
        slug: milliseconds_between(started[slug], ts)
        for slug, ts in completed.items()
        if slug in started
    }
    return took if started or completed else None


@metric("lifecycle", "Health checks", NEITHER, ASSERTED)
@shows(Figure("checks", "count"))
@shows(Figure("worst drift found", "max_drift_severity", WORD))
@shows(Breakdown("Health checks by cadence", "cadence", "checks", "cadence_distribution"))
def health_check_cadence(log: EventLog) -> Value:
    """``health-check-fired`` events by what made them fire, and the worst drift they found."""
    checks = log.of("health-check-fired")
    severities = (event.text("max_drift_severity") for event in checks)
    return {
        "count": len(checks),
        "cadence_distribution": _counts(checks, "cadence"),
        "max_drift_severity": max(severities, key=_SEVERITIES.index, default=None),
    }


@metric("lifecycle", "Retros", NEITHER, ASSERTED)
@shows(Figure("retros", "count"))
@shows(
    Breakdown("Retros by trigger class", "trigger class", "retros", "trigger_class_distribution")
)
@shows(Breakdown("Retros by landing surface", "surface", "retros", "landing_surfaces_distribution"))
def retro_distribution(log: EventLog) -> Value:
    """``retro-landed`` events by what they were held for, and by where the lessons went."""
    retros = log.of("retro-landed")
    surfaces = Counter(str(each) for event in retros for each in event.values["landing_surfaces"])
    return {
        "count": len(retros),
        "trigger_class_distribution": _counts(retros, "trigger_class"),
        "landing_surfaces_distribution": dict(surfaces),
    }


@metric(
    "operator", "Operator turns", LOWER, NOBODY, no_signal="no event records the operator's turns"
)
@shows(Figure("turns"))
def operator_turn_count(_: EventLog) -> Value:
    """How often the operator had to step in: always None here."""
    return None
