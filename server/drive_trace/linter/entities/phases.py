"""The phases of dispatches and rounds: what starts, goes on and ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import compress
from operator import attrgetter, ge, itemgetter, ne
from typing import Any, NamedTuple

from drive_trace.linter.entities import (
    MOST,
    RUN_FIELD,
    EntityKind,
    Mention,
    WholeTrace,
    kind_of,
)
from drive_trace.linter.rule import Finding, Message, Related, Rule
from drive_trace.trace.durations import facts_of
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line, earliest, latest
from drive_trace.trace.places import Place
from drive_trace.trace.run_index import FactTable, RunIndex
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, Lifetime

_DISPATCH = LIFETIMES[Entity.DISPATCH]
_ROUND = LIFETIMES[Entity.ROUND]
_SLICE = LIFETIMES[Entity.SLICE]
_BRIEF = "brief-issued"
_DISPATCHES_MOVE_ON = (_DISPATCH.opener, _SLICE.closer, "project-closed")
"""Events that show that a dispatch before them is over."""
_ROUNDS_MOVE_ON = (_ROUND.opener, _DISPATCH.closer)
_GOING_ON = {
    of: tuple(name for name in of.members if name not in (of.opener, of.closer))
    for of in (_DISPATCH, _ROUND)
}
"""The events of a dispatch or round that neither start nor end it."""
_NOT_OPENING = tuple(name for name in _ROUND.members if name != _ROUND.opener)
_order = attrgetter("order")
_dispatch_of = itemgetter(EVENTS[_ROUND.opener].keeps.index(_DISPATCH.field))
"""Of an event of a round, which all keep it at the same place."""


class Phase(NamedTuple):
    """A phase of a dispatch or round, in its run: from one of its starts or ends to the next.

    Left out is what is in order: what stands before the first start, or may, as a line that cannot
    be read names it; the way from the first start to an end, of a dispatch that has a brief, of a
    round without strays; and what follows an end that is the first after a start, if it is nothing.
    """

    of: Lifetime
    id: str
    begin: Line | None
    """The start or end that it begins with; None for what stands before the first one."""
    end: Line | None
    """The start or end that it goes on to; None after the last one."""
    previous_start: Line | None
    """The nearest start above ``begin``."""
    previous_end: Line | None
    run: RunIndex
    trace: Index

    @property
    def is_open(self) -> bool:
        """Whether it begins with a start."""
        return self.begin is not None and self._is_a(self.begin, self.of.opener)

    @property
    def is_over(self) -> bool:
        """Whether it begins with an end."""
        return self.begin is not None and self._is_a(self.begin, self.of.closer)

    @property
    def is_first(self) -> bool:
        """Whether it begins with the first start or end of all."""
        is_later = self.previous_start is not None or self.previous_end is not None
        return self.begin is not None and not is_later

    @property
    def is_ended(self) -> bool:
        """Whether it goes on to an end."""
        return self.end is not None and self._is_a(self.end, self.of.closer)

    @property
    def is_unstarted(self) -> bool:
        """Whether it has no start at all, as far as can be read, and this stands before its end."""
        return self.begin is None and not self._starts and not self.unread

    @property
    def has_brief(self) -> bool:
        """Whether a brief names it, wherever that stands."""
        return bool(self.run.table(_BRIEF, self.of.field).of(self.id))

    @property
    def before(self) -> Line | None:
        """The start or end before ``begin``."""
        return latest((self.previous_start, self.previous_end))

    @property
    def lines(self) -> Iterator[Line]:
        """Its lines between the two, the first ones of each event."""
        for name in _GOING_ON[self.of]:
            lines = self.run.table(name, self.of.field).of(self.id)
            first = lines.position(self.begin) if self.begin is not None else 0
            for line in lines[first : first + MOST]:
                if self.end is None or line.order < self.end.order:
                    yield line

    @property
    def strays(self) -> Iterator[Line]:
        """Of a round that goes on, the lines that name another dispatch than its start does,
        if that one is started as well; of that dispatch, too, among the first ones of each event.
        """
        if self.begin is None or self.of is not _ROUND or not self.is_open:
            return
        start, run, field = self.begin, self.run, _DISPATCH.field
        for line in (*self.lines, self.end if self.is_ended else None):
            if line is None or line.event is None or line.fact(field) == start.fact(field):
                continue
            named = line.fact(field)
            place = run.table(line.event.name, field).of(named).position(line)
            if place < MOST and run.table(_DISPATCH.opener, field).of(named):
                yield line

    @property
    def unread(self) -> Sequence[Line]:
        """The lines that name it and may be the run's: what is missing may be there."""
        return self.trace.in_doubt_naming(self.run.run_id, self.of.field, self.id)

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
            return self.run.next_of(_DISPATCHES_MOVE_ON, begin)
        dispatch_id = begin.fact(_DISPATCH.field)
        return earliest(
            self.run.table(name, _DISPATCH.field).of(dispatch_id).after(begin)
            for name in _ROUNDS_MOVE_ON
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

    @property
    def is_in_order(self) -> bool:
        """Whether it is left out."""
        if self.begin is None:
            return not self.is_unstarted
        if self.is_open:
            is_whole = not any(True for _ in self.strays) if self.of is _ROUND else self.has_brief
            return self.is_first and self.is_ended and is_whole
        is_only = self.previous_end is None or self.before is not self.previous_end
        return is_only and self.end is None and not any(True for _ in self.lines)

    @property
    def _starts(self) -> Sequence[Line]:
        return self.run.table(self.of.opener, self.of.field).of(self.id)

    def _is_a(self, line: Line, name: str) -> bool:
        return line.event is not None and line.event.name == name


_PhaseKey = tuple[Lifetime, str, str, Line | None]


def _phase_keys(mention: Mention) -> Iterator[_PhaseKey]:
    line, run = mention.line, mention.run
    if mention.field == RUN_FIELD:
        if mention.is_a(*_DISPATCHES_MOVE_ON):
            start = run.events(_DISPATCH.opener).before(line)
            if start is not None:
                yield _DISPATCH, run.run_id, start.text_fact(_DISPATCH.field), start
        return
    of = _DISPATCH if mention.field == _DISPATCH.field else _ROUND
    starts, ends = (run.table(name, of.field) for name in (of.opener, of.closer))
    own = line if mention.is_a(of.opener, of.closer) else None
    near = (*starts.beside(mention.value, line), *ends.beside(mention.value, line))
    for begin in {None, own, starts.first.get(mention.value), *near}:
        yield of, run.run_id, mention.value, begin
    if of is _DISPATCH:
        yield from _round_keys(mention)


def _round_keys(mention: Mention) -> Iterator[_PhaseKey]:
    """The phases of rounds that depend on a line of a dispatch."""
    line, run, lines = mention.line, mention.run, list[Line | None]()
    if mention.is_a(*_ROUNDS_MOVE_ON):
        lines.append(run.table(_ROUND.opener, mention.field).of(mention.value).before(line))
    for name in _NOT_OPENING:
        if mention.is_a(_DISPATCH.opener):
            lines += run.table(name, mention.field).of(mention.value)[:MOST]
        elif mention.is_a(name):
            near = slice(MOST - 1, MOST + 1)
            lines += run.table(name, mention.field).of(mention.value)[near]
    for each in lines:
        if each is not None:
            value = each.text_fact(_ROUND.field)
            starts = run.table(_ROUND.opener, _ROUND.field).of(value)
            yield _ROUND, run.run_id, value, each if starts.has(each) else starts.before(each)


def _phase(trace: WholeTrace, key: _PhaseKey) -> Iterable[Phase]:
    of, run_id, value, begin = key
    run = trace.run(run_id)
    if run is None:
        return ()
    starts, ends = (run.table(name, of.field) for name in (of.opener, of.closer))
    if begin is None:
        start, end, above, above_end = starts.first.get(value), ends.first.get(value), None, None
    else:
        (above, start), (above_end, end) = starts.beside(value, begin), ends.beside(value, begin)
    phase = Phase(of, value, begin, earliest((start, end)), above, above_end, run, trace.index)
    return () if phase.is_in_order else (phase,)


def _all_phases(trace: WholeTrace) -> Iterator[_PhaseKey]:
    for run in trace.index.runs.values():
        for of in (_DISPATCH, _ROUND):
            starts, ends = (run.table(name, of.field) for name in (of.opener, of.closer))
            for value in _out_of_order(run, of, starts, ends):
                for begin in (None, *starts.of(value), *ends.of(value)):
                    yield of, run.run_id, value, begin


def _out_of_order(run: RunIndex, of: Lifetime, starts: FactTable, ends: FactTable) -> set[Any]:
    """The ids of what does not start once, then go on, and end once; or has no brief."""
    odd = starts.first.keys() ^ ends.first.keys()
    odd.update(starts.several, ends.several)
    for name in of.members:
        lines = run.by_event.get(name, ())
        ids = list(map(itemgetter(EVENTS[name].keeps.index(of.field)), map(facts_of, lines)))
        if name != of.closer:
            over = map(_order, map(ends.first.get, ids, lines))  # its own, where there is no end
            odd.update(compress(ids, map(ge, map(_order, lines), over)))
        if of is _ROUND and name != of.opener:
            odd.update(_of_two_dispatches(ids, lines, starts))
        if of is _DISPATCH and name == _BRIEF:
            odd.update(starts.first.keys() - set(ids))
    return odd


def _of_two_dispatches(
    ids: Iterable[object], lines: Iterable[Line], starts: FactTable
) -> Iterator[object]:
    """The rounds of which some line names another dispatch than the first start."""
    named = map(_dispatch_of, map(facts_of, map(starts.first.get, ids, lines)))
    return compress(ids, map(ne, named, map(_dispatch_of, map(facts_of, lines))))


KINDS: Mapping[type[tuple[Any, ...]], EntityKind] = {
    Phase: kind_of((RUN_FIELD, _DISPATCH.field, _ROUND.field), _phase_keys, _phase, _all_phases),
}
