"""``drive-trace score``: the verdict of every run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import click

from drive_trace.analysis import summarize_text
from drive_trace.commands.paths import Reading, paths_argument, search_options
from drive_trace.commands.terminal import columns, is_terminal, paint
from drive_trace.scorecard.card import ScoreCard, to_json
from drive_trace.scorecard.card import score as join
from drive_trace.scorecard.render import markdown, text
from drive_trace.scorecard.summary import TraceSummary, without_text
from drive_trace.storage.finding import SearchOptions, omitted
from drive_trace.storage.judging_records import with_judgements
from drive_trace.text.escaping import in_json, plain

_MOST_NAMED = 10


def _table(card: ScoreCard) -> str:
    from drive_trace.scorecard.render import table  # noqa: PLC0415 - scripts need it not

    return table(card, columns(), paint)


_RENDER: Mapping[str, Callable[[ScoreCard], str]] = {
    "table": _table,
    "text": text,
    "markdown": markdown,
    "json": lambda card: in_json(json.dumps(to_json(card), indent=2)),
}


@click.command(short_help="Show the verdict of every run.")
@paths_argument
@search_options
@click.option(
    "--output-format",
    "--format",
    type=click.Choice(list(_RENDER)),
    help="table has a line a run, text everything in words, json is for programs. By default table "
    "on a terminal, else text.",
)
@click.option(
    "--require-correct",
    is_flag=True,
    help="Exit with 1 unless there are runs and every one is CORRECT, with nothing that qualifies "
    "it.",
)
def score(
    paths: tuple[str, ...], search: SearchOptions, output_format: str | None, require_correct: bool
) -> None:
    """Show the two-tier scorecard of the runs in the traces at PATH, joined by run id.

    Tier 1 is the correctness gate: CORRECT, INCORRECT, or not computable with what is missing.
    Tier 2, efficiency, is shown for CORRECT runs only.

    Exit code: 0 whatever the verdicts, 1 with --require-correct unless every run is CORRECT (the
    reason is on standard error), 2 some input could not be read (the rest is still scored), or with
    --require-correct a search left out what may hold a part of a run (--exclude says what does
    not).

    \b
    Examples:
      drive-trace score projects/checkout-retry/trace.jsonl
      drive-trace score --format json . > scorecard.json
      drive-trace score --require-correct projects
    """
    reading = Reading(paths, search)
    alone = len(paths) == 1 and not Path(paths[0]).is_dir()
    traces: list[TraceSummary] = []
    for trace in reading:
        # The text of one trace at a time; and nothing is kept of it where it stays the only one.
        traces[-1:] = map(without_text, traces[-1:])
        summary = summarize_text(trace.records, trace.path, alone=alone)
        traces.append(with_judgements(summary, trace.path))
    card = join(traces, reading.unread, omitted(reading.left_out))
    chosen = output_format or ("table" if is_terminal(sys.stdout) else "text")
    click.echo(_RENDER[chosen](card))
    is_short = require_correct and not card.all_earned
    for reason in _shortcomings(card) if is_short else ():
        click.echo(f"drive-trace: --require-correct: {reason}", err=True)
    if is_short or card.unread:
        sys.exit(1 if card.complete else 2)


def _shortcomings(card: ScoreCard) -> Iterator[str]:
    """Why not every run is CORRECT."""
    if not card.runs:
        yield "there are no runs"
    short = [run for run in card.runs if not run.is_earned]
    for run in short[:_MOST_NAMED]:
        yield f"{plain(run.run_id)}: {run.headline}"
    if len(short) > _MOST_NAMED:
        yield f"and {len(short) - _MOST_NAMED:,} more runs"
    if card.left_out.missed:
        yield card.left_out.sentence()
