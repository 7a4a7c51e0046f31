"""The valid events of one or several traces, for metrics, assertions and timelines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from drive_trace.scorecard.card import RunScore
from drive_trace.scorecard.summary import TraceSummary


class Event(NamedTuple):
    """A valid event and where it stands."""

    name: str
    values: Mapping[str, Any]
    """Its declared fields, by name."""
    path: str
    line: int
    """From 1."""

    # No ``cast`` here: a report on a long trace reads a million values, and each is a call.

    def text(self, field: str) -> str:
        """A field that is a string in every event of this name."""
        value: str = self.values[field]
        return value

    def number(self, field: str) -> int:
        """A field that is an integer in every event of this name."""
        value: int = self.values[field]
        return value

    @property
    def event_id(self) -> str:
        """Identifies the event, by convention."""
        return self.text("event_id")

    @property
    def ts(self) -> str:
        """When it was emitted, as its author wrote it."""
        value: str = self.values["ts"]
        return value

    @property
    def run_id(self) -> str:
        """The run that it belongs to."""
        value: str = self.values["project_run_id"]
        return value


class TraceLog(NamedTuple):
    """One trace: its valid events in order, and the numbers of its other lines."""

    summary: TraceSummary
    events: tuple[Event, ...]
    invalid_lines: tuple[int, ...]
    """From 1."""
    records: Sequence[str] = ()
    """Its lines as they stand there, where somebody may look at them."""

    @property
    def path(self) -> str:
        """The name of the trace in what is shown."""
        return self.summary.path

    @property
    def unknown_lines(self) -> tuple[int, ...]:
        """Lines whose event type is outside the vocabulary, from 1."""
        return self.summary.unknown_lines


def _counted_once(traces: Sequence[TraceLog], runs: Sequence[RunScore]) -> Iterator[Event]:
    # By identity, as the texts of two traces may be named alike.
    copied = {
        id(part): lines
        for run in runs
        for part, lines in zip(run.parts, run.copied_lines, strict=False)
    }
    for trace in traces:
        lines = frozenset().union(*(copied.get(id(run), ()) for run in trace.summary.runs))
        yield from (event for event in trace.events if event.line not in lines)


class EventLog:
    """The events of all traces, one trace after another in the order given.

    Metrics and assertions of a single trace are defined over its events in file order. Several
    traces are read as if they were one file, in which each event counts once: what is a copy, the
    scores of their runs say.
    """

    def __init__(self, traces: Sequence[TraceLog], runs: Sequence[RunScore] = ()) -> None:
        self.events = tuple(_counted_once(traces, runs))
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
