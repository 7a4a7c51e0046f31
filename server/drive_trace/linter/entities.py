"""What the rules that look across lines look at: entities, and which lines belong to each.

A line belongs to what its fields name: an event id, a run, a dispatch, a round,
a slice, a file. An edit has exactly the entities built anew that its lines
belong to, and the rules that look at these run over them; a whole trace is read
by building all of its entities. No entity grows with its trace: of what can
have very many lines (a run, a dispatch with 50,000 rounds) each part is an
entity of its own, so that a keystroke costs the same everywhere.

A class here says in its docstring exactly which lines make up such an entity.
Its :class:`Kind` says how it is built, which ones a line belongs to, and, where
building all of them would take long, which of a whole trace there can be.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice
from operator import attrgetter, itemgetter, le
from typing import Any, NamedTuple, cast

from drive_trace.trace.index import Index, Run, latest
from drive_trace.trace.line import RUN_POSITION, FlaggedLine, Line
from drive_trace.trace.mentions import mentioned
from drive_trace.trace.times import latest_recorded, moment
from drive_trace.vocabulary import ALWAYS_KEPT, EVENTS, LIFETIMES, WRITERS, Entity

MOST = 16
"""What one line is the cause of is told on at most so many lines of each event: else mending it
would change the findings of a whole trace.
"""

RUN_FIELD = "project_run_id"
_SLICE = LIFETIMES[Entity.SLICE]
_DISPATCH = LIFETIMES[Entity.DISPATCH]
_RESUMES = "parent_dispatch_id"
_FEEDS = [event.name for event in EVENTS.values() if event.is_feed]


@dataclass(frozen=True, slots=True)
class Trace:
    """A whole trace."""

    index: Index
    lines: Sequence[Line]


class Named(NamedTuple):
    """A line that names something, when it comes or has gone."""

    line: Line
    field: str
    value: Any
    run: Run
    """The line's run without the line if that has gone, else with it."""
    trace: Trace

    def is_a(self, *names: str) -> bool:
        """Whether the line is one of these events."""
        return self.line.event is not None and self.line.event.name in names


class Kind(NamedTuple):
    """How the entities of one class are found. Each has a key; of one that is a part of something
    larger, or is about a certain line, that is the line with which it begins.
    """

    fields: tuple[str, ...]
    """The fields that name what such entities are of; none where there is one of the whole trace,
    which is built anew with every edit.
    """
    keys: Callable[[Named], Iterable[Hashable]]
    """The entities that can be other ones when a line comes that names something, or has gone."""
    build: Callable[[Trace, Any], Iterable[tuple[Any, ...]]]
    """The entity with a key as the trace has it now, if it does."""
    whole: Callable[[Trace], Iterable[tuple[Hashable, tuple[Any, ...]]]]
    """The entities of a whole trace with their keys."""


def named_by(trace: Trace, line: Line, fields: Container[str]) -> Iterator[Named]:
    """What a line names by some fields. Of one that is no event to readers, what can be read."""
    runs = trace.index.runs
    if line.event is not None:
        run = runs[line.run] if line.run in runs else Run(line.run)
        for field, value in zip(line.event.keeps, line.facts, strict=True):
            if field in fields and value is not None:
                yield Named(line, field, value, run, trace)
    elif isinstance(line, FlaggedLine) and line.run_id is not None and line.run_id in runs:
        for field, value in mentioned(line):
            if field in fields:
                yield Named(line, field, value, runs[line.run_id], trace)


def kind_of(
    fields: tuple[str, ...],
    keys: Callable[[Named], Iterable[Hashable]],
    build: Callable[[Trace, Any], Iterable[tuple[Any, ...]]],
    among: Callable[[Trace], Iterable[Hashable]] | None = None,
) -> Kind:
    """A kind whose entities are built one by one also where a trace is read whole: those of the
    keys that ``among`` gives, more than there are entities or as many; else those of each line,
    which takes long.
    """

    def whole(trace: Trace) -> Iterator[tuple[Hashable, tuple[Any, ...]]]:
        for key in set(among(trace) if among is not None else keys_of_lines(kind, trace)):
            for entity in build(trace, key):
                yield key, entity

    kind = Kind(fields, keys, build, whole)
    return kind


def keys_of_lines(kind: Kind, trace: Trace) -> Iterator[Hashable]:
    """The keys of all entities that some line of a trace belongs to."""
    if not kind.fields:
        yield ()
        return
    for line in trace.lines:
        for named in named_by(trace, line, kind.fields):
            for key in kind.keys(named):
                if key is not None:
                    yield key


