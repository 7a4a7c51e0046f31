"""What ``record`` and ``tokens`` share: they add to a feed what counts of it so far, over all files
of the run.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

import click

from drive_trace.authoring.drafts import Refused
from drive_trace.commands.streams import OutputError, give_up_output
from drive_trace.commands.writing import EXIT_UNUSABLE, Command, Outcome, done, say
from drive_trace.scorecard.caveats import rejected_phrase
from drive_trace.scorecard.feed_state import FeedState
from drive_trace.scorecard.lookalikes import lookalike_phrase
from drive_trace.scorecard.summary import Rejected
from drive_trace.storage.finding import LeftOut
from drive_trace.storage.recording import Merged, record_feed
from drive_trace.storage.run_files import around, files_beside, may_be_missed
from drive_trace.storage.traces import Problem
from drive_trace.text.escaping import printable


class Beside(NamedTuple):
    """The files that may hold a run, beside the one that is written to."""

    paths: Sequence[str]
    notes: Sequence[str]
    """What may have been missed, a sentence each."""


NOTHING_BESIDE = Beside((), ())


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
    beside = NOTHING_BESIDE
    if not request.only_this_file:
        beside = found_beside(request.trace_file, request.run_id, request.paths)
    recorded = record_feed(
        request.trace_file,
        request.feed,
        request.run_id,
        request.changes,
        new_run=request.new_run,
        beside=beside.paths,
        waiting=say,
    )
    merged = done_with(beside, recorded, request.trace_file)
    for note in merged.written.notes:
        say(f"{request.trace_file}: {note}")
    for path, other in merged.before.files:
        if path != request.trace_file:
            for phrase in _dropped(other, sorted((*other.rejected, *other.hidden))):
                say(f"{path}: {phrase}")
    return merged


def found_beside(trace_file: str, run_id: str, paths: Sequence[str] = ()) -> Beside:
    """The files that may hold a run, too; ends the command where one cannot be searched for."""
    beside: list[str] = []
    missed: list[LeftOut] = []
    folder, lack = around(trace_file)
    for found in files_beside(folder, paths):
        if isinstance(found, Problem):
            _end_unread(found, trace_file)
        if not isinstance(found, LeftOut):
            beside.append(found)
        elif may_be_missed(found, run_id):
            missed.append(found)
    notes = [f"{trace_file}: {lack}"] if lack is not None and not paths else []
    if missed:
        more = f" and {len(missed) - 1} more" if len(missed) > 1 else ""
        path, reason = missed[0]
        notes.append(f"{path} ({reason}){more}: not looked at, and may hold the run, too")
    return Beside(beside, notes)


def done_with(beside: Beside, outcome: Outcome | Refused | Problem, trace_file: str) -> Outcome:
    """What came of it, and what may have been missed; ends the command where it was nothing, as
    when a file beside the trace cannot be read, and says why.
    """
    if isinstance(outcome, Problem) and outcome.path in beside.paths:
        _end_unread(outcome, trace_file)
    came = done(outcome, trace_file)
    for note in beside.notes:
        say(note)
    return came


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
    before, where = _counted_before(request, recorded)
    names = list(recorded.values)
    given = [
        _named(name, recorded.values[name])
        + (f" (was {_shown(before[name])})" if _differs(before, recorded.values, name) else "")
        for name in names
        if name in request.changes
    ]
    kept = _kept(request, recorded)
    missing = [name for name in names if recorded.values[name] is None]
    click.echo(f"{printable(request.run_id, 200)}: {title}")
    click.echo(f"  recorded: {', '.join(given)} (line {recorded.line})")
    if kept:
        click.echo(f"  kept: {', '.join(kept)} ({where})")
    if missing:
        click.echo(f"  not recorded: {', '.join(missing)}")
    for dropped in _dropped(recorded.before.own, recorded.before.own.rejected):
        click.echo(f"  {dropped}")


def say_outdated(request: Request, recorded: Merged) -> None:
    """Say that components were kept of a grade that the run went on after: as one that is recorded
    now, it is not stale any more.
    """
    kept = _kept(request, recorded)
    run = recorded.score_before() if kept else None
    if run is not None and run.stale is not None:
        _, where = _counted_before(request, recorded)
        say(
            f"kept {' and '.join(kept)} ({where}), which was {run.stale.short}; "
            "record them again if they were checked again"
        )


def _counted_before(request: Request, recorded: Merged) -> tuple[Mapping[str, object], str]:
    """What counted until then, and where that stands."""
    decider = recorded.before.deciding
    if decider is None or decider.state.counted is None:
        return {}, ""
    values, line, _ = decider.state.counted
    is_own = decider.path == request.trace_file
    return values, f"line {line}" + ("" if is_own else f" of {printable(decider.path, 4096)}")


def _kept(request: Request, recorded: Merged) -> list[str]:
    """The components that are repeated."""
    return [
        _named(name, value)
        for name, value in recorded.values.items()
        if name not in request.changes and value is not None
    ]


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
