"""Metrics of the lifecycle of projects and slices, and of the people who run them."""

from __future__ import annotations

from drive_trace.report.event_log import EventLog
from drive_trace.report.metrics.base import (
    Breakdown,
    Figure,
    FigureUnit,
    Metric,
    Polarity,
    Source,
    Value,
    counted,
)
from drive_trace.trace.times import milliseconds_between

_SEVERITIES = ("none", "low", "medium", "high")


def project_wallclock_ms(log: EventLog) -> Value:
    """From the first ``project-started`` to the first ``project-closed``."""
    started, closed = log.of("project-started"), log.of("project-closed")
    return milliseconds_between(started[0].ts, closed[0].ts) if started and closed else None


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


def health_check_cadence(log: EventLog) -> Value:
    """``health-check-fired`` events by what made them fire, and the worst drift they found."""
    checks = log.of("health-check-fired")
    severities = [event.text("max_drift_severity") for event in checks]
    return {
        "count": len(checks),
        "cadence_distribution": counted(event.text("cadence") for event in checks),
        "max_drift_severity": max(severities, key=_SEVERITIES.index, default=None),
    }


def retro_distribution(log: EventLog) -> Value:
    """``retro-landed`` events by what they were held for, and by where the lessons went."""
    retros = log.of("retro-landed")
    surfaces = (event.values["landing_surfaces"] for event in retros)
    return {
        "count": len(retros),
        "trigger_class_distribution": counted(event.text("trigger_class") for event in retros),
        "landing_surfaces_distribution": counted(
            str(surface) for each in surfaces if isinstance(each, list) for surface in each
        ),
    }


def operator_turn_count(_: EventLog) -> Value:
    """How often the operator had to step in: always None here."""
    return None


_GROUP = "lifecycle"
_NEVER = "it always has a value"

METRICS = (
    Metric(
        _GROUP,
        "project_wallclock_ms",
        "Project wall-clock",
        Polarity.LOWER,
        Source.CLOCK,
        project_wallclock_ms,
        "there is no project-started with a project-closed, or a timestamp cannot be read",
        (Figure("first closed − first started", (), FigureUnit.MILLISECONDS),),
    ),
    Metric(
        _GROUP,
        "slice_wallclock_ms",
        "Slice wall-clock",
        Polarity.LOWER,
        Source.CLOCK,
        slice_wallclock_ms,
        "no slice-started and no slice-completed was recorded",
        (
            Breakdown(
                "Last completed − last started, by slice",
                "slice",
                (),
                (("time", ()),),
                FigureUnit.MILLISECONDS,
            ),
        ),
    ),
    Metric(
        _GROUP,
        "health_check_cadence",
        "Health checks",
        Polarity.NEITHER,
        Source.ASSERTED,
        health_check_cadence,
        _NEVER,
        (
            Figure("checks", ("count",)),
            Figure("worst drift found", ("max_drift_severity",), FigureUnit.WORD),
            Breakdown(
                "Health checks by cadence", "cadence", ("cadence_distribution",), (("checks", ()),)
            ),
        ),
    ),
    Metric(
        _GROUP,
        "retro_distribution",
        "Retros",
        Polarity.NEITHER,
        Source.ASSERTED,
        retro_distribution,
        _NEVER,
        (
            Figure("retros", ("count",)),
            Breakdown(
                "Retros by trigger class",
                "trigger class",
                ("trigger_class_distribution",),
                (("retros", ()),),
            ),
            Breakdown(
                "Retros by landing surface",
                "surface",
                ("landing_surfaces_distribution",),
                (("retros", ()),),
            ),
        ),
    ),
    Metric(
        "operator",
        "operator_turn_count",
        "Operator turns",
        Polarity.LOWER,
        Source.NOBODY,
        operator_turn_count,
        "no event records the operator's turns",
        (Figure("turns"),),
    ),
)
