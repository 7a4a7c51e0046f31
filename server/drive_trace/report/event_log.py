"""The valid events of one or several traces: in order, by dispatch and round, and in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from heapq import merge
from typing import Any, NamedTuple

import msgspec

from drive_trace.scorecard.caveats import LineRef
from drive_trace.scorecard.measures import as_double
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import TraceSummary
from drive_trace.text.wording import HUGE, compact, short_time
from drive_trace.trace.joined import sharing
from drive_trace.trace.times import milliseconds_between, sortable
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
    measured: Sequence[str] = ()
    """The fields that were measured, as the record beside the file says."""

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


def _counted_once(traces: Sequence[TraceLog], runs: Sequence[RunScore]) -> Iterator[list[Event]]:
    """The events of each trace, without those that are copies."""
    # In the order of the traces, as the texts of two may be named alike.
    parts = {run.run_id: iter(run.parts) for run in runs}
    for trace in traces:
        own = (next(parts.get(run.run_id, iter(())), None) for run in trace.summary.runs)
        copied = {line for part in own if part is not None for line in part.copied}
        yield [event for event in trace.events if event.line not in copied]


def _by_moment(file: int, events: Iterable[Event]) -> Iterator[tuple[str, int, int, Event]]:
    """Events with what they are joined by: as in :mod:`drive_trace.trace.joined`, position outranks
    a ``ts`` that goes back, or cannot be read.
    """
    latest = ""
    for number, event in enumerate(events):
        latest = max(latest, sortable(event.ts) or "")
        yield latest, file, number, event


class EventLog:
    """The events of all traces, in the order of their runs: those of traces that share runs stand
    by ``ts``, within a trace by position; other traces follow one another in the order given.

    Metrics and assertions of a single trace are defined over its events in file order. Several
    traces are read as if they were one file, in which each event counts once: what is a copy, the
    scores of their runs say.
    """

    def __init__(self, traces: Sequence[TraceLog], runs: Sequence[RunScore] = ()) -> None:
        own = list(_counted_once(traces, runs))
        groups = sharing([{run.run_id for run in each.summary.runs} for each in traces])
        self.events = tuple(
            event
            for group in groups
            for *_, event in merge(*(_by_moment(file, own[file]) for file in group))
        )
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


# Dispatches and their rounds in time: by the clock, and as the author claims


class Outcome(StrEnum):
    """How a dispatch or round came out, as far as somebody who looks has to tell them apart."""

    PASSED = "passed"
    FAILED = "failed"
    AGAIN = "again"
    """Findings remain, and another round has to follow."""
    HALTED = "halted"
    OPEN = "open"
    """No end is recorded."""


_OUTCOMES = {
    "completed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "aborted": Outcome.HALTED,
    "satisfied": Outcome.PASSED,
    "another-round-needed": Outcome.AGAIN,
    "escalating-to-user": Outcome.HALTED,
    "stop-condition": Outcome.HALTED,
}


class Period(msgspec.Struct, frozen=True):
    """Something that starts and ends. None is *not recorded*."""

    start: Event | None
    end: Event | None

    @property
    def started(self) -> str | None:
        """The timestamp of its start."""
        return self.start.ts if self.start else None

    @property
    def ended(self) -> str | None:
        """The timestamp of its end."""
        return self.end.ts if self.end else None

    @property
    def claimed_ms(self) -> int | None:
        """The ``wall_clock_ms`` that its end asserts."""
        return self.end.number("wall_clock_ms") if self.end else None

    @property
    def how(self) -> str:
        """Whether that was measured, as the record beside the file says, or is a claim."""
        is_measured = self.end is not None and "wall_clock_ms" in self.end.measured
        return "measured" if is_measured else "claimed"

    @property
    def clock_ms(self) -> int | None:
        """From its start to its end, by their timestamps."""
        return milliseconds_between(self.started, self.ended)

    @property
    def said(self) -> str | None:
        """How it ended: the result of a dispatch, or the verdict of a round."""
        if self.end is None:
            return None
        return self.end.text("result" if self.end.name == "dispatch-end" else "verdict")

    @property
    def outcome(self) -> Outcome:
        """The same, for who draws it."""
        return _OUTCOMES[self.said] if self.said is not None else Outcome.OPEN


class RoundSpan(Period, frozen=True):
    """One round."""

    round_id: str

    @property
    def number(self) -> int | None:
        """Its place in the dispatch, from 1, as its start says."""
        return self.start.number("round_number") if self.start else None

    @property
    def findings(self) -> int | None:
        """How many findings its review filed."""
        return self.end.number("findings_filed") if self.end else None


class DispatchSpan(Period, frozen=True):
    """One dispatch of a run."""

    dispatch_id: str
    round_starts: int
    """How often a round was started in it: its rework."""
    rounds: tuple[RoundSpan, ...]

    @property
    def name(self) -> str | None:
        """What its start calls it."""
        return self.start.text("dispatch_name") if self.start else None

    @property
    def called(self) -> str:
        """What people call it; untrusted."""
        return self.name or self.dispatch_id

    @property
    def worked_ms(self) -> int | None:
        """How much of it was in rounds, by the clock; None where no round has both ends."""
        known = [ms for each in self.rounds if (ms := each.clock_ms) is not None and ms >= 0]
        return sum(known) if known else None

    @property
    def waiting(self) -> list[str]:
        """Work and waiting apart, where it was not work for most of the time."""
        worked, clock = self.worked_ms, self.clock_ms
        if worked is None or clock is None or worked >= 0.9 * clock:
            return []
        return [f"{short_time(worked)} in rounds", f"{short_time(clock - worked)} waiting"]

    @property
    def claims_more(self) -> bool:
        """Whether its author claims clearly more time than the clock allows: over 2 s and 2 %."""
        claimed, clock = self.claimed_ms, self.clock_ms
        if claimed is None or clock is None:
            return False
        return claimed - clock > max(2000, clock // 50)

    @property
    def model(self) -> str | None:
        """What its sub-agent ran on."""
        model = self.start.values["model"] if self.start else None
        return None if model is None else str(model)


Timelines = Mapping[str, Sequence[DispatchSpan]]
"""The dispatches of each run, in order of first mention."""


SPANNING = ("dispatch-start", "dispatch-end", "round-start", "round-end")
"""The events that start and end dispatches and rounds."""


def timelines(log: EventLog) -> Timelines:
    """Group the events of the build loop. A start counts once, the first; an end, the last."""
    runs: dict[str, dict[str, list[Event]]] = {}
    for event in log.of(*SPANNING):
        dispatches = runs.setdefault(event.run_id, {})
        dispatches.setdefault(event.text("dispatch_id"), []).append(event)
    return {
        run_id: tuple(_dispatch_span(key, events) for key, events in dispatches.items())
        for run_id, dispatches in runs.items()
    }


def _dispatch_span(dispatch_id: str, events: Sequence[Event]) -> DispatchSpan:
    rounds: dict[str, list[Event]] = {}
    for event in events:
        if event.name in {"round-start", "round-end"}:
            rounds.setdefault(event.text("round_id"), []).append(event)
    return DispatchSpan(
        *_ends(events, "dispatch-start", "dispatch-end"),
        dispatch_id,
        sum(event.name == "round-start" for event in events),
        tuple(
            RoundSpan(*_ends(inside, "round-start", "round-end"), round_id)
            for round_id, inside in rounds.items()
        ),
    )


def _ends(events: Sequence[Event], opener: str, closer: str) -> tuple[Event | None, Event | None]:
    """The first event that opens it, and the last that closes it."""
    return _first(events, opener), _first(reversed(events), closer)


def _first(events: Iterable[Event], name: str) -> Event | None:
    return next((event for event in events if event.name == name), None)


def timelines_json(runs: Timelines) -> dict[str, object]:
    """Every dispatch and round of every run."""
    return {run_id: [_dispatch_json(each) for each in spans] for run_id, spans in runs.items()}


def _span_json(span: Period) -> dict[str, object]:
    return {
        "started": span.started,
        "ended": span.ended,
        "claimed_ms": as_double(span.claimed_ms),
        "clock_ms": span.clock_ms,
    }


def _dispatch_json(dispatch: DispatchSpan) -> dict[str, object]:
    return {
        "dispatch_id": dispatch.dispatch_id,
        "name": dispatch.name,
        "model": dispatch.model,
        **_span_json(dispatch),
        "result": dispatch.said,
        "round_starts": dispatch.round_starts,
        "rounds": [
            {
                "round_id": each.round_id,
                "number": as_double(each.number),
                **_span_json(each),
                "verdict": each.said,
                "findings": as_double(each.findings),
            }
            for each in dispatch.rounds
        ],
    }


# Events in words


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
                return "/".join(value.split("/")[-2:])
            is_bare = field.is_outcome or name in ("dispatch_name", "model", "subagent_type")
            return value if is_bare or "_" not in name else f"{called} {value}"
        if isinstance(value, list):
            return f"{called}: {'; '.join(map(str, value))}"
        return None
