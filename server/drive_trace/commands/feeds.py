"""What ``record`` and ``tokens`` share: they add to a feed what counts of it so far, over all files
of the run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

import click

from drive_trace.commands.streams import OutputError, give_up_output
from drive_trace.commands.writing import EXIT_UNUSABLE, Command, Outcome, done, say
from drive_trace.drafts import Refused
from drive_trace.escaping import printable
from drive_trace.scorecard.caveats import rejected_phrase
from drive_trace.scorecard.feeds import FeedState
from drive_trace.scorecard.lookalikes import lookalike_phrase
from drive_trace.scorecard.summary import Rejected
from drive_trace.storage.recording import Merged, record_feed
from drive_trace.storage.run_files import files_beside, root_of
from drive_trace.storage.traces import Problem


class Request(NamedTuple):
    """What is to be recorded, and where."""

    trace_file: str
    run_id: str
    feed: str
    """The event's name."""
    changes: Mapping[str, object]
    """The components that are given, by name."""
    new_run: bool
    only_this_file: bool
    """Whether other files of the run are left out."""
    paths: Sequence[str]
    """Where the run may have been recorded, beside the files of the repository."""


def only_this_file_option(command: Command) -> Command:
    """``--only-this-file``."""
    return click.option(
        "--only-this-file",
        is_flag=True,
        help="Keep what FILE alone says of the run, whatever its other files do.",
    )(command)


def record(request: Request) -> Merged:
    """Append to the feed what counts of it over all files of the run; ends the command where it
    cannot.
    """
    if request.only_this_file and request.paths:
        raise click.UsageError("--only-this-file does not go with further paths")
    beside = [] if request.only_this_file else found_beside(request.trace_file, request.paths)
    recorded = record_feed(
        request.trace_file,
        request.feed,
        request.run_id,
        request.changes,
        new_run=request.new_run,
        beside=beside,
        waiting=say,
    )
    merged = done_with(beside, recorded, request.trace_file)
    if not (request.only_this_file or request.paths or root_of(request.trace_file)):
        say(
            f"{request.trace_file}: only this file was looked at, as it stands in no repository "
            "and no drive-trace.toml is above it; name the run's other files as PATH"
        )
    for note in merged.written.notes:
        say(f"{request.trace_file}: {note}")
    for path, other in merged.before.files:
        if path != request.trace_file:
            for phrase in _dropped(other, sorted((*other.rejected, *other.hidden))):
                say(f"{path}: {phrase}")
    later = merged.outranked_by
    if later is not None and later.state.counted is not None:
        counted = later.state.counted
        say(
            f"{later.path}: line {counted.line} is of {counted.ts}, which is later than now: it "
            "still counts for the run, and what was recorded now does not"
        )
    return merged


def found_beside(trace_file: str, paths: Sequence[str] = ()) -> list[str]:
    """The files that may hold a run, too; ends the command where one cannot be searched for."""
    beside: list[str] = []
    for found in files_beside(trace_file, paths):
        if isinstance(found, Problem):
            _end_unread(found, trace_file)
        beside.append(found)
    return beside


def done_with(
    beside: Sequence[str], outcome: Outcome | Refused | Problem, trace_file: str
) -> Outcome:
    """What came of it; ends the command where it was nothing, as when a file beside the trace
    cannot be read, and says why.
    """
    if isinstance(outcome, Problem) and outcome.path in beside:
        _end_unread(outcome, trace_file)
    return done(outcome, trace_file)


def _end_unread(problem: Problem, trace_file: str) -> NoReturn:
    say(f"{problem.message}; it may hold the run, too (--only-this-file does without it)")
    say(f"nothing was written to {trace_file}")
    sys.exit(EXIT_UNUSABLE)


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
    decider = recorded.before.deciding
    counted = decider.state.counted if decider is not None else None
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
        is_other = decider is not None and decider.path != request.trace_file
        where = f" of {printable(decider.path, 4096)}" if decider is not None and is_other else ""
        click.echo(f"  kept: {', '.join(kept)} (line {counted.line}{where})")
    if missing:
        click.echo(f"  not recorded: {', '.join(missing)}")
    for dropped in _dropped(recorded.before.own, recorded.before.own.rejected):
        click.echo(f"  {dropped}")


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
