"""``drive-trace check``: report, fix and baseline findings."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

import click

from drive_trace.commands import options
from drive_trace.commands.checking import Checking
from drive_trace.commands.explain import complete_rules, unknown_rule
from drive_trace.commands.formats import FORMATS, FindingWriter, Reported, StatisticsWriter, Totals
from drive_trace.commands.reading import Reading
from drive_trace.commands.terminal import is_terminal, notify
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import Severity, fingerprint
from drive_trace.storage.files import STDIN
from drive_trace.storage.finding import SearchOptions
from drive_trace.storage.linked_files import shared_rule_url
from drive_trace.storage.projects import (
    Configuration,
    Known,
    Project,
    Projects,
    shown_path,
    write_known,
)
from drive_trace.text.wording import plural

_THRESHOLDS = {severity.label: severity for severity in Severity}


def _rules(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> frozenset[str]:
    codes = [code.strip() for each in given for code in each.split(",") if code.strip()]
    for code in codes:
        if code not in RULES:
            raise click.BadParameter(unknown_rule(code))
    return frozenset(codes)


@click.command(cls=options.WithHistory)
@options.paths
@options.search
@click.option(
    "--select",
    metavar="RULE,…",
    multiple=True,
    callback=_rules,
    shell_complete=complete_rules,
    help="Run these rules alone.",
)
@click.option(
    "--ignore",
    metavar="RULE,…",
    multiple=True,
    callback=_rules,
    shell_complete=complete_rules,
    help="Do not run these rules.",
)
@click.option(
    "--severity",
    "least",
    type=click.Choice(list(_THRESHOLDS)),
    default="hint",
    help="Show findings at least this bad. Others still count for --fail-on.",
)
@click.option("--statistics", is_flag=True, help="Show how often each rule found something.")
@click.option("-q", "--quiet", is_flag=True, help="Show the findings, and nothing else.")
@click.option(
    "--output-format",
    type=click.Choice(sorted(FORMATS)),
    default="full",
    show_default=True,
    help="full shows the line with a caret, concise one line a finding, json is for programs, "
    "github for GitHub's workflows, sarif for code scanning.",
)
@click.option(
    "--fail-on",
    type=click.Choice([*_THRESHOLDS, "never"]),
    default="error",
    show_default=True,
    help="Exit with 1 when there is a finding at least this bad.",
)
@click.option("--fix", is_flag=True, help="Make all safe fixes, and report what is left.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: make suggestions, too.")
@options.follow_links
@click.option("--diff", is_flag=True, help="Show what --fix would change, and write nothing.")
@click.option(
    "--write-baseline",
    is_flag=True,
    help="Take all present findings for known: later checks report new ones only.",
)
@options.history
@options.file("--config", "Use this drive-trace.toml for all traces.")
@options.no_config
@click.option("--no-baseline", is_flag=True, help="Report known findings, too.")
def check(  # noqa: PLR0913, PLR0917 - one for each option
    paths: tuple[str, ...],
    search: SearchOptions,
    select: frozenset[str],
    ignore: frozenset[str],
    least: str,
    statistics: bool,
    quiet: bool,
    output_format: str,
    fail_on: str,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    write_baseline: bool,
    config: str | None,
    no_config: bool,
    no_baseline: bool,
) -> None:
    """Report everything that is wrong with the traces at PATH.

    PATH is a file, a folder (searched for trace.jsonl and wip/drive-trace/*.jsonl) or - for
    standard input; without one, the current folder is searched. A search leaves out hidden folders,
    node_modules, other repositories, and what git ignores and does not track; but for
    wip/drive-trace, which is always searched. It says what it leaves out.

    A run is judged over all files that hold it. The other files of the runs that are found are
    looked at, too, in their repository or below the drive-trace.toml above them, up to four million
    characters; nothing is reported on them. Standard input has no other files.

    What a rule finds again and again in a run is one finding with all its places (in JSON:
    places), and what only follows from another finding is not told beside it.

    The nearest drive-trace.toml in the folders above a trace says which rules are run over it, and
    how severe they are. Findings in the drive-trace-baseline.json beside it are known, and neither
    reported nor counted; without a drive-trace.toml the nearest one above the trace holds, and a
    new one is written to the current folder, or beside a trace that is not in it. Neither has a say
    in what readers reject and in the verdicts that score shows.

    --fix rewrites a trace as a whole, and not where it changed in the meantime. With - the fixed
    text goes to standard output, and the findings to standard error.

    --diff is exact, so that it can be applied; but in a terminal, and in the log of a CI runner
    (CI is set, and the output is no file), what these would obey is replaced.

    In a git checkout, what HEAD has of a trace is compared with it; --history compares what any
    commit recorded (first parents, renames followed), --history=REF what REF has and the commits
    after it made. Nothing that the repository names is run. A clone that is too shallow for that
    counts as an input that was not read.

    What cannot be read at all is a finding, unreadable-file, which nothing hides.

    Exit code: 0 nothing found at the level of --fail-on, 1 something found, 2 some input could not
    be read, used or fixed (the rest is still checked). With --fix and --diff it is about what is
    left.

    \b
    Examples:
      drive-trace check
      drive-trace check projects/checkout-retry/trace.jsonl --output-format concise
      git show HEAD:trace.jsonl | drive-trace check -
      drive-trace check --select missing-field,wrong-type --statistics
      drive-trace check --diff
      drive-trace check --history=origin/main
      drive-trace check --fix --fail-on warning
      drive-trace check --write-baseline
    """
    _check_options(click.get_current_context().params)
    projects = None
    if not no_config:
        with_baseline = not (no_baseline or write_baseline)
        projects = Projects(
            ".", configuration=config, with_baseline=with_baseline, trusted=options.trusted()
        )
    fixes = None
    if fix or diff:
        from drive_trace.commands.fixes import Fixes  # noqa: PLC0415 - takes long to load

        fixes = Fixes(suggestions=unsafe_fixes, only_show=diff)
    search.projects = projects
    reading = Reading(tuple(map(options.followed, paths)), search, options.histories())
    off = ((RULES.keys() - select) if select else frozenset()) | ignore
    run = Checking(projects, off, fixes)
    reports: Iterable[Reported] = run.reports(reading)
    notes, reports = _write_baselines(run, reports) if write_baseline else ([], reports)
    # What is fixed, and a diff, have standard output for themselves.
    on_stderr = fix and STDIN in paths
    writer = None
    if not diff:
        writer = _writer(projects, output_format, statistics=statistics, on_stderr=on_stderr)
    # A person who sees the findings is told there, and need not be told twice.
    reading.tells_unread = writer is None or statistics or not is_terminal(sys.stdout)
    not_shown = 0
    for report in reports:
        if report.severity > _THRESHOLDS[least]:
            not_shown += 1
        elif writer is not None:
            reading.progress.clear()
            writer.write(report)
    if not_shown:
        notes.append(f"{plural(not_shown, 'finding')} below --severity {least} not shown")
    notes += [fixes.note()] if fixes is not None else []
    notes += [*run.notes(), *reading.notes()]
    if writer is not None:
        writer.finish(Totals(len(run.checked), notes, reading.unread, is_quiet=quiet))
    if (writer is None or not writer.shows_totals) and not quiet:
        for note in notes:
            notify(note)
    if reading.unread or run.failed:
        sys.exit(2)
    is_bad = run.worst is not None and run.worst <= _THRESHOLDS.get(fail_on, 0)
    sys.exit(1 if is_bad and not write_baseline else 0)


def _check_options(given: Mapping[str, Any]) -> None:
    """Raises UsageError where two options do not go together."""
    changes, writes = given["fix"] or given["diff"], given["write_baseline"]
    forgets = "it would forget what other rules found"
    for is_refused, message in (
        (given["unsafe_fixes"] and not changes, "--unsafe-fixes goes with --fix or --diff"),
        (writes and changes, "--write-baseline does not go with --fix or --diff"),
        (writes and given["no_config"], "--write-baseline does not go with --no-config"),
        (
            given["no_config"] and given["config"] is not None,
            "--no-config does not go with --config",
        ),
        (
            writes and STDIN in given["paths"],
            "--write-baseline does not go with -: standard input is no file to know findings of",
        ),
        (
            writes and (given["select"] or given["ignore"]),
            f"--write-baseline does not go with --select and --ignore: {forgets}",
        ),
        (
            given["statistics"]
            and (given["diff"] or given["output_format"] in {"github", "sarif"}),
            "--statistics does not go with --diff, nor with the formats github and sarif",
        ),
    ):
        if is_refused:
            raise click.UsageError(message)


def _writer(
    projects: Projects | None, output_format: str, *, statistics: bool, on_stderr: bool
) -> FindingWriter:
    configuration = projects.of(STDIN).configuration if projects is not None else Configuration()
    url_of = partial(shared_rule_url, template=configuration.rule_url)
    out = sys.stderr if on_stderr else sys.stdout
    if statistics:
        return StatisticsWriter(out, url_of, as_json=output_format == "json")
    return FORMATS[output_format](out, url_of)


def _write_baselines(
    run: Checking, reports: Iterable[Reported]
) -> tuple[list[str], Iterable[Reported]]:
    """Write all findings into the baselines of their projects. Returns notes on the baselines, and
    the findings that are in none: they belong to no line, or their baseline cannot be written.
    """
    every = list(reports)
    found: dict[str, list[Reported]] = {}
    for report in every:
        if report.text is not None:
            found.setdefault(report.location.path, []).append(report)
    projects: dict[Path, tuple[Project, list[str]]] = {}
    for path, project in run.checked.items():
        assert project is not None
        projects.setdefault(project.folder, (project, []))[1].append(path)
    notes, unknown = [], set()
    for project, paths in projects.values():
        problem = write_known(
            project, {project.path_of(path): _known(found.get(path, ())) for path in paths}
        )
        if problem is not None:
            run.notify([problem])
            unknown |= set(paths)
            continue
        count = sum(len(found.get(path, ())) for path in paths)
        notes.append(
            f"wrote {plural(count, 'finding')} of {plural(len(paths), 'trace')} "
            f"to {shown_path(project.baseline_path)}"
        )
    left = [each for each in every if each.text is None or each.location.path in unknown]
    return notes, left


def _known(found: Iterable[Reported]) -> Known:
    by_code: dict[str, Counter[str]] = {}
    every = chain.from_iterable((each, *each.places, *each.follows) for each in found)
    # Several findings of one rule on one line count once.
    lines = dict.fromkeys((each.code, each.text or "", each.location.line) for each in every)
    for code, text, _ in lines:
        by_code.setdefault(code, Counter())[fingerprint(code, text)] += 1
    return by_code
