"""What holds at a place of a trace, for somebody who writes an event there; and what a line is in.

What somebody writes is about what was started above and has not ended there, whatever comes below:
a line can be put into the middle of a trace.
"""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple, cast

from drive_trace import vocabulary
from drive_trace.stopping import unless_stopped
from drive_trace.text.quick import Frozen
from drive_trace.trace import line as trace_line
from drive_trace.trace.index import Index
from drive_trace.trace.line import FlaggedLine, Line, LineSet, event_of, latest, name_of
from drive_trace.trace.reading import values_of
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


class Opened(Frozen, frozen=True):
    """A dispatch, round or slice that is open."""

    of: Lifetime
    id: str
    start: Line


class Scope(Frozen, frozen=True):
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
        return line.fact(name) if name in line.event.keeps else values_of(line)[name]

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
        {name: line for name in vocabulary.FEEDS if (line := _last(run, (name,), at)) is not None},
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
# as its text can be read.


_REACH = 16
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
    return named.get(SLICE.field), dispatch_id, round_name


def nestings(index: Index, lines: Iterable[Line]) -> Sequence[Nesting]:
    """What each line of a trace is in; blank lines are in nothing. Made once until an edit."""
    if nestings not in index.kept:
        index.kept[nestings] = [*_nestings([*_named(index, unless_stopped(lines))])]
    return cast("Sequence[Nesting]", index.kept[nestings])


_Named = tuple[Line, str | None, _Names]
"""A line, the run that it is in, and what it names."""


def _named(index: Index, lines: Iterable[Line]) -> Iterator[_Named]:
    run_id, distance = None, 0
    for line in lines:
        known = trace_line.run_id_of(line)
        if known is not None:
            run_id, distance = known, 0
        else:
            distance += 1
        is_blank = line.status is trace_line.LineStatus.BLANK
        if is_blank or run_id is None or distance > _REACH:
            yield line, None, (None, None, None)
        else:
            yield line, run_id, _names(index, run_id, line)


def _nestings(lines: Sequence[_Named]) -> Iterator[Nesting]:
    last = {
        (run_id, of, value): line.order
        for line, run_id, names in lines
        for of, value in zip(_LEVELS, names, strict=True)
        if of is not SLICE or name_of(line) == of.closer
    }
    """Where the dispatches and rounds of a run are named last, and where its slices end last."""
    walks = defaultdict[str, _Walk](_Walk)
    for line, run_id, names in unless_stopped(lines):
        if run_id is None:
            yield Nesting(None)
            continue
        walk, event = walks[run_id], event_of(line)
        walk.end(line, names)
        yield Nesting(run_id, *walk.within(line, names))
        of = LIFETIMES.get(event.opens) if event is not None and event.opens is not None else None
        value = names[_LEVELS.index(of)] if of is not None else None
        if of is not None and value is not None:
            until = last.get((run_id, of, value), line.order)
            walk.going_on[of, names[1] if of is ROUND else None].append((value, until))


class _Walk:
    """What goes on in one run, on the way down its lines."""

    def __init__(self) -> None:
        self.going_on = defaultdict[_Within, deque[tuple[str, int]]](lambda: deque(maxlen=_REACH))
        """The nearest slices and dispatches, and the nearest rounds of each dispatch: with the
        place of the last line that names one, or ends that slice.
        """
        self._slice_of: dict[str, str | None] = {}
        """The slices of the dispatches that were named."""

    def end(self, line: Line, names: _Names) -> None:
        """A line may end slices: its own, else all that do not end below it."""
        is_end, slices = name_of(line) == SLICE.closer, self.going_on[SLICE, None]
        if is_end or (line.event is not None and line.event.name in _ENDS_SLICES):
            left = [
                each for each in slices if (each[0] != names[0] if is_end else each[1] > line.order)
            ]
            slices.clear()
            slices.extend(left)

    def within(self, line: Line, names: _Names) -> _Names:
        """The slice, dispatch and round that a line is in."""
        event = event_of(line)
        if event is not None and _is_about_run(event):
            return None, None, None
        slug, dispatch, round_id = names
        if slug is not None:
            return slug, None, None
        dispatch = dispatch or self._at(line, DISPATCH)
        if dispatch is None:
            return self._at(line, SLICE), None, None
        if dispatch not in self._slice_of:
            self._slice_of[dispatch] = self._at(line, SLICE)
        return self._slice_of[dispatch], dispatch, round_id or self._at(line, ROUND, dispatch)

    def _at(self, line: Line, of: Lifetime, dispatch: str | None = None) -> str | None:
        """The slice, dispatch or round of a dispatch that goes on at a line that names none."""
        found = self.going_on[of, dispatch]
        while found and of is not SLICE and found[-1][1] <= line.order:
            found.pop()
        return found[-1][0] if found else None


_Within = tuple[Lifetime, str | None]
"""A kind of what goes on and, for rounds, their dispatch."""
