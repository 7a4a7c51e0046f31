"""Metrics of planning: how often plans changed, and how much was written again."""

from __future__ import annotations

from collections.abc import Sequence

from drive_trace.report.event_log import Event, EventLog
from drive_trace.report.metrics.base import (
    Breakdown,
    Figure,
    FigureUnit,
    Metric,
    Polarity,
    Source,
    Value,
    counted,
    mean,
)
from drive_trace.trace.times import milliseconds_between

NO_TICKET = "(none)"
"""Stands for a triage verdict without ``input_ref``."""


def spec_amendments(log: EventLog) -> Value:
    """``spec-amended`` events, by path and by reason."""
    return _amendments(log.of("spec-amended"))


def plan_amendments(log: EventLog) -> Value:
    """``plan-amended`` events, by path and by reason."""
    return _amendments(log.of("plan-amended"))


def _amendments(events: Sequence[Event]) -> Value:
    return {
        "count": len(events),
        "per_path": counted(map(_path, events)),
        "reason_distribution": counted(event.text("reason") for event in events),
    }


def dispatch_sizes(log: EventLog) -> Value:
    """The sizes of dispatches that each ``plan-authored`` planned; those without are left out."""
    return [
        {"plan_path": event.text("plan_path"), "distribution": sizes}
        for event in log.of("plan-authored")
        if (sizes := event.values["dispatch_size_distribution"]) is not None
    ]


def i12_halts(log: EventLog) -> Value:
    """``falsified-assumption`` events, by what brought the assumption to light."""
    halts = log.of("falsified-assumption")
    return {
        "count": len(halts),
        "triggered_by_distribution": counted(event.text("triggered_by") for event in halts),
    }


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


def write_amplification(log: EventLog) -> Value:
    """How often each spec or plan was written: authored or amended."""
    writes = counted(map(_path, log.of(*_AUTHORED, *_AMENDED)))
    return {"per_path": writes, "mean": mean(list(writes.values()))}


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


_AUTHORED = ("spec-authored", "plan-authored")
_AMENDED = ("spec-amended", "plan-amended")
_PLANNING = "planning_quality"
_CHURN = "artefact_churn"
_NEVER = "it always has a value"
_SIZES = tuple((size, ("distribution", size)) for size in ("S", "M", "L", "XL"))


def _amendments_shown(what: str) -> Sequence[Figure | Breakdown]:
    return (
        Figure("amendments", ("count",)),
        Breakdown(f"{what} amendments by path", "path", ("per_path",), (("amendments", ()),)),
        Breakdown(
            f"{what} amendments by reason",
            "reason",
            ("reason_distribution",),
            (("amendments", ()),),
        ),
    )


METRICS = (
    Metric(
        _PLANNING,
        "spec_amendments",
        "Spec amendments",
        Polarity.LOWER,
        Source.COUNTED,
        spec_amendments,
        _NEVER,
        _amendments_shown("Spec"),
    ),
    Metric(
        _PLANNING,
        "plan_amendments",
        "Plan amendments",
        Polarity.LOWER,
        Source.COUNTED,
        plan_amendments,
        _NEVER,
        _amendments_shown("Plan"),
    ),
    Metric(
        _PLANNING,
        "dispatch_sizes",
        "Planned dispatch sizes",
        Polarity.NEITHER,
        Source.ASSERTED,
        dispatch_sizes,
        _NEVER,
        (Breakdown("Planned dispatches by size", "plan", (), _SIZES),),
    ),
    Metric(
        _PLANNING,
        "i12_halts",
        "I12 halts",
        Polarity.LOWER,
        Source.COUNTED,
        i12_halts,
        _NEVER,
        (
            Figure("falsified assumptions", ("count",)),
            Breakdown(
                "Halts by trigger", "trigger", ("triggered_by_distribution",), (("halts", ()),)
            ),
        ),
    ),
    Metric(
        _PLANNING,
        "triage_stability",
        "Triage stability",
        Polarity.LOWER,
        Source.ASSERTED,
        triage_stability,
        "no triage-verdict was recorded",
        (
            Breakdown(
                "Triage by ticket",
                "ticket",
                (),
                (
                    ("verdicts", ("count",)),
                    ("distinct verdicts", ("distinct_verdict_count",)),
                    ("in order", ("verdicts",)),
                ),
            ),
        ),
    ),
    Metric(
        _CHURN,
        "write_amplification",
        "Write amplification",
        Polarity.LOWER,
        Source.COUNTED,
        write_amplification,
        _NEVER,
        (
            Figure("mean writes a path", ("mean",), FigureUnit.RATIO),
            Breakdown("Writes by path", "path", ("per_path",), (("writes", ()),)),
        ),
    ),
    Metric(
        _CHURN,
        "time_to_stability_ms",
        "Time to stability",
        Polarity.LOWER,
        Source.CLOCK,
        time_to_stability_ms,
        _NEVER,
        (
            Breakdown(
                "From first authored to last amended, by path",
                "path",
                ("per_path",),
                (("time", ()),),
                FigureUnit.MILLISECONDS,
            ),
        ),
    ),
)
