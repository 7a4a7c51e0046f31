"""Metrics of planning: how often plans changed, and how much was written again."""

from __future__ import annotations

from collections.abc import Sequence

from drive_trace.report.event_log import Event, EventLog
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
)
from drive_trace.trace.times import milliseconds_between

_AUTHORED = ("spec-authored", "plan-authored")
_AMENDED = ("spec-amended", "plan-amended")
_PLANNING = "planning_quality"
_CHURN = "artefact_churn"
_SIZES = tuple((size, ("distribution", size)) for size in ("S", "M", "L", "XL"))
_TRIAGES = (
    ("verdicts", ("count",)),
    ("distinct verdicts", ("distinct_verdict_count",)),
    ("in order", ("verdicts",)),
)


def _amendments_shown(what: str) -> Sequence[Figure | Breakdown]:
    return (
        Figure("amendments", ("count",)),
        breakdown(f"{what} amendments by path", "path", "amendments", "per_path"),
        breakdown(f"{what} amendments by reason", "reason", "amendments", "reason_distribution"),
    )


NO_TICKET = "(none)"
"""Stands for a triage verdict without ``input_ref``."""


@metric(
    _PLANNING,
    "Spec amendments",
    Polarity.LOWER,
    Source.COUNTED,
    *_amendments_shown("Spec"),
)
def spec_amendments(log: EventLog) -> Value:
    """``spec-amended`` events, by path and by reason."""
    return _amendments(log.of("spec-amended"))


@metric(
    _PLANNING,
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
        "per_path": counted(map(_path, events)),
        "reason_distribution": counted(event.text("reason") for event in events),
    }


@metric(
    _PLANNING,
    "Planned dispatch sizes",
    Polarity.NEITHER,
    Source.ASSERTED,
    Breakdown("Planned dispatches by size", "plan", _SIZES),
)
def dispatch_sizes(log: EventLog) -> Value:
    """The sizes of dispatches that each ``plan-authored`` planned; those without are left out."""
    return [
        {"plan_path": event.text("plan_path"), "distribution": sizes}
        for event in log.of("plan-authored")
        if (sizes := event.values["dispatch_size_distribution"]) is not None
    ]


@metric(
    _PLANNING,
    "I12 halts",
    Polarity.LOWER,
    Source.COUNTED,
    Figure("falsified assumptions", ("count",)),
    breakdown("Halts by trigger", "trigger", "halts", "triggered_by_distribution"),
)
def i12_halts(log: EventLog) -> Value:
    """``falsified-assumption`` events, by what brought the assumption to light."""
    halts = log.of("falsified-assumption")
    return {
        "count": len(halts),
        "triggered_by_distribution": counted(event.text("triggered_by") for event in halts),
    }


@metric(
    _PLANNING,
    "Triage stability",
    Polarity.LOWER,
    Source.ASSERTED,
    Breakdown("Triage by ticket", "ticket", _TRIAGES),
    no_signal="no triage-verdict was recorded",
)
def triage_stability(log: EventLog) -> Value:
    """The verdicts that triage came to on each ticket, in order."""
    verdicts: dict[str, list[str]] = {}
    for event in log.of("triage-verdict"):
        ref = event.values["input_ref"]
        verdicts.setdefault(NO_TICKET if ref is None else str(ref), []).append(
            event.text("verdict")
        )
    return {
        ref: {"count": len(each), "distinct_verdict_count": len(set(each)), "verdicts": each}
        for ref, each in verdicts.items()
    } or None


@metric(
    _CHURN,
    "Write amplification",
    Polarity.LOWER,
    Source.COUNTED,
    Figure("mean writes a path", ("mean",), FigureUnit.RATIO),
    breakdown("Writes by path", "path", "writes", "per_path"),
)
def write_amplification(log: EventLog) -> Value:
    """How often each spec or plan was written: authored or amended."""
    writes = counted(map(_path, log.of(*_AUTHORED, *_AMENDED)))
    return {"per_path": writes, "mean": mean(list(writes.values()))}


@metric(
    _CHURN,
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


METRICS = (
    spec_amendments,
    plan_amendments,
    dispatch_sizes,
    i12_halts,
    triage_stability,
    write_amplification,
    time_to_stability_ms,
)
