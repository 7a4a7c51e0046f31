"""What rules that compare lines look at, and how it is found for a line.

Every subject is about one line and what stands around it in the order of the
file: in its run, its dispatch, its round, its slice or the file that it writes.
A rule's findings are on that line. What a subject says depends on near lines
only (``REACH``), so that an edit has few lines judged anew in any trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from drive_trace.trace.index import Index, Run, earliest, latest
from drive_trace.trace.line import Line, LineSet
from drive_trace.vocabulary import EVENTS, LIFETIMES, WRITERS, Entity, Form, Lifetime

REACH = 16
"""Of the lines of one event that share an entity, so many are judged by what happened to it."""

MOST_BRIEFS = 100
"""The briefs of a dispatch with more are not compared."""

_DISPATCH = LIFETIMES[Entity.DISPATCH]
_ROUND = LIFETIMES[Entity.ROUND]
_SLICE = LIFETIMES[Entity.SLICE]
DISPATCHES_MOVE_ON = (_DISPATCH.opener, _SLICE.closer, "project-closed")
"""Events that show that a dispatch before them is over."""
_ROUNDS_MOVE_ON = (_ROUND.opener, _DISPATCH.closer)


class Neighbours(NamedTuple):
    """An event and the one before it in its run."""

    previous: Line
    line: Line


class SharedId(NamedTuple):
    """An event with the ``event_id`` of an earlier one of the trace."""

    previous: Line
    line: Line


class Step(NamedTuple):
    """An event of a dispatch or a round, and what the others of it in its run are."""

    line: Line
    of: Lifetime
    opens: bool
    """Whether the event starts it."""
    closes: bool
    """Whether the event ends it."""
    first_start: Line | None
    """The earliest event that opens it."""
    previous_start: Line | None
    before: Line | None
    """The nearest earlier event that opens or closes it."""
    after: Line | None
    """The nearest later event that opens or closes it."""
    run: Run
    trace: Index

    @property
    def id(self) -> str:
        """The id of the dispatch or round."""
        return self.line.text_fact(self.of.field)

    @property
    def follows_end(self) -> bool:
        """Whether it had ended, and not been started again, when this happened."""
        return self.before is not None and self.before is not self.previous_start

    @property
    def is_early(self) -> bool:
        """Whether it is among the first of its events in the dispatch or round."""
        return self._count_since(None) < REACH

    @property
    def is_just_after(self) -> bool:
        """Whether few of its events stand between it and the one that opened or closed it."""
        return self._count_since(self.before) < REACH

    @property
    def is_unclosed(self) -> bool:
        """Whether this starts it, and nothing ends it, also nothing unread below."""
        if not self.opens or self.before is not None or self.after is not None:
            return False
        return not any(line.order > self.line.order for line in self.unread)

    @property
    def moved_on(self) -> Line | None:
        """What shows that it is over: the next thing of its kind, or the end of what holds it."""
        if self.of is _DISPATCH:
            return self.run.next_of(DISPATCHES_MOVE_ON, self.line)
        dispatch_id = self.line.fact(_DISPATCH.field)
        return earliest(
            self.run.table(name, _DISPATCH.field).of(dispatch_id).after(self.line)
            for name in _ROUNDS_MOVE_ON
        )

    @property
    def unread(self) -> Sequence[Line]:
        """The run's lines that name it and that readers reject or do not know: what seems to be
        missing may be there.
        """
        return self.trace.unread_naming(self.run.run_id, self.of.field, self.id)

    def has(self, name: str) -> bool:
        """Whether it has an event of this name."""
        return bool(self._of(name))

    def _count_since(self, other: Line | None) -> int:
        same = self._of(self.line.event.name if self.line.event is not None else "")
        return same.position(self.line) - (same.position(other) if other is not None else 0)

    def _of(self, name: str) -> LineSet:
        return self.run.table(name, self.of.field).of(self.id)


class RoundStart(NamedTuple):
    """The start of a round that was not started before, and the start before it in its dispatch."""

    previous: Line | None
    line: Line


class Brief(NamedTuple):
    """A brief among those of its dispatch, all of whose hashes can be compared."""

    first: Line | None
    """The first brief, if that is another one."""
    same: Line | None
    """The nearest earlier one with the same hash."""
    line: Line


class Resumption(NamedTuple):
    """A dispatch that resumes one which no other event of the trace starts."""

    line: Line
    run: Run
    is_itself: bool
    """Whether it names itself."""


class Amendment(NamedTuple):
    """A change to a spec or plan, and the events before it that wrote the same file."""

    line: Line
    previous: Line | None
    """The latest of them, where nothing unread stands between."""
    is_first: bool
    """Whether nothing that can be read authored it before."""


class SliceEnd(NamedTuple):
    """The end of a slice."""

    line: Line
    previous: Line | None
    """The end before it of the same slice."""
    is_started: bool
    """Whether the run starts the slice anywhere, as far as can be read."""
    run: Run


class FeedEvent(NamedTuple):
    """One event of a feed between its neighbours in the same feed of the same run."""

    previous: Line | None
    line: Line
    following: Line | None
    run: Run

    def last_recorded(self, name: str, values: Iterable[str]) -> Line | None:
        """The nearest earlier event of the feed in which a field has one of some values.

        May be asked of the last event alone, which is judged anew with every change of its feed.
        """
        assert self.following is None
        assert self.line.event is not None
        recorded = self.run.table(self.line.event.name, name)
        return latest(recorded.of(value).before(self.line) for value in values)


class RunStart(NamedTuple):
    """The first event of a run, and where the trace lies."""

    line: Line
    path: str


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
        found: GradeInFile | None = None
        for each in self.grades:
            if name is not None and each.line.fact(name) is None:
                continue
            if found is None or each.line.text_fact("ts") >= found.line.text_fact("ts"):
                found = each
        return found


def _neighbours(index: Index, line: Line) -> Iterable[Neighbours]:
    previous = index.runs[line.run].lines.before(line)
    return () if previous is None else (Neighbours(previous, line),)


def _shared_id(index: Index, line: Line) -> Iterable[SharedId]:
    previous = index.event_ids.of(line.fact("event_id")).before(line)
    return () if previous is None else (SharedId(previous, line),)


def _steps(index: Index, line: Line) -> Iterable[Step]:
    assert line.event is not None
    name, run = line.event.name, index.runs[line.run]
    for of, position in _STEPS[name]:
        value = line.facts[position]
        starts = run.table(of.opener, of.field)
        start, next_start = starts.beside(value, line)
        end, next_end = run.table(of.closer, of.field).beside(value, line)
        is_started = start is not None and (end is None or start.order > end.order)
        is_restarted = next_start is not None and (
            next_end is None or next_start.order < next_end.order
        )
        yield Step(
            line,
            of,
            opens=name == of.opener,
            closes=name == of.closer,
            first_start=starts.first.get(value),
            previous_start=start,
            before=start if is_started else end,
            after=next_start if is_restarted else next_end,
            run=run,
            trace=index,
        )


def _round_start(index: Index, line: Line) -> Iterable[RoundStart]:
    run = index.runs[line.run]
    dispatch_id = line.text_fact(_DISPATCH.field)
    previous = run.table(_ROUND.opener, _DISPATCH.field).of(dispatch_id).before(line)
    is_started = bool(run.table(_DISPATCH.opener, _DISPATCH.field).of(dispatch_id))
    if _is_again(run, line) or (previous is None and not is_started):
        return
    if previous is not None and _is_again(run, previous):
        return
    unread = index.unread_naming(run.run_id, _DISPATCH.field, dispatch_id)
    if not _any_between(unread, previous, line):
        yield RoundStart(previous, line)


def _is_again(run: Run, line: Line) -> bool:
    return run.table(_ROUND.opener, _ROUND.field).of(line.fact(_ROUND.field))[0] is not line


def _brief(index: Index, line: Line) -> Iterable[Brief]:
    run = index.runs[line.run]
    dispatch_id = line.text_fact(_DISPATCH.field)
    briefs = run.table("brief-issued", _DISPATCH.field).of(dispatch_id)
    if len(briefs) > MOST_BRIEFS:
        return
    hashes = [str(brief.fact("brief_content_hash")) for brief in briefs]
    is_started = bool(run.table(_DISPATCH.opener, _DISPATCH.field).of(dispatch_id))
    if not is_started or index.unread_naming(run.run_id, _DISPATCH.field, dispatch_id):
        return
    if all(each in Form.SHA256 for each in hashes):
        place = briefs.position(line)
        earlier = [each.lower() for each in hashes[:place]]
        own = hashes[place].lower()
        same = briefs[len(earlier) - 1 - earlier[::-1].index(own)] if own in earlier else None
        yield Brief(briefs[0] if place else None, same, line)


def _resumption(index: Index, line: Line) -> Iterable[Resumption]:
    parent = line.fact("parent_dispatch_id")
    if parent is None:
        return
    starts = index.table(_DISPATCH.opener, _DISPATCH.field).of(parent)[:REACH]
    is_itself = parent == line.fact(_DISPATCH.field)
    if starts and not (is_itself and all(start.run == line.run for start in starts)):
        return  # a run may resume what another run began, under the same id
    same = index.table(_DISPATCH.opener, "parent_dispatch_id").of(parent)
    if same.position(line) < REACH and not index.unread_naming(
        line.run, _DISPATCH.field, str(parent)
    ):
        yield Resumption(line, index.runs[line.run], is_itself)


def _amendment(index: Index, line: Line) -> Iterable[Amendment]:
    assert line.event is not None
    field, (authoring, amending) = next(
        each for each in WRITERS.items() if each[0] in line.event.fields
    )
    path = line.text_fact(field)
    authored = index.table(authoring, field).of(path).before(line)
    amendments = index.table(amending, field).of(path)
    previous = latest((authored, amendments.before(line)))
    unread = index.unread_naming(line.run, field, path)
    yield Amendment(
        line,
        previous if not _any_between(unread, previous, line) else None,
        is_first=authored is None
        and not _any_between(unread, None, line)
        and amendments.position(line) < REACH,
    )


def _slice_end(index: Index, line: Line) -> Iterable[SliceEnd]:
    run, slug = index.runs[line.run], line.text_fact(_SLICE.field)
    started = run.table(_SLICE.opener, _SLICE.field).of(slug) or index.unread_naming(
        run.run_id, _SLICE.field, slug
    )
    previous = run.table(_SLICE.closer, _SLICE.field).of(slug).before(line)
    yield SliceEnd(line, previous, bool(started), run)


def _feed_event(index: Index, line: Line) -> Iterable[FeedEvent]:
    assert line.event is not None
    run = index.runs[line.run]
    feed = run.events(line.event.name)
    yield FeedEvent(feed.before(line), line, feed.after(line), run)


def _run_start(index: Index, line: Line) -> Iterable[RunStart]:
    if index.path is not None and index.runs[line.run].first_line is line:
        yield RunStart(line, index.path)


def _any_between(lines: Sequence[Line], start: Line | None, end: Line) -> bool:
    """Whether one of some lines stands between two others."""
    least = start.order if start is not None else float("-inf")
    return any(least < each.order < end.order for each in lines)


Finder = Callable[[Index, Line], Iterable[tuple[object, ...]]]


class Kind(NamedTuple):
    """A kind of subject: how it is found for a line, and on which events."""

    find: Finder
    events: frozenset[str]


_STEPS = {
    name: [
        (of, event.keeps.index(of.field)) for of in (_DISPATCH, _ROUND) if of.field in event.fields
    ]
    for name, event in EVENTS.items()
}


def _having(*fields: str) -> frozenset[str]:
    return frozenset(
        name for name, event in EVENTS.items() if any(field in event.fields for field in fields)
    )


class UnreadFile(NamedTuple):
    """A file, or a folder, of which nothing could be read."""

    reason: str
    """In a few words."""


KINDS: Mapping[type[tuple[object, ...]], Kind] = {
    Neighbours: Kind(_neighbours, frozenset(EVENTS)),
    SharedId: Kind(_shared_id, frozenset(EVENTS)),
    Step: Kind(_steps, _having(_DISPATCH.field, _ROUND.field)),
    RoundStart: Kind(_round_start, frozenset({_ROUND.opener})),
    Brief: Kind(_brief, _having("brief_content_hash")),
    Resumption: Kind(_resumption, _having("parent_dispatch_id")),
    Amendment: Kind(_amendment, _having("bytes_delta")),
    SliceEnd: Kind(_slice_end, frozenset({_SLICE.closer})),
    FeedEvent: Kind(_feed_event, frozenset(each.name for each in EVENTS.values() if each.is_feed)),
    RunStart: Kind(_run_start, frozenset(EVENTS)),
}
"""Every kind of subject that is about a valid line."""
