"""What a trace's lines are about: runs, and which lines name what.

Kept up to date line by line. What concerns a whole run is a summary that one
line's coming or going changes; nothing is ever computed from all lines again.
What a trace is not asked for is not built: checking a trace once needs little of it.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import NamedTuple, cast

from drive_trace.trace.line import RUN_POSITION, FlaggedLine, Line, LineSet, Status
from drive_trace.trace.mentions import feed_named, feed_with_fields, mentioned
from drive_trace.trace.tables import Table
from drive_trace.trace.times import sortable
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, EventType

_DISPATCH = LIFETIMES[Entity.DISPATCH]
_ROUND = LIFETIMES[Entity.ROUND]
_NO_LINES: Sequence[Line] = ()


class Run:
    """The valid events of one run."""

    __slots__ = (
        "_event_ids",
        "_lines",
        "_sums",
        "_tables",
        "_work_times",
        "by_event",
        "is_watched",
        "run_id",
    )

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.by_event: dict[str, LineSet] = {}
        """The run's lines by their event's name; never an empty set."""
        self.is_watched = False
        """Whether something was computed of the run that has to be kept up to date."""
        self._event_ids: Table | None = None
        self._lines: LineSet | None = None
        self._sums: _Sums | None = None
        self._work_times: WorkTimes | None = None
        self._tables: dict[tuple[str, str], Table] = {}

    def events(self, name: str) -> LineSet:
        """The run's lines of one event."""
        return self.by_event.get(name) or LineSet()

    def table(self, name: str, field: str) -> Table:
        """The run's lines of one event by a field that the event keeps."""
        table = self._tables.get((name, field))
        if table is None:
            table = Table(EVENTS[name].keeps.index(field), self.by_event.get(name, ()))
            self._tables[name, field] = table
            self.is_watched = True
        return table

    @property
    def event_ids(self) -> Table:
        """The run's lines by their ``event_id``."""
        if self._event_ids is None:
            self._event_ids = table_of_ids(chain.from_iterable(self.by_event.values()))
            self.is_watched = True
        return self._event_ids

    @property
    def first_line(self) -> Line:
        """The earliest line of the run."""
        return min((lines[0] for lines in self.by_event.values()), key=lambda line: line.order)

    @property
    def last_line(self) -> Line:
        """The latest line of the run."""
        return max((lines[-1] for lines in self.by_event.values()), key=lambda line: line.order)

    def work_after(self, line: Line) -> Work:
        """How the run went on below a line. Asked of the grade that counts, this is what makes it
        stale, to the rule and to the scorecard alike.
        """
        works = [lines for name, lines in self.by_event.items() if EVENTS[name].is_work]
        count = sum(len(lines) - lines.position(line) for lines in works)
        return Work(count, latest(lines[-1] for lines in works) if count else None)

    @property
    def last_work(self) -> Line | None:
        """The last line that shows work."""
        works = [each[-1] for name, each in self.by_event.items() if each and EVENTS[name].is_work]
        return latest(works) if works else None

    @property
    def work_times(self) -> WorkTimes:
        """When the run was worked on, for files whose lines have no order between them."""
        if self._work_times is None:
            self._work_times = WorkTimes(
                line
                for name, lines in self.by_event.items()
                if EVENTS[name].is_work
                for line in lines
            )
            self.is_watched = True
        return self._work_times

    @property
    def lines(self) -> LineSet:
        """All lines of the run."""
        if self._lines is None:
            every = (line for lines in self.by_event.values() for line in lines)
            self._lines = LineSet(sorted(every, key=_order))
            self.is_watched = True
        return self._lines

    def next_of(self, names: Iterable[str], line: Line) -> Line | None:
        """The nearest line of some events after a line."""
        return earliest(self.by_event[name].after(line) for name in names if name in self.by_event)

    @property
    def dispatch_ms(self) -> int:
        """Sum of the durations on events that close a dispatch, in milliseconds."""
        return self._summed().dispatch_ms

    @property
    def starts(self) -> Mapping[str, int]:
        """How often each dispatch was started; no zeros."""
        return self._summed().starts

    @property
    def ends(self) -> Mapping[str, int]:
        """How often each dispatch was ended; no zeros."""
        return self._summed().ends

    @property
    def rounds_per_dispatch(self) -> Mapping[str, int]:
        """How many rounds were opened in each dispatch; no zeros."""
        return self._summed().rounds

    def __len__(self) -> int:
        return sum(map(len, self.by_event.values()))

    def note(self, line: Line, event: EventType, sign: int) -> None:
        """Bring what was computed of the run up to date: a line came (1) or went (-1)."""
        if self._sums is not None:
            self._sums.count(line, event.name, sign)
        if self._work_times is not None and event.is_work:
            self._work_times.note(line, sign)
        if self._lines is not None:
            self._lines.add(line) if sign > 0 else self._lines.discard(line)
        tables = [table for (name, _), table in self._tables.items() if name == event.name]
        if self._event_ids is not None:
            tables.append(self._event_ids)
        for table in tables:
            table.add(line) if sign > 0 else table.remove(line)

    def _summed(self) -> _Sums:
        if self._sums is None:
            self._sums = _Sums(self.by_event)
            self.is_watched = True
        return self._sums


