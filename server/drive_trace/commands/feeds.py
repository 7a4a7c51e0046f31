"""What ``record`` and ``tokens`` share: they add to a feed what counts of it so far."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import click

from drive_trace.commands.paths import Reading
from drive_trace.commands.streams import OutputError, give_up_output
from drive_trace.commands.writing import EXIT_UNUSABLE, done, say
from drive_trace.rules.base import printable
from drive_trace.scorecard.card import rejected_phrase
from drive_trace.scorecard.feeds import FeedState, feed_state
from drive_trace.scorecard.lookalikes import lookalike_phrase
from drive_trace.scorecard.summary import Rejected
from drive_trace.storage.recording import Merged, record_feed
from drive_trace.storage.traces import Trace
from drive_trace.vocabulary import EVENTS


class Request(NamedTuple):
    """What is to be recorded, and where."""

    trace_file: str
    run_id: str
    feed: str
    """The event's name."""
    changes: Mapping[str, object]
    """The components that are given, by name."""
    new_run: bool
    others: Sequence[str]
    """Further paths, in which the run may have been recorded, too."""


def record(request: Request) -> Merged:
    """Append to the feed, and tell of what other traces say; ends the command where it cannot."""
    # Read first, so that a path which cannot be read has nothing recorded.
    reading = Reading(request.others) if request.others else ()
    this = os.path.realpath(request.trace_file)
    others = [
        (trace.path, _state_of(trace, request))
        for trace in reading
        if os.path.realpath(trace.path) != this
    ]
    if isinstance(reading, Reading) and reading.unread:
        say(f"nothing was written to {request.trace_file}")
        sys.exit(EXIT_UNUSABLE)
    recorded = done(
        record_feed(
            request.trace_file,
            request.feed,
            request.run_id,
            request.changes,
            new_run=request.new_run,
        ),
        request.trace_file,
    )
    for note in recorded.written.notes:
        say(f"{request.trace_file}: {note}")
    for path, other in others:
        for note in _about_other(other, recorded):
            say(f"{path}: {note}")
    return recorded


def _state_of(trace: Trace, request: Request) -> FeedState:
    data = "\n".join(trace.records).encode()
    return feed_state(data, EVENTS[request.feed], request.run_id)


def tell_recorded(request: Request, recorded: Merged, title: str) -> None:
    """Print what counts now of the feed, and where each component comes from.

    It is recorded by now: an output that cannot be written must not look like a refusal, after
    which somebody would record it again.
    """
    try:
        _echo_recorded(request, recorded, title)
        sys.stdout.flush()
    except OutputError:
        give_up_output()
        say(f"recorded on line {recorded.line}, but the output cannot be written")


def _echo_recorded(request: Request, recorded: Merged, title: str) -> None:
    counted = recorded.before.counted
    before = counted.values if counted is not None else {}
    names = list(recorded.values)
    given = [
        _named(name, recorded.values[name])
        + (f" (was {_shown(before[name])})" if _differs(before, recorded.values, name) else "")
        for name in names
        if name in request.changes
    ]
    kept = [
        _named(name, recorded.values[name])
        for name in names
        if name not in request.changes and recorded.values[name] is not None
    ]
    missing = [name for name in names if recorded.values[name] is None]
    click.echo(f"{printable(request.run_id, 200)}: {title}")
    click.echo(f"  recorded: {', '.join(given)} (line {recorded.line})")
    if kept and counted is not None:
        click.echo(f"  kept: {', '.join(kept)} (line {counted.line})")
    if missing:
        click.echo(f"  not recorded: {', '.join(missing)}")
    for dropped in _dropped(recorded.before, recorded.before.rejected):
        click.echo(f"  {dropped}")


def _about_other(other: FeedState, recorded: Merged) -> Iterator[str]:
    """What another trace says of the run's feed, where it says something else."""
    found = other.counted
    if found is not None and dict(found.values) != dict(recorded.values):
        values = ", ".join(_named(name, value) for name, value in found.values.items())
        counts = (
            "that line counts, because it is later"
            if found.ts > recorded.ts
            else "what was recorded now counts"
        )
        yield (
            f"line {found.line} says of the run: {values}. That was not merged. "
            f"Where both files are scored together, {counts}"
        )
    yield from _dropped(other, sorted((*other.rejected, *other.hidden)))


def _dropped(state: FeedState, rejected: Sequence[Rejected]) -> Iterator[str]:
    """What may have been meant for the feed, and does not count."""
    phrases = rejected_phrase(rejected), lookalike_phrase(state.lookalikes)
    return (phrase for phrase in phrases if phrase)


def _differs(before: Mapping[str, object], after: Mapping[str, object], name: str) -> bool:
    return before.get(name) is not None and before[name] != after[name]


def _named(name: str, value: object) -> str:
    return f"{name} {_shown(value)}"


def _shown(value: object) -> str:
    if value is None:
        return "—"
    return f"{value:,}" if isinstance(value, int) else str(value)
