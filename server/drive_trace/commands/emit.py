"""``drive-trace emit``: append one event."""

from __future__ import annotations

import click

from drive_trace.authoring.drafts import draft_event, may_erase
from drive_trace.commands import options, writing
from drive_trace.commands.reading import read_text
from drive_trace.commands.terminal import notify
from drive_trace.commands.writing import done
from drive_trace.storage.files import STDIN
from drive_trace.storage.recording import append_event, preview_event

_MOST = 16 << 20
"""A payload has no more bytes."""


@click.command(short_help="Append one event to a trace.")
@options.trace_file
@options.run_id
@click.option(
    "--event",
    metavar="TYPE",
    required=True,
    callback=options.is_text,
    shell_complete=options.complete_events,
    help="Which of the events it is, such as dispatch-start.",
)
@click.option(
    "--payload",
    metavar="JSON",
    required=True,
    callback=options.is_text,
    help="The event's own fields as a JSON object; - reads it from standard input.",
)
@click.option(
    "--orchestrator-agent-id",
    metavar="ID",
    callback=options.is_text,
    help="The orchestrator's session, where it is known.",
)
@click.option("--dry-run", is_flag=True, help="Print the line, and write nothing.")
@options.only_this_file
def emit(  # noqa: PLR0913, PLR0917 - one for each option
    trace_file: str,
    project_run_id: str,
    event: str,
    payload: str,
    orchestrator_agent_id: str | None,
    dry_run: bool,
    only_this_file: bool,
) -> None:
    """Append one event to a trace as one line, or nothing.

    The envelope (event_id, event_type, schema_version, ts, project_run_id and
    orchestrator_agent_id) is written by drive-trace: a payload that has one of its fields is
    refused. So is everything that readers would reject, keep apart or ignore: a field that is
    missing, has a wrong value, stands twice or is not declared, an unknown event, and a grade that
    takes back what was graded before (record merges). Each is named on standard error.

    For a grade with a null, what was graded before is looked for in all files of the run, as by
    record; --only-this-file does without them.

    The file and its folders are made if need be. Several processes may write to one trace at once.
    A last line without a newline is left as it is, and the event put on a line of its own.

    Exit code: 0 appended, 1 the event was refused, 2 wrong usage, or the file cannot be written.
    After 1 and 2 the file is as it was, or the message says what stands in it.

    \b
    Examples:
      drive-trace emit --trace-file projects/shop/trace.jsonl \\
        --project-run-id shop --event slice-started \\
        --payload '{"slice_slug":"retry","slice_index":1,"linear_ref":null}'
      jq -c . dispatch.json | drive-trace emit --trace-file trace.jsonl \\
        --project-run-id shop --event dispatch-start --payload -
      drive-trace schema dispatch-start     what its payload has to be
    """
    text = read_text(STDIN, _MOST) if payload == STDIN else payload
    draft = done(draft_event(event, project_run_id, orchestrator_agent_id, text), trace_file)
    beside = writing.NOTHING_BESIDE
    if may_erase(draft) and not only_this_file:
        beside = writing.found_beside(trace_file, project_run_id)
    outcome = (
        preview_event(trace_file, draft, beside.paths)
        if dry_run
        else append_event(trace_file, draft, beside.paths, waiting=notify)
    )
    written = done(outcome, trace_file, beside)
    for note in written.notes:
        notify(f"{trace_file}: {note}")
    if dry_run:
        click.echo(written.record)
