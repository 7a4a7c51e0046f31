"""``drive-trace check``: report, fix and baseline findings."""

from __future__ import annotations

import os
import stat
import sys
from collections import Counter
from collections.abc import Iterable
from functools import partial
from pathlib import Path
from typing import TextIO

import click

from drive_trace.analysis import Analysis
from drive_trace.authoring.fixing import fix_all, with_fixes, withheld
from drive_trace.commands import options
from drive_trace.commands.checking import Checking
from drive_trace.commands.explain import complete_rules, unknown_rule
from drive_trace.commands.formats import FORMATS
from drive_trace.commands.formats.diff import coloured, unified_diff
from drive_trace.commands.formats.findings import FindingWriter, Reported, RuleUrl, Totals
from drive_trace.commands.formats.text import StatisticsWriter
from drive_trace.commands.reading import Reading
from drive_trace.commands.terminal import in_colour, is_terminal, notify
from drive_trace.linter.rule import Severity, fingerprint
from drive_trace.linter.rules import RULES
from drive_trace.storage.files import STDIN, Problem, TraceRecords
from drive_trace.storage.finding import SearchOptions
from drive_trace.storage.pages import shared_rule_url
from drive_trace.storage.projects import (
    Configuration,
    Known,
    Project,
    Projects,
    shown_path,
    write_known,
)
from drive_trace.storage.replace import Unsynced, replace_content
from drive_trace.text.escaping import printable
from drive_trace.text.spans import encode_exactly, exact
from drive_trace.text.wording import plural

_THRESHOLDS = {severity.label: severity for severity in Severity}


