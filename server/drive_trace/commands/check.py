"""``drive-trace check``: report, fix and baseline findings."""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from io import StringIO
from time import sleep
from typing import TYPE_CHECKING, Any, NoReturn

import click

from drive_trace.commands import formats, options
from drive_trace.commands.checking import Checking
from drive_trace.commands.reading import Reading
from drive_trace.commands.terminal import is_terminal, notify, write_document
from drive_trace.linter.rules import GROUPS, RULES, selected
from drive_trace.storage import finding, linked_files
from drive_trace.storage.configuration import THRESHOLDS, Configuration
from drive_trace.storage.files import STDIN, version_at
from drive_trace.storage.projects import Projects
from drive_trace.text.wording import listed, plural

if TYPE_CHECKING:
    from drive_trace.commands.fixes import Fixes

_PAUSE = 0.5
"""Seconds between two looks of ``--watch``."""
_WITHOUT_STATISTICS = {"github", "gitlab", "junit", "sarif"}


def _rules(_: click.Context, __: click.Parameter, given: tuple[str, ...]) -> frozenset[str]:
    names = [name.strip() for each in given for name in each.split(",") if name.strip()]
    for name in names:
        if not selected(name):
            from drive_trace.commands.explain import unknown_rule  # noqa: PLC0415 - a mistake

            raise click.BadParameter(unknown_rule(name))
    return frozenset(code for name in names for code in selected(name))


_RULES: dict[str, Any] = {
    "multiple": True,
    "callback": _rules,
    "shell_complete": options.complete_rules,
}