class Neighbours(NamedTuple):
    """An event that is earlier, by its timestamp, than the one before it in its run."""

    previous: Line
    line: Line


class SharedId(NamedTuple):
    """An event with the ``event_id`` of an earlier one of the trace."""

    previous: Line
    """The nearest of them."""
    line: Line


class FeedEvent(NamedTuple):
    """One event of a feed."""

    line: Line
    following: Line | None
    """The next one of the same feed and run; without one, this counts."""
    run: Run

    def last_recorded(self, name: str, values: Iterable[str]) -> Line | None:
        """Of the event that counts: the nearest earlier one in which a field has one of some
        values.
        """
        assert self.following is None
        assert self.line.event is not None
        recorded = self.run.table(self.line.event.name, name)
        return latest(recorded.of(value).before(self.line) for value in values)


class RunStart(NamedTuple):
    """The first event of a run, and where the trace lies."""

    line: Line
    path: str


class Resumption(NamedTuple):
    """A dispatch that resumes itself, or one that no event of the trace starts; of those that
    resume the same one, among the first.
    """

    line: Line
    run: Run
    is_itself: bool
    """Whether it names itself."""


class Unauthored(NamedTuple):
    """A spec or plan that is amended, and not authored before; in any run of the trace."""

    field: str
    """The field that names the file."""
    lines: Sequence[Line]
    """The first amendments."""


class Amendment(NamedTuple):
    """A change to a spec or plan, whose ``bytes_delta`` is not the change in length since the same
    run wrote the file before.
    """

    line: Line
    previous: Line
    """The latest event before it that wrote the file."""
    expected: int
    """The change in length."""


class SliceEnd(NamedTuple):
    """The end of a slice that had ended before, or that the run starts nowhere."""

    line: Line
    previous: Line | None
    """The end before it of the same slice."""
    run: Run


class FileEnd(NamedTuple):
    """The last record, which is empty after a final newline."""

    last: Line


class GradeInFile(NamedTuple):
    """The grade of a run that counts in one of the files that are checked together."""

    path: str
    number: int
    """The line's number, from 1."""
    line: Line
    erased: frozenset[str] = frozenset()
    """The components that are null there, though the file had recorded them before."""


class RunInFiles(NamedTuple):
    """A run that several files grade. No trace has it: it is looked at when all are read."""

    grades: tuple[GradeInFile, ...]
    """In the order of the files."""

    def latest(self, name: str | None = None) -> GradeInFile | None:
        """The grade with the latest ``ts``, the later file's on a tie; of a component, among those
        that record it.
        """
        having = (each for each in self.grades if name is None or each.line.fact(name) is not None)
        return latest_recorded(having, lambda each: each.line.text_fact("ts"))


class UnreadFile(NamedTuple):
    """A file, or a folder, of which nothing could be read."""

    reason: str
    """In a few words."""


# Two neighbouring lines of a run


def _neighbour_keys(of: Named) -> Iterable[Line | None]:
    return of.line, of.run.lines.after(of.line)


def _neighbours(trace: Trace, line: Line) -> Iterable[Neighbours]:
    previous = trace.index.runs[line.run].lines.before(line)
    if previous is not None and _is_earlier(_ts(line.facts), _ts(previous.facts)):
        yield Neighbours(previous, line)


def _is_earlier(one: str, other: str) -> bool:
    if are_alike((one, other)):
        return one < other
    time, other_time = moment(one), moment(other)
    return time is not None and other_time is not None and time < other_time


def _all_neighbours(trace: Trace) -> Iterator[tuple[Line, Neighbours]]:
    stamps = list(map(_ts, filter(None, map(_facts, trace.lines))))
    alike = are_alike(stamps)
    if alike and all(map(le, stamps, islice(stamps, 1, None))):
        return  # no time of the trace goes back, then none of a run either
    times: Iterable[Any] = stamps if alike else map(moment, stamps)
    latest_of: dict[object, tuple[Any, Line]] = {}
    for line, time in zip(compress(trace.lines, map(_facts, trace.lines)), times, strict=True):
        run_id = line.facts[RUN_POSITION]
        earlier, previous = latest_of.get(run_id, (time, line))
        if time is not None and earlier is not None and time < earlier:
            yield line, Neighbours(previous, line)
        latest_of[run_id] = time, line


def are_alike(stamps: Sequence[str]) -> bool:
    """Whether all have the same digits and signs in the same places, in UTC: then texts compare
    like times.
    """
    if not stamps or not stamps[0].endswith("Z"):
        return False
    shapes = "".join(stamps).encode("utf-8", "replace").translate(_TO_SHAPE)
    return shapes == shapes[: len(stamps[0])] * len(stamps)


