"""The slice, dispatch and round that a line is in.

A line that names a dispatch or round is in it. A line that names none (a plan amended half-way, a
health check) is in what was started last above it and goes on below it. So is a dispatch, as none
names its slice. A rejected start counts as far as its text can be read.

Only the nearest starts above are looked at, so that a walk costs what the trace is long.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple, cast

from drive_trace.trace.index import Index
from drive_trace.trace.line import (
    FlaggedLine,
    Line,
    LineStatus,
    earliest,
    event_of,
    latest,
    name_of,
)
from drive_trace.trace.references import references_in_text, run_id_of
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, EventType, Lifetime

REACH = 16
"""How many starts above a line are looked at, and how many lines for a run id that it lacks."""

_LEVELS = _SLICE, _DISPATCH, _ROUND = (
    LIFETIMES[Entity.SLICE],
    LIFETIMES[Entity.DISPATCH],
    LIFETIMES[Entity.ROUND],
)


def _is_about_run(event: EventType) -> bool:
    return event.is_feed or Entity.RUN in (event.opens, event.closes)


_ENDS_SLICES = tuple(
    each.name for each in EVENTS.values() if _is_about_run(each) or each.opens is Entity.SLICE
)
"""Events over which no slice goes on, unless it ends later: they are about another slice, or about
the whole run.
"""

_Within = tuple[str, str | None]
"""The field that names a thing and, for a round, its dispatch."""
_Names = tuple[str | None, str | None, str | None]
"""A slice, a dispatch and a round."""


class Nesting(NamedTuple):
    """What a line is in; None where it is in none, or none can be read."""

    run: str | None
    slice: str | None = None
    dispatch: str | None = None
    round: str | None = None


def _names(index: Index, run_id: str, line: Line) -> _Names:
    """The slice, the dispatch and the round that a line names, as far as they can be read."""
    if line.event is not None:
        fields = line.event.fields
        found = (line.fact(of.field) if of.field in fields else None for of in _LEVELS)
        return cast("_Names", tuple(found))
    if not line.is_rejected:
        return None, None, None
    named = dict(reversed(references_in_text(cast("FlaggedLine", line))))
    dispatch_id, round_name = named.get(_DISPATCH.field), named.get(_ROUND.field)
    run = index.runs.get(run_id)
    if dispatch_id is None and round_name is not None and run is not None:
        started = run.table(_ROUND.opener, _ROUND.field).of(round_name).first
        dispatch_id = started.text_fact(_DISPATCH.field) if started is not None else None
    return named.get(_SLICE.field), dispatch_id, round_name if dispatch_id is not None else None


def lines_naming(index: Index, run_id: str, of: Lifetime, value: str) -> Iterator[Sequence[Line]]:
    """The lines of a run that name a slice, dispatch or round, valid and rejected ones: in several
    sequences, none of them empty.
    """
    run = index.runs.get(run_id)
    tables = (run.table(name, of.field).of(value) for name in of.members) if run is not None else ()
    return filter(None, chain(tables, (index.unread_naming(run_id, of.field, value),)))


def slice_around(
    index: Index, run_id: str, slug: str, line: Line
) -> tuple[Line | None, Line | None]:
    """The first and the last line of a slice: it starts nearest above a line of it, or with that,
    else below.
    """
    naming = index.unread_naming(run_id, _SLICE.field, slug)
    starts = [each for each in naming if name_of(each) == _SLICE.opener]
    run = index.runs.get(run_id)
    if run is not None:
        valid = run.table(_SLICE.opener, _SLICE.field).of(slug)
        starts += [each for each in (valid.before(line), valid.first) if each is not None]
        starts += [line] if valid.has(line) else []
    start = latest(each for each in starts if each.order <= line.order) or earliest(starts)
    end = _end_of_slice(index, run_id, slug, start or line)
    if run is None or (end is not None and name_of(end) == _SLICE.closer):
        return start, end
    sets = run.by_event.values()
    return start, latest(lines.before(end) if end is not None else lines[-1] for lines in sets)


def _end_of_slice(index: Index, run_id: str, slug: str, start: Line) -> Line | None:
    """What ends the slice that a line starts: its completion, else the first event that belongs
    to no slice or to another; None where it goes on to the end.
    """
    run = index.runs.get(run_id)
    rejected = index.unread_naming(run_id, _SLICE.field, slug)
    ends = (
        line for line in rejected if line.order > start.order and name_of(line) == _SLICE.closer
    )
    if run is None:
        return earliest(ends)
    closers = run.table(_SLICE.closer, _SLICE.field).of(slug)
    return earliest((closers.after(start), *ends)) or run.next_of(_ENDS_SLICES, start)


class _Start:
    """A slice, dispatch or round that a line starts."""

    def __init__(self, of: Lifetime, id_: str, line: Line) -> None:
        self.of = of
        self.id = id_
        self.line = line
        self.until: float | None = None
        """The order label below which lines stand in it; computed on first use."""


class _Above:
    """What was started in one run above a line."""

    def __init__(self, index: Index, run_id: str) -> None:
        self._index = index
        self._run_id = run_id
        self._starts: dict[_Within, deque[_Start]] = {}
        """The nearest slices and dispatches, and the nearest rounds of each dispatch."""
        self._slice_of: dict[str, str | None] = {}
        """The slices of the dispatches that were named."""

    def note(self, line: Line) -> None:
        """Take in a line, the next below."""
        event = event_of(line)
        of = LIFETIMES.get(event.opens) if event is not None and event.opens is not None else None
        if of is None:
            return
        names = _names(self._index, self._run_id, line)
        value = names[_LEVELS.index(of)]
        if value is not None:
            within = of.field, names[1] if of is _ROUND else None
            starts = self._starts.setdefault(within, deque(maxlen=REACH))
            starts.append(_Start(of, value, line))

    def nesting(self, line: Line) -> Nesting:
        """What a line is in."""
        event = event_of(line)
        if event is not None and _is_about_run(event):
            return Nesting(self._run_id)
        slug, dispatch, round_id = _names(self._index, self._run_id, line)
        if slug is not None:
            return Nesting(self._run_id, slug)
        dispatch = dispatch or self._going_on_at(line, _DISPATCH)
        if dispatch is None:
            return Nesting(self._run_id, self._going_on_at(line, _SLICE))
        if dispatch not in self._slice_of:
            self._slice_of[dispatch] = self._going_on_at(line, _SLICE)
        round_id = round_id or self._going_on_at(line, _ROUND, dispatch)
        return Nesting(self._run_id, self._slice_of[dispatch], dispatch, round_id)

    def _going_on_at(self, line: Line, of: Lifetime, dispatch: str | None = None) -> str | None:
        """The slice, dispatch or round of a dispatch that goes on at a line that names none."""
        for each in reversed(self._starts.get((of.field, dispatch), ())):
            if self._until(each) > line.order:
                return each.id
        return None

    def _until(self, opened: _Start) -> float:
        if opened.until is None:
            of, value, start = opened.of, opened.id, opened.line
            if of is _SLICE:
                end = _end_of_slice(self._index, self._run_id, value, start)
                opened.until = end.order if end is not None else float("inf")
            else:
                sets = lines_naming(self._index, self._run_id, of, value)
                opened.until = (latest(lines[-1] for lines in sets) or start).order
        return opened.until


def nestings(index: Index, lines: Iterable[Line]) -> Iterator[Nesting]:
    """What each line of a trace is in; blank lines are in nothing."""
    walks: dict[str, _Above] = {}
    run_id, distance = None, 0
    for line in lines:
        known = run_id_of(line)
        if known is not None:
            run_id, distance = known, 0
        else:
            distance += 1
        if line.status is LineStatus.BLANK or run_id is None or distance > REACH:
            yield Nesting(None)
            continue
        above = walks.get(run_id)
        if above is None:
            above = walks[run_id] = _Above(index, run_id)
        yield above.nesting(line)
        above.note(line)


def nesting_of(index: Index, lines: Sequence[Line], number: int) -> Nesting:
    """What the line with this number, from 0, is in."""
    return next(islice(nestings(index, lines), number, None))