@click.command(cls=options.WithHistory)
@options.paths
@options.search
@options.touched
@options.value(
    "--select",
    "RULE,…",
    f"Run these rules alone: codes, globs such as '*-mismatch', or {listed(GROUPS, 'or')}.",
    **_RULES,
)
@options.value("--ignore", "RULE,…", "Do not run these rules.", **_RULES)
@click.option(
    "--severity",
    "least",
    type=click.Choice([*THRESHOLDS][:-1]),
    default="hint",
    help="Show findings at least this bad. Others still count for --fail-on.",
)
@options.flag("--statistics", "Show in how many places each rule found something.")
@click.option("-q", "--quiet", is_flag=True, help="Show the findings, and nothing else.")
@options.output_format(
    sorted((*formats.FOR_PEOPLE, *formats.FOR_PROGRAMS)),
    default="full",
    show_default=True,
    help="full shows the line with a caret, concise one line a finding, json is for programs, "
    "github for GitHub's workflows, sarif for code scanning, gitlab for GitLab's Code Quality, "
    "junit for what shows tests.",
)
@options.out("Write the findings to a file instead of standard output.")
@click.option(
    "--fail-on",
    type=click.Choice(list(THRESHOLDS)),
    help="Exit with 1 when there is a finding at least this bad. By default what fail-on of "
    "drive-trace.toml says, else error.",
)
@options.flag("--fix", "Make all safe fixes, and report what is left.")
@options.flag("--unsafe-fixes", "With --fix or --diff: make suggestions, too.")
@options.follow_links
@options.flag("--diff", "Show what --fix would change, and write nothing.")
@options.flag(
    "--write-baseline", "Take all present findings for known: later checks report new ones only."
)
@options.flag("--prune-baseline", "Remove from the baseline what is found no more.")
@options.value(
    "--stdin-filename",
    "FILE",
    "What standard input is called: its configuration and baseline are those of this file.",
    callback=options.not_empty,
)
@options.flag("--watch", "Check again whenever a trace or its settings change.")
@options.history
@options.file("--config", "Use this drive-trace.toml for all traces.")
@options.no_config
@options.flag("--no-baseline", "Report known findings, too.")
def check(paths: tuple[str, ...], search: finding.SearchOptions, **given: Any) -> None:
    """Report everything that is wrong with the traces at PATH.

    PATH is a file, a folder (searched for trace.jsonl and wip/drive-trace/*.jsonl) or - for
    standard input; without one, the current folder is searched. A search leaves out hidden folders,
    node_modules, other repositories, and what git ignores and does not track; but for
    wip/drive-trace, which is always searched. It says what it leaves out.

    A run is judged over all files that hold it. The other files of the runs that are found are
    looked at, too, in their repository or below the drive-trace.toml above them, up to four million
    characters; nothing is reported on them. Standard input has no other files.

    What a rule finds again and again in a run is one finding with all its places (in JSON:
    places), but for what is wrong with single lines that readers reject: each has errors of its
    own. What only follows from another finding is not told beside it.

    The nearest drive-trace.toml in the folders above a trace says which rules are run over it, how
    severe they are, and at which severity the check fails. Findings in the
    drive-trace-baseline.json beside it are known, and neither reported nor counted; without a
    drive-trace.toml the nearest one above the trace holds, and a new one is written to the current
    folder, or to PATH if that is a folder and not in it, else beside the trace. Neither has a say
    in what readers reject and in the verdicts that score shows.

    --fix rewrites a trace as a whole, and not where it changed in the meantime. With - the fixed
    text goes to standard output, and the findings to standard error.

    --diff is exact, for git apply -p0; but in a terminal, and in the log of a CI runner (CI is set,
    and the output is no file), what these would obey is replaced.

    In a git checkout, what HEAD has of a trace is compared with it; --history compares what any
    commit recorded (first parents, renames followed), --history=REF what REF has and the commits
    after it made. Nothing that the repository names is run. A clone that is too shallow for that
    counts as an input that was not read, as does a file in no repository.

    What cannot be read at all is a finding, unreadable-file, which nothing hides.

    Exit code: 0 nothing found at the level of --fail-on, 1 something found, 2 some input could not
    be read, used or fixed (the rest is still checked), or is gone that a commit has (--history,
    --since). With --fix and --diff it is about what is left.

    \b
    Examples:
      drive-trace check
      drive-trace check projects/checkout-retry --output-format concise
      git show HEAD:trace.jsonl | drive-trace check -
      drive-trace check --select missing-field,wrong-type --statistics
      drive-trace check --diff
      drive-trace check --history=origin/main
      drive-trace check --fix --fail-on warning
      drive-trace check --write-baseline
    """
    _check_options(paths, given)
    projects = None
    if not given["no_config"]:
        projects = Projects(
            ".",
            *paths,
            configuration=given["config"],
            with_baseline=not (given["no_baseline"] or given["write_baseline"]),
            trusted=options.trusted(),
        )
    search.projects = projects
    if given["watch"]:
        _watch(paths or (".",), search)
    fixes = None
    if given["fix"] or given["diff"]:
        from drive_trace.commands.fixes import Fixes  # noqa: PLC0415 - takes long to load

        fixes = Fixes(suggestions=given["unsafe_fixes"], only_show=given["diff"])
    reading = Reading(tuple(map(options.followed, paths)), search, options.histories(paths))
    off = (RULES.keys() - (given["select"] or RULES.keys())) | given["ignore"]
    run = Checking(projects, off, fixes, given["stdin_filename"], given["fail_on"])
    _tell(run, reading, fixes, given)
    if search.runs and not run.file_count:
        notify("no run was looked at: none that is here, or was touched, has an id as --run says")
    if reading.unread or reading.fails_as_gone or run.failed:
        sys.exit(2)
    sys.exit(1 if run.is_bad and not given["write_baseline"] else 0)


