"""The failures of a run that a trace tells of: halts, and what did not come out as it should."""

from __future__ import annotations

from collections import deque
from collections.abc import Container, Iterable, Mapping

from drive_trace.grading.classes import Item
from drive_trace.trace.line import Line

_FAILURES: Mapping[str, tuple[str, Container[str]]] = {
    "dispatch-end": ("result", {"failed", "aborted"}),
    "round-end": ("verdict", {"another-round-needed", "escalating-to-user", "stop-condition"}),
    "slice-completed": ("result", {"abandoned"}),
}
"""By event: the field that tells a failure, and the values that do. A halt is one anyway."""
_HALT = "falsified-assumption"
_BEFORE = 20
"""So many events of the run stand before each failure as its context."""


def failures_of(lines: Iterable[Line], run_id: str | None = None) -> list[Item] | None:
    """The halts, failed dispatches and rounds, and abandoned slices of a run, or for None of all,
    each with the events of its run before it; None where there is no event. Grades and costs are
    no part of it.
    """
    events: dict[str, deque[str]] = {}
    items = []
    for number, line in enumerate(lines, 1):
        if line.event is None or line.event.is_feed or run_id not in {None, line.run}:
            continue
        before = events.setdefault(line.run, deque(maxlen=_BEFORE))
        name = _failure(line)
        if name is not None:
            items.append(Item(number, line.text, "\n".join(before), name))
        before.append(line.text)
    return items if events else None


def _failure(line: Line) -> str | None:
    assert line.event is not None
    name = line.event.name
    if name == _HALT:
        return name
    field, values = _FAILURES.get(name, (None, ()))
    value = line.fact(field) if field is not None else None
    return f"{name}: {value}" if value in values else None
