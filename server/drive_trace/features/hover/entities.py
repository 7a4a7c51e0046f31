"""Which dispatch, round or slice a value names, and how long it took by the clock."""

from __future__ import annotations

from typing import NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.features.hover.pointed import run_at
from drive_trace.linter.entities.dispatches import Duration, duration
from drive_trace.linter.rules import wall_clock_below_timestamps, wall_clock_exceeds_timestamps
from drive_trace.trace.index import Run
from drive_trace.trace.line import Line, LineSet, run_of
from drive_trace.vocabulary import LIFETIMES, Entity, EventType, FieldType, Lifetime

_NAME = "dispatch_name"
_NUMBER = "round_number"


class Named(NamedTuple):
    """A dispatch, a round or a slice that a trace tells of."""

    of: Lifetime
    id: str
    run: Run | None
    """Where it is; None where no event starts it."""
    starts: LineSet
    ends: LineSet

    def start_for(self, line: Line) -> Line | None:
        """The start that a line means: the nearest one before it, else the first."""
        return self.starts.before(line) or self.starts.first

    def name_for(self, line: Line) -> str | None:
        """What people call it: a dispatch's name, ``round 2``."""
        start = self.start_for(line)
        if start is None:
            return None
        if self.of.entity is Entity.DISPATCH:
            return start.text_fact(_NAME)
        return f"round {start.fact(_NUMBER)}" if self.of.entity is Entity.ROUND else None


def named(analysis: Analysis, line: Line, field: FieldType, value: object) -> Named | None:
    """What a field's value names. An id counts within its run, but that of a dispatch which is
    resumed, and those of lines whose run cannot be read.
    """
    of = LIFETIMES.get(field.names) if field.names is not None else None
    if of is None or not isinstance(value, str):
        return None
    run = run_at(analysis, run_of(line)) if field.name == of.field else None
    if run is None:
        starts = analysis.index.table(of.opener, of.field).of(value)
        start = starts.before(line) or starts.first
        run = analysis.index.runs[start.run] if start is not None else None
    if run is None:
        return Named(of, value, None, LineSet(), LineSet())
    starts = run.table(of.opener, of.field).of(value)
    return Named(of, value, run, starts, run.table(of.closer, of.field).of(value))


def introduces(event: EventType, field: FieldType) -> bool:
    """Whether an event starts what the field names."""
    of = LIFETIMES.get(field.names) if field.names is not None else None
    return of is not None and event.name == of.opener and field.name == of.field


def measured(analysis: Analysis, line: Line) -> Duration | None:
    """The duration that the end of a dispatch or round claims, and what the timestamps say."""
    return duration(analysis.index, line)


def is_off(analysis: Analysis, found: Duration) -> bool:
    """Whether a claim is far from what the timestamps say, as the rules that compare them see it;
    these may be off.
    """
    exceeds = found.excess_ms > 0
    module = wall_clock_exceeds_timestamps if exceeds else wall_clock_below_timestamps
    return found.is_off(**analysis.options_of(module.RULE))