class _Sums:
    """What the score needs of a run's events."""

    __slots__ = ("dispatch_ms", "ends", "rounds", "starts")

    def __init__(self, lines: Mapping[str, Iterable[Line]]) -> None:
        def dispatches_of(name: str) -> dict[str, int]:
            place = EVENTS[name].keeps.index(_DISPATCH.field)
            return Counter([cast("str", line.facts[place]) for line in lines.get(name, ())])

        self.rounds = dispatches_of(_ROUND.opener)
        self.starts = dispatches_of(_DISPATCH.opener)
        self.ends = dispatches_of(_DISPATCH.closer)
        claims = [line.facts[_CLAIMED] for line in lines.get(_DISPATCH.closer, ())]
        self.dispatch_ms = sum(cast("list[int]", claims))

    def count(self, line: Line, name: str, sign: int) -> None:
        """Add what a line counts for, or take it off again."""
        if name == _ROUND.opener:
            _count(self.rounds, line.text_fact(_DISPATCH.field), sign)
        elif name == _DISPATCH.closer:
            self.dispatch_ms += sign * cast("int", line.facts[_CLAIMED])
            _count(self.ends, line.text_fact(_DISPATCH.field), sign)
        elif name == _DISPATCH.opener:
            _count(self.starts, line.text_fact(_DISPATCH.field), sign)


def _count(counts: dict[str, int], key: str, sign: int) -> None:
    counts[key] = counts.get(key, 0) + sign
    if not counts[key]:
        del counts[key]


class Work(NamedTuple):
    """How a run went on after one of its lines."""

    events: int
    """How many show it."""
    last: Line | None
    """The latest of them."""


class WorkTimes:
    """The moments of a run's work, in their order."""

    __slots__ = ("timed", "untimed")

    def __init__(self, lines: Iterable[Line]) -> None:
        lines = list(lines)
        moments = [sortable(cast("str", line.facts[_TS])) for line in lines]
        self.timed = sorted(filter(None, moments))
        """As :func:`sortable` writes them."""
        self.untimed = LineSet()
        """The work from whose ``ts`` no moment can be read."""
        for line, moment in zip(lines, moments, strict=True):
            if moment is None:
                self.untimed.add(line)

    def note(self, line: Line, sign: int) -> None:
        """Take in a line that came (1), or forget one that went (-1)."""
        moment = sortable(cast("str", line.facts[_TS]))
        if moment is None:
            self.untimed.add(line) if sign > 0 else self.untimed.discard(line)
        elif sign > 0:
            insort(self.timed, moment)
        else:
            del self.timed[bisect_left(self.timed, moment)]