# An event id


def _id_keys(of: Named) -> Iterable[Line | None]:
    return of.line, of.trace.index.event_ids.beside(of.value, of.line)[1]


def _shared_id(trace: Trace, line: Line) -> Iterable[SharedId]:
    previous, _ = trace.index.event_ids.beside(_event_id(line.facts), line)
    return () if previous is None else (SharedId(previous, line),)


def _all_shared_ids(trace: Trace) -> Iterator[tuple[Line, SharedId]]:
    ids = list(map(_event_id, filter(None, map(_facts, trace.lines))))
    if len(set(ids)) == len(ids):
        return
    taken = {each for each, count in Counter(ids).items() if count > 1}
    latest_with: dict[str, Line] = {}
    valid = compress(trace.lines, map(_facts, trace.lines))
    for line in compress(valid, map(taken.__contains__, ids)):
        event_id = _event_id(line.facts)
        if event_id in latest_with:
            yield line, SharedId(latest_with[event_id], line)
        latest_with[event_id] = line


# A run's feeds and its start


def _feed_keys(of: Named) -> Iterator[Line | None]:
    event = of.line.event
    if event is not None and (event.is_feed or event.is_work):
        for name in _FEEDS:
            feed = of.run.events(name)
            yield feed.last
            if event.name == name:
                yield from (of.line, feed.before(of.line))


def _feed_event(trace: Trace, line: Line) -> Iterable[FeedEvent]:
    assert line.event is not None
    run = trace.index.runs[line.run]
    yield FeedEvent(line, run.events(line.event.name).after(line), run)


def _all_feed_events(trace: Trace) -> Iterator[Line]:
    for run in trace.index.runs.values():
        for name in _FEEDS:
            yield from run.events(name)


def _run_start(trace: Trace, run_id: str) -> Iterable[RunStart]:
    run, path = trace.index.runs.get(run_id), trace.index.path
    if run is not None and path is not None:
        yield RunStart(run.first_line, path)


# A dispatch that is resumed


def _resumption_keys(of: Named) -> Iterable[object]:
    return (of.value,) if of.field == _RESUMES or not of.is_a(*_WITHIN_DISPATCH) else ()


def _resumptions(trace: Trace, parent: str) -> Iterator[Resumption]:
    index = trace.index
    count = len(index.table(_DISPATCH.opener, _DISPATCH.field).of(parent))
    for line in index.table(_DISPATCH.opener, _RESUMES).of(parent)[:MOST]:
        run = index.runs[line.run]
        is_itself = line.fact(_DISPATCH.field) == parent
        # A run may resume what another run began, under the same id.
        own = len(run.table(_DISPATCH.opener, _DISPATCH.field).of(parent)) if is_itself else 0
        if own == count and not index.unread_naming(line.run, _DISPATCH.field, parent):
            yield Resumption(line, run, is_itself)


def _all_resumptions(trace: Trace) -> Iterator[object]:
    own, parent = map(EVENTS[_DISPATCH.opener].keeps.index, (_DISPATCH.field, _RESUMES))
    starts = [run.events(_DISPATCH.opener) for run in trace.index.runs.values()]
    started = {line.facts[own] for lines in starts for line in lines}
    started.add(None)
    for facts in map(_facts, chain.from_iterable(starts)):
        if facts[parent] not in started or facts[parent] == facts[own]:
            yield facts[parent]


# A file that is written


def _file_keys(of: Named) -> Iterable[Hashable]:
    return ((of.field, of.value),)


def _unauthored(trace: Trace, key: tuple[str, str]) -> Iterable[Unauthored]:
    (field, path), index = key, trace.index
    authoring, amending = WRITERS[field]
    first = index.table(authoring, field).first.get(path)
    lines = tuple(
        line
        for line in index.table(amending, field).of(path)[:MOST]
        if (first is None or line.order < first.order)
        and not any_between(index.unread_naming(line.run, field, path), None, line)
    )
    if lines:
        yield Unauthored(field, lines)


def _all_unauthored(trace: Trace) -> Iterator[tuple[str, object]]:
    for field, (authoring, amending) in WRITERS.items():
        authored = trace.index.table(authoring, field).first
        for path, line in trace.index.table(amending, field).first.items():
            if path not in authored or authored[path].order > line.order:
                yield field, path


def _amendment_keys(of: Named) -> Iterable[Line | None]:
    _, amending = WRITERS[of.field]
    after = of.trace.index.table(amending, of.field).of(of.value).after(of.line)
    return (of.line, after) if of.is_a(amending) else (after,)


