"""``drive-trace score``: the verdict of every run. This page is the program, from top to bottom."""

import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

import click

from drive_trace.commands import options, terminal
from drive_trace.commands.reading import MOST_NAMED, Reading, tell_others
from drive_trace.scorecard import card, render, run_score
from drive_trace.scorecard.scoring import ScoredTrace, TraceSummary, without_lines
from drive_trace.storage.configuration import Exemption
from drive_trace.storage.files import STDIN, Problem, TraceRecords, read_trace
from drive_trace.storage.finding import SearchOptions, omitted
from drive_trace.storage.other_files import among
from drive_trace.storage.projects import Above, Projects
from drive_trace.text.wording import code, json_document, plain
from drive_trace.trace.index import Index


@click.command(cls=options.WithHistory)
@options.paths
@options.search
@options.touched
@options.output_format(
    ["table", "text", "markdown", "json"],
    help="table has a line a run, text everything in words, json is for programs. By default table "
    "on a terminal, else text.",
)
@options.history
@options.flag(
    "--require-correct",
    "Exit with 1 unless there are runs and every one is CORRECT, with nothing that qualifies it.",
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

    [[score.exempt]] of a drive-trace.toml exempts runs from --require-correct until a day; it is
    shown with its reason, and counts only with --trust-config-at or --trust-config: a change cannot
    exempt itself. With --since and no run that was touched, there is nothing to require.

    With --history it says whether git vouches for each run: that no line of it was changed, removed
    or moved since it was committed. Where a grade was, or what a figure is over, that qualifies the
    verdict; a run of which no line is left is told and counts as not read. What a commit
    deleted with its file is missed with --history=REF and --since, not with --history alone.

    Exit code: 0 whatever the verdicts, 1 with --require-correct unless every run is CORRECT (the
    reason is on standard error), 2 some input could not be read (the rest is still scored), or is
    gone that a commit has (--history, --since), or with --require-correct a search left out what
    may hold a part of a run (--exclude says what does not).

    \b
    Examples:
      drive-trace score projects/checkout-retry/trace.jsonl
      drive-trace score --format json . > scorecard.json
      drive-trace score --require-correct projects
    """
    # The files that PATH means, one after another.
    found = Reading(paths, search, options.histories(paths))
    traces = _read(found, found)
    own = {run.run_id for each in traces for run in each.runs}
    run_ids = found.asked(own | found.earlier.touched)
    others = _read(found.others(run_ids), found)  # of the same runs
    traces = among(traces, others, lambda each: each.path)
    found.note_lost()
    left_out = omitted(found.left_out)
    again = partial(_read_again, found.places)
    scored = card.score(traces, found.unread, left_out, again, only=run_ids)
    exempt = [*_exempt(scored, search.projects or Projects("."), found)]
    by_default = "table" if terminal.is_terminal(sys.stdout) else "text"
    click.echo(_rendered(scored, output_format or by_default, exempt))
    let_off = {run_id for run_id, _, why_not in exempt if not why_not}
    counted = [run for run in scored.runs if run.run_id not in let_off]
    is_none_touched = search.since is not None and not found.earlier.touched
    is_met = is_none_touched or (scored.runs and all(run.is_earned for run in counted))
    is_short = require_correct and not (is_met and scored.complete)
    for reason in _shortcomings(scored, counted) if is_short else ():
        click.echo(f"drive-trace: --require-correct: {reason}", err=True)
    tell_others(found.others_found)
    # 2 where something was not read: nobody knows what it would have changed.
    sys.exit(
        (1 if scored.complete else 2) if is_short or scored.unread or found.fails_as_gone else 0
    )


def _read(found: Iterable[TraceRecords], reading: Reading) -> list[TraceSummary]:
    """What the score needs of each file: the scores of its runs, each as if this were its only
    file, and what a judge has recorded beside it; with --history what git vouches for of it.
    """
    traces: list[TraceSummary] = []
    for file in found:
        # The lines of one file at a time: those of files that share runs are read again.
        traces[-1:] = [each if each.path == STDIN else without_lines(each) for each in traces[-1:]]
        runs = ScoredTrace(file.records, file.path, file.provenance).summary()
        traces.append(reading.vouched(runs, file.records))
    return traces


def _read_again(places: Mapping[str, str], path: str) -> Index | None:
    """The lines of a file; None where it can no longer be read."""
    found = read_trace(places[path])
    if isinstance(found, Problem):
        return None
    return ScoredTrace(found.records, path, found.provenance).index


_Exempt = tuple[str, Exemption, str]
"""A run, what exempts it from ``--require-correct``, and why that does not count, or nothing."""


def _exempt(scored: card.ScoreCard, projects: Projects, reading: Reading) -> Iterator[_Exempt]:
    """The runs that the configurations of all their files exempt. With ``--since``, a run that the
    commit does not have is not one that its configuration was written for.
    """
    since = reading.search.since
    above: Above = {}
    for run in scored.runs:
        asked = [projects.of(part.path, above) for part in run.parts]
        found = [each.configuration.exemption(run.run_id) for each in asked]
        known = [each for each in found if each is not None]
        if not known or len(known) < len(found):
            continue
        first = min(known, key=lambda each: each.until)
        is_over = first.until < datetime.now(UTC).date()
        why_not = f"the exemption ended on {first.until}" if is_over else ""
        if not all(each.trusted for each in asked):
            why_not = "no configuration of the judged tree is believed (--trust-config-at)"
        is_known = run.run_id in reading.earlier.known
        if since and not (is_known or any(not since.has(part.path) for part in run.parts)):
            why_not = "the run is not in the commit of --since"
        yield run.run_id, first, why_not


def _rendered(scored: card.ScoreCard, output_format: str, exempt: Sequence[_Exempt]) -> str:
    if output_format == "json":
        found = [
            {"run_id": run_id, "reason": each.reason, "until": str(each.until), "counts": not why}
            for run_id, each, why in exempt
        ]
        return json_document({**card.to_json(scored), **({"exempt": found} if found else {})})
    name = code if output_format == "markdown" else plain
    said = [
        f"{name(run_id)} is {'not ' * bool(why)}exempt from --require-correct"
        f"{f', as {why}; asked for' * bool(why)} until {each.until}: {name(each.reason)}"
        for run_id, each, why in exempt
    ]
    match output_format:
        case "markdown":
            text = render.markdown(scored)
        case "table":
            text = render.table(scored, terminal.columns(), terminal.paint)
        case _:
            text = render.text(scored, terminal.columns())
    return "\n\n".join([text, *said])


def _shortcomings(scored: card.ScoreCard, counted: Sequence[run_score.RunScore]) -> Iterator[str]:
    """Why not every run that counts is CORRECT."""
    if not scored.runs:
        yield "there are no runs"
    short = [run for run in counted if not run.is_earned]
    for run in short[:MOST_NAMED]:
        yield f"{plain(run.run_id)}: {run.headline}"
    if len(short) > MOST_NAMED:
        yield f"and {len(short) - MOST_NAMED:,} more runs"
    if scored.left_out.missed:
        yield scored.left_out.sentence()
