"""``record``: grades a run. ``emit``, ``tokens``, ``gate`` and ``judge`` use what stands here, too:
the other files of the run, and what is shown of a grade.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import click

from drive_trace.authoring.drafts import Refused
from drive_trace.commands import options, terminal
from drive_trace.scorecard import caveats, scoring
from drive_trace.storage import files, finding, other_files, projects
from drive_trace.storage.recording import RECORDED, Merged, Refuse, record_feed
from drive_trace.text import wording
from drive_trace.text.quick import Frozen
from drive_trace.trace.provenance import Origin
from drive_trace.vocabulary import CORRECTNESS_FIELDS, EVENTS, GRADE, OneOfShape

T = TypeVar("T")

_SHAPE = EVENTS[GRADE].fields[CORRECTNESS_FIELDS[0]].shape
assert isinstance(_SHAPE, OneOfShape)
_OUTCOME = click.Choice(list(_SHAPE.meanings))


@click.command()
@options.trace_file
@options.run_id
@click.option("--mechanical", type=_OUTCOME, help="The mechanical gates: type check, tests, lint.")
@click.option("--qa", type=_OUTCOME, help="The QA run.")
@click.option("--intent", type=_OUTCOME, help="The judge's verdict: is it what was meant?")
@options.new_run
@options.only_this_file
@options.paths
def record(mechanical: str | None, qa: str | None, intent: str | None, **where: Any) -> None:
    """Record one or more components of a run's grade, and show its verdict, as score does.

    Of a run's correctness-recorded events the last one counts, as a whole: in a file the lowest,
    between files the one with the latest ts. So what counts over all files of the run is read, the
    named components are changed, and all three are appended to FILE as one new event, while no
    other drive-trace can write to it. There is no way to set a component back to null. The event
    has the run's orchestrator_agent_id if all of its events in FILE that have one have the same.

    The files of the run are looked for in the repository that FILE stands in, or else in the
    folder of the drive-trace.toml that holds for it, and at PATH; of the home folder, and those
    above it, only in the folder of FILE. One that cannot be read ends the command;
    --only-this-file does without them.

    It is refused for a run that FILE has no event of (but for --new-run), where a grade in another
    file has a ts later than now and would still count, and where a later grade of the run was
    rejected by readers, in whichever file: what that was meant to say would be lost. Naming all
    three components overrides the last.

    Exit code: 0 recorded, whatever the verdict; 1 refused; 2 wrong usage, or something cannot be
    read or written. After 1 and 2 the file is as it was, or the message says what stands in it.

    \b
    Examples:
      drive-trace record --trace-file projects/shop/trace.jsonl \\
        --project-run-id shop --qa pass
      drive-trace record --trace-file trace.jsonl --project-run-id shop \\
        --mechanical pass --intent fail
      drive-trace record --trace-file trace.jsonl --project-run-id shop \\
        --qa pass projects
    """
    given = dict(zip(CORRECTNESS_FIELDS, (mechanical, qa, intent), strict=True))
    changes = {name: value for name, value in given.items() if value is not None}
    if not changes:
        raise click.UsageError("name what to record: --mechanical, --qa or --intent")
    request = RecordRequest(GRADE, changes, **where)
    show_graded(request, append_feed(request))


# The files of a run


class FilesBeside(Frozen, frozen=True):
    """The files that may hold a run, beside the one that is written to."""

    paths: Sequence[str]
    notes: Sequence[str]
    """What the search may have missed, a sentence each."""


NOTHING_BESIDE = FilesBeside((), ())


def done(
    outcome: T | Refused | files.Problem,
    trace_file: str,
    beside: FilesBeside = NOTHING_BESIDE,
    refused: int = terminal.EXIT_REFUSED,
) -> T:
    """The outcome, if there is one, after notes on what the search may have missed.
    Otherwise raises Ended with why not; ``refused`` is the exit code of what is refused.
    """
    match outcome:
        case files.Problem(path) if path in beside.paths and path != trace_file:
            _end_unread(outcome, trace_file)
        case Refused(reasons, for_unknown_run):
            notes = [f"nothing was written to {trace_file}"]
            known = {each.name for each in click.get_current_context().command.params}
            if for_unknown_run and "new_run" in known:
                notes.insert(0, "--new-run takes it all the same")
            raise terminal.Ended(refused, *reasons, notes=notes)
        case files.Problem():
            raise terminal.Ended(terminal.EXIT_UNUSABLE, outcome.message)
    for note in beside.notes:
        terminal.notify(note)
    return outcome


WHERE = ("trace_file", "project_run_id", "only_this_file", "paths")
"""The options that all who record have."""


class RecordRequest(Frozen, frozen=True):
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
    origin: Origin = RECORDED
    refuse: Refuse | None = None


def append_feed(request: RecordRequest) -> Merged:
    """Append what counts of the feed over all files of the run, with its changes. Ends the command
    if that cannot be done.
    """
    merged = preview(request, dry_run=False)
    for note in merged.written.notes:
        terminal.notify(f"{request.trace_file}: {note}")
    for other in merged.before.files:
        if other.path != request.trace_file:
            for phrase in caveats.uncounted_phrases(other.uncounted):
                terminal.notify(f"{other.path}: {phrase}")
    return merged


def preview(request: RecordRequest, *, dry_run: bool = True) -> Merged:
    """What :func:`append_feed` would append, if nobody appends meanwhile. Ends the command as that
    does.
    """
    beside = _beside(request)
    recorded = record_feed(
        request.trace_file,
        request.feed,
        request.project_run_id,
        request.changes,
        new_run=request.new_run,
        beside=beside.paths,
        origin=request.origin,
        refuse=request.refuse,
        waiting=terminal.notify,
        dry_run=dry_run,
    )
    return done(recorded, request.trace_file, beside._replace(notes=()) if dry_run else beside)


def _beside(request: RecordRequest) -> FilesBeside:
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
    missed: list[files.LeftOut] = []
    folder, lack = other_files.search_folder(trace_file)
    shown = projects.shown_path if Path(trace_file).is_absolute() else other_files.from_here
    searched = [shown(folder)] if folder is not None else []
    search = finding.SearchOptions(exclude=options.excluded())
    for found in finding.find_traces([*searched, *paths, trace_file], options=search):
        if not isinstance(found, files.Problem):
            beside.append(found)
        elif isinstance(found, files.LeftOut):
            is_missed = other_files.may_be_missed(found, [run_id])
            if is_missed and found.reason in finding.GONE:
                _end_unread(found, trace_file)
            missed += [found] * is_missed
        elif not (isinstance(found, finding.NoTraces) and found.path in searched):
            _end_unread(found, trace_file)
    notes = [f"{trace_file}: {lack}"] if lack is not None and not paths else []
    if missed:
        more = f" and {len(missed) - 1} more" if len(missed) > 1 else ""
        path, reason = missed[0]
        notes.append(f"{path} ({reason}){more}: not looked at, and may hold the run, too")
    return FilesBeside(beside, notes)


def _end_unread(problem: files.Problem, trace_file: str) -> NoReturn:
    raise terminal.Ended(
        terminal.EXIT_UNUSABLE,
        f"{problem.message}; it may hold the run, too (--only-this-file does without it)",
        notes=[f"nothing was written to {trace_file}"],
    )


def show_recorded(request: RecordRequest, recorded: Merged, title: str) -> None:
    """Print what counts now of the feed, and where each component comes from.

    The event is recorded by now. If the output cannot be written, that must not look like a
    refusal, or somebody would record the event again.
    """
    before, where = _counted_before(request, recorded)
    given = [_given(name, value, before.get(name)) for name, value in request.changes.items()]
    missing = [name for name, value in recorded.values.items() if value is None]
    click.echo(f"{wording.printable(request.project_run_id, 200)}: {title}")
    line = f"line {recorded.line}" if recorded.written.record else where
    click.echo(f"  recorded: {', '.join(given)} ({line})")
    if kept := _kept(request, recorded):
        click.echo(f"  kept: {', '.join(kept)} ({where})")
    if missing:
        click.echo(f"  not recorded: {', '.join(missing)}")
    if request.only_this_file:
        click.echo("  only this file was looked at")
    own = recorded.before.own.uncounted
    told = [each for each in own if each.is_unknown or each.event_name == request.feed]
    for phrase in caveats.uncounted_phrases(told):
        click.echo(f"  {phrase}")
    if terminal.take_failure() is not None:
        terminal.notify(f"recorded on line {recorded.line}, but the output cannot be written")


def show_graded(request: RecordRequest, recorded: Merged) -> None:
    """Print the same of a grade, and warn if kept components come from a stale one."""
    notify_outdated(request, recorded)
    run_id = request.project_run_id
    evidence = [files.verdicts_beside(each.path, run_id) for each in recorded.traces]
    score = scoring.score_joined(recorded.traces, run_id, evidence)
    assert score is not None
    show_recorded(request, recorded, score.headline)


def notify_outdated(request: RecordRequest, recorded: Merged) -> None:
    """Warn if kept components come from a stale grade: in the new event they look fresh."""
    kept = _kept(request, recorded)
    run = recorded.score_before if kept else None
    if run is not None and run.stale is not None:
        _, where = _counted_before(request, recorded)
        terminal.notify(
            f"kept {' and '.join(kept)} ({where}), which was {run.stale.short}; "
            "record them again if they were checked again"
        )


def _counted_before(request: RecordRequest, recorded: Merged) -> tuple[Mapping[str, object], str]:
    """The values that counted before, and their line."""
    decider, counted = recorded.before.deciding, recorded.before.counted
    if counted is None:
        return {}, ""
    is_own = decider.path == request.trace_file
    return counted.values, f"line {counted.line}" + (
        "" if is_own else f" of {wording.printable(decider.path, 4096)}"
    )


def _kept(request: RecordRequest, recorded: Merged) -> list[str]:
    """The components that the new event repeats."""
    return [
        f"{name} {figure(value)}"
        for name, value in recorded.values.items()
        if name not in request.changes and value is not None
    ]


def _given(name: str, value: object, was: object) -> str:
    differs = was is not None and was != value
    return f"{name} {figure(value)}" + (f" (was {figure(was)})" if differs else "")


def figure(value: object) -> str:
    """A component of a feed for a person."""
    if value is None:
        return "—"
    return f"{value:,}" if isinstance(value, int) else str(value)