def _amendment(trace: Trace, line: Line) -> Iterable[Amendment]:
    assert line.event is not None
    field, writers = next(each for each in WRITERS.items() if each[0] in line.event.fields)
    path = line.text_fact(field)
    previous = latest(trace.index.table(name, field).of(path).before(line) for name in writers)
    if previous is None or previous.run != line.run:
        return
    expected = _length(line) - _length(previous)
    if line.fact("bytes_delta") != expected:
        unread = trace.index.unread_naming(line.run, field, path)
        if not any_between(unread, previous, line):
            yield Amendment(line, previous, expected)


def _length(line: Line) -> int:
    return cast("int", line.fact("byte_length"))


def _all_amendments(trace: Trace) -> Iterator[Line]:
    for field, (authoring, amending) in WRITERS.items():
        authored, amended = (trace.index.table(name, field) for name in (authoring, amending))
        length_at = EVENTS[authoring].keeps.index("byte_length")
        lengths_at = itemgetter(*map(EVENTS[amending].keeps.index, ("byte_length", "bytes_delta")))
        for path in amended.first:
            lines, start = amended.of(path), authored.first.get(path)
            if path in authored.several or start is None or start.order > lines[0].order:
                yield from lines
                continue
            known = start.facts[length_at]
            for line in lines:
                length, delta = lengths_at(line.facts)
                if length - known != delta:
                    yield line
                known = length


# A slice


def _slice_keys(of: Named) -> Iterable[Line | None]:
    ends = of.run.table(_SLICE.closer, _SLICE.field).of(of.value)
    own = of.line if of.is_a(_SLICE.closer) else None
    return own, ends.after(of.line), ends.first


def _slice_end(trace: Trace, line: Line) -> Iterable[SliceEnd]:
    run, slug = trace.index.runs[line.run], line.text_fact(_SLICE.field)
    previous = run.table(_SLICE.closer, _SLICE.field).of(slug).before(line)
    is_started = run.table(_SLICE.opener, _SLICE.field).of(slug)
    if previous is not None or not (
        is_started or trace.index.unread_naming(run.run_id, _SLICE.field, slug)
    ):
        yield SliceEnd(line, previous, run)


def _all_slice_ends(trace: Trace) -> Iterator[Line]:
    for run in trace.index.runs.values():
        if _SLICE.closer in run.by_event:
            started = run.table(_SLICE.opener, _SLICE.field).first
            table = run.table(_SLICE.closer, _SLICE.field)
            for slug in (table.first.keys() - started.keys()) | table.several.keys():
                yield from table.of(slug)


def _file_end(trace: Trace, _: object) -> Iterable[FileEnd]:
    return (FileEnd(trace.lines[-1]),)


def any_between(lines: Sequence[Line], start: Line | None, end: Line) -> bool:
    """Whether one of some lines stands between two others, or before one."""
    least = start.order if start is not None else float("-inf")
    return any(least < each.order < end.order for each in lines)


_facts = attrgetter("facts")
_ts = itemgetter(ALWAYS_KEPT.index("ts"))
_event_id = itemgetter(ALWAYS_KEPT.index("event_id"))
_TO_SHAPE = bytes.maketrans(b"123456789", b"000000000")
_WITHIN_DISPATCH = tuple(each for each in _DISPATCH.members if each != _DISPATCH.opener)

KINDS: Mapping[type[tuple[Any, ...]], Kind] = {
    Neighbours: Kind((RUN_FIELD,), _neighbour_keys, _neighbours, _all_neighbours),
    SharedId: Kind(("event_id",), _id_keys, _shared_id, _all_shared_ids),
    FeedEvent: kind_of((RUN_FIELD,), _feed_keys, _feed_event, _all_feed_events),
    RunStart: kind_of(
        (RUN_FIELD,), lambda of: (of.value,), _run_start, lambda trace: trace.index.runs
    ),
    Resumption: kind_of(
        (_DISPATCH.field, _RESUMES), _resumption_keys, _resumptions, _all_resumptions
    ),
    Unauthored: kind_of(tuple(WRITERS), _file_keys, _unauthored, _all_unauthored),
    Amendment: kind_of(tuple(WRITERS), _amendment_keys, _amendment, _all_amendments),
    SliceEnd: kind_of((_SLICE.field,), _slice_keys, _slice_end, _all_slice_ends),
    FileEnd: kind_of((), lambda _: (), _file_end),
}
"""Every kind of entity of a run or a file; those of dispatches and rounds are in ``lives.py``."""
