"""Writing events into traces: for commands and for the language server.

What is written depends on what the trace holds, so it is read and appended to under one lock:
between two writers of one run's grade none is lost.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from drive_trace.drafts import Draft, Refused, Stamp, cautions, draft_merged, erasures
from drive_trace.rules.base import shown
from drive_trace.rules.edits import nearest
from drive_trace.scorecard.feeds import FeedState, feed_state, runs_named
from drive_trace.storage.appending import AppendError, LockedTrace, OpenLine, locked_trace
from drive_trace.storage.traces import Problem, not_utf8
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
    before: FeedState
    """What the trace said of the feed until then."""
    values: Mapping[str, object]
    """What counts now."""
    ts: str
    """When it was recorded."""
    line: int
    """The number of its line, from 1."""


def new_stamp() -> Stamp:
    """Fresh ids, and the time to the millisecond."""
    ts = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Stamp(str(uuid.uuid4()), ts.removesuffix("+00:00") + "Z", str(uuid.uuid4()))


def append_event(path: str, draft: Draft) -> Written | Refused | Problem:
    """Append an event to a trace, which is made where it is not there. Never raises.

    A grade that would take back what another one has recorded is refused.
    """
    try:
        with locked_trace(path) as trace:
            refused = _erases(draft, path, trace.read()) if draft.event.is_feed else None
            return refused or _append(trace, draft, new_stamp())
    except AppendError as error:
        return Problem(str(error))


def preview_event(path: str, draft: Draft) -> Written | Refused | Problem:
    """What :func:`append_event` would append, or why it would not. Never raises."""
    refused: Refused | Problem | None = None
    if draft.event.is_feed:
        try:
            refused = _erases(draft, path, Path(path).read_bytes())
        except FileNotFoundError:
            pass
        except OSError as error:
            refused = Problem(f"{path}: cannot be read: {error.strerror}")
    record = draft.record(new_stamp())
    return refused or Written(record, tuple(cautions(record)))


def _erases(draft: Draft, path: str, data: bytes) -> Refused | Problem | None:
    state = _state(path, data, draft.event, draft.run_id)
    return state if isinstance(state, Problem) else erasures(draft, state)


def record_feed(
    path: str,
    feed_name: str,
    run_id: str,
    changes: Mapping[str, object],
    *,
    new_run: bool = False,
) -> Merged | Refused | Problem:
    """Append what counts of a run's feed with some components changed, named as in the vocabulary.
    Never raises.

    ``new_run`` allows a run, and a trace, that is not there yet.
    """
    feed = EVENTS[feed_name]
    try:
        with locked_trace(path, create=new_run) as trace:
            data = trace.read()
            state = _state(path, data, feed, run_id)
            if isinstance(state, Problem):
                return state
            draft = draft_merged(feed, run_id, state, changes, new_run=new_run)
            if isinstance(draft, Refused):
                return _with_guess(draft, run_id, data) if draft.for_unknown_run else draft
            stamp = new_stamp()
            written = _append(trace, draft, stamp)
            return Merged(written, state, draft.payload, stamp.ts, _next_line(data))
    except AppendError as error:
        return Problem(str(error))


def _state(path: str, data: bytes, feed: EventType, run_id: str) -> FeedState | Problem:
    try:
        return feed_state(data, feed, run_id)
    except UnicodeDecodeError as error:
        return not_utf8(path, data, error)


def _append(trace: LockedTrace, draft: Draft, stamp: Stamp) -> Written:
    record = draft.record(stamp)
    open_line = trace.open_line
    trace.append(record)
    notes = cautions(record)
    if open_line is not None:
        notes.insert(0, _about(open_line))
    return Written(record, tuple(notes))


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
    guess = nearest(run_id, runs_named(data))
    hint = f" — did you mean {shown(guess)}?" if guess is not None else ""
    return refused._replace(reasons=tuple(f"{reason}{hint}" for reason in refused.reasons))