class Index:
    """Groups the lines of a trace. Feed it every line once; take out what an edit removes."""

    def __init__(self, path: str | None = None) -> None:
        self.path = path
        """Where the trace lies, as far as that is known."""
        self.runs: dict[str, Run] = {}
        """Every run that has a valid event, in no particular order."""
        self.rejected: dict[str | None, LineSet] = {}
        """The rejected lines by the run id that can be read from them."""
        self.rejected_feeds = LineSet()
        """Those of them whose event type can be read, and is a feed's."""
        self.nameless = LineSet()
        """The other rejected lines from which no run id can be read."""
        self.unplaced_feeds = LineSet()
        """The rejected lines that hold a feed's name or all its fields, and from which no run id
        can be read.
        """
        self.unknown = LineSet()
        """Lines whose event type is outside the vocabulary."""
        self._tables: dict[tuple[str, str], Table] = {}
        self._event_ids: Table | None = None
        self._mentions: dict[tuple[str | None, str, str], LineSet] | None = None

    def add(self, lines: Iterable[Line]) -> None:
        """Take in lines; those of one call stand in document order."""
        runs = self.runs
        is_fresh = not runs
        is_watched = self._tables or self._event_ids is not None
        for line in lines:
            event = line.event
            if event is None:
                self._add_odd(cast("FlaggedLine", line))
                continue
            run_id = cast("str", line.facts[RUN_POSITION])
            run = runs.get(run_id)
            if run is None:
                run = runs[run_id] = Run(run_id)
            same = run.by_event.get(event.name)
            if same is None:
                run.by_event[event.name] = LineSet((line,))
            elif is_fresh or same[-1].order < line.order:
                same.append(line)
            else:
                same.add(line)
            if run.is_watched:
                run.note(line, event, 1)
            if is_watched:
                self._note(line, event, 1)

    def remove(self, lines: Iterable[Line]) -> None:
        """Forget lines."""
        for line in lines:
            event = line.event
            if event is None:
                self._remove_odd(cast("FlaggedLine", line))
                continue
            run = self.runs[line.run]
            same = run.by_event[event.name]
            same.discard(line)
            run.note(line, event, -1)
            self._note(line, event, -1)
            if not same:
                del run.by_event[event.name]
                if not run.by_event:
                    del self.runs[run.run_id]

    def runs_in_order(self) -> list[Run]:
        """The runs by their first line."""
        return sorted(self.runs.values(), key=lambda run: run.first_line.order)

    def table(self, name: str, field: str) -> Table:
        """The lines of one event in the whole trace by a field that the event keeps."""
        table = self._tables.get((name, field))
        if table is None:
            lines = (line for run in self.runs.values() for line in run.by_event.get(name, ()))
            table = self._tables[name, field] = Table(EVENTS[name].keeps.index(field), lines)
        return table

    @property
    def event_ids(self) -> Table:
        """The valid lines of the whole trace by their ``event_id``."""
        if self._event_ids is None:
            sets = (lines for run in self.runs.values() for lines in run.by_event.values())
            self._event_ids = table_of_ids(chain.from_iterable(sets))
        return self._event_ids

    def unread_naming(self, run_id: str | None, field: str, value: str) -> Sequence[Line]:
        """The lines of a run that readers reject or keep apart, and on which a field names
        something. ``None`` asks for those whose run cannot be read.
        """
        if self._mentions is None:
            self._mentions = {}
            for lines in (*self.rejected.values(), self.unknown):
                for line in lines:
                    self._note_mentions(cast("FlaggedLine", line), 1)
        return self._mentions.get((run_id, field, value), _NO_LINES)

    def _note(self, line: Line, event: EventType, sign: int) -> None:
        tables = [table for (name, _), table in self._tables.items() if name == event.name]
        if self._event_ids is not None:
            tables.append(self._event_ids)
        for table in tables:
            table.add(line) if sign > 0 else table.remove(line)

    def _note_mentions(self, line: FlaggedLine, sign: int) -> None:
        run_id, mentions = line.run_id, self._mentions
        if mentions is None:
            return
        for field, value in mentioned(line):
            lines = mentions.get((run_id, field, value))
            if sign > 0:
                if lines is None:
                    mentions[run_id, field, value] = LineSet((line,))
                else:
                    lines.add(line)
            elif lines is not None:
                lines.discard(line)
                if not lines:
                    del mentions[run_id, field, value]

    def _add_odd(self, line: FlaggedLine) -> None:
        if line.status is Status.INVALID:
            self.rejected.setdefault(line.run_id, LineSet()).add(line)
            self._note_mentions(line, 1)
            if line.event_name in _FEEDS:
                self.rejected_feeds.add(line)
            if line.run_id is None:
                is_feed = feed_named(line.text) or feed_with_fields(line.text)
                (self.unplaced_feeds if is_feed else self.nameless).add(line)
        elif line.status is Status.UNKNOWN:
            self.unknown.add(line)
            self._note_mentions(line, 1)

    def _remove_odd(self, line: FlaggedLine) -> None:
        if line.status is Status.INVALID:
            self.rejected[line.run_id].discard(line)
            self._note_mentions(line, -1)
            self.rejected_feeds.discard(line)
            self.unplaced_feeds.discard(line)
            self.nameless.discard(line)
            if not self.rejected[line.run_id]:
                del self.rejected[line.run_id]
        elif line.status is Status.UNKNOWN:
            self.unknown.discard(line)
            self._note_mentions(line, -1)


def table_of_ids(lines: Iterable[Line]) -> Table:
    """Valid lines by their ``event_id``."""
    return Table(_EVENT_ID, lines)


def latest(lines: Iterable[Line | None]) -> Line | None:
    """The last of some lines in the document."""
    return max((line for line in lines if line is not None), key=_order, default=None)


def earliest(lines: Iterable[Line | None]) -> Line | None:
    """The first of some lines in the document."""
    return min((line for line in lines if line is not None), key=_order, default=None)


_order = attrgetter("order")
_FEEDS = {event.name for event in EVENTS.values() if event.is_feed}
_CLAIMED = EVENTS[_DISPATCH.closer].keeps.index("wall_clock_ms")
_TS = next(iter(EVENTS.values())).keeps.index("ts")
_EVENT_ID = next(iter(EVENTS.values())).keeps.index("event_id")
