"""``tokens``: records what a run has cost, as given or as agents' tools have logged it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from drive_trace.commands import options, reading, terminal, writing
from drive_trace.storage.recording import Merged
from drive_trace.text import document as doc
from drive_trace.text.wording import json_document, printable
from drive_trace.trace.provenance import Origin
from drive_trace.vocabulary import COST, TOKEN_FIELDS

if TYPE_CHECKING:
    from drive_trace.authoring.usage import Usage


_COUNT = options.Whole(min=0)


@click.command()
@options.trace_file
@options.run_id
@options.value("--input-tokens", "N", "Tokens read by the models.", type=_COUNT)
@options.value("--output-tokens", "N", "Tokens written by the models.", type=_COUNT)
@options.value("--cache-read-tokens", "N", "Tokens read from the cache.", type=_COUNT)
@options.value("--cache-write-tokens", "N", "Tokens written to the cache.", type=_COUNT)
@options.value(
    "--usage",
    "SESSION",
    "Add up what a tool has logged: in a file, a session's folder, or by its id; may be given "
    "several times. - is standard input.",
    multiple=True,
    type=options.FILE,
)
@options.flag(
    "--partial", "Print what --usage adds up where logs are missing, too. Nothing is recorded."
)
@options.new_run
@options.only_this_file
@options.outcome_format
@options.paths
def tokens(usage: tuple[str, ...], partial: bool, output_format: str, **given: Any) -> None:
    """Record the tokens that a whole run has cost, or some of the four figures.

    A figure replaces the one that was recorded before: nothing is added to it. A figure that is
    not given stays what it was, and null where it was never recorded: missing is not 0. All four
    are appended as one new event, as the last one of a run counts as a whole. Nothing is appended
    where the same four count already.

    --usage adds up what tools have logged in a SESSION: a file, the folder of a session of Claude
    Code, or a session's id, which is looked up in CLAUDE_CONFIG_DIR or ~/.claude and in CODEX_HOME
    or ~/.codex. It knows by its shape: sessions of Claude Code (or as printed with --output-format
    json or stream-json), sessions of Codex (or as printed by codex exec --json), trajectories of
    Harbor in ATIF, responses of the Claude API and the OpenAI API, and objects of the agents' SDK
    like {"inputTokens": 1200, "outputTokens": 80, "cacheReadTokens": 900, "cacheWriteTokens":
    null}, each by itself or below the key usage of a message. What was added up is printed, and
    recorded as a whole: a figure that is not known is null then, whatever was recorded before.
    Input tokens are those that were not read from a cache. What a provider says that it cost in
    dollars is printed with --output-format json, and has no place in the event.

    The logs of subagents are found in the session's own folder; no path or link in a log or there
    is followed. Messages without usage are passed over, and so is a last line that is cut off. A
    message that is logged again counts once, in whichever log, as it was last, and so does a
    running total, with which a session of Codex goes on that was forked from another. Where a sum
    could be wrong or is of a part, as without the log of a subagent, or the result of the call
    that started one, nothing is recorded: what is missing is listed. --partial prints the sum of
    what is there, and records nothing.

    What is refused, which agent the event has, and in which files the run is looked for is as by
    record.

    Exit code: 0 recorded, 1 refused, 2 wrong usage, or something cannot be read or written. After
    1 and 2 the file is as it was, or the message says what stands in it.

    \b
    Examples:
      drive-trace tokens --trace-file projects/shop/trace.jsonl \\
        --project-run-id shop --input-tokens 1912408 --output-tokens 42117
      drive-trace tokens --trace-file trace.jsonl --project-run-id shop \\
        --usage ~/.claude/projects/-home-me-shop/6f1c9a0e.jsonl
      codex exec --json "mend the tests" | drive-trace tokens \\
        --trace-file trace.jsonl --project-run-id shop --usage -
    """
    counts = {name: given.pop(name) for name in TOKEN_FIELDS}
    changes = {name: count for name, count in counts.items() if count is not None}
    if usage and changes:
        raise click.UsageError("--usage does not go with single figures")
    if partial and not usage:
        raise click.UsageError("--partial goes with --usage")
    total = _added_up(usage, given["trace_file"], partial=partial) if usage else None
    if total is not None and any(count is not None for count in total.figures.values()):
        # What was recorded before is of other messages: it has no place beside these.
        changes = dict(total.figures)
    if not changes:
        raise click.UsageError("name what to record: at least one figure, or --usage with one")
    source = None if total is None else ", ".join(total.sessions) or None
    origin = Origin("tokens", () if total is None else tuple(changes), source=source)
    request = writing.RecordRequest(COST, changes, **given, origin=origin)
    recorded = writing.append_feed(request) if not partial else None
    if output_format == "json":
        _echo_recorded(request, recorded, total)
        return
    if total is not None:
        _show(total)
    if recorded is not None:
        title = "tokens recorded" if recorded.written.record else "the same tokens count already"
        writing.show_recorded(request, recorded, title)


def _added_up(usage: Sequence[str], trace_file: str, *, partial: bool) -> Usage:
    """What sessions have cost; ends the command where that cannot be told."""
    from drive_trace.authoring.usage import total_usage  # noqa: PLC0415 - seldom needed
    from drive_trace.storage.session_logs import logs_of  # noqa: PLC0415 - as above

    logs = {each: reading.lines_of_log(each) for each in reading.usable(logs_of(usage))}
    total = writing.done(total_usage(logs, partial=partial), trace_file)
    missing = [f"{printable(each, 200)} is not here, and not counted" for each in total.missing]
    for note in (*total.notes, *missing, *["nothing was recorded"] * partial):
        terminal.notify(note)
    return total


def _echo_recorded(
    request: writing.RecordRequest, recorded: Merged | None, total: Usage | None
) -> None:
    """Print what was recorded, and from what. It is the interface of ``--output-format json``. A
    provider's own cost is here alone: the vocabulary has no place for it.
    """
    said: dict[str, object] = {
        "project_run_id": request.project_run_id,
        "recorded": None if recorded is None else recorded.values,
        "line": None if recorded is None else recorded.line,
        "usage": None,
    }
    if total is not None:
        rows = [
            {"format": shape, "model": model, "messages": messages, **figures, "cost_usd": cost}
            for shape, model, messages, figures, cost in total.rows
        ]
        usage = {"rows": rows, **total.figures, "cost_usd": total.cost}
        said["usage"] = {**usage, "missing": total.missing, "notes": total.notes}
    click.echo(json_document(said))


def _show(total: Usage) -> None:
    """Print what was added up: a line for each format and model."""
    rows = [
        (f"{row.shape}, {row.model}" if row.model else row.shape, row.messages, row.figures)
        for row in total.rows
    ]
    if len(rows) > 1:
        rows.append(("all", sum(messages for _, messages, _ in rows), total.figures))
    headings = (name.removesuffix("_tokens").replace("_", " ").upper() for name in TOKEN_FIELDS)
    cells = [
        (
            doc.name(name, 60),
            f"{messages:,}",
            *("n/a" if n is None else f"{n:,}" for n in figures.values()),
        )
        for name, messages, figures in rows
    ]
    table = doc.Table(("USAGE", "MESSAGES", *headings), cells, numbers_from=1)
    click.echo(doc.as_text([table], terminal.columns()))
