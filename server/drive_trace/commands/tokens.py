"""``drive-trace tokens``: record what a run cost."""

from __future__ import annotations

import click

from drive_trace.commands import writing
from drive_trace.commands.completion import complete_files
from drive_trace.commands.paths import paths_argument
from drive_trace.commands.terminal import notify
from drive_trace.commands.usage import total_usage
from drive_trace.commands.writing import done, read_text
from drive_trace.vocabulary import COST, TOKEN_FIELDS

_MOST = 256 << 20
"""A usage log has no more bytes: it is read whole."""


class _Count(click.IntRange):
    name = "integer"  # as it is called where something else is given


_COUNT = _Count(min=0)


@click.command(short_help="Record what a run cost in tokens.")
@writing.trace_option
@writing.run_option
@click.option("--input-tokens", metavar="N", type=_COUNT, help="Tokens read by the models.")
@click.option("--output-tokens", metavar="N", type=_COUNT, help="Tokens written by the models.")
@click.option("--cache-read-tokens", metavar="N", type=_COUNT, help="Tokens read from the cache.")
@click.option("--cache-write-tokens", metavar="N", type=_COUNT, help="Tokens written to the cache.")
@click.option(
    "--usage",
    metavar="FILE",
    shell_complete=complete_files,
    help="Sum up the usage objects of the agents' SDK in FILE; - is standard input.",
)
@writing.new_run_option
@writing.only_this_file_option
@paths_argument
def tokens(  # noqa: PLR0913, PLR0917 - one for each option
    trace_file: str,
    project_run_id: str,
    input_tokens: int | None,
    output_tokens: int | None,
    cache_read_tokens: int | None,
    cache_write_tokens: int | None,
    usage: str | None,
    new_run: bool,
    only_this_file: bool,
    paths: tuple[str, ...],
) -> None:
    """Record the tokens that a whole run has cost, or some of the four figures.

    A figure replaces the one that was recorded before: nothing is added to it. A figure that is
    not given stays what it was, and null where it was never recorded: missing is not 0. All four
    are appended as one new event, as the last one of a run counts as a whole.

    --usage takes objects like {"inputTokens": 1200, "outputTokens": 80, "cacheReadTokens": 900,
    "cacheWriteTokens": null}, one after another or in an array, each by itself or below the key
    usage of a message, as an SDK logs them. Messages without usage are passed over. The sum is
    recorded; a figure that some of the objects do not have is not known, and not given.

    A message that only repeats another of the same id counts once, and so does one of the type
    result that adds up the others. Where they differ, or usage stands in several places or in
    another, nothing is counted: it is refused, and why is told.

    What is refused, which agent the event has, and in which files the run is looked for is as by
    record.

    Exit code: 0 recorded, 1 refused, 2 wrong usage, or something cannot be read or written. After
    1 and 2 the file is as it was.

    \b
    Examples:
      drive-trace tokens --trace-file projects/shop/trace.jsonl \\
        --project-run-id shop --input-tokens 1912408 --output-tokens 42117
      drive-trace tokens --trace-file trace.jsonl --project-run-id shop \\
        --usage turns.jsonl
      jq -c '.message | objects' session.jsonl | drive-trace tokens \\
        --trace-file trace.jsonl --project-run-id shop --usage -
    """
    counts = (input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
    given = dict(zip(TOKEN_FIELDS, counts, strict=True))
    changes = {name: count for name, count in given.items() if count is not None}
    if usage is not None:
        if changes:
            raise click.UsageError("--usage does not go with single figures")
        total = done(total_usage(read_text(usage, _MOST)), trace_file)
        changes = dict(total.tokens)
        for note in total.notes:
            notify(note)
    if not changes:
        raise click.UsageError("name what to record: at least one figure, or --usage with one")
    request = writing.RecordRequest(
        trace_file, project_run_id, COST, changes, new_run, only_this_file, paths
    )
    writing.show_recorded(request, writing.record(request), "tokens recorded")
