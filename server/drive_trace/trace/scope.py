"""What holds at a place of a trace, for somebody who writes an event there.

What somebody writes is about what was started above and has not ended there, whatever comes below:
a line can be put into the middle of a trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple, cast

from drive_trace.trace.index import Index
from drive_trace.trace.line import FlaggedLine, Line, LineSet, latest, name_of, run_of
from drive_trace.trace.reading import Values, values_of
from drive_trace.trace.run import Run
from drive_trace.vocabulary import EVENTS, GRADE, LIFETIMES, Entity, Lifetime
from drive_trace.vocabulary.files import likely_run

_FAR = 2000
"""On how many lines above and below the run of a place is looked for."""
_STARTS = 400
"""How many of the latest starts are searched for what has not ended at a place."""
_REJECTED = 20
"""How many of the last rejected lines that name something may end it."""
_MOST_OPEN = 16
"""How many open things of a kind are listed."""

_DISPATCH, _ROUND = LIFETIMES[Entity.DISPATCH], LIFETIMES[Entity.ROUND]
_RUN_STARTS = tuple(each.name for each in EVENTS.values() if each.opens is Entity.RUN)
_RUN_ENDS = tuple(each.name for each in EVENTS.values() if each.closes is Entity.RUN)
_FEEDS = tuple(each.name for each in EVENTS.values() if each.is_feed)


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
        lines = self.run.table(name, by).of(value) if self.run is not None else LineSet()
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
        grade = self.feeds.get(feed) if feed == GRADE else None
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
    """The latest first, each of them once, however often it was started."""
    seen: set[str] = set()
    for start in reversed(_events(run, of.opener).nearest_before(at, _STARTS)):
        name = start.text_fact(of.field)
        if name in seen:
            continue
        seen.add(name)
        over = (of, _DISPATCH) if of is _ROUND else (of,)
        if not any(_is_over(index, cast("Run", run), each, start, at) for each in over):
            yield Opened(of, name, start)


def _is_over(index: Index, run: Run, of: Lifetime, start: Line, at: Line) -> bool:
    """Whether what a line starts was ended after it, if only by a rejected line."""
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
