"""How long dispatches and rounds took: what their ends claim, and what the timestamps say."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import compress, repeat
from operator import attrgetter, floordiv, itemgetter, sub
from typing import TYPE_CHECKING, NamedTuple, cast

from drive_trace.trace.line import Line
from drive_trace.trace.times import are_alike, milliseconds_between
from drive_trace.vocabulary import ALWAYS_KEPT, EVENTS, LIFETIMES, Entity, Lifetime

if TYPE_CHECKING:
    from drive_trace.trace.run_index import RunIndex

TIMED = (LIFETIMES[Entity.DISPATCH], LIFETIMES[Entity.ROUND])
"""What takes a time that its end says."""
_CLOSED_BY = {of.closer: of for of in TIMED}
_TIMED_BY = {name: of for of in TIMED for name in (of.opener, of.closer)}
MOMENT_MS = 5000
"""What lies no farther apart was written at one moment."""
FORGOTTEN_MS = 24 * 60 * 60 * 1000
"""What has been open for longer has not been worked on all the time: nobody closed it, or a clock
was wrong. The longest of 146 durations in real traces is 13.5 hours.
"""
_CLAIM_MS = 60_000
_MILLISECOND = timedelta(milliseconds=1)
_LENGTH = len("2026-05-28T14:00:00.000Z")
facts_of = attrgetter("facts")
ts_of = itemgetter(ALWAYS_KEPT.index("ts"))


class TimeSpan(NamedTuple):
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

    @property
    def is_recorded_afterwards(self) -> bool:
        """Whether start and end were written at one moment, of something that took minutes: then
        the timestamps say nothing about the claim.
        """
        return self.measured_ms <= MOMENT_MS and self.claimed_ms >= _CLAIM_MS

    def is_off(self, tolerance_ms: float, tolerance_percent: float) -> bool:
        """Whether claim and timestamps differ by more than both tolerances."""
        off = abs(self.excess_ms)
        is_far = off > tolerance_ms and 100 * off > tolerance_percent * self.measured_ms
        return is_far and not self.is_recorded_afterwards


def span_ended_by(run: RunIndex, line: Line) -> TimeSpan | None:
    """How long a dispatch or round took that an event ends, also where that is in order."""
    of = _CLOSED_BY.get(line.event.name) if line.event is not None else None
    if of is None:
        return None
    value = line.fact(of.field)
    start = run.table(of.opener, of.field).of(value).before(line)
    end = run.table(of.closer, of.field).of(value).before(line)
    if start is None or (end is not None and end.order > start.order):
        return None
    measured = milliseconds_between(start.text_fact("ts"), line.text_fact("ts"))
    if measured is None or measured < 0:  # then the timestamps are what is wrong
        return None
    return TimeSpan(start, line, cast("int", line.fact("wall_clock_ms")), measured)


def ends_beside(run: RunIndex, line: Line) -> Iterator[Line]:
    """The ends whose duration may be another one when a line comes, or has gone; itself apart."""
    of = _TIMED_BY.get(line.event.name) if line.event is not None else None
    if of is not None:
        end = run.table(of.closer, of.field).beside(line.fact(of.field), line)[1]
        if end is not None:
            yield end


def inexact_ends(run: RunIndex) -> tuple[list[Line], list[Line]]:
    """The ends whose duration is not what the timestamps say, to the digit; and among them those
    that can be recorded afterwards. A few more of both.
    """
    inexact = [end for of in TIMED for end in _of_several(run, of)]
    at_once = [*inexact]
    for of in TIMED:
        for line, claim, passed in zip(*_ended_once(run, of), strict=True):
            if claim != passed:
                inexact.append(line)
                if claim >= _CLAIM_MS and passed is not None and passed <= MOMENT_MS:
                    at_once.append(line)
    return inexact, at_once


def _of_several(run: RunIndex, of: Lifetime) -> Iterator[Line]:
    """The ends of what was started or ended more than once."""
    starts, ends = (run.table(name, of.field) for name in (of.opener, of.closer))
    for value in starts.several.keys() | ends.several.keys():
        yield from ends.of(value)


def _ended_once(
    run: RunIndex, of: Lifetime
) -> tuple[Sequence[Line], Sequence[int], Sequence[int | None]]:
    """The first end of each id, what it claims, and what lies between its timestamps."""
    starts, ends = (run.table(name, of.field) for name in (of.opener, of.closer))
    began = list(map(starts.first.get, ends.first))
    ended = list(compress(ends.first.values(), began))
    place = EVENTS[of.closer].keeps.index("wall_clock_ms")
    claimed = list(map(itemgetter(place), map(facts_of, ended)))
    first, last = (list(map(ts_of, map(facts_of, ls))) for ls in (filter(None, began), ended))
    if are_alike((*first, *last)) and len(first[0]) == _LENGTH:
        try:
            began_at, ended_at = (list(map(datetime.fromisoformat, each)) for each in (first, last))
        except ValueError:
            pass
        else:
            passed = map(floordiv, map(sub, ended_at, began_at), repeat(_MILLISECOND))
            return ended, claimed, list(passed)
    return ended, claimed, list(map(milliseconds_between, first, last))
