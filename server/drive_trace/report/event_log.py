"""The valid events of one or several traces, for what looks further than the scorecard."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from drive_trace.scorecard.copies import Events, overlaps
from drive_trace.scorecard.summary import TraceSummary
from drive_trace.trace.reading import Values


class Event(NamedTuple):
    """A valid event and where it stands."""

    name: str
    values: Values
    path: str
    line: int
    """From 1."""

    def text(self, field: str) -> str:
        """A field that is a string in every event of this name."""
        return cast("str", self.values[field])

    def number(self, field: str) -> int:
        """A field that is an integer in every event of this name."""
        return cast("int", self.values[field])

    @property
    def event_id(self) -> str:
        """Identifies the event, by convention."""
        return self.text("event_id")

    @property
    def ts(self) -> str:
        """When it was emitted, as its author wrote it."""
        return self.text("ts")

    @property
    def run_id(self) -> str:
        """The run that it belongs to."""
        return self.text("project_run_id")


class TraceLog(NamedTuple):
    """One trace: its valid events in order, and what became of its other lines."""

    summary: TraceSummary
    events: tuple[Event, ...]
    invalid_lines: tuple[int, ...]
    """From 1."""

    @property
    def path(self) -> str:
        """How the trace is called in what is shown."""
        return self.summary.path

    @property
    def unknown_lines(self) -> tuple[int, ...]:
        """Lines whose event type is outside the vocabulary, from 1."""
        return self.summary.unknown_lines


def _counted_once(traces: Sequence[TraceLog]) -> Iterator[Event]:
    copied: list[set[int]] = [set() for _ in traces]
    parts: dict[str, list[tuple[int, Events]]] = {}
    for number, trace in enumerate(traces):
        for run in trace.summary.runs:
            parts.setdefault(run.run_id, []).append((number, run.events))
    for each in parts.values():
        if len(each) > 1:
            shared = overlaps(events for _, events in each)
            for (number, _), overlap in zip(each, shared, strict=True):
                copied[number].update(twin.here.line for twin in overlap.copies)
    for trace, lines in zip(traces, copied, strict=True):
        yield from (event for event in trace.events if event.line not in lines)


class EventLog:
    """The events of all traces, one trace after another in the order given.

    Metrics and assertions of a single trace are defined over its events in file
    order; several traces are read as if they were written one behind the other. What of a run
    stands in several of them counts once, see :mod:`drive_trace.scorecard.copies`.
    """

    def __init__(self, traces: Sequence[TraceLog]) -> None:
        self.events = tuple(_counted_once(traces))
        self._by_name: dict[str, list[Event]] = {}
        for event in self.events:
            self._by_name.setdefault(event.name, []).append(event)

    def of(self, *names: str) -> Sequence[Event]:
        """The events of these names, in order."""
        if len(names) == 1:
            return self._by_name.get(names[0], [])
        return [event for event in self.events if event.name in names]

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)
