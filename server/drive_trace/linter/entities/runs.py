"""The entities of a run, its feeds and slices, and of the files that it writes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from itertools import compress, islice
from operator import itemgetter, le
from typing import Any, NamedTuple, cast

from drive_trace.linter.entities import (
    RUN_FIELD,
    EntityKind,
    Mention,
    WholeTrace,
    any_between,
    kind_of,
)
from drive_trace.trace.durations import facts_of, ts_of
from drive_trace.trace.line import RUN_POSITION, Line, latest
from drive_trace.trace.run_index import RunIndex
from drive_trace.trace.times import are_alike, moment
from drive_trace.vocabulary import ALWAYS_KEPT, EVENTS, LIFETIMES, WRITERS, Entity

_SLICE = LIFETIMES[Entity.SLICE]
_FEEDS = [event.name for event in EVENTS.values() if event.is_feed]
_event_id = itemgetter(ALWAYS_KEPT.index("event_id"))


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
    run: RunIndex

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


class Slip(NamedTuple):
    """The few lines that name a run by an id that is most likely a slip."""

    lines: tuple[Line, ...]
    """In document order."""
    meant: str
    """The id of the run that is meant."""


class Unauthored(NamedTuple):
    """A spec or plan that is amended, and not authored before; in any run of the trace."""

    field: str
    """The field that names the file."""
    line: Line
    """The first amendment."""


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
    """The first end of a slice that the run starts nowhere."""

    line: Line
    run: RunIndex


class FileEnd(NamedTuple):
    """The last record, which is empty after a final newline."""

    last: Line


# Two neighbouring lines of a run


def _neighbour_keys(mention: Mention) -> Iterable[Line | None]:
    return mention.line, mention.run.lines.after(mention.line)


def _neighbours(trace: WholeTrace, line: Line) -> Iterable[Neighbours]:
    previous = trace.index.runs[line.run].lines.before(line)
    if previous is not None and _is_earlier(ts_of(line.facts), ts_of(previous.facts)):
        yield Neighbours(previous, line)


def _is_earlier(one: str, other: str) -> bool:
    if are_alike((one, other)):
        return one < other
    time, other_time = moment(one), moment(other)
    return time is not None and other_time is not None and time < other_time


def _all_neighbours(trace: WholeTrace) -> Iterator[tuple[Line, Neighbours]]:
    stamps = list(map(ts_of, filter(None, map(facts_of, trace.lines))))
    alike = are_alike(stamps)
    if alike and all(map(le, stamps, islice(stamps, 1, None))):
        return  # no time of the trace goes back, then none of a run either
    times: Iterable[Any] = stamps if alike else map(moment, stamps)
    latest_of: dict[object, tuple[Any, Line]] = {}
    for line, time in zip(compress(trace.lines, map(facts_of, trace.lines)), times, strict=True):
        run_id = line.facts[RUN_POSITION]
        earlier, previous = latest_of.get(run_id, (time, line))
        if time is not None and earlier is not None and time < earlier:
            yield line, Neighbours(previous, line)
        latest_of[run_id] = time, line


# An event id


def _id_keys(mention: Mention) -> Iterable[Line | None]:
    return mention.line, mention.trace.index.event_ids.beside(mention.value, mention.line)[1]


def _shared_id(trace: WholeTrace, line: Line) -> Iterable[SharedId]:
    previous, _ = trace.index.event_ids.beside(_event_id(line.facts), line)
    return () if previous is None else (SharedId(previous, line),)


def _all_shared_ids(trace: WholeTrace) -> Iterator[tuple[Line, SharedId]]:
    ids = list(map(_event_id, filter(None, map(facts_of, trace.lines))))
    if len(set(ids)) == len(ids):
        return
    taken = {each for each, count in Counter(ids).items() if count > 1}
    latest_with: dict[str, Line] = {}
    valid = compress(trace.lines, map(facts_of, trace.lines))
    for line in compress(valid, map(taken.__contains__, ids)):
        event_id = _event_id(line.facts)
        if event_id in latest_with:
            yield line, SharedId(latest_with[event_id], line)
        latest_with[event_id] = line


# A run's feeds and its start


def _feed_keys(mention: Mention) -> Iterator[Line | None]:
    event = mention.event
    if event is not None and (event.is_feed or event.is_work):
        for name in _FEEDS:
            feed = mention.run.events(name)
            yield feed.last
            if event.name == name:
                yield from (mention.line, feed.before(mention.line))


def _feed_event(trace: WholeTrace, line: Line) -> Iterable[FeedEvent]:
    assert line.event is not None
    run = trace.index.runs[line.run]
    yield FeedEvent(line, run.events(line.event.name).after(line), run)


def _all_feed_events(trace: WholeTrace) -> Iterator[Line]:
    for run in trace.index.runs.values():
        for name in _FEEDS:
            yield from run.events(name)


def _run_start(trace: WholeTrace, run_id: str) -> Iterable[RunStart]:
    run, path = trace.run(run_id), trace.index.path
    if run is not None and path is not None:
        yield RunStart(run.first_line, path)


def _slip(trace: WholeTrace, run_id: str) -> Iterable[Slip]:
    meant = trace.index.slips.get(run_id)
    if meant is not None:
        yield Slip(tuple(trace.index.runs[run_id].lines), meant)


# A file that is written


def _file_keys(mention: Mention) -> Iterable[Hashable]:
    return ((mention.field, mention.value),)


def _unauthored(trace: WholeTrace, key: tuple[str, str]) -> Iterable[Unauthored]:
    (field, path), index = key, trace.index
    authoring, amending = WRITERS[field]
    first = index.table(authoring, field).first.get(path)
    line = index.table(amending, field).first.get(path)
    if line is None or (first is not None and first.order < line.order):
        return
    if not any_between(index.in_doubt_naming(line.run, field, path), None, line):
        yield Unauthored(field, line)


def _all_unauthored(trace: WholeTrace) -> Iterator[tuple[str, object]]:
    for field, (_, amending) in WRITERS.items():
        for path in trace.index.table(amending, field).first:
            yield field, path


def _amendment_keys(mention: Mention) -> Iterable[Line | None]:
    _, amending = WRITERS[mention.field]
    after = mention.trace.index.table(amending, mention.field).of(mention.value).after(mention.line)
    return (mention.line, after) if mention.is_a(amending) else (after,)


def _amendment(trace: WholeTrace, line: Line) -> Iterable[Amendment]:
    assert line.event is not None
    field, writers = next(each for each in WRITERS.items() if each[0] in line.event.fields)
    path = line.text_fact(field)
    previous = latest(trace.index.table(name, field).of(path).before(line) for name in writers)
    if previous is None or previous.run != line.run:
        return
    expected = _length(line) - _length(previous)
    if line.fact("bytes_delta") != expected:
        unread = trace.index.in_doubt_naming(line.run, field, path)
        if not any_between(unread, previous, line):
            yield Amendment(line, previous, expected)


def _length(line: Line) -> int:
    return cast("int", line.fact("byte_length"))


def _all_amendments(trace: WholeTrace) -> Iterator[Line]:
    for run in trace.index.runs.values():
        for _, amending in WRITERS.values():
            yield from run.events(amending)


# A slice


def _slice_keys(mention: Mention) -> Iterable[tuple[str, object]]:
    return ((mention.run.run_id, mention.value),)


def _slice_end(trace: WholeTrace, key: tuple[str, str]) -> Iterable[SliceEnd]:
    run_id, slug = key
    run = trace.run(run_id)
    if run is None or run.table(_SLICE.opener, _SLICE.field).of(slug):
        return
    line = run.table(_SLICE.closer, _SLICE.field).first.get(slug)
    if line is not None and not trace.index.in_doubt_naming(run_id, _SLICE.field, slug):
        yield SliceEnd(line, run)


def _all_slice_ends(trace: WholeTrace) -> Iterator[tuple[str, object]]:
    for run in trace.index.runs.values():
        if _SLICE.closer in run.by_event:
            started = run.table(_SLICE.opener, _SLICE.field).first
            for slug in run.table(_SLICE.closer, _SLICE.field).first.keys() - started.keys():
                yield run.run_id, slug


def _file_end(trace: WholeTrace, _: object) -> Iterable[FileEnd]:
    return (FileEnd(trace.lines[-1]),)


KINDS: Mapping[type[tuple[Any, ...]], EntityKind] = {
    Neighbours: EntityKind((RUN_FIELD,), _neighbour_keys, _neighbours, _all_neighbours),
    SharedId: EntityKind(("event_id",), _id_keys, _shared_id, _all_shared_ids),
    FeedEvent: kind_of((RUN_FIELD,), _feed_keys, _feed_event, _all_feed_events),
    RunStart: kind_of(
        (RUN_FIELD,), lambda mention: (mention.value,), _run_start, lambda trace: trace.index.runs
    ),
    Slip: kind_of(
        (RUN_FIELD,), lambda mention: (mention.value,), _slip, lambda trace: trace.index.slips
    ),
    Unauthored: kind_of(tuple(WRITERS), _file_keys, _unauthored, _all_unauthored),
    Amendment: kind_of(tuple(WRITERS), _amendment_keys, _amendment, _all_amendments),
    SliceEnd: kind_of((_SLICE.field,), _slice_keys, _slice_end, _all_slice_ends),
    FileEnd: kind_of((), lambda _: (), _file_end),
}
