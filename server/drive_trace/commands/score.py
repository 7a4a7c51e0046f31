"""``drive-trace score``: the verdict of every run. This page is the program, from top to bottom."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from operator import attrgetter

import click

from drive_trace.commands import options
from drive_trace.commands.reading import MOST_NAMED, Reading, tell_others
from drive_trace.commands.terminal import columns, is_terminal, paint
from drive_trace.scorecard import card, render
from drive_trace.scorecard.card import ScoreCard
from drive_trace.scorecard.scoring import ScoredTrace, TraceSummary, without_lines
from drive_trace.storage.files import STDIN, Problem, TraceRecords, read_trace, with_judgements
from drive_trace.storage.finding import SearchOptions, among, omitted
from drive_trace.text.escaping import json_document, plain
from drive_trace.trace.index import Index


@click.command(cls=options.WithHistory)
@options.paths
@options.search
@options.output_format(
    ["table", "text", "markdown", "json"],
    help="table has a line a run, text everything in words, json is for programs. By default table "
    "on a terminal, else text.",
)
@options.history
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

    A run is judged over all files that hold it: the other files of these runs, in their repository
    or below the drive-trace.toml above them, are read, too, and named on standard error. Standard
    input has no other files.

    Tier 1 is the correctness gate: CORRECT, INCORRECT, or not computable with what is missing.
    Tier 2, efficiency, is shown for CORRECT runs only.

    With --history it says whether git vouches for each run: that no line of it was changed, removed
    or moved since it was committed. Where a grade was, or what a figure is over, that qualifies the
    verdict.

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
    # The files that PATH means, one after another.
    found = Reading(paths, search, options.histories())
    traces = _read(found, found)
    run_ids = {run.run_id for each in traces for run in each.runs}
    others = _read(found.others(run_ids), found)  # of the same runs
    traces = among(traces, others, attrgetter("path"))
    left_out = omitted(found.left_out)
    scored = card.score(traces, found.unread, left_out, _read_again, only=run_ids)
    click.echo(_rendered(scored, output_format or _default_format()))
    is_short = require_correct and not scored.all_earned
    for reason in _shortcomings(scored) if is_short else ():
        click.echo(f"drive-trace: --require-correct: {reason}", err=True)
    tell_others(found.others_found)
    sys.exit(_exit_code(scored, is_short=is_short))


def _read(found: Iterable[TraceRecords], reading: Reading) -> list[TraceSummary]:
    """What the score needs of each file: the scores of its runs, each as if this were its only
    file, and what a judge has recorded beside it; with --history what git vouches for of it.
    """
    traces: list[TraceSummary] = []
    for file in found:
        # The lines of one file at a time: those of files that share runs are read again.
        traces[-1:] = [each if each.path == STDIN else without_lines(each) for each in traces[-1:]]
        runs = ScoredTrace(file.records, file.path, file.provenance).summary()
        traces.append(reading.vouched(with_judgements(runs, file.path), file.records))
    return traces


def _read_again(path: str) -> Index | None:
    """The lines of a file; None where it can no longer be read."""
    found = read_trace(path)
    if isinstance(found, Problem):
        return None
    return ScoredTrace(found.records, path, found.provenance).index


def _default_format() -> str:
    """A person at a terminal wants a table, and who reads a file wants words."""
    return "table" if is_terminal(sys.stdout) else "text"


def _rendered(scored: ScoreCard, output_format: str) -> str:
    match output_format:
        case "json":
            return json_document(card.to_json(scored))
        case "markdown":
            return render.markdown(scored)
        case "table":
            return render.table(scored, columns(), paint)
    return render.text(scored)


def _shortcomings(scored: ScoreCard) -> Iterator[str]:
    """Why not every run is CORRECT."""
    if not scored.runs:
        yield "there are no runs"
    short = [run for run in scored.runs if not run.is_earned]
    for run in short[:MOST_NAMED]:
        yield f"{plain(run.run_id)}: {run.headline}"
    if len(short) > MOST_NAMED:
        yield f"and {len(short) - MOST_NAMED:,} more runs"
    if scored.left_out.missed:
        yield scored.left_out.sentence()


def _exit_code(scored: ScoreCard, *, is_short: bool) -> int:
    """2 where something was not read: nobody knows what it would have changed."""
    if is_short or scored.unread:
        return 1 if scored.complete else 2
    return 0
