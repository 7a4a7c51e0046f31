"""A run: all lines that name it, in their order."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import Any, TypeVar, cast

import msgspec

from drive_trace.stopping import cached_property
from drive_trace.trace import line as trace_line
from drive_trace.trace.line import FlaggedLine, Line, LineSet, earliest, name_of, references_of
from drive_trace.trace.times import is_of_year, milliseconds_between, year_of
from drive_trace.vocabulary import DISPATCH, EVENTS, OPENING, ROUND, Form, Lifetime

_NO_LINES: Sequence[Line] = ()

Result = TypeVar("Result")


class Run:
    """All lines that name a run, in their order. What is computed of it is kept; an edit makes a
    new run of each whose lines changed.
    """

    def __init__(
        self,
        run_id: str,
        lines: Iterable[Line] = (),
        odd: Iterable[FlaggedLine] = (),
        slips: Sequence[Line] = (),
        meant: str | None = None,
    ) -> None:
        self.run_id = run_id
        self.meant = meant
        """The run that is meant, where its id is most likely a slip."""
        self.lines = LineSet(lines)
        """Its valid events."""
        self.odd = LineSet(odd)
        """The lines of it that readers reject or keep apart."""
        self.slips = slips
        """The events that most likely are its own, and name it by a slip."""
        self.copies: Sequence[Line] | None = None
        """Where files are joined: its events that stand once more in another one."""
        by_event = defaultdict[str, LineSet](LineSet)
        for line in self.lines:
            by_event[line.event.name].append(line)  # type: ignore[union-attr]  # all have one
        self.by_event = dict(by_event)
        """The events by their names; never an empty set."""
        self._tables: dict[tuple[str, str], Mapping[object, LineSet]] = {}
        self._kept: dict[Callable[[Run], Any], Any] = {}

    def __len__(self) -> int:
        return len(self.lines)

    def events(self, name: str) -> LineSet:
        """The events of one name."""
        return self.by_event.get(name) or LineSet()

    def table(self, name: str, field: str) -> Mapping[object, LineSet]:
        """The events of one name by a field that lines keep; null is no value."""
        if (name, field) not in self._tables:
            place = EVENTS[name].positions[field]
            found = defaultdict[object, LineSet](LineSet)
            for line in self.events(name):
                found[line.facts[place]].append(line)
            found.pop(None, None)
            self._tables[name, field] = dict(found)
        return self._tables[name, field]

    def counts(self, name: str, field: str) -> Counter[object]:
        """How many events of one name have each value of a field that lines keep."""
        place = EVENTS[name].positions[field]
        return Counter([line.facts[place] for line in self.events(name)])

    def of(self, name: str, field: str, value: object) -> LineSet:
        """The events of one name in which a field has a value."""
        return self.table(name, field).get(value) or LineSet()

    def next_of(self, names: Iterable[str], line: Line) -> Line | None:
        """The nearest event of some names after a line."""
        return earliest(self.events(name).after(line) for name in names)

    @property
    def begins_midway(self) -> bool:
        """Whether events are missing above its first one, with which no run begins."""
        return name_of(self.lines[0]) not in OPENING

    def kept(self, compute: Callable[[Run], Result]) -> Result:
        """What a function computes of the run, once."""
        if compute not in self._kept:
            self._kept[compute] = compute(self)
        return cast("Result", self._kept[compute])

    def open_at(self, of: Lifetime, value: object, line: Line) -> Line | None:
        """The start of a dispatch or round, given its id, that has no end yet above a line."""
        start = self.of(of.opener, of.field, value).before(line)
        end = self.of(of.closer, of.field, value).before(line)
        is_over = start is not None and end is not None and end.order > start.order
        return None if is_over else start

    # What was worked

    def work_after(self, line: Line) -> LineSet:
        """The work below a line."""
        return in_order(
            chain.from_iterable(
                lines[lines.position(line) :]
                for name, lines in self.by_event.items()
                if EVENTS[name].is_work
            )
        )

    # What cannot be read

    @cached_property
    def _references(self) -> Mapping[tuple[str, object], LineSet]:
        found = defaultdict[tuple[str, object], LineSet](LineSet)
        for line in self.odd:
            for each in trace_line.references_in_text(cast("FlaggedLine", line)):
                found[each].append(line)
        return found

    def unread(self, field: str, value: object) -> Sequence[Line]:
        """Its lines that readers reject or keep apart, and on which a field names something."""
        return self._references.get((field, value), _NO_LINES)

    def in_doubt(self, field: str, value: object) -> Sequence[Line]:
        """Those, and the events that name the run by a slip: what seems to be missing may be
        there.
        """
        slips = [line for line in self.slips if (field, value) in references_of(line)]
        return [*self.unread(field, value), *slips]


def any_between(lines: Iterable[Line], start: Line | None, end: Line) -> bool:
    """Whether one of some lines stands between two others, or before one."""
    least = -1 if start is None else start.order
    return any(least < each.order < end.order for each in lines)


def in_order(lines: Iterable[Line]) -> LineSet:
    """Lines as a set."""
    return LineSet(sorted(lines, key=attrgetter("order")))


# When it was


def misdated(run: Run) -> tuple[int | None, Sequence[Line]]:
    """The year of a run, as :func:`year_of` tells it, and its events whose year is another one."""
    stamps = sorted([line.facts[trace_line.TS] for line in run.lines])
    # As nearly all are of one year, one is enough.
    year = year_of(stamps if stamps and stamps[0][:4] != stamps[-1][:4] else stamps[:1])
    if all(is_of_year(ts, year) for ts in (*stamps[:1], *stamps[-1:])):  # as nearly always
        return year, _NO_LINES
    wrong = (line for line in run.lines if not is_of_year(line.text_fact("ts"), year))
    return year, [line for line in wrong if line.text_fact("ts") in Form.TIMESTAMP]


# How long dispatches and rounds took


TIMED = (DISPATCH, ROUND)
"""What takes a time that its end says."""
_CLOSED_BY = {of.closer: of for of in TIMED}
MOMENT_MS = 5000
"""What lies no farther apart was written at one moment."""
FORGOTTEN_MS = 24 * 60 * 60 * 1000
"""What has been open for longer has not been worked on all the time: nobody closed it, or a clock
was wrong. The longest of 146 durations in real traces is 13.5 hours.
"""
_CLAIM_MS = 60_000


def is_recorded_afterwards(measured_ms: int, claimed_ms: int) -> bool:
    """Whether start and end were written at one moment, of something that took minutes: then the
    timestamps say nothing about the claim.
    """
    return measured_ms <= MOMENT_MS and claimed_ms >= _CLAIM_MS


Length = tuple[int, bool]
"""Milliseconds, and whether only their author says so."""


def length_of(claimed: int, clock: int | None) -> Length:
    """How long something took, given what its end claims and what lies between the timestamps,
    unless a clock was wrong or nobody closed it.
    """
    is_off = clock is None or not 0 <= clock <= max(claimed, FORGOTTEN_MS)
    if clock is None or is_off or is_recorded_afterwards(clock, claimed):
        return claimed, True
    return clock, False


def work_of(own: Length | None, rounds: Sequence[Length]) -> Sequence[Length]:
    """The lengths of the rounds of a dispatch, or its own where none has one. What rounds claim
    fills what the others leave of its time by the clock, and no more.
    """
    if own is None or own[1]:
        return rounds or [*filter(None, [own])]
    left = own[0] - sum(ms for ms, is_claimed in rounds if not is_claimed)
    found: list[Length] = []
    for ms, is_claimed in rounds:
        found.append((max(min(ms, left), 0) if is_claimed else ms, is_claimed))
        left -= ms * is_claimed
    return found or [own]


class TimeSpan(msgspec.Struct, frozen=True):
    """The way from a start to an end of a dispatch or round.

    Left out are those whose timestamps cannot be right: the end is earlier, or one is no timestamp.
    """

    start: Line
    end: Line
    claimed_ms: int
    """What the end says."""
    measured_ms: int
    """What lies between the two timestamps."""

    @property
    def excess_ms(self) -> int:
        """How much more is claimed than was measured; negative where it is less."""
        return self.claimed_ms - self.measured_ms

    def is_off(self, tolerance_ms: float, tolerance_percent: float) -> bool:
        """Whether claim and timestamps differ by more than both tolerances."""
        off = abs(self.excess_ms)
        is_far = off > tolerance_ms and 100 * off > tolerance_percent * self.measured_ms
        return is_far and not is_recorded_afterwards(self.measured_ms, self.claimed_ms)


def span_ended_by(run: Run, line: Line) -> TimeSpan | None:
    """How long a dispatch or round took that an event ends, also where that is in order."""
    of = _CLOSED_BY.get(line.event.name) if line.event is not None else None
    if of is None:
        return None
    start = run.open_at(of, line.fact(of.field), line)
    if start is None:
        return None
    measured = milliseconds_between(start.text_fact("ts"), line.text_fact("ts"))
    if measured is None or measured < 0:  # then the timestamps are what is wrong
        return None
    return TimeSpan(start, line, cast("int", line.fact("wall_clock_ms")), measured)
