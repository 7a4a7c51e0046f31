"""How long dispatches and rounds took: what their ends claim, and what the timestamps say."""

from __future__ import annotations

from typing import NamedTuple, cast

from drive_trace.trace.line import Line
from drive_trace.trace.run import Run
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import LIFETIMES, Entity

TIMED = (LIFETIMES[Entity.DISPATCH], LIFETIMES[Entity.ROUND])
"""What takes a time that its end says."""
_CLOSED_BY = {of.closer: of for of in TIMED}
MOMENT_MS = 5000
"""What lies no farther apart was written at one moment."""
FORGOTTEN_MS = 24 * 60 * 60 * 1000
"""What has been open for longer has not been worked on all the time: nobody closed it, or a clock
was wrong. The longest of 146 durations in real traces is 13.5 hours.
"""
_CLAIM_MS = 60_000


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


def span_ended_by(run: Run, line: Line) -> TimeSpan | None:
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
