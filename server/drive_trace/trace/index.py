"""What a trace's lines are about: runs, and the entities that fields name.

Kept up to date line by line. What concerns a whole run is a summary that one
line's coming or going changes; nothing is ever computed from all lines again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple, cast

from drive_trace.trace.line import RUN_POSITION, Line, LineSet, OddLine, Status
from drive_trace.vocabulary import EVENTS, Entity, EventType


class Run:
    """The valid events of one run."""

    __slots__ = ("by_event", "dispatch_ms", "rounds_per_dispatch", "run_id")

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.by_event: dict[str, LineSet] = {}
        """The run's lines by their event's name; never an empty set."""
        self.dispatch_ms = 0
        """Sum of the durations on events that close a dispatch, in milliseconds."""
        self.rounds_per_dispatch: dict[str, int] = {}
        """How many rounds were opened in each dispatch; no zeros."""

    def events(self, name: str) -> LineSet:
        """The run's lines of one event."""
        return self.by_event.get(name) or LineSet()

    @property
    def first_line(self) -> Line:
        """The earliest line of the run."""
        return min((lines[0] for lines in self.by_event.values()), key=lambda line: line.order)

    @property
    def last_work(self) -> Line | None:
        """The latest line that shows the run going on."""
        lasts = (lines[-1] for name, lines in self.by_event.items() if EVENTS[name].is_work)
        return max(lasts, key=lambda line: line.order, default=None)

    def __len__(self) -> int:
        return sum(map(len, self.by_event.values()))

    def count(self, role: _Role, line: Line, sign: int) -> None:
        """Add what a line counts for to the sums, or take it off again."""
        value = line.facts[role.counted_at]
        if role.counted is Entity.DISPATCH:
            self.dispatch_ms += sign * cast("int", value)
            return
        rounds = self.rounds_per_dispatch
        dispatch_id = cast("str", value)
        rounds[dispatch_id] = rounds.get(dispatch_id, 0) + sign
        if not rounds[dispatch_id]:
            del rounds[dispatch_id]


class Index:
    """Groups the lines of a trace. Feed it every line once; take out what an edit removes."""

    def __init__(self, *, only_runs: bool = False) -> None:
        self.runs: dict[str, Run] = {}
        """Every run that has a valid event, in no particular order."""
        self.rejected: dict[str | None, LineSet] = {}
        """The rejected lines by the run id that can be read from them."""
        self.rejected_feeds = LineSet()
        """Those of them whose event type can be read, and is a feed's."""
        self.unplaced_feeds = LineSet()
        """Those of the rejected feeds from which no run id can be read."""
        self.unknown = LineSet()
        """Lines whose event type is outside the vocabulary."""
        self.named: dict[Entity, dict[str, LineSet]] = {
            entity: {} for entity in Entity if entity not in (Entity.RUN, Entity.EVENT)
        }
        """The lines that name a dispatch, round, slice or path. Empty with ``only_runs``."""
        self._only_runs = only_runs

    def add(self, lines: Iterable[Line]) -> None:
        """Take in lines; those of one call stand in document order."""
        runs = self.runs
        for line in lines:
            event = line.event
            if event is None:
                self._add_odd(cast("OddLine", line))
                continue
            run_id = line.facts[RUN_POSITION]
            run = runs.get(run_id)  # type: ignore[call-overload]
            if run is None:
                run = runs[run_id] = Run(cast("str", run_id))  # type: ignore[index]
            same = run.by_event.get(event.name)
            if same is None:
                run.by_event[event.name] = LineSet((line,))
            elif same[-1].order < line.order:
                same.append(line)
            else:
                same.add(line)
            role = _ROLES[event.name]
            if role.counted is not None:
                run.count(role, line, 1)
            if role.names and not self._only_runs:
                self._add_names(role, line)

    def remove(self, lines: Iterable[Line]) -> None:
        """Forget lines."""
        for line in lines:
            event = line.event
            if event is None:
                self._remove_odd(cast("OddLine", line))
                continue
            run, role = self.runs[line.run], _ROLES[event.name]
            same = run.by_event[event.name]
            same.discard(line)
            if not same:
                del run.by_event[event.name]
                if not run.by_event:
                    del self.runs[run.run_id]
            if role.counted is not None:
                run.count(role, line, -1)
            if not self._only_runs:
                self._remove_names(role, line)

    def runs_in_order(self) -> list[Run]:
        """The runs by their first line."""
        return sorted(self.runs.values(), key=lambda run: run.first_line.order)

    def _add_names(self, role: _Role, line: Line) -> None:
        facts = line.facts
        for entity, position in role.names:
            name = facts[position]
            if name is None:
                continue
            by_name = self.named[entity]
            group = by_name.get(name)  # type: ignore[call-overload]
            if group is None:
                by_name[name] = LineSet((line,))  # type: ignore[index]
            elif group[-1].order < line.order:
                group.append(line)
            elif not group.has(line):  # a dispatch may name itself as its parent
                group.add(line)

    def _remove_names(self, role: _Role, line: Line) -> None:
        for entity, position in role.names:
            by_name, name = self.named[entity], cast("str", line.facts[position])
            group = by_name.get(name)
            if group is not None:
                group.discard(line)
                if not group:
                    del by_name[name]

    def _add_odd(self, line: OddLine) -> None:
        if line.status is Status.INVALID:
            self.rejected.setdefault(line.run_id, LineSet()).add(line)
            if line.event_name in _FEEDS:
                self.rejected_feeds.add(line)
                if line.run_id is None:
                    self.unplaced_feeds.add(line)
        elif line.status is Status.UNKNOWN:
            self.unknown.add(line)

    def _remove_odd(self, line: OddLine) -> None:
        if line.status is Status.INVALID:
            self.rejected[line.run_id].discard(line)
            self.rejected_feeds.discard(line)
            self.unplaced_feeds.discard(line)
            if not self.rejected[line.run_id]:
                del self.rejected[line.run_id]
        elif line.status is Status.UNKNOWN:
            self.unknown.discard(line)


class _Role(NamedTuple):
    """What an event means to the index, as positions in its lines' facts."""

    names: tuple[tuple[Entity, int], ...]
    counted: Entity | None
    """ROUND where the event adds a round to a dispatch, DISPATCH where it adds its duration."""
    counted_at: int
    """Where the dispatch's id stands, or its duration."""


def _role(event: EventType) -> _Role:
    names = tuple(
        (entity, position)
        for position, name in enumerate(event.keeps)
        if (entity := event.fields[name].names) not in (None, Entity.RUN, Entity.EVENT)
    )
    if event.opens is Entity.ROUND:
        return _Role(names, Entity.ROUND, event.keeps.index("dispatch_id"))
    if event.closes is Entity.DISPATCH:
        return _Role(names, Entity.DISPATCH, event.keeps.index("wall_clock_ms"))
    return _Role(names, None, -1)


_FEEDS = {event.name for event in EVENTS.values() if event.is_feed}
_ROLES: Mapping[str, _Role] = {event.name: _role(event) for event in EVENTS.values()}
