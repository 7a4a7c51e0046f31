"""What holds at a place of a trace, for somebody who writes an event there; and what a line is in.

What somebody writes is about what was started above and has not ended there, whatever comes below:
a line can be put into the middle of a trace.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple, cast

from drive_trace import vocabulary
from drive_trace.stopping import unless_stopped
from drive_trace.trace import line as trace_line
from drive_trace.trace.index import Index
from drive_trace.trace.line import FlaggedLine, Line, LineSet, earliest, event_of, latest, name_of
from drive_trace.trace.reading import Values, values_of
from drive_trace.trace.run import Run
from drive_trace.vocabulary import DISPATCH, EVENTS, LIFETIMES, ROUND, SLICE, Entity, Lifetime

_FAR = 2000
"""On how many lines above and below the run of a place is looked for."""
_STARTS = 400
"""How many of the latest starts are searched for what has not ended at a place."""
_REJECTED = 20
"""How many of the last rejected lines that name something may end it."""
_MOST_OPEN = 16
"""How many open things of a kind are listed."""

RUN_STARTS = tuple(each.name for each in EVENTS.values() if each.opens is Entity.RUN)
RUN_ENDS = tuple(each.name for each in EVENTS.values() if each.closes is Entity.RUN)
FEEDS = tuple(each.name for each in EVENTS.values() if each.is_feed)


class Opened(NamedTuple):
    """A dispatch, round or slice that is open."""

    of: Lifetime
    id: str
    start: Line


@dataclass(frozen=True, slots=True)
class Scope:
    """What holds at a place of a trace."""

    index: Index
    at: Line
    """The line at the place: what comes before it in the document counts."""
    run_id: str | None
    """The run that an event there belongs to, if it is known."""
    run: Run | None
    """None where the trace has no valid event of that run."""
    last: Line | None
    """The run's latest event."""
    agent_id: str | None
    """The orchestrator's session, as the run's latest event has it."""
    opened: Mapping[Entity, tuple[Opened, ...]]
    """What is open by its kind, the latest first; no rounds of dispatches that have ended."""
    feeds: Mapping[str, Line]
    """The latest event of each feed by its name."""
    has_ended: bool
    """Whether the run is over."""
    _read: dict[Line, Values] = field(default_factory=dict, compare=False, repr=False)
    """The lines that were read whole already."""

    def latest(self, name: str, most: int) -> Sequence[Line]:
        """At most ``most`` of the run's events of one name, the latest first."""
        return _events(self.run, name).nearest_before(self.at, most)[::-1]

    def count(self, name: str) -> int:
        """How many events of one name the run has had."""
        return _events(self.run, name).position(self.at)

    def of(self, name: str, by: str, value: object) -> Sequence[Line]:
        """The run's events of one name by the value of a field that they keep."""
        lines = self.run.of(name, by, value) if self.run is not None else LineSet()
        return lines[: lines.position(self.at)]

    def value(self, line: Line, name: str) -> object:
        """The value of a field of a valid line's event, whether the index keeps it or not."""
        assert line.event is not None
        if name in line.event.keeps:
            return line.fact(name)
        if line not in self._read:
            self._read[line] = values_of(line)
        return self._read[line][name]

    def start_of(self, of: Lifetime, name: object) -> Line | None:
        """The latest event that starts a dispatch, round or slice, open or not."""
        return next(reversed(self.of(of.opener, of.field, name)), None)

    def is_stale(self, feed: str) -> bool:
        """Whether the feed's event that counts is a grade, and the run went on below it, or may
        have.
        """
        grade = self.feeds.get(feed) if feed == vocabulary.GRADE else None
        return grade is not None and self.index.may_be_worked(grade.run, grade, self.at)

    def rejected_feed(self, name: str) -> Line | None:
        """The latest rejected line that was meant for a feed of the run and is below the event that
        counts: an event that carries on from that one would pass over it.
        """
        counted = self.feeds.get(name)
        for found in reversed(self.index.rejected_feeds.nearest_before(self.at, _STARTS)):
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
        run_id = vocabulary.likely_run(index.path)
    run = index.runs.get(run_id) if run_id is not None else None
    last = _last(run, EVENTS, at)
    end, start = _last(run, RUN_ENDS, at), _last(run, RUN_STARTS, at)
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
        {name: line for name in FEEDS if (line := _last(run, (name,), at)) is not None},
        end is not None and (start is None or start.order < end.order),
    )


def _near_run(lines: Sequence[Line], record: int) -> str | None:
    above = range(min(record, len(lines)) - 1, max(-1, record - _FAR), -1)
    below = range(record + 1, min(len(lines), record + _FAR))
    runs = (trace_line.run_of(lines[place]) for place in chain(above, below))
    return next((run for run in runs if run is not None), None)


