"""What commands that append to a trace share: their options, the files of the run, and their
output.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import IO, Any, NamedTuple, NoReturn, TypeVar

import click

from drive_trace.authoring.drafts import Refused
from drive_trace.commands.completion import complete_files, complete_runs
from drive_trace.commands.paths import exclude_option, follow_links_option, followed
from drive_trace.commands.terminal import notify, say_waiting, take_failure
from drive_trace.scorecard.feed_state import FeedState
from drive_trace.scorecard.uncounted import Rejected, lookalike_phrase, rejected_phrase
from drive_trace.storage.boundary import leads_out
from drive_trace.storage.files import STDIN, LeftOut, Problem, read_bytes
from drive_trace.storage.finding import NoTraces, SearchOptions, find_traces
from drive_trace.storage.projects import shown_path
from drive_trace.storage.recording import Merge, Merged, preview_feed, record_feed
from drive_trace.storage.run_files import may_be_missed, search_folder
from drive_trace.text.escaping import printable

Outcome = TypeVar("Outcome")
F = TypeVar("F", bound=Callable[..., Any])

EXIT_REFUSED = 1
EXIT_UNUSABLE = 2


class Ended(click.ClickException):
    """A command ends, as it cannot do what it was asked for."""

    def __init__(self, code: int, *reasons: str, notes: Sequence[str] = ()) -> None:
        """The reasons are sentences, and the notes say what that means. All are printed."""
        super().__init__("; ".join(reasons))
        self.exit_code = code  # type: ignore[misc]
        self.lines = (*reasons, *notes)

    def show(self, file: IO[Any] | None = None) -> None:  # noqa: ARG002 - click's interface
        """Print it on standard error."""
        for line in self.lines:
            notify(line)


def not_empty(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty value, as an unset shell variable leaves behind."""
    if value is not None and not value.strip():
        raise click.BadParameter("is empty")
    return value


def _is_finite(_: click.Context, __: click.Parameter, value: float) -> float:
    if not value < math.inf:  # which is true of NaN, too
        raise click.BadParameter("is no number of seconds")
    return value


def timeout_option(seconds: float, what: str) -> Callable[[F], F]:
    """The option ``--timeout``, with what may take so long."""
    return click.option(
        "--timeout",
        type=click.FloatRange(min=0, min_open=True),
        default=seconds,
        show_default=True,
        metavar="SECONDS",
        callback=_is_finite,
        help=f"How long each {what} may take.",
    )


