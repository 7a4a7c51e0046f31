"""Appends events to traces, for commands and for the language server.

What is appended depends on all files of a run, so they stay locked while they are read and one is
appended to. So no grade is lost between two writers. The one exception are two writers that begin
a run in two files at once: no file that both could lock exists yet.
"""

from __future__ import annotations

import os
import re
import uuid
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, TypeAlias

import msgspec

from drive_trace import __version__
from drive_trace.authoring import drafts
from drive_trace.scorecard import caveats, feed_state, run_score
from drive_trace.scorecard.scoring import ScoredTrace, score_joined
from drive_trace.storage import appending, git
from drive_trace.storage import files as disk
from drive_trace.storage.patterns import PROVENANCE_SUFFIX
from drive_trace.text import wording
from drive_trace.text.quick import Frozen
from drive_trace.trace.line import run_of
from drive_trace.trace.provenance import Origin, digest_of_line, entry_line
from drive_trace.trace.reading import read_exactly, read_lines
from drive_trace.vocabulary import COST, EVENTS, GRADE, EventType, slips

EMITTED = Origin("emit")
RECORDED = Origin("record")
Refuse: TypeAlias = Callable[[Sequence[ScoredTrace]], str | None]
"""Why nothing is recorded of a run in these traces, or None."""


class Appended(Frozen, frozen=True):
    """One event was appended."""

    record: str
    """Without its newline; empty where nothing was appended."""
    notes: tuple[str, ...]
    """What the caller should know about it, a sentence each."""


class Merged(Frozen, frozen=True):
    """One event of a feed was appended, or would be."""

    written: Appended
    before: feed_state.JoinedFeed
    """The feed in the files of the run, before the event."""
    values: Mapping[str, object]
    """The components of the event."""
    line: int
    """The number of its line, from 1."""
    score_before: run_score.RunScore | None
    """The run's score before the event; None if no file knew the run, or for tokens that stand in
    one file alone.
    """
    traces: Sequence[ScoredTrace]
    """The files that concern the run, with the event if it was appended."""


def new_stamp() -> drafts.Stamp:
    """Fresh ids, and the time to the millisecond."""
    ts = datetime.now(UTC).isoformat(timespec="milliseconds")
    return drafts.Stamp(str(uuid.uuid4()), ts.removesuffix("+00:00") + "Z", str(uuid.uuid4()))


class NewEvent(NamedTuple):
    """An event that is to be appended."""

    draft: drafts.Draft
    origin: Origin
    """Where it comes from: kept in the record of provenance beside the trace."""
    ts: str | None = None
    """When it happened, where a log says so; None: now."""
    notes: tuple[str, ...] = ()
    """What the caller should know about it, before what is found when it is appended."""


Composed: TypeAlias = "Sequence[NewEvent] | drafts.Refused"


def append_events(
    path: str,
    events: Composed | Callable[[bytes], Composed],
    beside: Mapping[str, Sequence[str]] = {},
    *,
    waiting: Callable[[str], None] | None = None,
    dry_run: bool = False,
) -> Sequence[Appended] | drafts.Refused | disk.Problem:
    """Append events to a trace in their order, under one lock and in one write: all, or none. The
    trace is created if need be. Never raises.

    ``events`` may be a function, which makes them of the trace's bytes as they are when it is
    locked (empty where there is no trace yet): what depends on what stands there, such as the
    number of the next round, is right then, whoever else writes.

    A grade that would erase what another one has recorded is refused; ``beside`` has by run the
    other files that may hold such a grade, see :func:`record_feed`, as for ``waiting``. With
    ``dry_run`` nothing is locked or written.

    The record of provenance beside the trace gets an entry for each event after the trace has it,
    under the same lock. Where that cannot be written, a note says so.
    """
    grade = EVENTS[GRADE]
    looked = {run_id: RunFiles(path, each, grade, run_id) for run_id, each in beside.items()}
    try:
        opened = _opened(path, looked.values(), create=True, waiting=waiting, dry_run=dry_run)
        with opened as (trace, data):
            made = events(data) if callable(events) else events
            if isinstance(made, drafts.Refused):
                return made
            return _append_all(path, trace, data, made, looked)
    except appending.AppendError as error:
        return error.problem


