"""The valid events of one or several traces: for metrics and timelines, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from drive_trace.scorecard.caveats import LineRef
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import TraceSummary
from drive_trace.text.wording import HUGE, compact, short_time
from drive_trace.vocabulary import EVENTS
from drive_trace.vocabulary.registry import ENVELOPE, FieldType
from drive_trace.vocabulary.types import Entity


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
    def place(self) -> LineRef:
        """Where it stands."""
        return LineRef(self.path, self.line)

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
    # In the order of the traces, as the texts of two may be named alike.
    parts = {run.run_id: iter(run.parts) for run in runs}
    for trace in traces:
        own = (next(parts.get(run.run_id, iter(())), None) for run in trace.summary.runs)
        copied = {line for part in own if part is not None for line in part.copied}
        yield from (event for event in trace.events if event.line not in copied)


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


class EventWords:
    """Words events; a dispatch and a round are called by name, as their starts say it."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._names: dict[tuple[Entity, object], str] = {}
        for event in events:
            opened = EVENTS[event.name].opens
            if opened is Entity.DISPATCH:
                name = event.text("dispatch_name")
                self._names[opened, event.values["dispatch_id"]] = name
            elif opened is Entity.ROUND:
                name = f"round {event.number('round_number')}"
                self._names[opened, event.values["round_id"]] = name

    def of(self, event: Event) -> str:
        """``M3b.1 parser, round 2, satisfied, findings filed 0, 5m 00s``; untrusted."""
        return ", ".join(self._phrases(event))

    def _phrases(self, event: Event) -> Iterator[str]:
        fields = EVENTS[event.name].fields
        for name, value in event.values.items():
            field = fields.get(name)
            if field is None or name in ENVELOPE or value is None:
                continue
            if field.names is not None and field.names is EVENTS[event.name].opens:
                continue  # it says its own name
            phrase = self._phrase(name, field, value)
            if phrase is not None:
                yield phrase

    def _phrase(self, name: str, field: FieldType, value: object) -> str | None:
        called = name.replace("_", " ")
        if field.names in (Entity.DISPATCH, Entity.ROUND):
            known = self._names.get((field.names, value))
            return known if name in ("dispatch_id", "round_id") else None
        if isinstance(value, bool):
            return called if value else f"not {called}"
        if isinstance(value, int | float):
            if field.unit == "bytes":
                return None
            if field.unit == "milliseconds":
                return short_time(round(value))
            whole = isinstance(value, int) and abs(value) < HUGE
            return f"{called} {f'{value:,}' if whole else compact(round(value))}"
        if isinstance(value, str):
            if name.endswith(("_hash", "_id")):
                return None
            if name.endswith("_path"):
                return value.rpartition("/")[2]
            is_bare = field.is_outcome or name in ("dispatch_name", "model", "subagent_type")
            return value if is_bare or "_" not in name else f"{called} {value}"
        if isinstance(value, list):
            return f"{called}: {'; '.join(map(str, value))}"
        return None
