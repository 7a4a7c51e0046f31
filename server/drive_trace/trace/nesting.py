"""What a line stands in: its run, slice, dispatch and round.

A line that names a dispatch or round is in it. One that does not (a plan amended half-way, a
health check) is in what was started last above it and goes on below it; so is a dispatch, as none
names its slice. A rejected start counts as far as its text shows. Only the nearest starts above
are looked at: then the answer for one line costs the same in a trace of any length, and equals
that of a walk over all lines.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import NamedTuple, cast

from drive_trace.trace.index import Index, Run, earliest, latest
from drive_trace.trace.line import RUN_POSITION, FlaggedLine, Line, LineSet, Status, name_of
from drive_trace.trace.mentions import mentioned
from drive_trace.trace.occurrences import run_id_of
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, EventType, Lifetime

REACH = 16
"""So many starts above a line are looked at, and so many lines for a run id that it lacks."""

_SLICE, _DISPATCH, _ROUND = (
    LIFETIMES[each] for each in (Entity.SLICE, Entity.DISPATCH, Entity.ROUND)
)


class Home(NamedTuple):
    """What a line stands in; None where it stands in none, or none can be read."""

    run: str | None
    slice: str | None = None
    dispatch: str | None = None
    round: str | None = None


class _Kind(NamedTuple):
    """What the nesting has to know of an event."""

    slice: int | None
    """Where among the facts the slice is that it names."""
    dispatch: int | None
    round: int | None
    opens: Lifetime | None
    is_about_run: bool
    """Whether it is about the run as a whole: no slice goes on over it, unless it ends later."""


class _Names(NamedTuple):
    """What a line says of itself."""

    slice: str | None
    dispatch: str | None
    round: str | None
    opens: Lifetime | None
    is_about_run: bool


class _Start:
    """Something that a line starts. How far it goes is worked out when a line asks."""

    __slots__ = ("_index", "_until", "dispatch", "line", "of", "run_id", "value")

    def __init__(self, index: Index, run_id: str, line: Line, names: _Names) -> None:
        self._index = index
        self._until: float | None = None
        self.line = line
        self.run_id = run_id
        self.of = cast("Lifetime", names.opens)
        self.dispatch = names.dispatch if self.of is _ROUND else None
        """That of a round."""
        self.value = names.slice or names.round or names.dispatch or ""

    @property
    def until(self) -> float:
        """The order label below which lines stand in it."""
        if self._until is None:
            if self.of is _SLICE:
                end = end_of_slice(self._index, self.run_id, self.value, self.line)
                self._until = end.order if end is not None else float("inf")
            else:
                last = last_line_of(self._index, self.run_id, self.of, self.value)
                self._until = (last or self.line).order
        return self._until


def _kind(event: EventType) -> _Kind:
    slug, dispatch, round_id = (
        event.keeps.index(of.field) if of.field in event.fields else None
        for of in (_SLICE, _DISPATCH, _ROUND)
    )
    is_about_run = event.is_feed or Entity.RUN in (event.opens, event.closes)
    opens = LIFETIMES.get(event.opens) if event.opens is not None else None
    return _Kind(slug, dispatch, round_id, opens, is_about_run)


_KINDS: Mapping[str, _Kind] = {name: _kind(event) for name, event in EVENTS.items()}
_UNKNOWN = _Kind(None, None, None, None, is_about_run=False)
_ENDS_SLICES = (*(name for name, kind in _KINDS.items() if kind.is_about_run), _SLICE.opener)


class _Above:
    """What was started in one run above a line."""

    def __init__(
        self, slices: Iterable[_Start], dispatches: Iterable[_Start], odd: Iterable[_Start | None]
    ) -> None:
        self.slices = deque(slices, REACH)
        self.dispatches = deque(dispatches, REACH)
        self.rounds: dict[str, _Start] = {}
        """The latest of each dispatch."""
        self.odd = deque(odd, REACH)
        """What the nearest rejected lines start."""

    def slice_at(self, line: Line) -> str | None:
        """The slice that goes on at a line."""
        return self._latest(_SLICE, reversed(self.slices), line)

    def dispatch_at(self, line: Line) -> str | None:
        """The dispatch that goes on at a line that names none."""
        return self._latest(_DISPATCH, reversed(self.dispatches), line)

    def round_at(self, dispatch: str, line: Line) -> str | None:
        """The round of a dispatch that goes on at a line that names none."""
        latest_round = self.rounds.get(dispatch)
        return self._latest(_ROUND, (latest_round,) if latest_round else (), line, dispatch)

    def _latest(
        self, of: Lifetime, starts: Iterable[_Start], line: Line, dispatch: str | None = None
    ) -> str | None:
        order = line.order
        found = next((start for start in starts if start.until > order), None)
        for odd in reversed(self.odd):
            if (
                odd is not None
                and odd.of is of
                and odd.dispatch == dispatch
                and odd.line.order < order < odd.until
                and (found is None or odd.line.order > found.line.order)
            ):
                return odd.value
        return found.value if found is not None else None


def homes(index: Index, lines: Iterable[Line]) -> Iterator[Home]:
    """What each line of a trace stands in; blank ones in nothing."""
    walks: dict[str, tuple[_Above, dict[str, str | None]]] = {}
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
        if line.status is Status.BLANK or run_id is None or distance > REACH:
            yield Home(None)
            continue
        walk = walks.get(run_id)
        if walk is None:
            walk = walks[run_id] = _Above((), (), ()), {}
        home = _step(index, run_id, *walk, line)
        yield home


def _is_at_home(line: Line, home: Home) -> bool:
    """Whether an event is plainly in the round of the event before."""
    event, facts = line.event, line.facts
    if event is None or home.round is None:
        return False
    kind = _KINDS[event.name]
    return (
        kind.round is not None
        and kind.opens is None
        and facts[kind.round] == home.round
        and facts[cast("int", kind.dispatch)] == home.dispatch
        and facts[RUN_POSITION] == home.run
    )


def _step(
    index: Index, run_id: str, above: _Above, slice_of: dict[str, str | None], line: Line
) -> Home:
    names = _names(index, run_id, line)
    if names.is_about_run:
        home = Home(run_id)
    elif names.slice is not None:
        home = Home(run_id, names.slice)
    elif (dispatch := names.dispatch or above.dispatch_at(line)) is None:
        home = Home(run_id, above.slice_at(line))
    else:
        if dispatch not in slice_of:
            slice_of[dispatch] = above.slice_at(line)
        round_id = names.round or above.round_at(dispatch, line)
        home = Home(run_id, slice_of[dispatch], dispatch, round_id)
    start = _start(index, run_id, names, line)
    if line.event is None:
        if line.is_rejected and cast("FlaggedLine", line).run_id == run_id:
            above.odd.append(start)
    elif start is not None:
        if start.of is _ROUND:
            above.rounds[start.dispatch or ""] = start
        else:
            (above.slices if start.of is _SLICE else above.dispatches).append(start)
    return home


def home_of(index: Index, lines: Sequence[Line], number: int) -> Home:
    """What the line with this number, from 0, stands in."""
    line = lines[number]
    near = lines[max(0, number - REACH) : number + 1]
    known = (run_id_of(each) for each in reversed(near))
    run_id = next((each for each in known if each is not None), None)
    if line.status is Status.BLANK or run_id is None:
        return Home(None)
    names = _names(index, run_id, line)
    if names.is_about_run:
        return Home(run_id)
    if names.slice is not None:
        return Home(run_id, names.slice)
    above = _above(index, run_id, line)
    dispatch = names.dispatch or above.dispatch_at(line)
    if dispatch is None:
        return Home(run_id, above.slice_at(line))
    first = earliest((first_line_of(index, run_id, _DISPATCH, dispatch), line)) or line
    slug = (above if first is line else _above(index, run_id, first)).slice_at(first)
    round_id = names.round or above.round_at(dispatch, line)
    return Home(run_id, slug, dispatch, round_id)


def first_line_of(index: Index, run_id: str, of: Lifetime, value: str) -> Line | None:
    """The first line of a run that names a slice, dispatch or round, valid or rejected."""
    return earliest(lines[0] for lines in _lines_of(index, run_id, of, value) if lines)


def last_line_of(index: Index, run_id: str, of: Lifetime, value: str) -> Line | None:
    """The last line of a run that names a slice, dispatch or round, valid or rejected."""
    return latest(lines[-1] for lines in _lines_of(index, run_id, of, value) if lines)


def end_of_slice(index: Index, run_id: str, slug: str, start: Line) -> Line | None:
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


def start_of_slice(index: Index, run_id: str, slug: str, line: Line) -> Line | None:
    """The start of a slice nearest above a line, or the line itself; else the first below."""
    naming = index.unread_naming(run_id, _SLICE.field, slug)
    starts = [each for each in naming if name_of(each) == _SLICE.opener]
    run = index.runs.get(run_id)
    if run is not None:
        valid = run.table(_SLICE.opener, _SLICE.field).of(slug)
        starts += [each for each in (valid.before(line), valid.first) if each is not None]
        starts += [line] if valid.has(line) else []
    return latest(each for each in starts if each.order <= line.order) or earliest(starts)


def last_line_in_slice(index: Index, run_id: str, slug: str, start: Line) -> Line | None:
    """The last line of the slice that a line starts."""
    end = end_of_slice(index, run_id, slug, start)
    run = index.runs.get(run_id)
    name = name_of(end) if end is not None else None
    if run is None or name == _SLICE.closer:
        return end
    sets = run.by_event.values()
    return latest(lines.before(end) if end is not None else lines[-1] for lines in sets)


def _names(index: Index, run_id: str, line: Line) -> _Names:
    event = line.event
    if event is not None:
        slug, dispatch, round_id, opens, is_about_run = _KINDS[event.name]
        facts = cast("tuple[str, ...]", line.facts)
        return _Names(
            None if slug is None else facts[slug],
            None if dispatch is None else facts[dispatch],
            None if round_id is None else facts[round_id],
            opens,
            is_about_run,
        )
    odd = cast("FlaggedLine", line)
    kind = _KINDS.get(odd.event_name or "", _UNKNOWN)
    if not line.is_rejected:
        return _Names(None, None, None, None, kind.is_about_run)
    said = dict(reversed(mentioned(odd)))
    dispatch_id, round_said = said.get(_DISPATCH.field), said.get(_ROUND.field)
    run = index.runs.get(run_id)
    if dispatch_id is None and round_said is not None and run is not None:
        started = run.table(_ROUND.opener, _ROUND.field).of(round_said).first
        dispatch_id = started.text_fact(_DISPATCH.field) if started is not None else None
    slug_said = said.get(_SLICE.field)
    return _Names(
        slug_said,
        dispatch_id,
        round_said if dispatch_id is not None else None,
        kind.opens,
        kind.is_about_run,
    )


def _start(index: Index, run_id: str, names: _Names, line: Line) -> _Start | None:
    of = names.opens
    if of is None:
        return None
    value = names.slice if of is _SLICE else names.dispatch if of is _DISPATCH else names.round
    return _Start(index, run_id, line, names) if value is not None else None


def _above(index: Index, run_id: str, line: Line) -> _Above:
    """What a walk would have come by above a line."""
    run = index.runs.get(run_id)
    rejected = index.rejected.get(run_id, LineSet())
    above = _Above(
        _starts_above(index, run, _SLICE, line),
        _starts_above(index, run, _DISPATCH, line),
        (
            _start(index, run_id, _names(index, run_id, each), each)
            for each in _nearest(rejected, line)
        ),
    )
    names = _names(index, run_id, line)
    dispatch = names.dispatch or above.dispatch_at(line)
    if run is not None and dispatch is not None:
        rounds = run.table(_ROUND.opener, _DISPATCH.field).of(dispatch)
        latest_round = rounds.before(line)
        if latest_round is not None:
            start = _start(index, run_id, _names(index, run_id, latest_round), latest_round)
            if start is not None:
                above.rounds[dispatch] = start
    return above


def _starts_above(index: Index, run: Run | None, of: Lifetime, line: Line) -> Iterator[_Start]:
    for each in _nearest(run.events(of.opener), line) if run is not None else ():
        start = _start(index, each.run, _names(index, each.run, each), each)
        if start is not None:
            yield start


def _nearest(lines: LineSet, line: Line) -> Sequence[Line]:
    place = lines.position(line)
    return lines[max(0, place - REACH) : place]


def _lines_of(index: Index, run_id: str, of: Lifetime, value: str) -> Iterator[Sequence[Line]]:
    run = index.runs.get(run_id)
    tables = (run.table(name, of.field).of(value) for name in of.members) if run is not None else ()
    return chain(tables, (index.unread_naming(run_id, of.field, value),))
