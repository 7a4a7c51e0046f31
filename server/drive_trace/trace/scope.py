"""What stands open at a place of a trace: what somebody who writes an event there writes about.

Everything counts as it stood before the place, so that a line can be put into the middle of a
trace. What is asked for costs the same in a long trace: only the latest starts are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import NamedTuple, cast

from drive_trace.trace.index import Index, Run, latest
from drive_trace.trace.line import FlaggedLine, Line, LineSet, name_of, run_of
from drive_trace.trace.paths import likely_run
from drive_trace.trace.values import Values, values_of
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, Lifetime

_FAR = 2000
"""The run is looked for on so many lines above and below a place."""
_STARTS = 400
"""So many of the latest starts are looked through for what stands open."""
_REJECTED = 20
"""Of the rejected lines that name something, so many of the last are asked whether they end it."""
_MOST_OPEN = 16
"""Of a kind, so many things that stand open are told of."""

_RUN_STARTS = tuple(each.name for each in EVENTS.values() if each.opens is Entity.RUN)
_RUN_ENDS = tuple(each.name for each in EVENTS.values() if each.closes is Entity.RUN)
_FEEDS = tuple(each.name for each in EVENTS.values() if each.is_feed)
_DISPATCH, _ROUND = LIFETIMES[Entity.DISPATCH], LIFETIMES[Entity.ROUND]


class Opened(NamedTuple):
    """A dispatch, round or slice that was started and not ended."""

    of: Lifetime
    id: str
    start: Line


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
    """What stands open by its kind, the latest first."""
    feeds: Mapping[str, Line]
    """The latest event of each feed by its name."""
    has_ended: bool
    """Whether the run is over."""
    _read: dict[Line, Values] = field(default_factory=dict, compare=False, repr=False)
    """The lines that were read whole already."""

    @property
    def dispatches(self) -> tuple[Opened, ...]:
        """The open dispatches, the latest first."""
        return self.opened[Entity.DISPATCH]

    @property
    def rounds(self) -> tuple[Opened, ...]:
        """The open rounds of dispatches that have not ended, the latest first."""
        return self.opened[Entity.ROUND]

    @property
    def slices(self) -> tuple[Opened, ...]:
        """The open slices, the latest first."""
        return self.opened[Entity.SLICE]

    def latest(self, name: str, most: int) -> list[Line]:
        """At most so many of the run's events of one name, the latest first."""
        lines = _events(self.run, name)
        place = lines.position(self.at)
        return lines[max(0, place - most) : place][::-1]

    def count(self, name: str) -> int:
        """How many events of one name the run has had."""
        return _events(self.run, name).position(self.at)

    def of(self, name: str, by: str, value: object) -> Sequence[Line]:
        """The run's events of one name by the value of a field that they keep."""
        if self.run is None:
            return ()
        lines = self.run.table(name, by).of(value)
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
        starts = self.of(of.opener, of.field, name)
        return starts[-1] if starts else None

    def next_round_number(self, dispatch_id: object) -> int:
        """The number of the round that a dispatch would start next."""
        rounds = self.of(_ROUND.opener, _DISPATCH.field, dispatch_id)
        return cast("int", rounds[-1].fact("round_number")) + 1 if rounds else 1

    def rejected_feed(self, name: str) -> Line | None:
        """The latest rejected line that was meant for a feed of the run and stands behind the
        event that counts: carrying on from that event would pass over it.
        """
        counted, found = self.feeds.get(name), self.index.rejected_feeds.before(self.at)
        for _ in range(_STARTS):
            if found is None or (counted is not None and found.order < counted.order):
                return None
            odd = cast("FlaggedLine", found)
            if odd.event_name == name and odd.run_id in (self.run_id, None):
                return found
            found = self.index.rejected_feeds.before(found)
        return None


def scope_at(index: Index, lines: Sequence[Line], record: int, run_id: str | None = None) -> Scope:
    """What holds before a record of a document; one past the last record is the document's end.

    The run is ``run_id`` if that is given, else that of the nearest line above, else of the
    nearest one below, else what the trace's path promises.
    """
    at = lines[record] if record < len(lines) else _end(lines)
    if run_id is None:
        run_id = _near_run(lines, record)
    if run_id is None and index.path:
        run_id = likely_run(index.path)
    run = index.runs.get(run_id) if run_id is not None else None
    last = _last(run, EVENTS, at)
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
        {name: line for name in _FEEDS if (line := _events(run, name).before(at)) is not None},
        _has_ended(run, at),
    )


def _end(lines: Sequence[Line]) -> Line:
    end = Line("", None, ())
    end.order = lines[-1].order + 1 if lines else 0
    return end


def _near_run(lines: Sequence[Line], record: int) -> str | None:
    above = range(min(record, len(lines)) - 1, max(-1, record - _FAR), -1)
    below = range(record + 1, min(len(lines), record + _FAR))
    runs = (run_of(lines[place]) for place in chain(above, below))
    return next((run for run in runs if run is not None), None)


def _events(run: Run | None, name: str) -> LineSet:
    return run.events(name) if run is not None else LineSet()


def _last(run: Run | None, names: Iterable[str], at: Line) -> Line | None:
    return latest(_events(run, name).before(at) for name in names)


def _has_ended(run: Run | None, at: Line) -> bool:
    end, start = _last(run, _RUN_ENDS, at), _last(run, _RUN_STARTS, at)
    return end is not None and (start is None or start.order < end.order)


def _opened(index: Index, run: Run | None, of: Lifetime, at: Line) -> Iterator[Opened]:
    """The latest first; each is told of once, however often it was started."""
    starts = _events(run, of.opener)
    place = starts.position(at)
    seen: set[str] = set()
    for start in reversed(starts[max(0, place - _STARTS) : place]):
        name = start.text_fact(of.field)
        if name in seen:
            continue
        seen.add(name)
        assert run is not None
        over = [of, _DISPATCH] if of is _ROUND else [of]
        if not any(_is_over(index, run, each, start, at) for each in over):
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
