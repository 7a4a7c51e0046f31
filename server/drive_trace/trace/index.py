"""What a trace's lines are about: runs, and the entities that fields name.

Kept up to date line by line. What concerns a whole run is a summary that one
line's coming or going changes; nothing is ever computed from all lines again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import cast

from drive_trace.trace.line import Line, LineSet, OddLine, Status
from drive_trace.vocabulary import EVENTS, Entity, EventType

_RUN = 2
"""The position of ``project_run_id`` in every valid line's facts."""


class Run:
    """The valid events of one run."""

    __slots__ = ("by_event", "dispatch_ms", "rounds_per_dispatch", "run_id")

    def __init__(self, run_id: str) -> None:
        self.run_id = run_id
        self.by_event: dict[str, LineSet] = {}
        """The run's lines by their event's name; never an empty set."""
        self.dispatch_ms = 0
        """Sum of the durations on events that close a dispatch, in milliseconds."""
        self.rounds_per_dispatch: Counter[str] = Counter()
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


class Index:
    """Groups the lines of a trace. Feed it every line once; take out what an edit removes."""

    def __init__(self, *, only_runs: bool = False) -> None:
        self.runs: dict[str, Run] = {}
        """Every run that has a valid event, in no particular order."""
        self.rejected: dict[str | None, LineSet] = {}
        """The rejected lines by the run id that can be read from them."""
        self.unknown = LineSet()
        """Lines whose event type is outside the vocabulary."""
        self.named: dict[Entity, dict[str, LineSet]] = {
            entity: {} for entity in Entity if entity is not Entity.RUN
        }
        """The lines whose fields name an entity, by kind and name. Empty with ``only_runs``."""
        self._only_runs = only_runs

    def add(self, lines: Iterable[Line]) -> None:
        """Take in lines, the first time in document order."""
        for line in lines:
            event = line.event
            if event is None:
                self._add_odd(cast("OddLine", line))
                continue
            run_id = cast("str", line.facts[_RUN])
            run = self.runs.get(run_id)
            if run is None:
                run = self.runs[run_id] = Run(run_id)
            same = run.by_event.get(event.name)
            if same is None:
                same = run.by_event[event.name] = LineSet()
            same.add(line)
            if event.opens or event.closes:
                _count(run, line, event, 1)
            if not self._only_runs:
                for entity, name in _names(line):
                    by_name = self.named[entity]
                    group = by_name.get(name)
                    if group is None:
                        group = by_name[name] = LineSet()
                    group.add(line)

    def remove(self, lines: Iterable[Line]) -> None:
        """Forget lines."""
        for line in lines:
            event = line.event
            if event is None:
                self._remove_odd(cast("OddLine", line))
                continue
            run = self.runs[cast("str", line.facts[_RUN])]
            run.by_event[event.name].remove(line)
            if not run.by_event[event.name]:
                del run.by_event[event.name]
            if event.opens or event.closes:
                _count(run, line, event, -1)
            if not run.by_event:
                del self.runs[run.run_id]
            for entity, name in () if self._only_runs else _names(line):
                group = self.named[entity][name]
                group.remove(line)
                if not group:
                    del self.named[entity][name]

    def runs_in_order(self) -> list[Run]:
        """The runs by their first line."""
        return sorted(self.runs.values(), key=lambda run: run.first_line.order)

    def _add_odd(self, line: OddLine) -> None:
        if line.status is Status.INVALID:
            self.rejected.setdefault(line.run_id, LineSet()).add(line)
        elif line.status is Status.UNKNOWN:
            self.unknown.add(line)

    def _remove_odd(self, line: OddLine) -> None:
        if line.status is Status.INVALID:
            self.rejected[line.run_id].remove(line)
            if not self.rejected[line.run_id]:
                del self.rejected[line.run_id]
        elif line.status is Status.UNKNOWN:
            self.unknown.remove(line)


def _names(line: Line) -> Iterator[tuple[Entity, str]]:
    """The entities that a line's fields name, each once, its run apart."""
    seen = set()
    assert line.event is not None
    for position, entity in _NAMED_POSITIONS[line.event.name]:
        name = line.facts[position]
        if name is not None and (entity, name) not in seen:
            seen.add((entity, name))
            yield entity, cast("str", name)


def _count(run: Run, line: Line, event: EventType, sign: int) -> None:
    if event.opens is Entity.ROUND:
        dispatch_id = line.text_fact("dispatch_id")
        run.rounds_per_dispatch[dispatch_id] += sign
        if not run.rounds_per_dispatch[dispatch_id]:
            del run.rounds_per_dispatch[dispatch_id]
    elif event.closes is Entity.DISPATCH:
        run.dispatch_ms += sign * cast("int", line.fact("wall_clock_ms"))


_NAMED_POSITIONS: Mapping[str, tuple[tuple[int, Entity], ...]] = {
    event.name: tuple(
        (position, entity)
        for position, name in enumerate(event.keeps)
        if (entity := event.fields[name].names) is not None and entity is not Entity.RUN
    )
    for event in EVENTS.values()
}