def _rules(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> frozenset[str]:
    codes = [code.strip() for each in given for code in each.split(",") if code.strip()]
    for code in codes:
        if code not in RULES:
            raise click.BadParameter(unknown_rule(code))
    return frozenset(codes)


@click.command(short_help="Report what is wrong with traces.")
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

    A run is judged over all files that hold it. The other files of the runs in a file that is named
    are looked at, too, in its repository or below the drive-trace.toml above it; nothing is
    reported on them.

    The nearest drive-trace.toml in the folders above a trace says which rules are run over it, and
    how severe they are. Findings in the drive-trace-baseline.json beside it are known, and neither
    reported nor counted; without a drive-trace.toml the nearest one above the trace holds, and a
    new one is written to the current folder, or beside a trace that is not in it. Neither has a say
    in what readers reject and in the verdicts that score shows.

    --fix rewrites a trace as a whole, and not where it changed in the meantime. With - the fixed
    text goes to standard output, and the findings to standard error.

    --diff is exact, so that it can be applied; but in a terminal, and in the log of a CI runner
    (CI is set, and the output is no file), what these would obey is replaced.

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
      drive-trace check --fix --fail-on warning
      drive-trace check --write-baseline
    """
    _refuse(unsafe_fixes and not (fix or diff), "--unsafe-fixes goes with --fix or --diff")
    _refuse(write_baseline and (fix or diff), "--write-baseline does not go with --fix or --diff")
    _refuse(write_baseline and no_config, "--write-baseline does not go with --no-config")
    _refuse(no_config and config is not None, "--no-config does not go with --config")
    _refuse(
        write_baseline and STDIN in paths,
        "--write-baseline does not go with -: standard input is no file to know findings of",
    )
    _refuse(
        write_baseline and bool(select or ignore),
        "--write-baseline does not go with --select and --ignore: it would forget what other rules "
        "found",
    )
    _refuse(
        statistics and (diff or output_format in {"github", "sarif"}),
        "--statistics does not go with --diff, nor with the formats github and sarif",
    )
    projects = None
    if not no_config:
        with_baseline = not (no_baseline or write_baseline)
        projects = Projects(
            ".", configuration=config, with_baseline=with_baseline, trusted=options.trusted()
        )
    fixes = _Fixes(suggestions=unsafe_fixes, only_show=diff)
    search.projects = projects
    reading = Reading(tuple(map(options.followed, paths)), search)
    off = ((RULES.keys() - select) if select else frozenset()) | ignore
    run = Checking(projects, off, fixes.fix if fix or diff else None)
    reports = run.reports(reading)
    notes: list[str] = []
    if write_baseline:
        notes, left = _write_baselines(run, reports)
        reports = iter(left)
    # What is fixed, and a diff, have standard output for themselves.
    out = sys.stderr if fix and STDIN in paths else sys.stdout
    configuration = projects.of(STDIN).configuration if projects is not None else Configuration()
    url_of = partial(shared_rule_url, template=configuration.rule_url)
    writer = None if diff else _writer(out, url_of, output_format, statistics)
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
    notes += [fixes.note()] if fix or diff else []
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


def _writer(out: TextIO, url_of: RuleUrl, output_format: str, statistics: bool) -> FindingWriter:
    if statistics:
        return StatisticsWriter(out, url_of, as_json=output_format == "json")
    return FORMATS[output_format](out, url_of)


def _refuse(condition: bool, message: str) -> None:
    if condition:
        raise click.UsageError(message)


# What is written

_RUNNERS = ("CI", "GITHUB_ACTIONS", "TF_BUILD")
"""A CI runner sets one of these variables."""


class _Fixes:
    """Fixes traces, one after another, and counts the fixes."""

    def __init__(self, *, suggestions: bool, only_show: bool) -> None:
        self._suggestions = suggestions
        self._only_show = only_show
        self._fixed = 0
        self._left = 0
        self._withheld: Counter[str] = Counter()

    def fix(self, trace: TraceRecords, analysis: Analysis) -> Problem | None:
        """Fix a trace in its file, or return why the file stays as it was, or Unsynced.
        ``analysis`` is fixed in each case. The fixed text of standard input goes to standard
        output, and so does a diff.
        """
        before, problem = list(analysis.document.lines), None
        fixed = fix_all(analysis, suggestions=self._suggestions)
        if self._only_show:
            _show(unified_diff(printable(trace.path, 4096), before, analysis.document.lines))
        elif trace.path == STDIN:
            _write_exactly([_as_recorded(line.text for line in analysis.document.lines)])
        elif fixed:
            old = encode_exactly(_as_recorded(trace.records))
            new = encode_exactly(_as_recorded(line.text for line in analysis.document.lines))
            problem = replace_content(trace.path, old, new)
            if problem is not None and not isinstance(problem, Unsynced):
                return problem
        self._fixed += fixed
        self._left += with_fixes(analysis)
        self._withheld += withheld(analysis)
        return problem

    def note(self) -> str:
        """How many findings were fixed, and how many are left to a person."""
        one = self._fixed == 1
        were = "would be" if self._only_show else "was" if one else "were"
        message = f"{plural(self._fixed, 'finding')} {were} fixed"
        if self._left:
            message += f"; {self._left} more can be in an editor, one at a time"
        for reason, count in self._withheld.items():
            message += f"; {reason} ({plural(count, 'finding')})"
        return message


def _as_recorded(texts: Iterable[str]) -> str:
    return "\n".join(map(exact, texts))


def _show(diff: Iterable[str]) -> None:
    """Print a diff. It is exact, so that it can be applied; but for a terminal, and for the log of
    a CI runner, what these would obey is replaced, and what changed within a line is marked.
    """
    if not (sys.stdout.isatty() or _is_log() or in_colour(sys.stdout)):
        _write_exactly(diff)
        return
    for line in coloured(diff):
        click.echo(line)


def _is_log() -> bool:
    """Whether a CI runner may read standard output line by line. It reads no file."""
    if not any(map(os.environ.get, _RUNNERS)):
        return False
    try:
        return not stat.S_ISREG(os.fstat(sys.stdout.fileno()).st_mode)
    except OSError:  # a stream of this process alone
        return False


def _write_exactly(texts: Iterable[str]) -> None:
    """Write text to standard output as UTF-8 and with its own line ends, whatever the locale, and
    bytes that are not UTF-8 as they are.
    """
    sys.stdout.flush()
    for text in texts:
        sys.stdout.buffer.write(encode_exactly(text))
    sys.stdout.buffer.flush()


def _write_baselines(
    run: Checking, reports: Iterable[Reported]
) -> tuple[list[str], list[Reported]]:
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
    # Several findings of one rule on one line count once.
    lines = dict.fromkeys((each.rule.code, each.text or "", each.location.line) for each in found)
    for code, text, _ in lines:
        by_code.setdefault(code, Counter())[fingerprint(code, text)] += 1
    return by_code