def _append_all(
    path: str,
    trace: appending.LockedTrace | None,
    data: bytes,
    events: Sequence[NewEvent],
    looked: Mapping[str, RunFiles],
) -> Sequence[Appended] | drafts.Refused:
    """Append events, if none of them is refused in a trace that has those before it."""
    found, now = list[tuple[str, Origin, tuple[str, ...]]](), data
    for number, (draft, origin, ts, told) in enumerate(events, 1):
        known = looked.get(draft.run_id) if draft.event.name == GRADE else None
        files = known or RunFiles(path, (), draft.event, draft.run_id)
        notes = _about_trace(draft, path, now, files)
        if isinstance(notes, drafts.Refused):
            where = f"event {number} ({draft.event.name}): " if len(events) > 1 else ""
            return notes._replace(reasons=tuple(f"{where}{each}" for each in notes.reasons))
        stamp = new_stamp()
        record = draft.record(stamp if ts is None else stamp._replace(ts=ts))
        found.append((record, origin, (*told, *notes)))
        now = b"%b%b%b\n" % (now, b"\n" * (not now.endswith(b"\n")), record.encode())
    written = _write(trace, data, [(record, origin) for record, origin, _ in found])
    return [
        Appended(record, (*written * (number == 0), *notes, *drafts.cautions(record)))
        for number, (record, _, notes) in enumerate(found)
    ]


def _about_trace(
    draft: drafts.Draft, path: str, data: bytes, files: RunFiles
) -> tuple[str, ...] | drafts.Refused:
    """Notes for the writer of one whole event, or why the event is refused."""
    slip = _run_meant(draft.run_id, data)
    notes = (f"no run {wording.shown(draft.run_id)} in the trace; {slip}",) if slip else ()
    if not draft.event.is_feed:
        return notes
    joined = files.joined(ScoredTrace(disk.records_of(data), path))
    return drafts.erasures(draft, joined) or (*notes, *_passed_over(joined.own))


def _passed_over(state: feed_state.FeedState) -> Iterator[str]:
    """Lines below the event that counts so far, which do not count either."""
    unknown = [each for each in state.uncounted if each.is_unknown]
    below = [each for each in state.uncounted if not each.is_unknown and state.is_below(each)]
    for phrase in caveats.uncounted_phrases(below):
        yield f"{phrase}: what is appended now counts in its place"
    yield from caveats.uncounted_phrases(unknown)


def record_feed(  # noqa: PLR0913 - what is recorded, and where
    path: str,
    feed_name: str,
    run_id: str,
    changes: Mapping[str, object],
    *,
    new_run: bool = False,
    beside: Sequence[str] = (),
    origin: Origin = RECORDED,
    refuse: Refuse | None = None,
    waiting: Callable[[str], None] | None = None,
    dry_run: bool = False,
) -> Merged | drafts.Refused | disk.Problem:
    """Append what counts of a run's feed, with some components changed, which have the names of
    the vocabulary; nothing where these tokens count already. Never raises.

    ``beside`` are other files that may hold the run, in the order in which they are joined. If one
    cannot be read, that is the Problem. ``new_run`` allows a run, and a trace, that does not exist
    yet. ``refuse`` is asked last, while the trace is locked. ``origin``, ``waiting`` and
    ``dry_run`` are as of :func:`append_events`.
    """
    files = RunFiles(path, beside, EVENTS[feed_name], run_id)
    try:
        opened = _opened(path, [files], create=new_run, waiting=waiting, dry_run=dry_run)
        with opened as (trace, data):
            own = ScoredTrace(disk.records_of(data), path, disk.provenance_beside(path))
            joined = files.joined(own)
            merge = _merged(files, own, joined, changes, new_run=new_run)
            if isinstance(merge, drafts.Refused):
                guess = slips.did_you_mean(run_id, own.index.runs) if merge.for_unknown_run else ""
                hint = f" — {guess}" if guess else ""
                return merge._replace(reasons=tuple(f"{each}{hint}" for each in merge.reasons))
            draft, stamp, before = merge
            doubts = joined.doubts or joined.superseded(before, feed_name)
            known = joined.counted if feed_name == COST and not doubts else None
            if known is not None and known.values == draft.payload:
                of = "" if joined.deciding is joined.own else f" of {joined.deciding.path}"
                note = (
                    f"the same figures count already (line {known.line}{of}): nothing is appended"
                )
                written = Appended("", (note,))
                return Merged(written, joined, known.values, known.line, None, ())
            if refuse is not None and (reason := refuse(files.traces(own))) is not None:
                return drafts.Refused((reason,))
            record = draft.record(stamp)
            notes = _write(trace, data, [(record, origin)])
            written = Appended(record, (*notes, *drafts.cautions(record)))
            if trace is not None:
                own.append(record)
            return Merged(
                written, joined, draft.payload, _next_line(data), before, files.traces(own)
            )
    except appending.AppendError as error:
        return error.problem


