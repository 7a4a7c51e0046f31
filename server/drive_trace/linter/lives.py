"""The entities of dispatches and rounds: what starts, goes on and ends; see ``entities.py``."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from itertools import compress, repeat
from operator import attrgetter, floordiv, ge, itemgetter, ne, sub
from typing import Any, NamedTuple, cast

from drive_trace.linter import entities
from drive_trace.linter.entities import (
    RUN_FIELD,
    Kind,
    Named,
    Trace,
    any_between,
    are_alike,
    kind_of,
)
from drive_trace.linter.rule import Option
from drive_trace.trace.index import Index, Run, earliest, latest
from drive_trace.trace.line import Line
from drive_trace.trace.tables import Table
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import ALWAYS_KEPT, EVENTS, LIFETIMES, Entity, Form, Lifetime

MOST_BRIEFS = 100
"""The briefs of a dispatch with more are not compared."""

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
_CLOSED_BY = {of.closer: of for of in (_DISPATCH, _ROUND)}
_NOT_OPENING = tuple(name for name in _ROUND.members if name != _ROUND.opener)


class Span(NamedTuple):
    """A part of a dispatch or round, in its run: from one of its starts or ends to the next.

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
    run: Run
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
    def is_unclosed(self) -> bool:
        """Whether it starts here, and nothing ends it, also nothing unread below."""
        begin = self.begin
        if begin is None or not self.is_open or not self.is_first or self.end is not None:
            return False
        return not any(line.order > begin.order for line in self.unread)

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
            for line in lines[first : first + entities.MOST]:
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
            if place < entities.MOST and run.table(_DISPATCH.opener, field).of(named):
                yield line

    @property
    def unread(self) -> Sequence[Line]:
        """The run's lines that name it and that readers reject or do not know: what seems to be
        missing may be there.
        """
        return self.trace.unread_naming(self.run.run_id, self.of.field, self.id)

    @property
    def moved_on(self) -> Line | None:
        """What shows that it is over: the next thing of its kind, or the end of what holds it."""
        assert self.begin is not None
        if self.of is _DISPATCH:
            return self.run.next_of(_DISPATCHES_MOVE_ON, self.begin)
        dispatch_id = self.begin.fact(_DISPATCH.field)
        return earliest(
            self.run.table(name, _DISPATCH.field).of(dispatch_id).after(self.begin)
            for name in _ROUNDS_MOVE_ON
        )

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


TOLERANCES = (
    Option(
        "tolerance-ms",
        2000,
        "Milliseconds that a duration may differ from its timestamps, whatever its length.",
        minimum=0,
    ),
    Option(
        "tolerance-percent",
        2,
        "Percent of the time between the timestamps that a duration may differ from it.",
        minimum=0,
    ),
)
"""What rules about durations let pass; see :meth:`Duration.is_off`."""


class Duration(NamedTuple):
    """The way from a start to an end of a dispatch or round, which did not take what the end says.

    Left out are those whose timestamps cannot be right: the end's is earlier, or one is none.
    """

    start: Line
    end: Line
    claimed_ms: int
    """What the end says."""
    measured_ms: int
    """What lies between the two timestamps."""

    @property
    def excess_ms(self) -> int:
        """How much more is claimed than was measured; negative where it is less."""
        return self.claimed_ms - self.measured_ms

    def is_off(self, tolerance_ms: float, tolerance_percent: float) -> bool:
        """Whether the two differ by more than both tolerances."""
        off = abs(self.excess_ms)
        return off > tolerance_ms and 100 * off > tolerance_percent * self.measured_ms


class Review(NamedTuple):
    """The end of a round whose review filed findings."""

    line: Line


class Misnumbered(NamedTuple):
    """The start of a round, started once, whose number is not one more than that of the one before
    it in its dispatch; unless something unread stands between the two.
    """

    line: Line
    previous: Line | None
    """The start before it in its dispatch."""
    expected: int


class Brief(NamedTuple):
    """A brief whose disposition is not what the hashes of its dispatch's briefs say; only where all
    of them can be compared.
    """

    line: Line
    first: Line | None
    """The first brief, if that is another one."""
    same: Line | None
    """The nearest earlier one with the same hash."""
    expected: str


# Spans

_SpanKey = tuple[Lifetime, str, str, Line | None]


