"""``drive-trace suite``: gates and judges the runs that a suite plans, where that is missing."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import click

from drive_trace.commands import options
from drive_trace.commands.compare import found_in
from drive_trace.commands.gate import gate
from drive_trace.commands.judge import judge
from drive_trace.commands.reading import Reading, suite_at, usable
from drive_trace.commands.terminal import EXIT_UNUSABLE, Ended, notify
from drive_trace.comparison.runs import ComparedRun, RunManifest
from drive_trace.storage.compared_sides import read_side
from drive_trace.storage.files import inside, may_be_there, why
from drive_trace.storage.finding import SearchOptions
from drive_trace.storage.suites import COMPONENTS, SIDES, SuiteFile
from drive_trace.text.escaping import json_document, printable
from drive_trace.text.wording import listed, plural, writable
from drive_trace.trace.times import sortable

_INTENT = "intent"
_suite = click.argument("path", metavar="SUITE", type=options.FILE)


class State(NamedTuple):
    """A planned run, and what there is of it."""

    trace: str
    planned: RunManifest
    run: ComparedRun
    lacks: tuple[str, ...]
    """The components that are not graded; or why there is nothing to grade."""

    @property
    def words(self) -> str:
        """For people: which run it is, and what it lacks."""
        return f"{self.trace}: {', '.join(self.lacks)}"


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


@suite.command()
@_suite
@options.outcome_format
def status(path: str, output_format: str) -> None:
    """Say which planned runs left no trace or never ended, and what is not graded yet.

    A run has ended if all dispatches in it have, and it was closed if it was started.

    Exit code: 0 all runs are there and graded; 1 something is missing; 2 SUITE or a trace cannot be
    read.

    \b
    Examples:
      drive-trace suite status suite.toml
    """
    states = [*states_of(suite_at(path))]
    missing = [each for each in states if each.lacks]
    if output_format == "json":
        keys = ("trace", "case", "run_id", "verdict", "lacks")
        rows = [
            dict(zip(keys, (at, said.case, run.run_id, run.score.verdict, lacks), strict=True))
            for at, said, run, lacks in states
        ]
        click.echo(json_document({"runs": rows}))
    else:
        count = f"{len(states) - len(missing):,} of {plural(len(states), 'planned run')}"
        click.echo(f"graded as {printable(path, 200)} says: {count}")
        for each in missing:
            click.echo(f"  {printable(each.words)}")
    sys.exit(1 if missing else 0)


@suite.command("run-gates")
@_suite
def run_gates(path: str) -> None:
    """Run the gates of all planned runs that have ended and are not gated yet, as gate does.

    They run in the folder of the run, or in its `work`. A run that left no trace, or never ended,
    is named.

    Exit code: 0 all runs are gated; 1 some are not; 2 SUITE or a trace cannot be read.

    \b
    Examples:
      drive-trace suite run-gates suite.toml
    """
    file = suite_at(path)
    for state in states_of(file):
        folder = file.folder(state.trace)
        for component in COMPONENTS:
            gated = file.gate(state.planned.case, component)
            if gated is not None and component in state.lacks:
                given = dict(gated) | {"result": [folder / each for each in gated.result]}
                cwd = folder / (file.suite.work or "") if gated.run else None
                _call(gate, state, {**given, "component": component, "cwd": cwd})
    _end(file, COMPONENTS)


@suite.command("judge")
@_suite
def judge_runs(path: str) -> None:
    """Have the suite's judge judge all planned runs that have ended and are not judged yet.

    It is asked as by judge, about the acceptance criteria of the case. The orchestrator is of the
    family of the side's model.

    Exit code: 0 all runs are judged; 1 some are not; 2 SUITE or a trace cannot be read.

    \b
    Examples:
      drive-trace suite judge suite.toml
    """
    file = suite_at(path)
    asked, folder = file.suite.judge, file.path.parent
    if asked is None:
        raise click.UsageError(f"{path} has no [judge]")
    for state in states_of(file):
        case = str(state.planned.case)
        acceptance = file.suite.cases[case].acceptance or f"cases/{case}"
        given = dict(asked) | {
            "acceptance": folder / acceptance,
            "diff": file.folder(state.trace) / asked.diff,
            "calibration": file.calibration,
            "orchestrator_family": asked.orchestrator_family or state.planned.model,
        }
        if _INTENT in state.lacks:
            _call(judge, state, given)
    _end(file, (_INTENT,))


def _call(command: click.Command, state: State, given: Mapping[str, object]) -> None:
    """Call one of our commands for a run. Why it graded nothing stands on standard error."""
    notify(state.words)
    said = {"trace_file": state.trace, "project_run_id": state.run.run_id, **given}
    pairs = [
        (name.replace("_", "-"), one)
        for name, value in said.items()
        for one in (value if isinstance(value, list) else [value])
        if one is not None
    ]
    options = [f"--{name}={one}" for name, one in pairs]
    more: Any = {"standalone_mode": False, "parent": click.get_current_context()}
    with suppress(SystemExit):  # what came of it stands in the trace
        try:
            for path in (one for _, one in pairs if isinstance(one, Path)):
                inside(path)  # as whoever is judged may have made it a link
            command.main([*options, "--only-this-file"], command.name, **more)
        except click.ClickException as error:
            error.show()
        except OSError as error:
            notify(f"not read: {why(error)}")


def _end(file: SuiteFile, components: Collection[str]) -> None:
    """Name the runs that are not graded, and end."""
    states = [each for each in states_of(file) if each.run.is_dead or {*each.lacks} & {*components}]
    for each in states:
        notify(each.words)
    sys.exit(1 if states else 0)


def states_of(file: SuiteFile) -> Iterator[State]:
    """All planned runs, with what there is of them. Ends the command if a trace cannot be read."""
    for side in SIDES:
        planned = file.planned(side, file.suite.looks)
        paths = [*filter(may_be_there, planned)]
        found = found_in(Reading(paths, SearchOptions())) if paths else ()
        made = usable(read_side(side, paths, found, planned=planned))
        if made.unread:
            raise Ended(EXIT_UNUSABLE, *(f"{each.path}: {each.reason}" for each in made.unread))
        runs = {run.run_id: run for run in made.runs if run.is_dead}
        runs |= {part.path: run for run in made.runs for part in run.score.parts}
        for trace, said in planned.items():
            yield State(trace, said, runs[trace], tuple(_lacks(file, str(said.case), runs[trace])))


def _lacks(file: SuiteFile, case: str, run: ComparedRun) -> Iterator[str]:
    """The components that no gate or judge of the suite, as it is now, has graded since the run's
    last work. A grade without such a record is nobody's word: whoever is judged can write one.
    """
    if run.is_dead:
        yield str(run.score.gate.uncounted)
        return
    for component in COMPONENTS:
        wanted, gated = file.gate(case, component), run.score.gates.get(component)
        kind = listed([writable(each) for each in wanted.run] or wanted.names) if wanted else None
        if wanted and (gated is None or gated.kind != kind or _is_old(gated.ts, run)):
            yield component
    judge, judged = file.suite.judge, run.score.judgement
    if judge and (not judged or judged.judge.model != judge.model or _is_old(judged.ts, run)):
        yield _INTENT


def _is_old(ts: str, run: ComparedRun) -> bool:
    return (sortable(ts) or "") < run.events.last_work
