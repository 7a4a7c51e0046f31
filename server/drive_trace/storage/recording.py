"""Writing events into traces: for commands and for the language server.

What is written depends on what the files of a run hold, so they are read and one is appended to
while all of them are locked: between two writers of one run's grade none is lost. But for two that
both begin the run, each in a file of its own: then there is no file yet that both could lock.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import UTC, datetime
from typing import NamedTuple

from drive_trace.drafts import Draft, Refused, Stamp, cautions, draft_merged, erasures
from drive_trace.rules.base import shown
from drive_trace.scorecard.caveats import rejected_phrase
from drive_trace.scorecard.feeds import (
    Counted,
    FeedState,
    FileFeed,
    JoinedFeed,
    feed_state,
    may_mention,
)
from drive_trace.scorecard.lookalikes import lookalike_phrase
from drive_trace.storage.appending import AppendError, LockedTrace, OpenLine, locked_with
from drive_trace.storage.run_names import nearest_run, run_meant
from drive_trace.storage.traces import Problem, read_bytes, why_not_utf8
from drive_trace.trace.reading import read_exactly
from drive_trace.vocabulary import EVENTS, EventType


class Written(NamedTuple):
    """One event was appended."""

    record: str
    """Without its newline."""
    notes: tuple[str, ...]
    """What the person or program that wanted it should know, a sentence each."""


class Merged(NamedTuple):
    """One event of a feed was appended."""

    written: Written
    before: JoinedFeed
    """What the files of the run said of the feed until then."""
    outranked_by: FileFeed | None
    """The file whose event still counts, as it has a later ``ts``."""
    values: Mapping[str, object]
    """What was recorded."""
    ts: str
    """When it was recorded."""
    line: int
    """The number of its line, from 1."""


def new_stamp() -> Stamp:
    """Fresh ids, and the time to the millisecond."""
    ts = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Stamp(str(uuid.uuid4()), ts.removesuffix("+00:00") + "Z", str(uuid.uuid4()))


def append_event(
    path: str,
    draft: Draft,
    beside: Sequence[str] = (),
    *,
    waiting: Callable[[str], None] | None = None,
) -> Written | Refused | Problem:
    """Append an event to a trace, which is made where it is not there. Never raises.

    A grade that would take back what another one has recorded is refused; for ``beside`` and
    ``waiting`` see :func:`record_feed`.
    """
    try:
        with _locked(path, draft.run_id, beside, True, waiting) as trace:
            notes = _about_trace(path, draft, trace.read(), beside)
            if isinstance(notes, Refused | Problem):
                return notes
            return _append(trace, draft, new_stamp(), notes)
    except AppendError as error:
        return error.problem


def preview_event(
    path: str, draft: Draft, beside: Sequence[str] = ()
) -> Written | Refused | Problem:
    """What :func:`append_event` would append, or why it would not. Never raises."""
    data = b""
    if os.path.lexists(path):
        read = read_bytes(path)
        if isinstance(read, Problem):
            return read
        reason = why_not_utf8(read)
        if reason is not None:
            return Problem(path, reason)
        data = read
    notes = _about_trace(path, draft, data, beside)
    if isinstance(notes, Refused | Problem):
        return notes
    record = draft.record(new_stamp())
    return Written(record, (*notes, *cautions(record)))


def _about_trace(
    path: str, draft: Draft, data: bytes, beside: Sequence[str]
) -> tuple[str, ...] | Refused | Problem:
    """What a writer of one whole event should know of what the trace holds; why not to write it."""
    data = _as_read(data)
    slip = run_meant(draft.run_id, data)
    notes = (
        ()
        if slip is None
        else (f"no run {shown(draft.run_id)} in the trace; did you mean {shown(slip)}?",)
    )
    if not draft.event.is_feed:
        return notes
    state = feed_state(data, draft.event, draft.run_id)
    files = _files(FileFeed(path, state), beside, draft.event, draft.run_id)
    if isinstance(files, Problem):
        return files
    return erasures(draft, JoinedFeed(state, files)) or (*notes, *_passed_over(state))


def _passed_over(state: FeedState) -> Iterator[str]:
    """What stands below the event that counted so far, and will not count either."""
    rejected = rejected_phrase(state.rejected_since)
    if rejected:
        yield f"{rejected}: what is appended now counts in its place"
    alike = lookalike_phrase(state.lookalikes)
    if alike:
        yield alike


def record_feed(  # noqa: PLR0913 - what is recorded, and where
    path: str,
    feed_name: str,
    run_id: str,
    changes: Mapping[str, object],
    *,
    new_run: bool = False,
    beside: Sequence[str] = (),
    waiting: Callable[[str], None] | None = None,
) -> Merged | Refused | Problem:
    """Append what counts of a run's feed with some components changed, named as in the vocabulary.
    Never raises. ``beside`` are files that may hold the run, too, in the order in which they are
    joined; a Problem where one of them cannot be read.

    ``new_run`` allows a run, and a trace, that is not there yet. ``waiting`` is called with a
    sentence where somebody else has locked the trace for long.
    """
    feed = EVENTS[feed_name]
    try:
        with _locked(path, run_id, beside, new_run, waiting) as trace:
            data = _as_read(trace.read())
            state = feed_state(data, feed, run_id)
            files = _files(FileFeed(path, state), beside, feed, run_id)
            if isinstance(files, Problem):
                return files
            joined = JoinedFeed(state, files)
            draft = draft_merged(feed, run_id, joined, changes, new_run=new_run)
            if isinstance(draft, Refused):
                return _with_guess(draft, run_id, data) if draft.for_unknown_run else draft
            stamp = _stamp_after(joined)
            written = _append(trace, draft, stamp, ())
            line = _next_line(data)
            own = FileFeed(path, state._replace(counted=Counted(draft.payload, line, stamp.ts)))
            now = [own if each.path == path else each for each in files]
            last = JoinedFeed(own.state, now).deciding
            outranked_by = last if last is not own else None
            return Merged(written, joined, outranked_by, draft.payload, stamp.ts, line)
    except AppendError as error:
        return error.problem


def _locked(
    path: str,
    run_id: str,
    beside: Sequence[str],
    create: bool,
    waiting: Callable[[str], None] | None,
) -> AbstractContextManager[LockedTrace]:
    """A trace, locked with those beside it that may hold the run."""
    there = [each for each in beside if may_mention(_bytes_of(each), run_id)]
    return locked_with(path, there, create=create, waiting=waiting)


def _bytes_of(path: str) -> bytes:
    read = read_bytes(path)
    return b"" if isinstance(read, Problem) else read


def _stamp_after(joined: JoinedFeed) -> Stamp:
    """A stamp of another moment than the event that counts has: between files of a run, the later
    one counts.
    """
    decider, stamp = joined.deciding, new_stamp()
    counted = decider.state.counted if decider is not None else None
    while counted is not None and counted.ts == stamp.ts:  # for less than a millisecond
        stamp = new_stamp()
    return stamp


def _files(
    own: FileFeed, beside: Sequence[str], feed: EventType, run_id: str
) -> Sequence[FileFeed] | Problem:
    """What the files of a run say of its feed; one that it is not found in is left out."""
    this, found, is_found = os.path.realpath(own.path), [], False
    for path in beside:
        if os.path.realpath(path) == this:
            found.append(own)
            is_found = True
            continue
        data = read_bytes(path)
        if isinstance(data, Problem):
            return data
        reason = why_not_utf8(data)
        if reason is not None:
            return Problem(path, reason)
        if may_mention(data, run_id):
            found.append(FileFeed(path, feed_state(_as_read(data), feed, run_id)))
    return found if is_found else [*found, own]


def _as_read(data: bytes) -> bytes:
    """A trace in UTF-8, as readers see it that replace what is none; with the same lines."""
    try:
        data.decode()
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace").encode()
    return data


def _append(trace: LockedTrace, draft: Draft, stamp: Stamp, notes: tuple[str, ...]) -> Written:
    record = draft.record(stamp)
    open_line = trace.open_line
    trace.append(record)
    before = () if open_line is None else (_about(open_line),)
    return Written(record, (*before, *notes, *cautions(record)))


def _about(open_line: OpenLine) -> str:
    line = read_exactly(open_line.text.decode("utf-8", "replace"))
    rejected = "; readers reject that line, which may be cut off" if line.is_rejected else ""
    return (
        f"line {open_line.number} was not ended by a newline, "
        f"so one was put before the new event{rejected}"
    )


def _next_line(data: bytes) -> int:
    ended = not data or data.endswith(b"\n")
    return data.count(b"\n") + (1 if ended else 2)


def _with_guess(refused: Refused, run_id: str, data: bytes) -> Refused:
    guess = nearest_run(run_id, data)
    hint = f" — did you mean {shown(guess)}?" if guess is not None else ""
    return refused._replace(reasons=tuple(f"{reason}{hint}" for reason in refused.reasons))