def _span_keys(named: Named) -> Iterator[_SpanKey]:
    line, run = named.line, named.run
    if named.field == RUN_FIELD:
        if named.is_a(*_DISPATCHES_MOVE_ON):
            start = run.events(_DISPATCH.opener).before(line)
            if start is not None:
                yield _DISPATCH, run.run_id, start.text_fact(_DISPATCH.field), start
        return
    of = _DISPATCH if named.field == _DISPATCH.field else _ROUND
    starts, ends = (run.table(name, of.field) for name in (of.opener, of.closer))
    own = line if named.is_a(of.opener, of.closer) else None
    near = (*starts.beside(named.value, line), *ends.beside(named.value, line))
    for begin in {None, own, starts.first.get(named.value), *near}:
        yield of, run.run_id, named.value, begin
    if of is _DISPATCH:
        yield from _round_keys(named)


def _round_keys(named: Named) -> Iterator[_SpanKey]:
    """The spans of rounds that depend on a line of a dispatch."""
    line, run, lines = named.line, named.run, list[Line | None]()
    if named.is_a(*_ROUNDS_MOVE_ON):
        lines.append(run.table(_ROUND.opener, named.field).of(named.value).before(line))
    for name in _NOT_OPENING:
        if named.is_a(_DISPATCH.opener):
            lines += run.table(name, named.field).of(named.value)[: entities.MOST]
        elif named.is_a(name):
            near = slice(entities.MOST - 1, entities.MOST + 1)
            lines += run.table(name, named.field).of(named.value)[near]
    for each in lines:
        if each is not None:
            value = each.text_fact(_ROUND.field)
            starts = run.table(_ROUND.opener, _ROUND.field).of(value)
            yield _ROUND, run.run_id, value, each if starts.has(each) else starts.before(each)


def _span(trace: Trace, key: _SpanKey) -> Iterable[Span]:
    of, run_id, value, begin = key
    run = trace.index.runs.get(run_id)
    if run is None:
        return ()
    starts, ends = (run.table(name, of.field) for name in (of.opener, of.closer))
    if begin is None:
        start, end, above, above_end = starts.first.get(value), ends.first.get(value), None, None
    else:
        (above, start), (above_end, end) = starts.beside(value, begin), ends.beside(value, begin)
    span = Span(of, value, begin, earliest((start, end)), above, above_end, run, trace.index)
    return () if span.is_in_order else (span,)


def _all_spans(trace: Trace) -> Iterator[_SpanKey]:
    for run in trace.index.runs.values():
        for of in (_DISPATCH, _ROUND):
            starts, ends = (run.table(name, of.field) for name in (of.opener, of.closer))
            for value in _out_of_order(run, of, starts, ends):
                for begin in (None, *starts.of(value), *ends.of(value)):
                    yield of, run.run_id, value, begin


def _out_of_order(run: Run, of: Lifetime, starts: Table, ends: Table) -> set[Any]:
    """The ids of what does not start once, then go on, and end once; or has no brief."""
    odd = starts.first.keys() ^ ends.first.keys()
    odd.update(starts.several, ends.several)
    for name in of.members:
        lines = run.by_event.get(name, ())
        ids = list(map(itemgetter(EVENTS[name].keeps.index(of.field)), map(_facts, lines)))
        if name != of.closer:
            over = map(_order, map(ends.first.get, ids, lines))  # its own, where there is no end
            odd.update(compress(ids, map(ge, map(_order, lines), over)))
        if of is _ROUND and name != of.opener:
            odd.update(_of_two_dispatches(ids, lines, starts))
        if of is _DISPATCH and name == _BRIEF:
            odd.update(starts.first.keys() - set(ids))
    return odd


def _of_two_dispatches(
    ids: Iterable[object], lines: Iterable[Line], starts: Table
) -> Iterator[object]:
    """The rounds of which some line names another dispatch than the first start."""
    named = map(_dispatch_of, map(_facts, map(starts.first.get, ids, lines)))
    return compress(ids, map(ne, named, map(_dispatch_of, map(_facts, lines))))


# Durations


def _duration_keys(named: Named) -> Iterator[Line | None]:
    of = _DISPATCH if named.field == _DISPATCH.field else _ROUND
    if not named.is_a(of.opener, of.closer):
        return
    end = named.run.table(of.closer, of.field).beside(named.value, named.line)[1]
    yield named.line if named.is_a(of.closer) else None
    yield end


