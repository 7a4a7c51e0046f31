"""The valid lines of one run, by event and by the values of their fields."""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, compress
from operator import attrgetter, is_not
from typing import NamedTuple, cast

from drive_trace.trace.durations import ends_beside, inexact_ends, span_ended_by
from drive_trace.trace.line import Line, LineSet, earliest, latest
from drive_trace.trace.times import sortable
from drive_trace.vocabulary import ALWAYS_KEPT, EVENTS, LIFETIMES, Entity, EventType

_DISPATCH = LIFETIMES[Entity.DISPATCH]
_ROUND = LIFETIMES[Entity.ROUND]
_CLAIMED = EVENTS[_DISPATCH.closer].keeps.index("wall_clock_ms")
_TS = ALWAYS_KEPT.index("ts")
_order = attrgetter("order")


class FactTable:
    """The lines of one event by the value of one of their facts; null is no value."""

    __slots__ = ("_position", "first", "several")

    def __init__(self, position: int, lines: Iterable[Line]) -> None:
        self._position = position
        lines = list(lines)
        values = [line.facts[position] for line in lines]
        self.first: dict[object, Line] = dict(zip(reversed(values), reversed(lines), strict=True))
        """The earliest line with each value."""
        self.several: dict[object, LineSet] = {}
        """All lines with a value that more than one has."""
        is_unique = len(self.first) == len(lines)
        self.first.pop(None, None)
        if not is_unique:
            are_others = list(map(is_not, map(self.first.get, values), lines))
            for value, line in compress(zip(values, lines, strict=True), are_others):
                if value is not None:
                    self._add_another(value, line)

    def of(self, value: object) -> LineSet:
        """The lines with a value."""
        several = self.several.get(value)
        if several is not None:
            return several
        only = self.first.get(value)
        return LineSet() if only is None else LineSet((only,))

    def beside(self, value: object, line: Line) -> tuple[Line | None, Line | None]:
        """The nearest lines with a value before and after a line, itself apart."""
        several = self.several.get(value)
        if several is not None:
            return several.before(line), several.after(line)
        only = self.first.get(value)
        if only is None or only is line:
            return None, None
        return (only, None) if only.order < line.order else (None, only)

    def add(self, line: Line) -> None:
        """Take in a line of the event."""
        value = line.facts[self._position]
        if value is not None and self.first.setdefault(value, line) is not line:
            self._add_another(value, line)

    def remove(self, line: Line) -> None:
        """Forget a line of the event."""
        value = line.facts[self._position]
        if value is None:
            return
        several = self.several.get(value)
        if several is None:
            del self.first[value]
            return
        several.discard(line)
        self.first[value] = several[0]
        if len(several) == 1:
            del self.several[value]

    def _add_another(self, value: object, line: Line) -> None:
        several = self.several.get(value)
        if several is None:
            several = self.several[value] = LineSet((self.first[value],))
        several.add(line)
        self.first[value] = several[0]


class FactTables(ABC):
    """Tables of some lines. Each is built on first use and kept up to date after that."""

    __slots__ = ("_tables", "is_watched")

    def __init__(self) -> None:
        self._tables: dict[tuple[str | None, str], FactTable] = {}
        self.is_watched = False
        """Whether something was computed of the lines that has to be kept up to date."""

    @abstractmethod
    def lines_of(self, name: str | None) -> Iterable[Line]:
        """The lines of one event, or of all events."""

    def table(self, name: str | None, field: str) -> FactTable:
        """The lines of one event, or of all events, by a field that the index keeps."""
        table = self._tables.get((name, field))
        if table is None:
            keeps = ALWAYS_KEPT if name is None else EVENTS[name].keeps
            table = FactTable(keeps.index(field), self.lines_of(name))
            self._tables[name, field] = table
            self.is_watched = True
        return table

    @property
    def event_ids(self) -> FactTable:
        """The lines by their ``event_id``."""
        return self.table(None, "event_id")

    def note(self, line: Line, event: EventType, sign: int) -> None:
        """Bring the tables up to date: a line was added (1) or removed (-1)."""
        for (name, _), table in self._tables.items():
            if name is None or name == event.name:
                table.add(line) if sign > 0 else table.remove(line)


