"""Which lines of a whole trace can have findings that compare lines: found fast, judged exactly.

Judging every line of a long trace would take longer than reading it. A screen
lets through every line on which its rules can find anything, and few others; a
test holds it to that. Screens work on columns of values, with as little Python
a line as can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, compress, filterfalse, islice, repeat
from operator import attrgetter, gt, itemgetter, le, mul, ne, sub
from typing import Any, cast

from drive_trace.findings.judge import Judge
from drive_trace.rules.subjects import (
    Amendment,
    Brief,
    FeedEvent,
    Neighbours,
    Resumption,
    RoundStart,
    RunStart,
    SharedId,
    SliceEnd,
    Step,
)
from drive_trace.trace.index import Index, Run
from drive_trace.trace.line import Facts, Line
from drive_trace.trace.times import moment
from drive_trace.vocabulary import ALWAYS_KEPT, EVENTS, LIFETIMES, WRITERS, Entity, Lifetime

_DISPATCH = LIFETIMES[Entity.DISPATCH]
_ROUND = LIFETIMES[Entity.ROUND]
_SLICE = LIFETIMES[Entity.SLICE]
_FEEDS = [event.name for event in EVENTS.values() if event.is_feed]
_BRIEFS = [event.name for event in EVENTS.values() if "brief_content_hash" in event.fields]

_facts = attrgetter("facts")
_order = attrgetter("order")
_ts = itemgetter(ALWAYS_KEPT.index("ts"))
_event_id = itemgetter(ALWAYS_KEPT.index("event_id"))

_TO_SHAPE = bytes.maketrans(b"123456789", b"000000000")


def suspects(
    index: Index, lines: Iterable[Line], judge: Judge
) -> Iterator[tuple[type[tuple[object, ...]], Iterable[Line]]]:
    """By kind of subject, the lines of a trace on which rules that look at it can find something,
    each once.
    """
    valid = list(filter(None, map(_facts, lines)))
    for kind in judge.kinds:
        yield kind, set(_SCREENS[kind](index, valid, judge))


def _untimely(index: Index, valid: Sequence[Facts], _: Judge) -> Iterator[Line]:
    """Events that are older than the one before them in their run."""
    if not _in_time(list(map(_ts, valid))):
        for run in index.runs.values():
            yield from _out_of_time(run)


def _with_taken_ids(index: Index, valid: Sequence[Facts], _: Judge) -> Iterator[Line]:
    """Events with the id of another one."""
    if len(set(map(_event_id, valid))) < len(valid):
        yield from chain.from_iterable(index.event_ids.several.values())


def _first_lines(index: Index, _: Sequence[Facts], __: Judge) -> Iterator[Line]:
    if index.path is not None:
        yield from (run.first_line for run in index.runs.values())


def _in_time(stamps: Sequence[str]) -> bool:
    """Whether times that are all written alike never go back, then not within any run either."""
    return _are_alike(stamps) and all(map(le, stamps, islice(stamps, 1, None)))


def _are_alike(stamps: Sequence[str]) -> bool:
    """Whether all have the same digits and signs in the same places, in UTC: then texts compare
    like times.
    """
    if not stamps or not stamps[0].endswith("Z"):
        return False
    shapes = "".join(stamps).encode("utf-8", "replace").translate(_TO_SHAPE)
    return shapes == shapes[: len(stamps[0])] * len(stamps)


def _out_of_time(run: Run) -> Iterator[Line]:
    lines = run.lines
    stamps = list(map(_ts, map(_facts, lines)))
    times: Sequence[Any] = stamps if _are_alike(stamps) else list(map(moment, stamps))
    for line, earlier, time in zip(
        islice(lines, 1, None), times, islice(times, 1, None), strict=False
    ):
        if earlier is not None and time is not None and time < earlier:
            yield line


def _resuming(index: Index, _: Sequence[Facts], __: Judge) -> Iterator[Line]:
    """Dispatches that resume themselves, or one that is not started anywhere."""
    keeps = EVENTS[_DISPATCH.opener].keeps
    own, parent = keeps.index(_DISPATCH.field), keeps.index("parent_dispatch_id")
    starts = [run.events(_DISPATCH.opener) for run in index.runs.values()]
    started = {line.facts[own] for lines in starts for line in lines}
    started.add(None)
    for lines in starts:
        for line in lines:
            facts = line.facts
            if facts[parent] not in started or facts[parent] == facts[own]:
                yield line


def _odd_steps(index: Index, _: Sequence[Facts], judge: Judge) -> Iterator[Line]:
    tolerances = [each["tolerance_ms"] for each in judge.options.values() if "tolerance_ms" in each]
    for run in index.runs.values():
        for of in (_DISPATCH, _ROUND):
            lives = _Lives(run, of)
            yield from lives.irregular(index)
            if tolerances:
                yield from lives.mistimed(min(tolerances))
        yield from _satisfied_with_findings(run)


class _Lives:
    """The dispatches or rounds of one run by their ids."""

    def __init__(self, run: Run, of: Lifetime) -> None:
        self._run, self._of = run, of
        self._ids: dict[str, list[object]] = {}
        """The ids that the events of each name have, line by line."""
        self._last: dict[str, dict[object, Line]] = {}
        """The last line of each name with an id."""
        for name in of.members:
            lines = run.by_event.get(name)
            if lines is not None:
                position = EVENTS[name].keeps.index(of.field)
                ids = self._ids[name] = [line.facts[position] for line in lines]
                self._last[name] = dict(zip(ids, lines, strict=True))
        self._starts = self._last.get(of.opener, {})
        self._ends = self._last.get(of.closer, {})

    def irregular(self, index: Index) -> Iterator[Line]:
        """The starts of those that do not end, or have no brief; and every line of those that do
        not start, or do not start, go on and end once in this order.
        """
        of, starts, ends = self._of, self._starts, self._ends
        closing = [self._last.get(name, {}) for name in (of.closer, *_BRIEFS)]
        for known in closing[: 1 if of is _ROUND else None]:
            if not starts.keys() <= known.keys():
                yield from map(starts.__getitem__, starts.keys() - known.keys())
        odd: set[object] = set(self._of_two_dispatches()) if of is _ROUND else set()
        for name, last in self._last.items():
            if name in (of.opener, of.closer) and len(last) < len(self._ids[name]):
                odd.update(each for each, n in Counter(self._ids[name]).items() if n > 1)
            if name != of.closer:
                over = map(ends.get, last, last.values())  # its own line, where there is no end
                late = map(gt, map(_order, last.values()), map(_order, over))
                odd.update(compress(last, late))
            if name != of.opener and not last.keys() <= starts.keys():
                odd.update(
                    filterfalse(partial(self._is_hidden, index), last.keys() - starts.keys())
                )
        for name, ids in self._ids.items() if odd else ():
            yield from compress(self._run.by_event[name], map(odd.__contains__, ids))

    def _of_two_dispatches(self) -> Iterator[object]:
        """The rounds of which some line names another dispatch than the start."""
        by_start: dict[object, object] = {}
        for name in self._of.members:  # the start is the first
            ids = self._ids.get(name, ())
            of_line = itemgetter(EVENTS[name].keeps.index(_DISPATCH.field))
            named = list(map(of_line, map(_facts, self._run.by_event.get(name, ()))))
            if name == self._of.opener:
                by_start = dict(zip(ids, named, strict=True))
            yield from compress(ids, map(ne, map(by_start.get, ids, named), named))

    def _is_hidden(self, index: Index, value: object) -> bool:
        """Whether a rejected or unknown line names it, which may be its start."""
        return bool(index.unread_naming(self._run.run_id, self._of.field, cast("str", value)))

    def mistimed(self, tolerance_ms: float) -> Iterator[Line]:
        """Ends whose duration differs from what the timestamps say by more than that."""
        claimed_at = EVENTS[self._of.closer].keeps.index("wall_clock_ms")
        ends = list(self._ends.values())
        starts = list(map(self._starts.get, self._ends))
        if None in starts:
            ends = list(compress(ends, starts))
        began = map(_ts, map(_facts, filter(None, starts)))
        ended = map(_ts, map(_facts, ends))
        try:
            spans = map(sub, map(datetime.fromisoformat, ended), map(datetime.fromisoformat, began))
            measured = map(mul, map(timedelta.total_seconds, spans), repeat(1000))
            off = map(abs, map(sub, map(itemgetter(claimed_at), map(_facts, ends)), measured))
            # The rules cut times to milliseconds before, which makes less than two of difference.
            yield from list(compress(ends, map(gt, off, repeat(tolerance_ms - 2))))
        except (ValueError, TypeError, OverflowError):
            # Some timestamp is none or has no zone, or a duration is endless.
            yield from ends


def _satisfied_with_findings(run: Run) -> Iterator[Line]:
    keeps = EVENTS[_ROUND.closer].keeps
    filed = keeps.index("findings_filed")
    satisfied = keeps.index("verdict")
    for line in run.by_event.get(_ROUND.closer, ()):
        if line.facts[filed] and line.facts[satisfied] == "satisfied":
            yield line


def _misnumbered(index: Index, _: Sequence[Facts], __: Judge) -> Iterator[Line]:
    """Round starts that are not numbered one more than the one before in their dispatch."""
    keeps = EVENTS[_ROUND.opener].keeps
    dispatch, number = keeps.index(_DISPATCH.field), keeps.index("round_number")
    for run in index.runs.values():
        numbers: dict[object, int] = {}
        for line in run.by_event.get(_ROUND.opener, ()):
            facts = line.facts
            found = cast("int", facts[number])
            if numbers.get(facts[dispatch], 0) + 1 != found:
                yield line
            numbers[facts[dispatch]] = found


def _misjudged_briefs(index: Index, _: Sequence[Facts], __: Judge) -> Iterator[Line]:
    """Briefs that are not called what their hash makes of them."""
    for run in index.runs.values():
        for name in _BRIEFS:
            yield from _misjudged(run.by_event.get(name, ()), EVENTS[name].keeps)


def _misjudged(briefs: Sequence[Line], keeps: Sequence[str]) -> Iterator[Line]:
    facts = list(map(_facts, briefs))
    dispatches, contents, said = (
        [each[place] for each in facts]
        for place in map(keeps.index, (_DISPATCH.field, "brief_content_hash", "brief_disposition"))
    )
    contents = list(map(str.lower, cast("list[str]", contents)))
    seen: dict[object, object] = {}
    begun: set[object] = set()
    for line, dispatch, content, found in zip(briefs, dispatches, contents, said, strict=True):
        if dispatch not in begun:
            begun.add(dispatch)
            expected = "initial"
        elif content in seen:
            # In another dispatch first: whether in this one too is left to the judge.
            expected = "reissue" if seen[content] == dispatch else ""
        else:
            expected = "amended"
        seen.setdefault(content, dispatch)
        if found != expected:
            yield line


def _odd_amendments(index: Index, _: Sequence[Facts], __: Judge) -> Iterator[Line]:
    """Changes of files that were not authored once and changed as much as is said."""
    for field, (authoring, amending) in WRITERS.items():
        authored, amended = index.table(authoring, field), index.table(amending, field)
        length_at = EVENTS[authoring].keeps.index("byte_length")
        lengths_at = itemgetter(*map(EVENTS[amending].keeps.index, ("byte_length", "bytes_delta")))
        for path, first in amended.first.items():
            start = authored.first.get(path)
            lines = amended.of(path)
            if path in authored.several or start is None or start.order > first.order:
                yield from lines
                continue
            known = cast("int", start.facts[length_at])
            for line in lines:
                length, delta = lengths_at(line.facts)
                if length - known != delta:
                    yield line
                known = length


def _odd_slice_ends(index: Index, _: Sequence[Facts], __: Judge) -> Iterator[Line]:
    """Ends of slices that were not started once and ended once."""
    for run in index.runs.values():
        if _SLICE.closer in run.by_event:
            started = run.table(_SLICE.opener, _SLICE.field).first
            table = run.table(_SLICE.closer, _SLICE.field)
            for slug in (table.first.keys() - started.keys()) | table.several.keys():
                yield from table.of(slug)


def _feed_events(index: Index, _: Sequence[Facts], __: Judge) -> Iterator[Line]:
    for run in index.runs.values():
        for name in _FEEDS:
            yield from run.by_event.get(name, ())


_SCREENS: Mapping[type[object], Callable[[Index, Sequence[Facts], Judge], Iterable[Line]]] = {
    Neighbours: _untimely,
    SharedId: _with_taken_ids,
    Step: _odd_steps,
    RoundStart: _misnumbered,
    Brief: _misjudged_briefs,
    Resumption: _resuming,
    Amendment: _odd_amendments,
    SliceEnd: _odd_slice_ends,
    FeedEvent: _feed_events,
    RunStart: _first_lines,
}
