"""What commands that append to a trace share: the files of the run, and their output."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn, TypeVar

import click

from drive_trace.authoring.drafts import Refused
from drive_trace.commands.options import excluded
from drive_trace.commands.reading import usable
from drive_trace.commands.terminal import EXIT_REFUSED, EXIT_UNUSABLE, Ended, notify, take_failure
from drive_trace.scorecard.caveats import Rejected, lookalike_phrase, rejected_phrase
from drive_trace.scorecard.feed_state import FeedState
from drive_trace.storage.files import LeftOut, Problem
from drive_trace.storage.finding import (
    NoTraces,
    SearchOptions,
    find_traces,
    lost_with,
    may_be_missed,
    search_folder,
)
from drive_trace.storage.projects import shown_path
from drive_trace.storage.recording import Merge, Merged, preview_feed, record_feed
from drive_trace.text.escaping import printable

T = TypeVar("T")


class FilesBeside(NamedTuple):
    """The files that may hold a run, beside the one that is written to."""

    paths: Sequence[str]
    notes: Sequence[str]
    """What the search may have missed, a sentence each."""


NOTHING_BESIDE = FilesBeside((), ())


def done(
    outcome: T | Refused | Problem, trace_file: str, beside: FilesBeside = NOTHING_BESIDE
) -> T:
    """The outcome, if there is one, after notes on what the search may have missed.
    Otherwise raises Ended with why not.
    """
    match outcome:
        case Problem(path) if path in beside.paths and path != trace_file:
            _end_unread(outcome, trace_file)
        case Refused(reasons, for_unknown_run):
            notes = [f"nothing was written to {trace_file}"]
            options = {each.name for each in click.get_current_context().command.params}
            if for_unknown_run and "new_run" in options:
                notes.insert(0, "--new-run takes it all the same")
            raise Ended(EXIT_REFUSED, *reasons, notes=notes)
    result = usable(outcome)
    for note in beside.notes:
        notify(note)
    return result


class RecordRequest(NamedTuple):
    """What is to be recorded, and where. The options of a command that records fill it by name."""

    feed: str
    """The event's name."""
    changes: Mapping[str, object]
    """The components that are given, by name."""
    trace_file: str
    project_run_id: str
    only_this_file: bool
    """Whether other files of the run are not read."""
    paths: Sequence[str]
    """Where to look for the run, beside the repository."""
    new_run: bool = False


def record(request: RecordRequest) -> Merged:
    """Append what counts of the feed over all files of the run, with its changes. Ends the command
    if that cannot be done.
    """
    beside = beside_of(request)
    recorded = record_feed(
        request.trace_file,
        request.feed,
        request.project_run_id,
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


def preview(request: RecordRequest) -> tuple[Merge, FilesBeside]:
    """What :func:`record` would append, if nobody appends meanwhile, and the files that it looks
    at. Ends the command as that does.
    """
    beside = beside_of(request)
    merge = preview_feed(
        request.trace_file,
        request.feed,
        request.project_run_id,
        request.changes,
        new_run=request.new_run,
        beside=beside.paths,
    )
    return done(merge, request.trace_file, beside._replace(notes=())), beside


def beside_of(request: RecordRequest) -> FilesBeside:
    """The files that may hold the run of a request; ends the command as :func:`found_beside`."""
    if request.only_this_file and request.paths:
        raise click.UsageError("--only-this-file does not go with further paths")
    if request.only_this_file:
        return NOTHING_BESIDE
    return found_beside(request.trace_file, request.project_run_id, request.paths)


def found_beside(trace_file: str, run_id: str, paths: Sequence[str] = ()) -> FilesBeside:
    """The other files that may hold a run, in the order in which ``score`` joins them. Ends the
    command if one cannot be searched for.
    """
    beside: list[str] = []
    missed: list[LeftOut] = []
    folder, lack = search_folder(trace_file)
    searched = [shown_path(folder)] if folder is not None else []
    options = SearchOptions(exclude=excluded())
    for found in find_traces([*searched, *paths, trace_file], options=options):
        if isinstance(found, LeftOut) and not lost_with(found, run_id):
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
    return FilesBeside(beside, notes)


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
    for line in _described(request, recorded, title):
        click.echo(line)
    if take_failure() is not None:
        notify(f"recorded on line {recorded.line}, but the output cannot be written")


def show_graded(request: RecordRequest, recorded: Merged) -> None:
    """Print the same of a grade, and warn if kept components come from a stale one."""
    notify_outdated(request, recorded)
    assert recorded.score is not None
    show_recorded(request, recorded, recorded.score.headline)


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


def _described(request: RecordRequest, recorded: Merged, title: str) -> Iterator[str]:
    before, where = _counted_before(request, recorded)
    given, missing = [], []
    for name, value in recorded.values.items():
        if value is None:
            missing.append(name)
        if name in request.changes:
            was = before.get(name)
            differs = was is not None and was != value
            given.append(_named(name, value) + (f" (was {_shown(was)})" if differs else ""))
    yield f"{printable(request.project_run_id, 200)}: {title}"
    yield f"  recorded: {', '.join(given)} (line {recorded.line})"
    if kept := _kept(request, recorded):
        yield f"  kept: {', '.join(kept)} ({where})"
    if missing:
        yield f"  not recorded: {', '.join(missing)}"
    if request.only_this_file:
        yield "  only this file was looked at"
    own = recorded.before.own
    rejected = [each for each in own.rejected if each.event_name == request.feed]
    yield from (f"  {phrase}" for phrase in _dropped(own, rejected))


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
    return filter(None, (rejected_phrase(rejected), lookalike_phrase(state.lookalikes)))


def _named(name: str, value: object) -> str:
    return f"{name} {_shown(value)}"


def _shown(value: object) -> str:
    if value is None:
        return "—"
    return f"{value:,}" if isinstance(value, int) else str(value)