class RunIndex(FactTables):
    """The valid events of one run."""

    __slots__ = (
        "_afterwards",
        "_inexact",
        "_lines",
        "_sums",
        "_work_times",
        "by_event",
        "run_id",
    )

    def __init__(self, run_id: str) -> None:
        super().__init__()
        self.run_id = run_id
        self.by_event: dict[str, LineSet] = {}
        """The run's lines by their event's name; never an empty set."""
        self._afterwards: LineSet | None = None
        self._inexact: Sequence[Line] | None = None
        """Dropped at the first edit: only a check of the whole trace asks for it."""
        self._lines: LineSet | None = None
        self._sums: RunSums | None = None
        self._work_times: WorkTimes | None = None

    def events(self, name: str) -> LineSet:
        """The run's lines of one event."""
        return self.by_event.get(name) or LineSet()

    def lines_of(self, name: str | None) -> Iterable[Line]:
        """The run's lines of one event, or of all events."""
        if name is None:
            return chain.from_iterable(self.by_event.values())
        return self.by_event.get(name, ())

    @property
    def first_line(self) -> Line:
        """The earliest line of the run."""
        return min((lines[0] for lines in self.by_event.values()), key=_order)

    @property
    def last_line(self) -> Line:
        """The latest line of the run."""
        return max((lines[-1] for lines in self.by_event.values()), key=_order)

    def work_after(self, line: Line) -> Work:
        """The work below a line. If the line is the grade that counts, work below makes it stale,
        for the rule and for the scorecard alike.
        """
        works = self._work()
        count = sum(len(lines) - lines.position(line) for lines in works)
        return Work(count, latest(lines[-1] for lines in works) if count else None)

    @property
    def last_work(self) -> Line | None:
        """The last line that shows work."""
        return latest(lines[-1] for lines in self._work())

    @property
    def work_times(self) -> WorkTimes:
        """When the run was worked on, for files whose lines have no order between them."""
        if self._work_times is None:
            self._work_times = WorkTimes(chain.from_iterable(self._work()))
            self.is_watched = True
        return self._work_times

    @property
    def lines(self) -> LineSet:
        """All lines of the run."""
        if self._lines is None:
            self._lines = LineSet(sorted(self.lines_of(None), key=_order))
            self.is_watched = True
        return self._lines

    @property
    def recorded_afterwards(self) -> LineSet:
        """The ends of dispatches and rounds that were written at the same moment as the start, of
        something that took minutes.
        """
        if self._afterwards is None:
            self.inexact_ends()
        assert self._afterwards is not None
        return self._afterwards

    def inexact_ends(self) -> Sequence[Line]:
        """The ends of dispatches and rounds whose duration is not what the timestamps say, to the
        digit, and a few more.
        """
        if self._inexact is None:
            self._inexact, at_once = inexact_ends(self)
            ends = filter(self._is_afterwards, set(at_once))
            self._afterwards = LineSet(sorted(ends, key=_order))
            self.is_watched = True
        return self._inexact

    def _is_afterwards(self, end: Line) -> bool:
        found = span_ended_by(self, end)
        return found is not None and found.is_recorded_afterwards

    @property
    def sums(self) -> RunSums:
        """What the score needs of the run's events."""
        if self._sums is None:
            self._sums = RunSums(self.by_event)
            self.is_watched = True
        return self._sums

    def next_of(self, names: Iterable[str], line: Line) -> Line | None:
        """The nearest line of some events after a line."""
        return earliest(self.by_event[name].after(line) for name in names if name in self.by_event)

    def __len__(self) -> int:
        return sum(map(len, self.by_event.values()))

    def note(self, line: Line, event: EventType, sign: int) -> None:
        """Bring what was computed up to date: a line was added (1) or removed (-1)."""
        super().note(line, event, sign)
        if self._sums is not None:
            self._sums.count(line, event.name, sign)
        if self._work_times is not None and event.is_work:
            self._work_times.note(line, sign)
        self._inexact = None
        if self._afterwards is not None:
            self._afterwards.discard(line)
            for end in (*ends_beside(self, line), *([line] if sign > 0 else ())):
                self._afterwards.discard(end)
                if self._is_afterwards(end):
                    self._afterwards.add(end)
        if self._lines is not None:
            self._lines.add(line) if sign > 0 else self._lines.discard(line)

    def _work(self) -> list[LineSet]:
        return [lines for name, lines in self.by_event.items() if EVENTS[name].is_work]


class RunSums:
    """What the score needs of a run's events."""

    __slots__ = ("dispatch_ms", "ends", "rounds", "starts")

    def __init__(self, lines: Mapping[str, Iterable[Line]]) -> None:
        def dispatches_of(name: str) -> dict[str, int]:
            place = EVENTS[name].keeps.index(_DISPATCH.field)
            return Counter([cast("str", line.facts[place]) for line in lines.get(name, ())])

        self.rounds = dispatches_of(_ROUND.opener)
        """How many rounds were opened in each dispatch; no zeros."""
        self.starts = dispatches_of(_DISPATCH.opener)
        """How often each dispatch was started; no zeros."""
        self.ends = dispatches_of(_DISPATCH.closer)
        """How often each dispatch was ended; no zeros."""
        claims = [line.facts[_CLAIMED] for line in lines.get(_DISPATCH.closer, ())]
        self.dispatch_ms = sum(cast("list[int]", claims))
        """Sum of the durations on events that close a dispatch, in milliseconds."""

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


def table_of_ids(lines: Iterable[Line]) -> FactTable:
    """Valid lines by their ``event_id``."""
    return FactTable(ALWAYS_KEPT.index("event_id"), lines)
