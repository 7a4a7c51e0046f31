"""Dispatches and their rounds in time: by the clock, and as the author claims."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

import msgspec

from drive_trace.scorecard.caveats import LineRef
from drive_trace.text.wording import short_time
from drive_trace.trace.line import Line
from drive_trace.trace.provenance import ProvenanceRecord
from drive_trace.trace.reading import values_of
from drive_trace.trace.run import Length, length_of, work_of
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import DISPATCH, EVENTS, ROUND, Entity

Key = TypeVar("Key")
Item = TypeVar("Item")


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


def events_of(
    lines: Iterable[Line],
    run_id: str | None = None,
    path: str = "",
    record: ProvenanceRecord | None = None,
) -> tuple[Event, ...]:
    """Every valid event of one run, or of all, given all lines of its trace, and the record beside
    it.
    """
    return tuple(
        Event(
            line.event.name, values_of(line), path, number, record.measured(line) if record else ()
        )
        for number, line in enumerate(lines, 1)
        if line.event is not None and (run_id is None or line.run == run_id)
    )


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
    def length(self) -> Length | None:
        """How long it took; None while it has no end."""
        claimed = self.claimed_ms
        return length_of(claimed, self.clock_ms) if claimed is not None else None

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
    def work(self) -> Sequence[Length]:
        """See :func:`work_of`."""
        return work_of(self.length, [*filter(None, (each.length for each in self.rounds))])

    @property
    def waiting(self) -> list[str]:
        """Work and waiting apart, where it was not work for most of the time."""
        worked, clock = sum(ms for ms, _ in self.work), self.clock_ms
        if clock is None or worked >= 0.9 * clock:
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


_OF_ROUNDS = (ROUND.opener, ROUND.closer)
SPANNING = (DISPATCH.opener, DISPATCH.closer, *_OF_ROUNDS)
"""The events that start and end dispatches and rounds."""


class Named(list[Item]):
    """The events that name one run, slice, dispatch or round."""

    start: Item | None = None
    """The first that starts it."""
    end: Item | None = None
    """The last that ends it."""


def named_by(
    entity: Entity, mentions: Iterable[tuple[Key, str, Item]]
) -> Mapping[Key, Named[Item]]:
    """Events by what each names, in order of first mention, given that, the type and the event."""
    found = defaultdict[Key, Named[Item]](Named)
    for key, name, event in mentions:
        named = found[key]
        named.append(event)
        if EVENTS[name].opens is entity:
            named.start = named.start or event
        elif EVENTS[name].closes is entity:
            named.end = event
    return found


def dispatches_of(events: Iterable[Event]) -> tuple[DispatchSpan, ...]:
    """The dispatches of a run in order of first mention, given the events that start and end them
    and their rounds.
    """
    mentions = ((each.text("dispatch_id"), each.name, each) for each in events)
    return tuple(_span(*each) for each in named_by(Entity.DISPATCH, mentions).items())


def _span(dispatch_id: str, named: Named[Event]) -> DispatchSpan:
    own = [(e.text("round_id"), e.name, e) for e in named if e.name in _OF_ROUNDS]
    rounds = (
        RoundSpan(each.start, each.end, key) for key, each in named_by(Entity.ROUND, own).items()
    )
    starts = sum(name == ROUND.opener for _, name, _ in own)
    return DispatchSpan(named.start, named.end, dispatch_id, starts, tuple(rounds))