def _merged(
    files: RunFiles,
    own: ScoredTrace,
    joined: feed_state.JoinedFeed,
    changes: Mapping[str, object],
    *,
    new_run: bool,
) -> tuple[drafts.Draft, drafts.Stamp, run_score.RunScore | None] | drafts.Refused:
    """What counts of a run's feed with its changes, and the run's score before."""
    feed, run_id = files.feed, files.run_id
    draft = drafts.draft_merged(feed, run_id, joined, changes, new_run=new_run)
    if isinstance(draft, drafts.Refused):
        return draft
    stamp = _stamp_after(joined)
    refused = drafts.outranked(draft, joined, stamp.ts)
    if refused is not None:
        return refused
    is_scored = feed.name == GRADE or len(joined.files) > 1
    before = score_joined(files.traces(own), run_id) if is_scored else None
    superseded = joined.superseded(before, feed.name)
    if superseded and not draft.payload.keys() <= changes.keys():
        return drafts.Refused((superseded,))
    return draft, stamp, before


@contextmanager
def _opened(
    path: str,
    files: Collection[RunFiles],
    *,
    create: bool,
    waiting: Callable[[str], None] | None = None,
    dry_run: bool = False,
) -> Iterator[tuple[appending.LockedTrace | None, bytes]]:
    """A trace and what it has, locked with those beside it that name a run; for a ``dry_run`` only
    what it has. Raises AppendError.
    """
    if not dry_run:
        others = [each for run in files for each in run.look()]
        with appending.locked_with(path, others, create=create, waiting=waiting) as trace:
            for run in files:
                run.look()
            yield trace, trace.read()
        return
    data = disk.read_bytes(path) if disk.may_be_there(path) or not create else b""
    if isinstance(data, disk.Problem):
        raise appending.AppendError(*data)
    reason = disk.why_not_utf8(data)
    if reason is not None:
        raise appending.AppendError(path, reason)
    for run in files:
        run.look()
    yield None, data


def _stamp_after(joined: feed_state.JoinedFeed) -> drafts.Stamp:
    """A stamp with another ``ts`` than the event that counts: of the files of a run, the one with
    the later ``ts`` counts.
    """
    counted, stamp = joined.counted, new_stamp()
    while counted is not None and counted.ts == stamp.ts:  # for less than a millisecond
        stamp = new_stamp()
    return stamp


def _write(
    trace: appending.LockedTrace | None, data: bytes, records: Sequence[tuple[str, Origin]]
) -> tuple[str, ...]:
    """Append records to a trace that has some bytes, and then an entry for each to the record of
    provenance; nothing where no trace is locked. Gives what the caller should know.
    """
    if trace is None or not records:
        return ()
    trace.append(*(record for record, _ in records))
    notes = (_about_last_line(data),) if data and not data.endswith(b"\n") else ()
    try:
        # Before its own lock is waited for by anybody, this process has that of the trace.
        with appending.locked_trace(f"{os.path.realpath(trace.path)}{PROVENANCE_SUFFIX}") as beside:
            last = beside.last_line
            previous = digest_of_line(last) if last else None
            lines = list[str]()
            for record, origin in records:
                lines.append(entry_line(record, origin, previous, __version__))
                previous = digest_of_line(lines[-1].encode())
            beside.append(*lines)
    except appending.AppendError as error:
        return (*notes, f"the event was appended, but not where it comes from: {error}")
    return (*notes, *_about_record(trace.path, is_first=not last, is_empty=not data.strip()))


def _about_record(path: str, *, is_first: bool, is_empty: bool) -> Iterator[str]:
    """What has to be known at once of the record of a trace, before it got an entry."""
    name = f"{Path(path).name}{PROVENANCE_SUFFIX}"
    is_apart = git.is_tracked_without(path, PROVENANCE_SUFFIX) if is_first or is_empty else None
    if is_first and is_apart is not None:
        yield f"{name} records where the events come from: commit it beside the trace"
    elif not is_first and is_empty and not is_apart:
        yield f"{name} has other events, which `check` tells as gone: move it away to begin anew"


