"""``drive-trace suite``: gates and judges the runs that a suite plans, where that is missing."""

import re
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import click
from msgspec.structs import asdict

from drive_trace.commands import evidence, options, reading
from drive_trace.commands.gate import gate
from drive_trace.commands.judge import JudgeRefused, judge
from drive_trace.commands.planned import GATED, INTENT, PlannedRun, acceptance_of, states
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, notify
from drive_trace.storage import compared_sides, files, finding
from drive_trace.storage.suites import SIDES, SuiteFile
from drive_trace.text.wording import first_of, json_document, plural, printable

_NAMED = 20
"""So many runs are named at most."""
_suite = click.argument("path", metavar="SUITE", type=options.FILE)


@click.group()
def suite() -> None:
    """Gate and judge the runs that a suite plans, and say what is missing.

    SUITE is a TOML file with cases, repetitions, sides, gates and a judge; docs/compare.md shows
    one. Its commands run as if you had typed them. A command does what is missing, and may be
    stopped and called again at any time: what is graded, and later than the run's last work, is not
    graded again. Then drive-trace compare --suite SUITE compares the sides.

    \b
    Examples:
      drive-trace suite status suite.toml
      drive-trace suite run-gates suite.toml
      drive-trace suite judge suite.toml
    """


@suite.command(short_help="Say which runs are missing, or not graded yet.")
@_suite
@options.outcome_format
def status(path: str, output_format: str) -> None:
    """Say which planned runs left no trace or never ended, and what is not graded yet.

    A run has ended if all dispatches in it have, and it was closed if it was started. Runs that are
    there and not planned are named, too.

    Exit code: 0 all runs are there and graded; 1 something is missing; 2 SUITE or a trace cannot be
    read, or a trace has not one run.

    \b
    Examples:
      drive-trace suite status suite.toml
    """
    file = reading.suite_at(path)
    _check_cases(file)
    found, others = [*_states(file)], file.unplanned
    if output_format == "json":
        keys = ("trace", "case", "run_id", "verdict", "lacks")
        rows = [
            dict(zip(keys, (at, said.case, run.run_id, run.score.verdict, lacks), strict=True))
            for at, said, run, lacks, *_ in found
        ]
        click.echo(json_document({"runs": rows, "unplanned": others}))
    else:
        for each in _summary(file, "graded", found, (*GATED, INTENT)):
            click.echo(printable(each, 8192))
        if others:
            what = f"not planned, and on disk: {plural(len(others), 'run')}"
            click.echo(printable(f"{what}: {first_of(others, _NAMED)}", 8192))
    sys.exit(_code(found, (*GATED, INTENT)))


@suite.command("run-gates", short_help="Run the gates that have not run.")
@_suite
def run_gates(path: str) -> None:
    """Run the gates of all planned runs that have ended and are not gated yet, as gate does.

    They run in the folder of the run, or in its `work`. A run that left no trace, or never ended,
    is named.

    Exit code: 0 all runs are gated; 1 some are not; 2 SUITE or a trace cannot be
    read, or a trace has not one run.

    \b
    Examples:
      drive-trace suite run-gates suite.toml
    """
    file = reading.suite_at(path)
    due = [each for each in _states(file) if {*each.lacks} & {*GATED}]
    for state in due:
        folder = file.folder(state.trace)
        for component in GATED:
            gated = file.gate(state.planned.case, component)
            if gated is not None and component in state.lacks:
                given = asdict(gated) | {"result": [folder / each for each in gated.result]}
                cwd = folder / (file.suite.work or "") if gated.run else None
                _call(gate, file, state, {**given, "component": component, "cwd": cwd})
    _end(file, "gated", due, GATED)


@suite.command("judge", short_help="Have the suite's judge judge what nobody judged.")
@_suite
def judge_runs(path: str) -> None:
    """Have the suite's judge judge all planned runs that have ended and are not judged yet.

    It is asked as by judge, about the acceptance criteria of the case. The orchestrator is of the
    family of the side's model.

    Exit code: 0 all runs are judged; 1 some are not; 2 SUITE or a trace cannot be
    read, or a trace has not one run.

    \b
    Examples:
      drive-trace suite judge suite.toml
    """
    file = reading.suite_at(path)
    asked = file.suite.judge
    if asked is None:
        raise Ended(EXIT_UNUSABLE, f"{path} has no [judge]")
    _check_cases(file)
    due = [each for each in _states(file) if INTENT in each.lacks]
    # One of each side first: where its judge is refused, the others are not judged in vain.
    firsts = {each.planned.model: each.trace for each in reversed(due)}
    due.sort(key=lambda each: each.trace not in firsts.values())
    for state in due:
        given = asdict(asked) | {
            "acceptance": acceptance_of(file, str(state.planned.case)),
            "diff": file.folder(state.trace) / asked.diff,
            "calibration": file.calibration,
            "orchestrator_family": asked.orchestrator_family or state.planned.model,
        }
        _call(judge, file, state, given)
    _end(file, "judged", due, (INTENT,))


