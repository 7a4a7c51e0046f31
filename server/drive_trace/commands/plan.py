"""``drive-trace plan``: how many runs a comparison takes, before anything has run."""

from functools import partial

import click

from drive_trace.commands import options
from drive_trace.commands.reading import Reading, found_in, suite_at, usable
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, columns
from drive_trace.comparison import power, repeated, statistics
from drive_trace.comparison import runs as compared
from drive_trace.comparison.answer import MARGIN
from drive_trace.storage import files, finding
from drive_trace.storage.compared_sides import read_prices, read_side
from drive_trace.text import wording
from drive_trace.text.document import Bullets, Paragraph, as_text

_RATE, _SPREAD, _RUNS = 0.8, 0.76, 5
_MOST = 10_000
"""Runs a side: of more, the answer takes minutes."""
_COUNT = options.Whole(1, 1000)
_SHARE = options.Number(0, 1, min_open=True, max_open=True)
_ABOVE_0 = options.Number(min=0, min_open=True, max=100)


@click.command()
@click.argument("paths", metavar="[PATH]...", nargs=-1, type=options.FILE)
@options.value("--cases", "N", "Cases; by default those of the past runs.", type=_COUNT)
@options.value("--runs", "N", f"Runs a case and side; by default {_RUNS}.", type=_COUNT)
@options.value("--rate", "SHARE", "Share of CORRECT runs; by default of past ones.", type=_SHARE)
@options.value("--spread", "S", "The standard deviation of the logarithms of costs.", type=_ABOVE_0)
@click.option("--margin", type=_SHARE, default=MARGIN, show_default=True, help="As in compare.")
@click.option(
    "--ratio",
    type=options.Number(1, 100, min_open=True),
    default=power.RATIO,
    show_default=True,
    help="The least factor by which costs differ that matters.",
)
@options.file(
    "--suite",
    "Plan what this suite plans, at its last look: its cases, repetitions, margin and alpha. The "
    "past runs are those of its baseline.",
)
@options.search
@options.outcome_format
def plan(  # noqa: PLR0913, PLR0917 - one for each option
    paths: tuple[str, ...],
    cases: int | None,
    runs: int | None,
    rate: float | None,
    spread: float | None,
    margin: float,
    ratio: float,
    suite: str | None,
    search: finding.SearchOptions,
    output_format: str,
) -> None:
    """Say what so many runs of two sides can show, and how many it takes for 80 %.

    The share of CORRECT runs and how far costs spread within a case are those of past runs, which
    PATH names, or are given. Where neither is known, 0.8 of the runs are CORRECT, and the
    logarithms of costs have a standard deviation of 0.76. Cost is tested at half of 0.05, as the
    gate before it has its share: in dollars where prices are known, else each cost by itself, at
    its part of that. compare knows what the gate has left, and may need fewer runs.

    Exit code: 0; 2 wrong usage, or something cannot be read.

    \b
    Examples:
      drive-trace plan --cases 20 --runs 5
      drive-trace plan runs/main --runs 6 --margin 0.1
      drive-trace plan --rate 0.75 --spread 0.5 --cases 5
      drive-trace plan --suite suite.toml
    """
    past_runs, whose, level = "" if rate else " (assumed)", "", statistics.ALPHA
    planned: dict[str, compared.RunManifest] = {}
    if suite is not None:
        file = suite_at(suite, "paths", "cases", "runs", "margin")
        last = file.suite.looks
        every = file.planned("baseline", last).items()
        planned |= {trace: each for trace, each in every if files.may_be_there(trace)}
        paths, cases, runs = (*planned,), len(file.suite.cases), file.suite.repetitions
        margin, level = file.suite.margin, file.rule(last).level
    prices = (suite and file.suite.prices) or usable(read_prices(None))
    told = {compared.DOLLARS, *compared.COSTS} - {compared.WALL_CLOCK}
    if paths:
        side = usable(read_side("past", paths, found_in(Reading(paths, search)), planned=planned))
        if side.unread:
            raise Ended(EXIT_UNUSABLE, *(f"{each.path}: {each.reason}" for each in side.unread))
        past = compared.cases_of(side, side._replace(runs=()))
        counts = repeated.tally(side.runs)
        if not cases and (unnamed := sum(run.case == compared.ALL_RUNS for run in side.runs)):
            count = wording.plural(unnamed, "past run")
            whose = f" (nobody says of which case {count} came: taken for one)"
        cases, graded = cases or len(past), counts.correct + counts.incorrect
        if graded and not rate:
            of = f"{counts.correct:,} of {wording.plural(graded, 'graded past run')}"
            past_runs = f" ({of}, but taken nearer to a half, as few runs say little)"
        elif not rate:
            past_runs = f" ({wording.plural(len(side.runs), 'past run')}, none graded: assumed)"
        rate = rate or (power.likely_rate(counts.correct, graded) if graded else None)
        known = {each: power.spread_of(compared.log_costs(past, each)) for each in told}
        told = {each for each, by in known.items() if by is not None} or told
        spread = (
            spread or known[compared.DOLLARS] or max(filter(None, known.values()), default=None)
        )
    assumed = [name for name, it in (("rate", rate), ("spread", spread)) if not it]
    assumed += ["cases"] if whose else []
    cases, runs, rate, spread = cases or 1, runs or _RUNS, rate or _RATE, spread or _SPREAD
    if cases * runs > _MOST:
        what = f"{cases:,} cases of {runs:,} runs are more than {_MOST:,} runs a side"
        raise click.UsageError(f"{what}; name fewer of either")
    sizes = [(runs, runs)] * cases
    alpha = level / 2 / (1 if prices else len(told - {compared.DOLLARS}))  # by Holm at the worst
    cost = partial(power.chance_of_cost, rate=rate, spread=spread, ratio=ratio, alpha=alpha)
    what = "dollars for each CORRECT run" if prices else "costs"
    shown = [
        power.power_of_gate(sizes, rate, margin, level),
        power.power_of(what, ratio, sizes, partial(cost, by_dollars=bool(prices))),
    ]
    if output_format == "json":
        given = {"cases": cases, "runs": runs, "rate": rate, "spread": spread, "assumed": assumed}
        click.echo(wording.json_document(given | {"power": [each._asdict() for each in shown]}))
        return
    design = f"{wording.plural(cases, 'case')}{whose} of {wording.plural(runs, 'run')} a side"
    spreads = f"the logarithms of costs spread by {spread:.2f}"
    spreads += " (assumed)" * ("spread" in assumed)
    where = f"{design}, where {rate:.2f} of the runs are CORRECT{past_runs} and {spreads}:"
    click.echo(as_text([Paragraph(where), Bullets([each.words for each in shown])], columns()))
