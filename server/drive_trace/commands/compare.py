"""``drive-trace compare``: whether one side of runs is better than another."""

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path, PurePath
from typing import cast

import click

from drive_trace import __version__
from drive_trace.commands import calibrate, options
from drive_trace.commands.planned import GATED, INTENT, PlannedRun, refusals, states
from drive_trace.commands.reading import Reading, found_in, suite_at, tell_others, usable
from drive_trace.commands.terminal import EXIT_UNUSABLE, columns, format_of, notify, write_document
from drive_trace.comparison import comparability, runs
from drive_trace.comparison.answer import MARGIN, Answer, Comparison, CostRule, to_json
from drive_trace.comparison.answer import compare as compare_sides
from drive_trace.grading.judgements import Calibrated
from drive_trace.storage import compared_sides, configuration, files, finding, suites
from drive_trace.text.wording import first_of, json_document, plural

_EXIT_NOT_COMPARABLE = 3
_COST_WORSE = "cost-worse"
_SIDES = ("--baseline", "--candidate")


class _Sides(click.Command):
    """Each side takes all paths up to the next option, as a shell's pattern leaves them."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before each of its paths."""
        said, side = [], None
        for at, each in enumerate(args):
            if each.startswith("-") and each != "-":
                side = each if each in _SIDES else None
                if side is None:
                    said.append(each)
                elif at + 1 == len(args) or args[at + 1].startswith("--"):
                    raise click.UsageError(f"{side} needs a PATH", ctx)
            else:
                said += [each] if side is None else [side, each]
        return super().parse_args(ctx, said)


def _names(_: click.Context, __: click.Parameter, value: str | None) -> frozenset[str]:
    try:
        return comparability.allowed_of(filter(None, (value or "").split(",")))
    except ValueError as error:
        raise click.BadParameter(str(error)) from error


def _side_option(flag: str, what: str) -> Callable[[options.Command], options.Command]:
    return click.option(
        flag,
        metavar="PATH...",
        multiple=True,
        type=options.FILE,
        help=f"Files or folders with the runs {what}.",
    )


