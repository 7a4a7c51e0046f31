"""The phases of dispatches and rounds: what starts, goes on and ends."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from drive_trace.linter.rule import Finding, Message, Related, Rule
from drive_trace.trace.line import Line, earliest, latest
from drive_trace.trace.places import Place
from drive_trace.trace.run import Run
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, Lifetime

MOST = 16
"""At most so many lines of each event get a finding that one line causes: more would say nothing
new.
"""
_DISPATCH = LIFETIMES[Entity.DISPATCH]
_ROUND = LIFETIMES[Entity.ROUND]
_BRIEF = "brief-issued"
_order = attrgetter("order")
_MOVE_ON = {
    _DISPATCH: (_DISPATCH.opener, LIFETIMES[Entity.SLICE].closer, "project-closed"),
    _ROUND: (_ROUND.opener, _DISPATCH.closer),
}
"""Events that show that a dispatch, or a round of the same dispatch, before them is over."""


class Phase(NamedTuple):
    """A phase of a dispatch or round, in its run: from one of its starts or ends to the next."""

    of: Lifetime
    id: str
    begin: Line | None
    """The start or end that it begins with; None for what stands before the first one."""
    end: Line | None
    """The start or end that it goes on to; None after the last one."""
    previous_start: Line | None
    """The nearest start above ``begin``."""
    previous_end: Line | None
    members: Sequence[Line]
    """All events of the dispatch or round."""
    run: Run

    @property
    def is_open(self) -> bool:
        """Whether it begins with a start."""
        return _is_a(self.begin, self.of.opener)

    @property
    def is_over(self) -> bool:
        """Whether it begins with an end."""
        return _is_a(self.begin, self.of.closer)

    @property
    def is_first(self) -> bool:
        """Whether it begins with the first start or end of all."""
        return self.begin is not None and self.before is None

    @property
    def is_ended(self) -> bool:
        """Whether it goes on to an end."""
        return _is_a(self.end, self.of.closer)

    @property
    def unstarted(self) -> Sequence[Line]:
        """Its lines up to its end if it has no start at all, as far as can be read."""
        is_started = any(_is_a(each, self.of.opener) for each in self.members)
        if self.begin is not None or is_started or self.unread:
            return ()
        return [line for line in (*self.lines, self.end) if line is not None]

    @property
    def has_brief(self) -> bool:
        """Whether a brief names it, wherever that stands."""
        return any(_is_a(each, _BRIEF) for each in self.members)

    @property
    def before(self) -> Line | None:
        """The start or end before ``begin``."""
        return latest((self.previous_start, self.previous_end))

    @property
    def lines(self) -> Iterator[Line]:
        """Its lines between the two, the first ones of each event."""
        seen = Counter[str]()
        for line in self.members:
            name = line.event.name if line.event is not None else ""
            is_below = self.begin is None or line.order > self.begin.order
            if not is_below or name in (self.of.opener, self.of.closer):
                continue
            if self.end is not None and line.order > self.end.order:
                return
            seen[name] += 1
            if seen[name] <= MOST:
                yield line

    @property
    def strays(self) -> Iterator[Line]:
        """Of a round that goes on, the lines that name another dispatch than its start does, if
        that one is started as well; of that dispatch, too, among the first ones of each event.
        """
        if self.begin is None or self.of is not _ROUND or not self.is_open:
            return
        field, own = _DISPATCH.field, self.begin.fact(_DISPATCH.field)
        for line in (*self.lines, self.end if self.is_ended else None):
            if line is None or line.event is None or line.fact(field) == own:
                continue
            named = line.fact(field)
            place = self.run.of(line.event.name, field, named).position(line)
            if place < MOST and self.run.of(_DISPATCH.opener, field, named):
                yield line

    @property
    def unread(self) -> Sequence[Line]:
        """The lines that name it and may be the run's: what is missing may be there."""
        return self.run.in_doubt(self.of.field, self.id)

    @property
    def moved_on(self) -> Line | None:
        """What shows that it is over, though nothing ends it: the next thing of its kind, or the
        end of what holds it. None where something ends it, or may, as a line below that cannot be
        read names it.
        """
        begin = self.begin
        if begin is None or not self.is_open or not self.is_first or self.end is not None:
            return None
        if any(line.order > begin.order for line in self.unread):
            return None
        if self.of is _DISPATCH:
            return self.run.next_of(_MOVE_ON[_DISPATCH], begin)
        field, dispatch_id = _DISPATCH.field, begin.fact(_DISPATCH.field)
        return earliest(
            self.run.of(name, field, dispatch_id).after(begin) for name in _MOVE_ON[_ROUND]
        )

    def finding(self, rule: Rule[Any], line: Line, message: Message, *related: Related) -> Finding:
        """The finding on a line. It marks the id of the dispatch or round."""
        place = Place.value(self.of.field)
        return Finding(rule, line, place, message, related, run=self.run)

    def finding_with(
        self, rule: Rule[Any], line: Line, message: Message, other: Line, what: str
    ) -> Finding:
        """The same with another line that explains it, by its id of the dispatch or round."""
        return self.finding(rule, line, message, Related(other, Place.value(self.of.field), what))


def phases(run: Run) -> Sequence[Phase]:
    """The phases of the dispatches and rounds of a run, but of those that are in order. A run whose
    id is a slip has none of its own.
    """
    return run.kept(_phases)


def phases_of(run: Run, entity: Entity) -> Iterator[Phase]:
    """Those of the dispatches alone, or of the rounds."""
    return (phase for phase in phases(run) if phase.of.entity is entity)


def _phases(run: Run) -> Sequence[Phase]:
    found: list[Phase] = []
    for of in (_DISPATCH, _ROUND) if run.meant is None else ():
        for value, members in _members(run, of).items():
            if not _is_in_order(of, members):
                found += _phases_between(run, of, value, members)
    return found


def _members(run: Run, of: Lifetime) -> Mapping[Any, Sequence[Line]]:
    found = defaultdict[object, list[Line]](list)
    for name in of.members:
        place = EVENTS[name].keeps.index(of.field)
        for line in run.events(name):
            if (value := line.facts[place]) is not None:
                found[value].append(line)
    for members in found.values():
        members.sort(key=_order)
    return found


def _is_in_order(of: Lifetime, members: Sequence[Line]) -> bool:
    """Whether it starts, goes on and ends; a dispatch with a brief, a round in one dispatch."""
    if not _is_a(members[0], of.opener) or not _is_a(members[-1], of.closer):
        return False
    names = [line.event.name for line in members if line.event is not None]
    if names.count(of.opener) + names.count(of.closer) != 2:
        return False
    if of is _DISPATCH:
        return _BRIEF in names
    return len({line.fact(_DISPATCH.field) for line in members}) == 1


def _phases_between(run: Run, of: Lifetime, value: str, members: Sequence[Line]) -> Iterator[Phase]:
    begin = previous_start = previous_end = None
    bounds = [line for line in members if _is_a(line, of.opener) or _is_a(line, of.closer)]
    for end in (*bounds, None):
        yield Phase(of, value, begin, end, previous_start, previous_end, members, run)
        if _is_a(begin, of.opener):
            previous_start = begin
        elif begin is not None:
            previous_end = begin
        begin = end


def _is_a(line: Line | None, name: str) -> bool:
    return line is not None and line.event is not None and line.event.name == name
