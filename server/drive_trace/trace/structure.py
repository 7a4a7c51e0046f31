"""What stands open where: what a line stands in, and what somebody can write about at a place.

A line that names a dispatch or round is in it. One that does not (a plan amended half-way, a
health check) is in what was started last above it and goes on below it; so is a dispatch, as none
names its slice. A rejected start counts as far as its text shows. What somebody writes is about
what was started above and has not ended there, whatever comes below: a line can be put into the
middle of a trace.

Only the nearest starts above are looked at: then an answer costs the same in a trace of any
length, and what one line stands in is what a walk over all lines says of it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple, cast

from drive_trace.trace.index import Index, Run, earliest, latest
from drive_trace.trace.line import RUN_POSITION, FlaggedLine, Line, LineSet, Status, name_of, run_of
from drive_trace.trace.mentions import LEVELS, SAID, Names, Said, names_of, said_of
from drive_trace.trace.occurrences import run_id_of
from drive_trace.trace.paths import likely_run
from drive_trace.trace.values import Values, values_of
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, Lifetime

REACH = 16
"""So many starts above a line are looked at, and so many lines for a run id that it lacks."""
_FAR = 2000
"""The run of a place is looked for on so many lines above and below."""
_STARTS = 400
"""So many of the latest starts are looked through for what has not ended at a place."""
_REJECTED = 20
"""Of the rejected lines that name something, so many of the last are asked whether they end it."""
_MOST_OPEN = 16
"""Of a kind, so many things that stand open are told of."""

_SLICE, _DISPATCH, _ROUND = LEVELS
_Within = tuple[str, str | None]
"""The field that names a thing, and of rounds the dispatch that they are in."""
_RUN_STARTS = tuple(each.name for each in EVENTS.values() if each.opens is Entity.RUN)
_RUN_ENDS = tuple(each.name for each in EVENTS.values() if each.closes is Entity.RUN)
_FEEDS = tuple(each.name for each in EVENTS.values() if each.is_feed)
_ENDS_SLICES = (*_FEEDS, *_RUN_STARTS, *_RUN_ENDS, _SLICE.opener)
"""No slice goes on over these, unless it ends later: they are about another, or the whole run."""


class Opened:
    """A dispatch, round or slice that a line starts."""

    __slots__ = ("id", "of", "start", "until")

    def __init__(self, of: Lifetime, id_: str, start: Line) -> None:
        self.of = of
        self.id = id_
        self.start = start
        self.until: float | None = None
        """The order label below which lines stand in it; worked out when a line asks."""


class Home(NamedTuple):
    """What a line stands in; None where it stands in none, or none can be read."""

    run: str | None
    slice: str | None = None
    dispatch: str | None = None
    round: str | None = None


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


class _Above:
    """What was started in one run above a line."""

    def __init__(self, index: Index, run_id: str) -> None:
        self._index = index
        self._run_id = run_id
        self._starts: dict[_Within, deque[Opened]] = {}
        """The nearest slices and dispatches, and the latest round of each dispatch."""
        self._odd: deque[tuple[_Within, Opened] | None] = deque(maxlen=REACH)
        """Of the nearest rejected lines."""
        self.slice_of: dict[str, str | None] = {}
        """The slices of the dispatches that were named."""

    def note(self, line: Line, said: Said, names: Names) -> None:
        """Take in a line, the next below."""
        of, start = said.opens, None
        if of is not None and (value := names[said.level]) is not None:
            within = of.field, names[1] if of is _ROUND else None
            start = within, Opened(of, value, line)
            if line.event is not None:
                if within not in self._starts:
                    self._starts[within] = deque(maxlen=1 if of is _ROUND else REACH)
                self._starts[within].append(start[1])
        if line.is_rejected and cast("FlaggedLine", line).run_id == self._run_id:
            self._odd.append(start)

    def home(self, line: Line, said: Said, names: Names) -> Home:
        """What a line stands in."""
        slug, dispatch, round_id = names
        if said.is_about_run or slug is not None:
            return Home(self._run_id, None if said.is_about_run else slug)
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

    def _until(self, opened: Opened) -> float:
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
    """What each line of a trace stands in; blank ones in nothing."""
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
        if line.status is Status.BLANK or run_id is None or distance > REACH:
            yield Home(None)
            continue
        above = walks.get(run_id)
        if above is None:
            above = walks[run_id] = _Above(index, run_id)
        said, names = said_of(line), names_of(index, run_id, line)
        home = above.home(line, said, names)
        if said.opens is not None or line.is_rejected:
            above.note(line, said, names)
        yield home


def _is_at_home(line: Line, home: Home) -> bool:
    """Whether an event is plainly in the round of the event before."""
    event, facts = line.event, line.facts
    if event is None or home.round is None:
        return False
    said = SAID[event.name]
    _, dispatch, round_id = said.places
    return (
        round_id is not None
        and said.opens is None
        and facts[round_id] == home.round
        and facts[cast("int", dispatch)] == home.dispatch
        and facts[RUN_POSITION] == home.run
    )


def home_of(index: Index, lines: Sequence[Line], number: int) -> Home:
    """What the line with this number, from 0, stands in."""
    line = lines[number]
    near = lines[max(0, number - REACH) : number + 1]
    known = (run_id_of(each) for each in reversed(near))
    run_id = next((each for each in known if each is not None), None)
    if line.status is Status.BLANK or run_id is None:
        return Home(None)
    above, names = _above(index, run_id, line), names_of(index, run_id, line)
    dispatch = names[1] or above.going_on_at(line, _DISPATCH)
    if dispatch is not None:
        named = lines_naming(index, run_id, _DISPATCH, dispatch)
        first = earliest(chain((each[0] for each in named), (line,))) or line
        there = above if first is line else _above(index, run_id, first)
        above.slice_of[dispatch] = there.going_on_at(first, _SLICE)
    return above.home(line, said_of(line), names)


def _above(index: Index, run_id: str, line: Line) -> _Above:
    """What a walk would have come by above a line."""
    above, run = _Above(index, run_id), index.runs.get(run_id)
    sets = [index.rejected.get(run_id, LineSet())]
    sets += [_events(run, of.opener) for of in (_SLICE, _DISPATCH)]
    for each in chain.from_iterable(_nearest(lines, line, REACH) for lines in sets):
        above.note(each, said_of(each), names_of(index, run_id, each))
    dispatch = names_of(index, run_id, line)[1] or above.going_on_at(line, _DISPATCH)
    if run is not None and dispatch is not None:
        started = run.table(_ROUND.opener, _DISPATCH.field).of(dispatch).before(line)
        if started is not None:
            above.note(started, said_of(started), names_of(index, run_id, started))
    return above


@dataclass(frozen=True, slots=True)
class Scope:
    """What holds at a place of a trace."""

    index: Index
    at: Line
    """Stands for the place: what comes before it in the order of the document counts."""
    run_id: str | None
    """The run that an event there belongs to, as far as that can be told."""
    run: Run | None
    """None where the trace has no valid event of that run."""
    last: Line | None
    """The run's latest event."""
    agent_id: str | None
    """The orchestrator's session, as the run's latest event has it."""
    opened: Mapping[Entity, tuple[Opened, ...]]
    """What stands open by its kind, the latest first; no rounds of dispatches that have ended."""
    feeds: Mapping[str, Line]
    """The latest event of each feed by its name."""
    has_ended: bool
    """Whether the run is over."""
    _read: dict[Line, Values] = field(default_factory=dict, compare=False, repr=False)
    """The lines that were read whole already."""

    def latest(self, name: str, most: int) -> Sequence[Line]:
        """At most so many of the run's events of one name, the latest first."""
        return _nearest(_events(self.run, name), self.at, most)[::-1]

    def count(self, name: str) -> int:
        """How many events of one name the run has had."""
        return _events(self.run, name).position(self.at)

    def of(self, name: str, by: str, value: object) -> Sequence[Line]:
        """The run's events of one name by the value of a field that they keep."""
        lines = self.run.table(name, by).of(value) if self.run is not None else LineSet()
        return lines[: lines.position(self.at)]

    def value(self, line: Line, name: str) -> object:
        """What a field of a valid line's event says, whether the index keeps it or not."""
        assert line.event is not None
        if name in line.event.keeps:
            return line.fact(name)
        if line not in self._read:
            self._read[line] = values_of(line)
        return self._read[line][name]

    def start_of(self, of: Lifetime, name: object) -> Line | None:
        """The latest event that starts a dispatch, round or slice, open or not."""
        return next(reversed(self.of(of.opener, of.field, name)), None)

    def rejected_feed(self, name: str) -> Line | None:
        """The latest rejected line that was meant for a feed of the run and stands behind the
        event that counts: carrying on from that event would pass over it.
        """
        counted = self.feeds.get(name)
        for found in reversed(_nearest(self.index.rejected_feeds, self.at, _STARTS)):
            if counted is not None and found.order < counted.order:
                return None
            odd = cast("FlaggedLine", found)
            if odd.event_name == name and odd.run_id in (self.run_id, None):
                return found
        return None