@click.command(cls=_Sides)
@_side_option("--baseline", "that are compared with")
@_side_option("--candidate", "that are judged")
@options.file("--suite", "A TOML file that plans both sides, and says how they are compared.")
@options.value(
    "--look",
    "N",
    "Which of the suite's planned looks this is; by default the last one, at all runs.",
    type=options.Whole(1),
)
@options.file("--cases", "A TOML file that says of which case each run is.")
@options.value(
    "--allow-unverified",
    "[NAMES]",
    f"Compare although this is unknown: all, or some of {', '.join(comparability.UNVERIFIABLE)}, "
    "with commas in between.",
    name="allowed",
    is_flag=False,
    flag_value="all",
    callback=_names,
)
@options.file(
    "--prices",
    "A TOML file with a table for each model: dollars for a million tokens of input, output, "
    f"cache_read and cache_write; by default {compared_sides.PRICES_NAME} in the folder of the "
    "user's own settings. Then dollars for each CORRECT run decide.",
)
@options.file(
    "--calibration",
    "What calibrate kept of the judge, to correct its errors by; by default the user's own.",
)
@click.option(
    "--margin",
    type=options.Number(0, 1, min_open=True, max_open=True),
    default=MARGIN,
    show_default=True,
    help="A lower cost decides only if the rate of CORRECT runs is lower by this at most.",
)
@click.option(
    "--time",
    type=click.Choice([*runs.TIMES]),
    default="working",
    show_default=True,
    help="Which time may decide: while a dispatch was open, or from start to close.",
)
@options.flag("--rank", "Show the ranker, too: a tie-break, and no answer.")
@click.option(
    "--fail-on",
    type=click.Choice([Answer.WORSE.value, _COST_WORSE, Answer.CANNOT_TELL.value]),
    multiple=True,
    help="Exit with 1 if this is the answer; may be repeated. cost-worse is also where more runs "
    "are CORRECT at a higher cost. With lines that do not count, cannot-tell is one of them.",
)
@options.search
@options.output_format(
    ["text", "json", "markdown", "html"], help="By default what the name of --out says, else text."
)
@options.out(check=options.of_document)
def compare(  # noqa: PLR0913, PLR0917 - one for each option
    baseline: tuple[str, ...],
    candidate: tuple[str, ...],
    suite: str | None,
    look: int | None,
    cases: str | None,
    allowed: frozenset[str],
    prices: str | None,
    calibration: str | None,
    margin: float,
    time: str,
    rank: bool,
    fail_on: tuple[str, ...],
    search: finding.SearchOptions,
    output_format: str | None,
    out: str | None,
) -> None:
    """Say whether the candidate's runs are better than the baseline's: better, worse, cannot tell,
    or not comparable, with the reasons.

    The gate decides first: how many runs are CORRECT. Where it does not, a higher cost is worse,
    and a lower one better, if the rate of CORRECT runs is lower by no more than --margin. With
    --prices the cost is that of dollars for each CORRECT run, else of tokens, time and rounds of
    CORRECT runs, each by itself. Nothing is compared of which it is unknown whether it is alike,
    such as the judge, unless --allow-unverified says so.

    A run is judged over all its files, as by score: those that neither side names are read, too.
    With a run that both sides have, such a file is not read, as nobody knows of which it is.

    A manifest trace.run.json beside trace.jsonl says the case of a run, and how it came about.
    Without manifests and --cases, all runs of a side are one case. A --suite says all of that, and
    which runs have to be there: one that left no trace, or never ended, is not CORRECT.

    Exit code: 0 whatever the answer, 1 if it is one of --fail-on, or nobody can tell and some lines
    are rejected or of unknown types, or a cost of the candidate is doubted, 2 something could not
    be read or written, or a search left out what may hold a part of a run (--exclude says what does
    not), 3 the sides are not comparable.

    \b
    Examples:
      drive-trace compare --baseline runs/main --candidate runs/branch
      drive-trace compare --baseline a/ --candidate b/ --cases cases.toml
      drive-trace compare --suite suite.toml --out compared.html --fail-on worse
    """
    plans: tuple[compared_sides.Planned, compared_sides.Planned] = {}, {}
    rule, priced, file, at = CostRule(margin, time), cast("runs.Prices", {}), None, 1
    if suite is not None:
        file, at = _suite_and_look(suite, look)
        rule, priced = file.rule(at), file.suite.prices
        calibration = calibration or file.calibration
        plans = file.planned("baseline", at), file.planned("candidate", at)
        baseline, candidate = (tuple(filter(files.may_be_there, each)) for each in plans)
    elif look is not None or not (baseline and candidate):
        lacks = "--suite" if look is not None else "--candidate" if baseline else "--baseline"
        raise click.UsageError(f"Missing option '{lacks}'.")
    if files.STDIN in baseline and files.STDIN in candidate:
        raise click.UsageError("- is on both sides, and is read once; name a file on one of them")
    case_file = usable(compared_sides.read_case_file(cases)) if cases is not None else None
    readings = [Reading(baseline, search), Reading(candidate, search)]
    given = {
        "baseline": (baseline, found_in(readings[0]) if baseline else ()),
        "candidate": (candidate, found_in(readings[1]) if candidate else ()),
    }
    priced = priced or usable(compared_sides.read_prices(prices))
    sides = usable(compared_sides.read_sides(given, case_file, search, priced, plans))
    for each in dict.fromkeys(each for side in sides for each in side.unread):
        notify(f"{each.path}: {each.reason}")
    usable(case_file.misfit(sides) if case_file is not None else None)
    known = _calibration(calibration)
    planned = [s for side in sides for s in states(file, side, at)] if file else []
    refused = refusals(file, planned) if file else ()
    found = compare_sides(*sides, allowed, rule, ranked=rank, calibrated=known, refused=[*refused])
    missing = _ungraded(planned, suite) if found.answer is Answer.CANNOT_TELL else ()
    found = found._replace(
        reasons=(*_picked(file), *missing, *found.reasons, *_looked(found, suite))
    )
    _write(found, output_format, out, filter(None, (cases, prices, suite, calibration)))
    named = {path for reading in readings for path in reading.found}
    read = [each.path for side in sides for each in side.files if each.path not in named]
    tell_others([*dict.fromkeys(read)])
    sys.exit(_exit_code(found, fail_on))