def _check_cases(file: SuiteFile) -> None:
    """End the command if the acceptance criteria that a judge needs cannot be read."""
    for case in file.suite.cases if file.suite.judge else ():
        try:
            evidence.read_case(acceptance_of(file, case))
        except Ended as error:
            raise Ended(EXIT_UNUSABLE, f"{file.path}: [cases.{case}]: {error.message}") from error


def _call(
    command: click.Command, file: SuiteFile, state: PlannedRun, given: Mapping[str, object]
) -> None:
    """Call one of our commands for a run. Why it graded nothing stands on standard error. Ends all
    where that is refused which the suite says, as it would be so of each run.
    """
    notify(state.words)
    said = {"trace_file": state.trace, "project_run_id": state.run.run_id, **given}
    pairs = [
        (name.replace("_", "-"), one)
        for name, value in said.items()
        for one in (value if isinstance(value, list | tuple) else [value])
        if one is not None
    ]
    more: Any = {"standalone_mode": False, "parent": click.get_current_context()}
    with suppress(SystemExit):  # what came of it stands in the trace
        try:
            for path in (one for _, one in pairs if isinstance(one, Path)):
                files.inside(path)  # as whoever is judged may have made it a link
            options = [*(f"--{name}={one}" for name, one in pairs), "--only-this-file"]
            command.main(options, command.name, **more)
        except click.ClickException as error:
            own = getattr(getattr(error, "param", None), "name", None)
            is_of_all = isinstance(error, click.UsageError | JudgeRefused)
            if is_of_all and own not in {"trace_file", "project_run_id", "cwd"}:
                key = "judge" if command is judge else given["component"]
                said_so = error.format_message()  # what is an option there is a key here
                option = re.compile("'?--([a-z-]+)'?")
                what = option.sub(lambda each: f"`{each[1].replace('-', '_')}`", said_so)
                raise Ended(EXIT_UNUSABLE, f"{file.path}: [{key}]: {what}") from error
            notify(error.format_message())
        except OSError as error:
            notify(f"not read: {files.why(error)}")


def _end(file: SuiteFile, word: str, due: Sequence[PlannedRun], components: Sequence[str]) -> None:
    """Say how many runs are graded, name those that are not, and end."""
    found = [*_states(file)]
    if not due:
        is_begun = any(files.may_be_there(each.trace) for each in found)
        notify("nothing was left to do" if is_begun else "no run has left a trace yet")
    for each in _summary(file, word, found, components):
        notify(each)
    sys.exit(_code(found, components))


def _code(found: Sequence[PlannedRun], components: Sequence[str]) -> int:
    is_done = all(each.is_done(components) for each in found)
    return (0 if is_done else 1) if all(each.is_one for each in found) else EXIT_UNUSABLE


def _summary(
    file: SuiteFile, word: str, found: Sequence[PlannedRun], components: Sequence[str]
) -> Iterator[str]:
    """How many runs are graded, what the others lack, and the first of these, rare lacks first."""
    missing = [each for each in found if not each.is_done(components)]
    done = f"{len(found) - len(missing):,} of {plural(len(found), 'planned run')}"
    yield f"{word} as {file.path} says: {done}"
    counts = Counter(each.lack for each in missing)
    missing.sort(key=lambda each: counts[each.lack])
    for each in missing[:_NAMED]:
        yield f"  {each.words}"
    if len(missing) > _NAMED:
        yield f"  and {len(missing) - _NAMED:,} more; in all"
        yield from (f"  {plural(n, 'run')}: {lack}" for lack, n in counts.most_common(_NAMED))


def _states(file: SuiteFile) -> Iterator[PlannedRun]:
    """All planned runs of both sides, with what there is of them."""
    for side in SIDES:
        planned = file.planned(side, file.suite.looks)
        paths = [*filter(files.may_be_there, planned)]
        found = reading.found_in(reading.Reading(paths, finding.SearchOptions())) if paths else ()
        made = reading.usable(compared_sides.read_side(side, paths, found, planned=planned))
        yield from states(file, made, file.suite.looks)
