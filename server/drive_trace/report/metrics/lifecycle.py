"""Metrics of the lifecycle of projects and slices, and of the people who run them."""

from __future__ import annotations

from drive_trace.report.event_log import EventLog
from drive_trace.report.metrics.base import (
    Figure,
    FigureUnit,
    Polarity,
    Source,
    Value,
    breakdown,
    counted,
    metric,
)
from drive_trace.trace.times import milliseconds_between

_SEVERITIES = ("none", "low", "medium", "high")
_GROUP = "lifecycle"


@metric(
    _GROUP,
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
    _GROUP,
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
    _GROUP,
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
    severities = [event.text("max_drift_severity") for event in checks]
    return {
        "count": len(checks),
        "cadence_distribution": counted(event.text("cadence") for event in checks),
        "max_drift_severity": max(severities, key=_SEVERITIES.index, default=None),
    }


@metric(
    _GROUP,
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
        "trigger_class_distribution": counted(event.text("trigger_class") for event in retros),
        "landing_surfaces_distribution": counted(
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


METRICS = (
    project_wallclock_ms,
    slice_wallclock_ms,
    health_check_cadence,
    retro_distribution,
    operator_turn_count,
)