def scope_at(index: Index, lines: Sequence[Line], record: int, run_id: str | None = None) -> Scope:
    """What holds before a record of a document; one past the last record is the document's end.

    The run is ``run_id`` if that is given, else that of the nearest line above, else of the
    nearest one below, else what the trace's path promises.
    """
    if record < len(lines):
        at = lines[record]
    else:
        at = Line("", None, ())
        at.order = lines[-1].order + 1 if lines else 0
    if run_id is None:
        run_id = _near_run(lines, record)
    if run_id is None and index.path:
        run_id = likely_run(index.path)
    run = index.runs.get(run_id) if run_id is not None else None
    last = _last(run, EVENTS, at)
    end, start = _last(run, _RUN_ENDS, at), _last(run, _RUN_STARTS, at)
    return Scope(
        index,
        at,
        run_id,
        run,
        last,
        cast("str | None", values_of(last)["orchestrator_agent_id"]) if last else None,
        {
            entity: tuple(islice(_opened(index, run, of, at), _MOST_OPEN))
            for entity, of in LIFETIMES.items()
        },
        {name: line for name in _FEEDS if (line := _last(run, (name,), at)) is not None},
        end is not None and (start is None or start.order < end.order),
    )


def _near_run(lines: Sequence[Line], record: int) -> str | None:
    above = range(min(record, len(lines)) - 1, max(-1, record - _FAR), -1)
    below = range(record + 1, min(len(lines), record + _FAR))
    runs = (run_of(lines[place]) for place in chain(above, below))
    return next((run for run in runs if run is not None), None)