def _write(found: Comparison, chosen: str | None, out: str | None, given: Iterable[str]) -> None:
    """Write the answer, over nothing that it was read from, as what somebody has ``given``."""
    chosen = chosen or format_of(out, "text")
    traces = [each.path for side in found.sides for each in side.files]
    traces += [each.path for side in found.sides for each in side.unread]
    inputs = [str(each) for trace in traces for each in compared_sides.manifests_of(trace)]
    inputs += [str(PurePath(out or "-").parent / configuration.CONFIGURATION_NAME), *given]
    rendered = _rendered(found, chosen)
    write_document(rendered, out, traces=traces, inputs=inputs, is_html=chosen == "html")


def _exit_code(found: Comparison, fail_on: Sequence[str]) -> int:
    if any(side.not_read for side in found.sides):
        return EXIT_UNUSABLE
    if found.answer is Answer.NOT_COMPARABLE:
        return _EXIT_NOT_COMPARABLE
    if fail_on and found.answer is Answer.CANNOT_TELL:
        uncounted = sum(each.rejected + each.unknown for each in found.sides)
        if found.sides[1].doubted or uncounted:
            lines = f"{plural(uncounted, 'line')} cannot be counted"
            why = "a cost of the candidate is doubted" if found.sides[1].doubted else lines
            notify(f"--fail-on: nobody can tell while {why}")
            return 1
    is_dearer = found.by_cost is Answer.WORSE and _COST_WORSE in fail_on
    return 1 if found.answer in fail_on or is_dearer else 0


def _suite_and_look(path: str, look: int | None) -> tuple[suites.SuiteFile, int]:
    """A suite, and which look this is. Raises UsageError for an option that does not go with it."""
    file = suite_at(path, "baseline", "candidate", "cases", "prices", "margin", "time")
    at = look or file.suite.looks
    if at > file.suite.looks:
        raise click.UsageError(
            f"--look is {at}, and {path} plans {plural(file.suite.looks, 'look')}"
        )
    return file, at


def _picked(file: suites.SuiteFile | None) -> Iterator[comparability.Reason]:
    """That there are runs which a suite does not plan: whoever took them out may have seen them."""
    if file is not None and (others := file.unplanned):
        count = plural(len(others), "run")
        what = f"{count} on disk are not planned, and do not count: no run may be picked by what"
        yield comparability.Reason(f"{what} came of it", first_of(others, 3))


def _ungraded(planned: Sequence[PlannedRun], suite: str | None) -> Iterator[comparability.Reason]:
    """Which components planned runs lack, and what grades them."""
    for component in (*GATED, INTENT):
        if count := sum(component in each.lacks for each in planned):
            command = "judge" if component == INTENT else "run-gates"
            lack = f"{plural(count, 'run')} {'lacks' if count == 1 else 'lack'} {component}"
            yield comparability.Reason(f"{lack}; drive-trace suite {command} {suite} grades it")


def _looked(found: Comparison, suite: str | None) -> Iterator[comparability.Reason]:
    """That these sides were compared before, as nobody planned. What is not comparable is no look:
    nobody has seen an answer.
    """
    if found.answer is Answer.NOT_COMPARABLE:
        return
    if before := suites.earlier_look(found.sides, suite, found.rule.look):
        counts = f"{plural(before[1], 'run')} against {before[0]:,}"
        more = "looks that nobody planned are not counted, and make a false answer likelier"
        yield comparability.Reason(f"these sides were compared before, with {counts}: {more}")


def _calibration(path: str | None) -> Calibrated | None:
    """What is known of a judge: by default what the user keeps, if anything."""
    own = files.config_folder() / calibrate.CALIBRATION_NAME
    return calibrate.calibration_at(Path(path or own)) if path or files.may_be_there(own) else None


def _rendered(found: Comparison, output_format: str) -> str:
    if output_format == "json":
        return json_document({**to_json(found), "version": 1}) + "\n"
    from drive_trace.comparison.render import as_markdown, as_text, html_page  # noqa: PLC0415

    if output_format == "html":
        return html_page(found, f"drive-trace {__version__}")
    return (as_text(found, columns()) if output_format == "text" else as_markdown(found)) + "\n"
