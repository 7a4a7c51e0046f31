"""``drive-trace tokens``: record what a run cost."""

from __future__ import annotations

from typing import Any

import click

from drive_trace.agent_logs.usage import Figures, Usage, total_usage
from drive_trace.commands import options, writing
from drive_trace.commands.reading import read_text
from drive_trace.commands.terminal import notify
from drive_trace.text.escaping import visible
from drive_trace.vocabulary import COST, TOKEN_FIELDS

_MOST = 256 << 20
"""A usage log has no more bytes: it is read whole."""

_HEADINGS = [name.removesuffix("_tokens").replace("_", " ").upper() for name in TOKEN_FIELDS]


class _Count(click.IntRange):
    name = "integer"  # as it is called where something else is given


_COUNT = _Count(min=0)


@click.command(short_help="Record what a run cost in tokens.")
@options.trace_file
@options.run_id
@click.option("--input-tokens", metavar="N", type=_COUNT, help="Tokens read by the models.")
@click.option("--output-tokens", metavar="N", type=_COUNT, help="Tokens written by the models.")
@click.option("--cache-read-tokens", metavar="N", type=_COUNT, help="Tokens read from the cache.")
@click.option("--cache-write-tokens", metavar="N", type=_COUNT, help="Tokens written to the cache.")
@options.file(
    "--usage",
    "Add up what a tool has logged in FILE, which may be given several times; - is standard input.",
    multiple=True,
)
@options.new_run
@options.only_this_file
@options.paths
def tokens(usage: tuple[str, ...], **given: Any) -> None:
    """Record the tokens that a whole run has cost, or some of the four figures.

    A figure replaces the one that was recorded before: nothing is added to it. A figure that is
    not given stays what it was, and null where it was never recorded: missing is not 0. All four
    are appended as one new event, as the last one of a run counts as a whole.

    --usage reads what tools log, and knows it by its shape: sessions of Claude Code (from its
    projects folder, or as printed with --output-format json or stream-json), sessions of Codex (or
    as printed by codex exec --json), responses of the Claude API and the OpenAI API, and objects of
    the agents' SDK like {"inputTokens": 1200, "outputTokens": 80, "cacheReadTokens": 900,
    "cacheWriteTokens": null}, each by itself or below the key usage of a message. What was added
    up is printed, and recorded as a whole: a figure that is not known is null then, whatever was
    recorded before. Input tokens are those that were not read from a cache.

    Messages without usage are passed over. A message that is logged again counts once, as it was
    last, and so does a running total. Where a sum could be wrong or is of a part, as without the
    log of a subagent, nothing is counted: it is refused, and why is told.

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
    total = None
    if usage:
        if changes:
            raise click.UsageError("--usage does not go with single figures")
        logs = {name: read_text(name, _MOST) for name in usage}
        total = writing.done(total_usage(logs), given["trace_file"])
        for note in total.notes:
            notify(note)
        if any(count is not None for count in total.figures.values()):
            # What was recorded before is of other messages: it has no place beside these.
            changes = dict(total.figures)
    if not changes:
        raise click.UsageError("name what to record: at least one figure, or --usage with one")
    request = writing.RecordRequest(COST, changes, **given)
    recorded = writing.record(request)
    if total is not None:
        _show(total)
    writing.show_recorded(request, recorded, "tokens recorded")


def _show(total: Usage) -> None:
    """Print what was added up: a line for each format and model."""
    rows = [
        (f"{row.shape}, {row.model}" if row.model else row.shape, row.messages, row.figures)
        for row in total.rows
    ]
    if len(rows) > 1:
        rows.append(("all", sum(messages for _, messages, _ in rows), total.figures))
    cells = [("USAGE", "MESSAGES", *_HEADINGS)]
    cells += [
        (visible(name)[:60], f"{messages:,}", *_shown(figures)) for name, messages, figures in rows
    ]
    first, *others = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for name, *figures in cells:
        line = "  ".join(
            f"{figure:>{width}}" for figure, width in zip(figures, others, strict=True)
        )
        click.echo(f"{name:<{first}}  {line}")


def _shown(figures: Figures) -> list[str]:
    return ["—" if count is None else f"{count:,}" for count in figures.values()]
