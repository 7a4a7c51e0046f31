"""The slice, dispatch and round that a line is in.

A line that names a dispatch or round is in it. A line that names none (a plan amended half-way, a
health check) is in what was started last above it and goes on below it. So is a dispatch, as none
names its slice. A rejected start counts as far as its text can be read.

Only the nearest starts above are looked at. So an answer costs the same in a trace of any length,
and one line alone gets the same answer as in a walk over all lines.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, cast

from drive_trace.trace.index import Index
from drive_trace.trace.line import (
    RUN_POSITION,
    FlaggedLine,
    Line,
    LineSet,
    LineStatus,
    earliest,
    latest,
    name_of,
)
from drive_trace.trace.mentions import mentioned, run_id_of
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, EventType, Lifetime

REACH = 16
"""How many starts above a line are looked at, and how many lines for a run id that it lacks."""

_LEVELS = _SLICE, _DISPATCH, _ROUND = (
    LIFETIMES[Entity.SLICE],
    LIFETIMES[Entity.DISPATCH],
    LIFETIMES[Entity.ROUND],
)
_ENDS_SLICES = tuple(
    each.name
    for each in EVENTS.values()
    if each.is_feed or Entity.RUN in (each.opens, each.closes) or each.opens is Entity.SLICE
)
"""Events over which no slice goes on, unless it ends later: they are about another slice, or about
the whole run.
"""

_Within = tuple[str, str | None]
"""The field that names a thing and, for a round, its dispatch."""
_Names = tuple[str | None, str | None, str | None]
"""A slice, a dispatch and a round."""


class Home(NamedTuple):
    """What a line is in; None where it is in none, or none can be read."""

    run: str | None
    slice: str | None = None
    dispatch: str | None = None
    round: str | None = None


class _Nesting(NamedTuple):
    """How an event says what it is in."""

    positions: tuple[int | None, ...]
    """Where among the event's facts the ids of its slice, dispatch and round are."""
    opens: Lifetime | None
    """Which of the three it opens."""
    is_about_run: bool


def _nesting(event: EventType) -> _Nesting:
    fields = [of.field for of in _LEVELS]
    positions = tuple(event.keeps.index(each) if each in event.fields else None for each in fields)
    opens = next((of for of in _LEVELS if of.opener == event.name), None)
    return _Nesting(positions, opens, event.is_feed or Entity.RUN in (event.opens, event.closes))


_NESTING: Mapping[str | None, _Nesting] = {name: _nesting(event) for name, event in EVENTS.items()}
_UNKNOWN = _Nesting((None, None, None), None, is_about_run=False)


def _nesting_of(line: Line) -> _Nesting:
    """How the event that a line records, or was meant to record, says what it is in."""
    return _NESTING.get(name_of(line), _UNKNOWN)


def _names(index: Index, run_id: str, line: Line) -> _Names:
    """The slice, the dispatch and the round that a line names, as far as they can be read."""
    if line.event is not None:
        facts = cast("tuple[str, ...]", line.facts)
        slug, dispatch, round_id = _NESTING[line.event.name].positions
        return (
            None if slug is None else facts[slug],
            None if dispatch is None else facts[dispatch],
            None if round_id is None else facts[round_id],
        )
    if not line.is_rejected:
        return None, None, None
    named = dict(reversed(mentioned(cast("FlaggedLine", line))))
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
    """A dispatch, round or slice that a line starts."""

    __slots__ = ("id", "of", "start", "until")

    def __init__(self, of: Lifetime, id_: str, start: Line) -> None:
        self.of = of
        self.id = id_
        self.start = start
        self.until: float | None = None
        """The order label below which lines stand in it; computed on first use."""


