"""``drive-trace record``: grade a run."""

from __future__ import annotations

from typing import Any

import click

from drive_trace.commands import options, writing
from drive_trace.vocabulary import CORRECTNESS_FIELDS, EVENTS, GRADE, OneOfShape

_SHAPE = EVENTS[GRADE].fields[CORRECTNESS_FIELDS[0]].shape
assert isinstance(_SHAPE, OneOfShape)
_OUTCOME = click.Choice(list(_SHAPE.meanings))


@click.command(short_help="Grade a run, keeping what was graded before.")
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
    request = writing.RecordRequest(GRADE, changes, **where)
    writing.show_graded(request, writing.record(request))
