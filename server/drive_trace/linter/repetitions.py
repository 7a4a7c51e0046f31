"""What starts or ends twice that does so once in a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from drive_trace.linter.rule import Finding, Related, Rule
from drive_trace.trace.line import Line
from drive_trace.trace.places import Place
from drive_trace.trace.run import Run


def repetitions(
    rule: Rule[Any], run: Run, event: str, field: str | None, what: str
) -> Iterator[Finding]:
    """The findings on events of one name that have an earlier one in their run, by the value of a
    field if that is given; but copies, of which duplicate-event-id speaks.
    """
    latest = dict[object, Line]()
    place = Place.value(field or "event_type")
    for line in run.events(event):
        key = line.fact(field) if field is not None else None
        previous = latest.get(key)
        if previous is not None and not line.is_copy_of(previous):
            message = (f"{what} on line ", previous, " already")
            yield Finding(rule, line, place, message, (Related(previous, place, "here"),))
        latest[key] = line