class _Above:
    """What was started in one run above a line."""

    def __init__(self, index: Index, run_id: str) -> None:
        self._index = index
        self._run_id = run_id
        self._starts: dict[_Within, deque[_Start]] = {}
        """The nearest slices and dispatches, and the latest round of each dispatch."""
        self._odd: deque[tuple[_Within, _Start] | None] = deque(maxlen=REACH)
        """Of the nearest rejected lines."""
        self.slice_of: dict[str, str | None] = {}
        """The slices of the dispatches that were named."""

    def note(self, line: Line) -> None:
        """Take in a line, the next below."""
        of, start = _nesting_of(line).opens, None
        names = _names(self._index, self._run_id, line)
        if of is not None and (value := names[_LEVELS.index(of)]) is not None:
            within = of.field, names[1] if of is _ROUND else None
            start = within, _Start(of, value, line)
            if line.event is not None:
                if within not in self._starts:
                    self._starts[within] = deque(maxlen=1 if of is _ROUND else REACH)
                self._starts[within].append(start[1])
        if line.is_rejected and cast("FlaggedLine", line).run_id == self._run_id:
            self._odd.append(start)

    def home(self, line: Line) -> Home:
        """What a line is in."""
        slug, dispatch, round_id = _names(self._index, self._run_id, line)
        if _nesting_of(line).is_about_run:
            return Home(self._run_id)
        if slug is not None:
            return Home(self._run_id, slug)
        dispatch = dispatch or self.going_on_at(line, _DISPATCH)
        if dispatch is None:
            return Home(self._run_id, self.going_on_at(line, _SLICE))
        if dispatch not in self.slice_of:
            self.slice_of[dispatch] = self.going_on_at(line, _SLICE)
        round_id = round_id or self.going_on_at(line, _ROUND, dispatch)
        return Home(self._run_id, self.slice_of[dispatch], dispatch, round_id)

    def going_on_at(self, line: Line, of: Lifetime, dispatch: str | None = None) -> str | None:
        """The slice, dispatch or round of a dispatch that goes on at a line that names none."""
        order, within, found = line.order, (of.field, dispatch), None
        for each in reversed(self._starts.get(within, ())):
            if (each.until or self._until(each)) > order:
                found = each
                break
        for odd in reversed(self._odd):
            if odd is None or odd[0] != within or odd[1].start.order > order:
                continue
            is_nearer = found is None or odd[1].start.order > found.start.order
            if is_nearer and self._until(odd[1]) > order:
                return odd[1].id
        return found.id if found is not None else None

    def _until(self, opened: _Start) -> float:
        if opened.until is None:
            of, value, start = opened.of, opened.id, opened.start
            if of is _SLICE:
                end = _end_of_slice(self._index, self._run_id, value, start)
                opened.until = end.order if end is not None else float("inf")
            else:
                sets = lines_naming(self._index, self._run_id, of, value)
                opened.until = (latest(lines[-1] for lines in sets) or start).order
        return opened.until


def homes(index: Index, lines: Iterable[Line]) -> Iterator[Home]:
    """What each line of a trace is in; blank lines are in nothing."""
    walks: dict[str, _Above] = {}
    run_id, distance, home = None, 0, Home(None)
    for line in lines:
        if _is_at_home(line, home):
            yield home
            continue
        known = run_id_of(line)
        if known is not None:
            run_id, distance = known, 0
        else:
            distance += 1
        if line.status is LineStatus.BLANK or run_id is None or distance > REACH:
            yield Home(None)
            continue
        above = walks.get(run_id)
        if above is None:
            above = walks[run_id] = _Above(index, run_id)
        home = above.home(line)
        if line.is_rejected or _nesting_of(line).opens is not None:
            above.note(line)
        yield home


def _is_at_home(line: Line, home: Home) -> bool:
    """Whether an event is plainly in the round of the event before."""
    event, facts = line.event, line.facts
    if event is None or home.round is None:
        return False
    (_, dispatch, round_id), opens, _ = _NESTING[event.name]
    return (
        round_id is not None
        and opens is None
        and facts[round_id] == home.round
        and facts[cast("int", dispatch)] == home.dispatch
        and facts[RUN_POSITION] == home.run
    )


def home_of(index: Index, lines: Sequence[Line], number: int) -> Home:
    """What the line with this number, from 0, is in."""
    line = lines[number]
    near = lines[max(0, number - REACH) : number + 1]
    known = (run_id_of(each) for each in reversed(near))
    run_id = next((each for each in known if each is not None), None)
    if line.status is LineStatus.BLANK or run_id is None:
        return Home(None)
    above = _above(index, run_id, line)
    dispatch = _names(index, run_id, line)[1] or above.going_on_at(line, _DISPATCH)
    if dispatch is not None:
        named = lines_naming(index, run_id, _DISPATCH, dispatch)
        first = earliest(chain((each[0] for each in named), (line,))) or line
        there = above if first is line else _above(index, run_id, first)
        above.slice_of[dispatch] = there.going_on_at(first, _SLICE)
    return above.home(line)


def _above(index: Index, run_id: str, line: Line) -> _Above:
    """What a walk would have found above a line."""
    above, run = _Above(index, run_id), index.runs.get(run_id)
    sets = [index.rejected.get(run_id, LineSet())]
    if run is not None:
        sets += [run.events(_SLICE.opener), run.events(_DISPATCH.opener)]
    for each in chain.from_iterable(lines.nearest_before(line, REACH) for lines in sets):
        above.note(each)
    dispatch = _names(index, run_id, line)[1] or above.going_on_at(line, _DISPATCH)
    if run is not None and dispatch is not None:
        started = run.table(_ROUND.opener, _DISPATCH.field).of(dispatch).before(line)
        if started is not None:
            above.note(started)
    return above