def _duration(trace: Trace, line: Line) -> Iterable[Duration]:
    found = duration(trace.index, line)
    return (found,) if found is not None and found.excess_ms else ()


def duration(trace: Index, line: Line) -> Duration | None:
    """How long a dispatch or round took that an event ends, also where that is in order."""
    of = _CLOSED_BY.get(line.event.name) if line.event is not None else None
    if of is None:
        return None
    run, value = trace.runs[line.run], line.fact(of.field)
    start = run.table(of.opener, of.field).of(value).before(line)
    end = run.table(of.closer, of.field).of(value).before(line)
    if start is None or (end is not None and end.order > start.order):
        return None
    measured = milliseconds_between(start.text_fact("ts"), line.text_fact("ts"))
    if measured is None or measured < 0:  # then the timestamps are what is wrong
        return None
    return Duration(start, line, cast("int", line.fact("wall_clock_ms")), measured)


def _all_durations(trace: Trace) -> Iterator[Line]:
    for run in trace.index.runs.values():
        for of in (_DISPATCH, _ROUND):
            starts, ends = (run.table(name, of.field) for name in (of.opener, of.closer))
            for value in starts.several.keys() | ends.several.keys():
                yield from ends.of(value)
            began = list(map(starts.first.get, ends.first))
            ended = list(compress(ends.first.values(), began))
            yield from _inexact(of, filter(None, began), ended)


def _inexact(of: Lifetime, began: Iterable[Line], ended: Sequence[Line]) -> Sequence[Line]:
    """The ends whose duration is not what the timestamps say, to the digit."""
    claimed = map(itemgetter(EVENTS[of.closer].keeps.index("wall_clock_ms")), map(_facts, ended))
    first, last = (list(map(_ts, map(_facts, lines))) for lines in (began, ended))
    measured: Iterable[int | None]
    if are_alike((*first, *last)) and len(first[0]) == _LENGTH:
        try:
            began_at, ended_at = (list(map(datetime.fromisoformat, each)) for each in (first, last))
            measured = map(floordiv, map(sub, ended_at, began_at), repeat(_MILLISECOND))
        except ValueError:
            return ended
    else:
        measured = map(milliseconds_between, first, last)
    return list(compress(ended, map(ne, claimed, measured)))


# Reviews


def _review(_: Trace, line: Line) -> Iterable[Review]:
    return (Review(line),) if line.facts[_FILED] else ()


def _all_reviews(trace: Trace) -> Iterator[tuple[Line, Review]]:
    for run in trace.index.runs.values():
        lines = run.by_event.get(_ROUND.closer, ())
        for line in compress(lines, map(itemgetter(_FILED), map(_facts, lines))):
            yield line, Review(line)


def _own(name: str) -> Any:
    return lambda named: (named.line,) if named.is_a(name) else ()


# The numbers of rounds


def _number_keys(named: Named) -> Iterator[Line | None]:
    line, run = named.line, named.run
    numbered = run.table(_ROUND.opener, _DISPATCH.field)
    if named.field == _DISPATCH.field:
        lines = numbered.of(named.value)
        yield lines.after(line)
        if named.is_a(_DISPATCH.opener):
            yield lines.first
    elif named.is_a(_ROUND.opener):
        # Whether a round is started again decides whether the next one's number is judged.
        again = run.table(_ROUND.opener, _ROUND.field).beside(named.value, line)[1]
        for start in (line, again):
            if start is not None:
                yield start
                yield numbered.of(start.fact(_DISPATCH.field)).after(start)


def _misnumbered(trace: Trace, line: Line) -> Iterable[Misnumbered]:
    run, dispatch_id = trace.index.runs[line.run], line.text_fact(_DISPATCH.field)
    previous = run.table(_ROUND.opener, _DISPATCH.field).of(dispatch_id).before(line)
    expected = _number(previous) + 1 if previous is not None else 1
    if _number(line) == expected or _is_again(run, line):
        return
    if previous is None:
        if not run.table(_DISPATCH.opener, _DISPATCH.field).of(dispatch_id):
            return
    elif _is_again(run, previous):
        return
    unread = trace.index.unread_naming(run.run_id, _DISPATCH.field, dispatch_id)
    if not any_between(unread, previous, line):
        yield Misnumbered(line, previous, expected)


