"""The diagnostic metrics: facts over all events of the traces, no score."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from drive_trace.report.event_log import EventLog
from drive_trace.report.metrics import lifecycle, planning, rework
from drive_trace.report.metrics.base import Measured, Metric, Value

METRICS: Sequence[Metric] = (*rework.METRICS, *planning.METRICS, *lifecycle.METRICS)
"""Every metric, group by group, in the order in which they are shown."""

GROUPS = {
    "rework": "Rework",
    "planning_quality": "Planning",
    "artefact_churn": "Churn",
    "lifecycle": "Lifecycle",
    "operator": "Operator",
}
"""The groups with their titles."""


def measure(log: EventLog) -> tuple[Measured, ...]:
    """Compute every metric."""
    return tuple(Measured(metric, metric.compute(log)) for metric in METRICS)


def to_json(measured: Iterable[Measured]) -> dict[str, dict[str, Value]]:
    """The values by group and key, as the reference reader has them."""
    groups: dict[str, dict[str, Value]] = {name: {} for name in GROUPS}
    for metric, value in measured:
        groups[metric.group][metric.key] = value
    return groups


__all__ = ["GROUPS", "METRICS", "Measured", "Metric", "measure", "to_json"]