def _last(run: Run | None, names: Iterable[str], at: Line) -> Line | None:
    return latest(_events(run, name).before(at) for name in names)


def _opened(index: Index, run: Run | None, of: Lifetime, at: Line) -> Iterator[Opened]:
    """The latest first; each is told of once, however often it was started."""
    seen: set[str] = set()
    for start in reversed(_nearest(_events(run, of.opener), at, _STARTS)):
        name = start.text_fact(of.field)
        if name in seen:
            continue
        seen.add(name)
        over = (of, _DISPATCH) if of is _ROUND else (of,)
        if not any(_is_over(index, cast("Run", run), each, start, at) for each in over):
            yield Opened(of, name, start)


def _is_over(index: Index, run: Run, of: Lifetime, start: Line, at: Line) -> bool:
    """Whether what a line is about was ended after it, be it by a line that is rejected."""
    name = start.text_fact(of.field)
    end = run.table(of.closer, of.field).of(name).before(at)
    if end is not None and end.order > start.order:
        return True
    return any(
        start.order < line.order < at.order and name_of(line) == of.closer
        for line in index.unread_naming(run.run_id, of.field, name)[-_REJECTED:]
    )


def _events(run: Run | None, name: str) -> LineSet:
    return run.events(name) if run is not None else LineSet()


def _nearest(lines: LineSet, line: Line, most: int) -> Sequence[Line]:
    """At most so many lines before one, the nearest last."""
    place = lines.position(line)
    return lines[max(0, place - most) : place]