def _number(start: Line) -> int:
    return cast("int", start.fact("round_number"))


def _is_again(run: Run, line: Line) -> bool:
    return run.table(_ROUND.opener, _ROUND.field).first[line.fact(_ROUND.field)] is not line


def _all_misnumbered(trace: Trace) -> Iterator[Line]:
    keeps = EVENTS[_ROUND.opener].keeps
    dispatch, number = keeps.index(_DISPATCH.field), keeps.index("round_number")
    for run in trace.index.runs.values():
        numbers: dict[object, int] = {}
        for line in run.by_event.get(_ROUND.opener, ()):
            facts = line.facts
            found = cast("int", facts[number])
            if numbers.get(facts[dispatch], 0) + 1 != found:
                yield line
            numbers[facts[dispatch]] = found


# Briefs


def _brief_keys(named: Named) -> Iterable[Hashable]:
    is_other = named.line.event is not None and not named.is_a(_BRIEF, _DISPATCH.opener)
    return () if is_other else ((named.run.run_id, named.value),)


def _briefs(trace: Trace, key: tuple[str, str]) -> Iterator[Brief]:
    run_id, dispatch_id = key
    run = trace.index.runs.get(run_id)
    if run is None or not run.table(_DISPATCH.opener, _DISPATCH.field).of(dispatch_id):
        return
    briefs = run.table(_BRIEF, _DISPATCH.field).of(dispatch_id)
    if len(briefs) > MOST_BRIEFS or trace.index.unread_naming(run_id, _DISPATCH.field, dispatch_id):
        return
    hashes = [brief.text_fact("brief_content_hash") for brief in briefs]
    if not all(each in Form.SHA256 for each in hashes):
        return
    latest_with: dict[str, Line] = {}
    for line, content in zip(briefs, map(str.lower, hashes), strict=True):
        same = latest_with.get(content)
        first = briefs[0] if line is not briefs[0] else None
        expected = "initial" if first is None else "amended" if same is None else "reissue"
        if line.fact("brief_disposition") != expected:
            yield Brief(line, first, same, expected)
        latest_with[content] = line


def _all_briefs(trace: Trace) -> Iterator[tuple[str, object]]:
    places = map(EVENTS[_BRIEF].keeps.index, _SAID_OF_BRIEFS)
    said = itemgetter(*places)
    for run in trace.index.runs.values():
        seen: dict[object, object] = {}
        begun: set[object] = set()
        for facts in map(_facts, run.by_event.get(_BRIEF, ())):
            dispatch, content, found = said(facts)
            content = content.lower()
            if dispatch not in begun:
                begun.add(dispatch)
                expected = "initial"
            elif content in seen:
                # In another dispatch first: whether in this one too is seen when it is built.
                expected = "reissue" if seen[content] == dispatch else ""
            else:
                expected = "amended"
            seen.setdefault(content, dispatch)
            if found != expected:
                yield run.run_id, dispatch


_MILLISECOND = timedelta(milliseconds=1)
_LENGTH = len("2026-05-28T14:00:00.000Z")
_facts = attrgetter("facts")
_order = attrgetter("order")
_ts = itemgetter(ALWAYS_KEPT.index("ts"))
_dispatch_of = itemgetter(EVENTS[_ROUND.opener].keeps.index(_DISPATCH.field))
"""Of an event of a round, which all keep it at the same place."""
_FILED = EVENTS[_ROUND.closer].keeps.index("findings_filed")
_SAID_OF_BRIEFS = (_DISPATCH.field, "brief_content_hash", "brief_disposition")
_LIVES = (_DISPATCH.field, _ROUND.field)

KINDS: Mapping[type[tuple[Any, ...]], Kind] = {
    Span: kind_of((RUN_FIELD, *_LIVES), _span_keys, _span, _all_spans),
    Duration: kind_of(_LIVES, _duration_keys, _duration, _all_durations),
    Review: Kind((_ROUND.field,), _own(_ROUND.closer), _review, _all_reviews),
    Misnumbered: kind_of(_LIVES, _number_keys, _misnumbered, _all_misnumbered),
    Brief: kind_of((_DISPATCH.field,), _brief_keys, _briefs, _all_briefs),
    **entities.KINDS,
}
"""Every kind of entity of a trace."""