def _tell(run: Checking, reading: Reading, fixes: Fixes | None, given: Mapping[str, Any]) -> None:
    """Write the findings, and what a person must know of them."""
    reports: Iterable[formats.Reported] = run.reports(reading)
    notes: list[str] = []
    if given["write_baseline"]:
        from drive_trace.commands.baselines import write_baselines  # noqa: PLC0415 - few write one

        notes, reports = write_baselines(run, reports)
    # What is fixed, and a diff, have standard output for themselves.
    stream = sys.stderr if given["fix"] and STDIN in reading.paths else sys.stdout
    if given["out"] not in {None, STDIN}:
        stream = StringIO()
    # A person who sees the findings is told there, and need not be told twice.
    is_seen = not given["diff"] and not given["statistics"]
    reading.tells_unread = not (is_seen and is_terminal(stream))

    def shown() -> Generator[formats.Reported, None, formats.Totals]:
        not_shown = 0
        for report in reports:
            if report.severity > THRESHOLDS[given["least"]]:
                not_shown += 1
                continue
            reading.progress.clear()
            yield report
        least = f"below --severity {given['least']} not shown"
        notes.extend([f"{plural(not_shown, 'finding')} {least}"] * bool(not_shown))
        notes.extend([fixes.note()] if fixes is not None else [])
        notes.extend([*run.notes(prunes=given["prune_baseline"]), *reading.notes()])
        unread = [*reading.unread, *run.unusable]
        return formats.Totals(run.file_count, notes, unread, given["quiet"], bool(fixes))

    # What click does for each piece of text adds up.
    write = partial(click.echo, file=stream, nl=False) if is_terminal(stream) else stream.write
    projects = reading.search.projects
    configuration = projects.of(STDIN).configuration if projects is not None else Configuration()
    url_of = cache(partial(linked_files.shared_rule_url, template=configuration.rule_url))
    findings = formats.Findings(shown(), stream, url_of)
    for text in _format(given)(findings):
        write(text)
    if isinstance(stream, StringIO):
        known = [each for project in run.checked.values() if project for each in project.files]
        write_document(stream.getvalue(), given["out"], traces=reading.found, inputs=known)
    is_told = not given["diff"] and given["output_format"] in formats.FOR_PEOPLE
    if not is_told and not given["quiet"]:
        for note in findings.totals.notes:
            notify(note)


_NO_FILE = "standard input is no file"
_APART = {
    "write_baseline": "fix diff no_config select ignore prune_baseline watch",
    "prune_baseline": "no_config no_baseline",
    "no_config": "config",
    "diff": "out statistics",
}
"""Options that do not go together."""


def _check_options(paths: tuple[str, ...], given: Mapping[str, Any]) -> None:
    """Raises UsageError where two options do not go together."""
    is_read, changes = STDIN in paths, given["fix"] or given["diff"]
    refused = [
        (given[one] and given[other], f"--{one} does not go with --{other}".replace("_", "-"))
        for one, others in _APART.items()
        for other in others.split()
    ]
    for is_refused, message in (
        *refused,
        (given["unsafe_fixes"] and not changes, "--unsafe-fixes goes with --fix or --diff"),
        (given["stdin_filename"] and not is_read, "--stdin-filename goes with -"),
        *(
            (is_read and given[each.replace("-", "_")], f"--{each} does not go with -: {_NO_FILE}")
            for each in ("write-baseline", "watch")
        ),
        (
            given["statistics"] and given["output_format"] in _WITHOUT_STATISTICS,
            f"--statistics does not go with the format {given['output_format']}",
        ),
    ):
        if is_refused:
            raise click.UsageError(message)


def _watch(paths: Sequence[str], search: finding.SearchOptions) -> NoReturn:
    """Check again whenever a trace that is found, its configuration or its baseline changes."""
    context, before = click.get_current_context(), None
    while True:
        search.above.clear()
        now = [*_versions(paths, search)]
        if now != before:
            if is_terminal(sys.stdout):
                click.clear()
            with suppress(SystemExit):
                context.invoke(check, **{**context.params, "watch": False})
            if is_terminal(sys.stdout):
                click.echo("watching for changes; Ctrl-C ends")
            sys.stdout.flush()
            before = now if not context.params["fix"] else [*_versions(paths, search)]
        sleep(_PAUSE)


def _versions(paths: Sequence[str], search: finding.SearchOptions) -> Iterator[object]:
    """What is different when a file has changed that is checked, or that says how."""
    for found in finding.find_traces(paths, options=search):
        project = search.projects.of(str(found)) if search.projects is not None else None
        for each in (str(found), *(project.files if project is not None else ())):
            yield each, version_at(each)


def _format(given: Mapping[str, Any]) -> formats.Format:
    name = given["output_format"]
    if given["diff"]:
        return lambda reports: ("" for _ in reports)
    if given["statistics"]:
        return partial(formats.statistics, as_json=name == "json")
    if name in formats.FOR_PEOPLE:
        return formats.FOR_PEOPLE[name]
    from drive_trace.commands.machine_formats import FORMATS  # noqa: PLC0415 - people see others

    return FORMATS[name]