def _last(run: Run | None, names: Iterable[str], at: Line) -> Line | None:
    return latest(_events(run, name).before(at) for name in names)


def _opened(index: Index, run: Run | None, of: Lifetime, at: Line) -> Iterator[Opened]:
    """The latest first, each of them once, however often it was started."""
    seen: set[str] = set()
    for start in reversed(_events(run, of.opener).nearest_before(at, _STARTS)):
        name = start.text_fact(of.field)
        if name in seen:
            continue
        seen.add(name)
        over = (of, DISPATCH) if of is ROUND else (of,)
        if not any(_is_over(index, cast("Run", run), each, start, at) for each in over):
            yield Opened(of, name, start)


def _is_over(index: Index, run: Run, of: Lifetime, start: Line, at: Line) -> bool:
    """Whether what a line starts was ended after it, if only by a rejected line."""
    name = start.text_fact(of.field)
    end = run.of(of.closer, of.field, name).before(at)
    if end is not None and end.order > start.order:
        return True
    return any(
        start.order < line.order < at.order and name_of(line) == of.closer
        for line in index.unread_naming(run.run_id, of.field, name)[-_REJECTED:]
    )


def _events(run: Run | None, name: str) -> LineSet:
    return run.events(name) if run is not None else LineSet()


# The slice, dispatch and round that a line is in. A line that names a dispatch or round is in it. A
# line that names none (a plan amended half-way, a health check) is in what was started last above
# it and goes on below it. So is a dispatch, as none names its slice. A rejected start counts as far
# as its text can be read. Only the nearest starts above are looked at, so that a walk costs what
# the trace is long.


REACH = 16
"""How many starts above a line are looked at, and how many lines for a run id that it lacks."""

_LEVELS = SLICE, DISPATCH, ROUND


def _is_about_run(event: vocabulary.EventType) -> bool:
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
    named = dict(reversed(trace_line.references_in_text(cast("FlaggedLine", line))))
    dispatch_id, round_name = named.get(DISPATCH.field), named.get(ROUND.field)
    run = index.runs.get(run_id)
    if dispatch_id is None and round_name is not None and run is not None:
        started = run.of(ROUND.opener, ROUND.field, round_name).first
        dispatch_id = started.text_fact(DISPATCH.field) if started is not None else None
    return named.get(SLICE.field), dispatch_id, round_name if dispatch_id is not None else None


def lines_naming(index: Index, run_id: str, of: Lifetime, value: str) -> Iterator[Sequence[Line]]:
    """The lines of a run that name a slice, dispatch or round, valid and rejected ones: in several
    sequences, none of them empty.
    """
    run = index.runs.get(run_id)
    tables = (run.of(name, of.field, value) for name in of.members) if run is not None else ()
    return filter(None, chain(tables, (index.unread_naming(run_id, of.field, value),)))


def _end_of_slice(index: Index, run_id: str, slug: str, start: Line) -> Line | None:
    """What ends the slice that a line starts: its completion, else the first event that belongs
    to no slice or to another; None where it goes on to the end.
    """
    run = index.runs.get(run_id)
    rejected = index.unread_naming(run_id, SLICE.field, slug)
    ends = (line for line in rejected if line.order > start.order and name_of(line) == SLICE.closer)
    if run is None:
        return earliest(ends)
    closers = run.of(SLICE.closer, SLICE.field, slug)
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
            within = of.field, names[1] if of is ROUND else None
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
        dispatch = dispatch or self._going_on_at(line, DISPATCH)
        if dispatch is None:
            return Nesting(self._run_id, self._going_on_at(line, SLICE))
        if dispatch not in self._slice_of:
            self._slice_of[dispatch] = self._going_on_at(line, SLICE)
        round_id = round_id or self._going_on_at(line, ROUND, dispatch)
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
            if of is SLICE:
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
        known = trace_line.run_id_of(line)
        if known is not None:
            run_id, distance = known, 0
        else:
            distance += 1
        if line.status is trace_line.LineStatus.BLANK or run_id is None or distance > REACH:
            yield Nesting(None)
            continue
        above = walks.get(run_id)
        if above is None:
            above = walks[run_id] = _Above(index, run_id)
        yield above.nesting(line)
        above.note(line)


def kept_nestings(index: Index, lines: Iterable[Line]) -> Sequence[Nesting]:
    """The same, made once until an edit."""
    if nestings not in index.kept:
        index.kept[nestings] = [*nestings(index, unless_stopped(lines))]
    return cast("Sequence[Nesting]", index.kept[nestings])