def _about_last_line(data: bytes) -> str:
    """What is said of a line that a person, or a writer that was stopped, did not end."""
    text = data.rpartition(b"\n")[2]
    is_rejected = read_exactly(text.decode("utf-8", "replace")).is_rejected
    rejected = "; readers reject that line, which may be cut off" if is_rejected else ""
    number = data.count(b"\n") + 1
    return (
        f"line {number} was not ended by a newline, so one was put before the new event{rejected}"
    )


def _next_line(data: bytes) -> int:
    ended = not data or data.endswith(b"\n")
    return data.count(b"\n") + (1 if ended else 2)


# The run in all files that are locked


class _FileBeside(msgspec.Struct, frozen=True):
    version: tuple[int, ...]
    """Changes when the file is written."""
    names_run: bool
    trace: ScoredTrace | None
    """None if nothing in it concerns the run. What may belong to any run does."""


class RunFiles:
    """The files of a run while one of them, at ``path``, is appended to. ``beside`` are the others
    that may hold the run, in the order in which they are joined.

    Each is read once, and again only if it has changed, as it may while we wait for its lock.
    """

    def __init__(self, path: str, beside: Iterable[str], feed: EventType, run_id: str) -> None:
        self.path, self.feed, self.run_id = path, feed, run_id
        real = os.path.realpath
        self._paths = [path if real(each) == real(path) else each for each in beside]
        if path not in self._paths:
            self._paths.append(path)
        self._known: dict[str, _FileBeside] = {}

    def look(self) -> list[str]:
        """Read the files, and return the paths of those that have the run. Raises AppendError."""
        for each in self._paths:
            if each != self.path:
                version, known = disk.version_at(each), self._known.get(each)
                if known is None or known.version != version:
                    self._known[each] = self._read(each, version)
        return [each for each, known in self._known.items() if known.names_run]

    def traces(self, own: ScoredTrace) -> list[ScoredTrace]:
        """The files that concern the run, and the trace itself, which is ``own``."""
        found = [own if each == self.path else self._known[each].trace for each in self._paths]
        return [each for each in found if each is not None]

    def joined(self, own: ScoredTrace) -> feed_state.JoinedFeed:
        """The feed in the files that have the run, and in the trace itself."""
        files = [
            feed_state.feed_state(each.index, self.feed, self.run_id, each.path)
            for each in self.traces(own)
            if each is own or self._known[each.path].names_run
        ]
        (mine,) = (each for each in files if each.path == self.path)
        return feed_state.JoinedFeed(mine, files)

    def _read(self, path: str, version: tuple[int, ...]) -> _FileBeside:
        provenance, records = disk.provenance_beside(path), disk.records_at(path)
        if isinstance(records, disk.Problem):
            raise appending.AppendError(*records)
        trace = ScoredTrace(records, path, provenance)
        if trace.index.is_illegible:
            raise appending.AppendError(path, caveats.ILLEGIBLE)
        names_run = feed_state.mentions(trace.index, self.run_id)
        state = feed_state.feed_state(trace.index, self.feed, self.run_id, trace.path)
        concerns = names_run or state.uncounted
        return _FileBeside(version, names_run, trace if concerns else None)


_PLAIN_RUN = rb'"project_run_id"\s*:\s*"([^"\\\n]*)"'
_DIGITS = re.compile(r"\d+")


def runs_named(data: bytes) -> list[str]:
    """The run ids that a trace has without escapes: for suggestions, which need not be complete."""
    found = dict.fromkeys(re.findall(_PLAIN_RUN, data))
    return [name.decode("utf-8", "replace") for name in found]


def _run_meant(run_id: str, data: bytes) -> str:
    """Which run is most likely meant by an id that the trace does not have; empty where it has it,
    or a new run may have been meant as well: runs often differ in their numbers only.
    """
    names, numbers = runs_named(data), _DIGITS.findall(run_id)
    alike = [each for each in names if _DIGITS.findall(each) == numbers]
    meant = slips.did_you_mean(run_id, alike) if run_id not in names else ""
    lines = read_lines(disk.records_of(data), only_score=True) if meant else ()
    return "" if any(line.event is not None and run_of(line) == run_id for line in lines) else meant