def is_text(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """Refuse an empty value, and one that is not UTF-8 and so has no place in a trace."""
    try:
        (value or "").encode()
    except UnicodeEncodeError as error:
        raise click.BadParameter("is not UTF-8") from error
    return not_empty(ctx, param, value)


def _is_file(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """Refuse ``-``, which means a stream elsewhere: nothing can be appended to one."""
    if value == STDIN:
        raise click.BadParameter(
            "- is no file to append to; emit --dry-run prints the line (a file called - is ./-)"
        )
    not_empty(ctx, param, value)
    path = followed(value)
    error = leads_out(path)
    if error is not None:
        said = f"not written: {error.strerror}"
        raise click.BadParameter(f"{said} (--follow-links writes to what it leads to)")
    return path


run_option = click.option(
    "--project-run-id",
    metavar="ID",
    required=True,
    callback=is_text,
    shell_complete=complete_runs,
    help="The run that the event belongs to.",
)
_trace_file_option = click.option(
    "--trace-file",
    metavar="FILE",
    required=True,
    callback=_is_file,
    shell_complete=complete_files,
    help="The trace to append to.",
)


def trace_option(command: F) -> F:
    """The option ``--trace-file``, whether its links are followed, and what is not beside it."""
    return _trace_file_option(follow_links_option(exclude_option(command)))


new_run_option = click.option(
    "--new-run",
    is_flag=True,
    help="Take a run that the trace has no event of, and make the trace if it is not there.",
)
output_format_option = click.option(
    "--output-format",
    type=click.Choice(["text", "json"]),
    default="text",
    help="How the outcome is shown; json is for programs.",
)
only_this_file_option = click.option(
    "--only-this-file",
    is_flag=True,
    help="Keep what FILE alone says of the run, whatever its other files do.",
)


class Beside(NamedTuple):
    """The files that may hold a run, beside the one that is written to."""

    paths: Sequence[str]
    notes: Sequence[str]
    """What the search may have missed, a sentence each."""


NOTHING_BESIDE = Beside((), ())


def read_text(source: str, most: int) -> str:
    """The text of a file, or of standard input for ``-``. Ends the command if it cannot be read, or
    has more than ``most`` bytes.
    """
    say_waiting(source)
    data = done(read_bytes(source, most), source)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        found = f"byte 0x{data[error.start]:02x} in line {line}"
        what = f"{source}: is not UTF-8 ({found}); save it as UTF-8 and try again"
        raise Ended(EXIT_UNUSABLE, what) from error


def done(
    outcome: Outcome | Refused | Problem, trace_file: str, beside: Beside = NOTHING_BESIDE
) -> Outcome:
    """The outcome, if there is one, after notes on what the search may have missed.
    Otherwise raises Ended with why not.
    """
    if isinstance(outcome, Problem):
        if outcome.path in beside.paths and outcome.path != trace_file:
            _end_unread(outcome, trace_file)
        raise Ended(EXIT_UNUSABLE, outcome.message)
    if isinstance(outcome, Refused):
        notes = [f"nothing was written to {trace_file}"]
        options = {each.name for each in click.get_current_context().command.params}
        if outcome.for_unknown_run and "new_run" in options:
            notes.insert(0, "--new-run takes it all the same")
        raise Ended(EXIT_REFUSED, *outcome.reasons, notes=notes)
    for note in beside.notes:
        notify(note)
    return outcome


class RecordRequest(NamedTuple):
    """What is to be recorded, and where."""

    trace_file: str
    run_id: str
    feed: str
    """The event's name."""
    changes: Mapping[str, object]
    """The components that are given, by name."""
    new_run: bool
    only_this_file: bool
    """Whether other files of the run are not read."""
    paths: Sequence[str]
    """Where to look for the run, beside the repository."""


def record(request: RecordRequest) -> Merged:
    """Append what counts of the feed over all files of the run, with its changes. Ends the command
    if that cannot be done.
    """
    beside = beside_of(request)
    recorded = record_feed(
        request.trace_file,
        request.feed,
        request.run_id,
        request.changes,
        new_run=request.new_run,
        beside=beside.paths,
        waiting=notify,
    )
    merged = done(recorded, request.trace_file, beside)
    for note in merged.written.notes:
        notify(f"{request.trace_file}: {note}")
    for path, other in merged.before.files:
        if path != request.trace_file:
            for phrase in _dropped(other, other.rejected):
                notify(f"{path}: {phrase}")
    return merged


def preview(request: RecordRequest) -> tuple[Merge, Beside]:
    """What :func:`record` would append, if nobody appends meanwhile, and the files that it looks
    at. Ends the command as that does.
    """
    beside = beside_of(request)
    merge = preview_feed(
        request.trace_file,
        request.feed,
        request.run_id,
        request.changes,
        new_run=request.new_run,
        beside=beside.paths,
    )
    return done(merge, request.trace_file, beside._replace(notes=())), beside


def beside_of(request: RecordRequest) -> Beside:
    """The files that may hold the run of a request; ends the command as :func:`found_beside`."""
    if request.only_this_file and request.paths:
        raise click.UsageError("--only-this-file does not go with further paths")
    if request.only_this_file:
        return NOTHING_BESIDE
    return found_beside(request.trace_file, request.run_id, request.paths)


def found_beside(trace_file: str, run_id: str, paths: Sequence[str] = ()) -> Beside:
    """The other files that may hold a run, in the order in which ``score`` joins them. Ends the
    command if one cannot be searched for.
    """
    beside: list[str] = []
    missed: list[LeftOut] = []
    folder, lack = search_folder(trace_file)
    searched = [shown_path(folder)] if folder is not None else []
    options = SearchOptions(exclude=click.get_current_context().meta["exclude"])
    for found in find_traces([*searched, *paths, trace_file], options=options):
        if isinstance(found, LeftOut):
            missed += [found] if may_be_missed(found, run_id) else []
        elif not isinstance(found, Problem):
            beside.append(found)
        elif not (isinstance(found, NoTraces) and found.path in searched):
            _end_unread(found, trace_file)
    notes = [f"{trace_file}: {lack}"] if lack is not None and not paths else []
    if missed:
        more = f" and {len(missed) - 1} more" if len(missed) > 1 else ""
        path, reason = missed[0]
        notes.append(f"{path} ({reason}){more}: not looked at, and may hold the run, too")
    return Beside(beside, notes)


def _end_unread(problem: Problem, trace_file: str) -> NoReturn:
    raise Ended(
        EXIT_UNUSABLE,
        f"{problem.message}; it may hold the run, too (--only-this-file does without it)",
        notes=[f"nothing was written to {trace_file}"],
    )


def show_recorded(request: RecordRequest, recorded: Merged, title: str) -> None:
    """Print what counts now of the feed, and where each component comes from.

    The event is recorded by now. If the output cannot be written, that must not look like a
    refusal, or somebody would record the event again.
    """
    _echo_recorded(request, recorded, title)
    if take_failure() is not None:
        notify(f"recorded on line {recorded.line}, but the output cannot be written")


def show_graded(request: RecordRequest, recorded: Merged) -> None:
    """Print the same of a grade, and warn if kept components come from a stale one."""
    notify_outdated(request, recorded)
    assert recorded.score is not None
    show_recorded(request, recorded, recorded.score.headline)


def _echo_recorded(request: RecordRequest, recorded: Merged, title: str) -> None:
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
    if request.only_this_file:
        click.echo("  only this file was looked at")
    own = recorded.before.own
    for dropped in _dropped(
        own, [each for each in own.rejected if each.event_name == request.feed]
    ):
        click.echo(f"  {dropped}")


def notify_outdated(request: RecordRequest, recorded: Merged) -> None:
    """Warn if kept components come from a stale grade: in the new event they look fresh."""
    kept = _kept(request, recorded)
    run = recorded.score_before if kept else None
    if run is not None and run.stale is not None:
        _, where = _counted_before(request, recorded)
        notify(
            f"kept {' and '.join(kept)} ({where}), which was {run.stale.short}; "
            "record them again if they were checked again"
        )


def _counted_before(request: RecordRequest, recorded: Merged) -> tuple[Mapping[str, object], str]:
    """The values that counted before, and their line."""
    decider = recorded.before.deciding
    if decider is None or decider.state.counted is None:
        return {}, ""
    values, line = decider.state.counted.values, decider.state.counted.line
    is_own = decider.path == request.trace_file
    return values, f"line {line}" + ("" if is_own else f" of {printable(decider.path, 4096)}")


def _kept(request: RecordRequest, recorded: Merged) -> list[str]:
    """The components that the new event repeats."""
    return [
        _named(name, value)
        for name, value in recorded.values.items()
        if name not in request.changes and value is not None
    ]


def _dropped(state: FeedState, rejected: Sequence[Rejected]) -> Iterator[str]:
    """Lines that may have been meant for the feed, and do not count."""
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
