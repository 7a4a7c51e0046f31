"""``drive-trace gate``: run a gate, and record what came of it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BufferedWriter
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import click
from msgspec.structs import replace

from drive_trace import __version__
from drive_trace.commands import options, writing
from drive_trace.commands.terminal import Ended, notify
from drive_trace.grading.judgements import Command, Gating, ReportFile, to_record
from drive_trace.grading.junit import ZONES, JUnitError, JUnitReport, read_junit
from drive_trace.interrupts import Interrupted
from drive_trace.scorecard.scoring import UNTIMED, ScoredTrace, last_work, work_count
from drive_trace.storage import appending, git, patterns, recording
from drive_trace.storage import files as disk
from drive_trace.storage.files import Problem, inside, open_regular, read_bytes, why
from drive_trace.storage.processes import run_shell, runs_nothing
from drive_trace.storage.replace import may_be_trace
from drive_trace.text.wording import duration, writable
from drive_trace.trace.provenance import Origin
from drive_trace.vocabulary import GRADE

EXIT_FAIL, EXIT_NOTHING = 1, 3
_LARGEST_REPORT = 64 << 20
_SLACK = timedelta(seconds=2)
"""Reports and some disks have whole seconds, or two."""


class _GateResult(NamedTuple):
    """What came of a gate."""

    outcome: Literal["pass", "fail"] | None
    """None where nobody can tell."""
    message: str
    """Why, in one clause without a full stop."""
    evidence: Mapping[str, Any] = {}
    """What the record says of it, by name."""
    tests: Sequence[_Tests] = ()
    """Those that were read."""


class _Tests(NamedTuple):
    """Of which work some tests can tell."""

    name: str
    dated: str
    """When they began, in words."""
    until: datetime | None
    """Work until then had been done; None where nobody knows."""


@click.command()
@options.trace_file
@options.run_id
@click.option(
    "--component",
    type=click.Choice(["mechanical", "qa"]),
    required=True,
    help="What the gate decides. The intent is for judge.",
)
@options.value(
    "--run",
    "CMD",
    "A command for sh -c. Several run one after another, until one does not exit with 0.",
    name="gates",
    multiple=True,
)
@options.file(
    "--result",
    "Read a JUnit XML report instead of running something; - is standard input.",
    name="reports",
    multiple=True,
)
@options.flag("--accept-stale", "Take what is older than the run's work.")
@options.timeout(3600.0, "command")
@options.value(
    "--cwd",
    "FOLDER",
    "Where the commands run; by default the current folder.",
    type=click.Path(exists=True, file_okay=False),
)
@options.file(
    "--log",
    "Append what the commands print to a file, too; not to a trace, and not through a link.",
)
@options.new_run
@options.only_this_file
@options.paths
def gate(  # noqa: PLR0913, PLR0917 - one for each option
    component: str,
    gates: tuple[str, ...],
    reports: tuple[str, ...],
    accept_stale: bool,
    timeout: float,
    cwd: str | None,
    log: str | None,
    **where: Any,
) -> None:
    """Run commands, or read the report of a test run, and record whether a run passed.

    With --run the outcome is pass if every command exits with 0, and fail if one exits with
    another code. Nothing is recorded if a command cannot be started, takes too long or is ended by
    a signal: that says nothing of the run. Nor is it if the run went on meanwhile: so commands do
    not record its work. What they print goes to standard error.

    With --result it is fail if a case failed, and pass if at least one case ran and none failed.
    Nothing is recorded of an empty or broken report, of one that says what is not known to be
    harmless, and of one that is older than the run's last work: the earliest of its timestamps
    counts, or the time of its file if that is earlier. A line that readers do not count may be
    work, too.

    What was run or read, and at which commit, is recorded in FILE.judgements.ndjson. The other
    components are kept, and files of the run are merged, as record does.

    Exit code: 0 pass was recorded; 1 fail was recorded; 2 wrong usage; 3 nothing was recorded.

    \b
    Examples:
      drive-trace gate --trace-file trace.jsonl --project-run-id shop \\
        --component mechanical --run 'make lint' --run 'make test'
      drive-trace gate --trace-file trace.jsonl --project-run-id shop \\
        --component qa --result reports/junit.xml
    """
    if bool(gates) == bool(reports):
        raise click.UsageError("name either what to --run, or the --result to read")
    if log is not None and not gates:
        raise click.UsageError("--log is for --run")
    if any(map(runs_nothing, gates)):
        raise click.UsageError("a --run runs nothing: a variable may not be set")
    if log is not None:
        _check_log(log, where["trace_file"])
    request = writing.RecordRequest(GRADE, {component: "pass"}, **where)
    with _or_nothing():
        # A gate may take an hour: what cannot be recorded is refused before.
        would = writing.preview(request)
    seen, start, began = _texts(would.traces), datetime.now(UTC), recording.new_stamp().ts
    commit, clean = git.tree_state(cwd or ".", request.trace_file)
    ended = _run(gates, timeout, cwd, log) if gates else _read(reports)
    if ended.outcome is None:
        notes = [f"nothing was written to {request.trace_file}"]
        raise Ended(EXIT_NOTHING, ended.message, notes=notes)
    notify(ended.message)
    gating = Gating(
        ts=recording.new_stamp().ts,
        began=began,
        project_run_id=request.project_run_id,
        component=cast("Any", component),
        outcome=ended.outcome,
        commit=commit,
        clean=clean,
        worked=work_count(would.traces, request.project_run_id),
        tool=__version__,
        **ended.evidence,
    )

    def refuse(traces: Sequence[ScoredTrace]) -> str | None:
        is_as_seen = gates and _texts(traces) == seen
        worked = None if is_as_seen else last_work(traces, request.project_run_id)
        tests = ended.tests or [_Tests("the gate", began, start)]
        late = next(filter(None, (_why_late(each, worked) for each in tests)), None)
        if late is not None and not accept_stale:
            return late
        _note(request.trace_file, replace(gating, stale=late is not None))
        return None

    changes, origin = {component: ended.outcome}, Origin("gate", (component,))
    request = request._replace(changes=changes, origin=origin, refuse=refuse)
    with _or_nothing():
        recorded = writing.append_feed(request)
    writing.show_graded(request, recorded)
    sys.exit(0 if ended.outcome == "pass" else EXIT_FAIL)


def _texts(traces: Sequence[ScoredTrace]) -> list[list[str]]:
    return [[line.text for line in each.document.lines] for each in traces]


def _note(trace: str, gating: Gating) -> None:
    """Record the gate beside the trace, before the grade that rests on it. Where that cannot be
    done the grade is recorded all the same: it says of itself that it has no evidence.
    """
    try:
        with appending.locked_trace(f"{trace}{patterns.JUDGEMENTS_SUFFIX}", waiting=notify) as file:
            file.append(to_record(gating))
    except appending.AppendError as error:
        notify(f"{error}: the grade has no evidence")


@contextmanager
def _or_nothing() -> Iterator[None]:
    """A refusal is no result of the gate: it ends the command with its own exit code."""
    try:
        yield
    except Ended as end:
        raise Ended(EXIT_NOTHING, *end.lines) from end


def _run(
    gates: tuple[str, ...], seconds: float, folder: str | None, log: str | None
) -> _GateResult:
    ended: list[Command] = []
    with _log(log) as write:
        for number, command in enumerate(gates, 1):
            which = f"command {number} of {len(gates)}" if len(gates) > 1 else "the command"
            notify(f"{which}: {command}")
            started = time.monotonic()
            try:
                ran = run_shell(command, seconds=seconds, take=write, folder=folder)
            except OSError as error:
                return _GateResult(None, f"{which} cannot be run: {why(error)}")
            except Interrupted:
                notify("nothing was recorded")
                raise
            took = duration(round((time.monotonic() - started) * 1000))
            if ran.problem is not None or ran.code is None:
                return _GateResult(None, f"{which} {ran.problem}")
            ended.append(Command(writable(command), ran.code))
            left = (Command(writable(each), None) for each in gates[number:])
            commands = {"commands": (*ended, *left)}
            if ran.code:
                return _GateResult("fail", f"{which} exited with {ran.code} after {took}", commands)
            if number < len(gates):
                notify(f"{which} passed after {took}")
    return _GateResult("pass", f"{which} passed after {took}", commands)


@contextmanager
def _log(path: str | None) -> Iterator[Callable[[bytes], object]]:
    """Where the output of commands goes: to standard error, and to a file if there is one."""

    def unwritable(error: OSError) -> Ended:
        return Ended(EXIT_NOTHING, f"{path}: cannot be written: {why(error)}")

    try:
        # What is in it already, as a trace, is not lost, and no link is followed.
        real = path and inside(Path(path).parent) / Path(path).name
        file = real and BufferedWriter(open_regular(real, "a", is_real=True))
    except OSError as error:
        raise unwritable(error) from error

    def write(data: bytes) -> None:
        sys.stderr.flush()
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()
        try:
            if file:
                file.write(data)
                file.flush()
        except OSError as error:
            raise unwritable(error) from error

    with file or nullcontext():
        yield write


def _check_log(path: str, trace: str) -> None:
    if (out := disk.leads_out(path)) is not None:
        raise Ended(EXIT_NOTHING, f"{path}: not written: {out.strerror}")
    try:
        is_trace = may_be_trace(path, [trace])
    except OSError as error:
        raise Ended(EXIT_NOTHING, f"{path}: cannot be read: {why(error)}") from error
    if is_trace:
        raise click.UsageError("the --log is a trace, or named like one; name another file")


def _read(paths: tuple[str, ...]) -> _GateResult:
    """What several reports say together: all of them have to be there."""
    found: list[JUnitReport] = []
    files: list[ReportFile] = []
    tests: list[_Tests] = []
    latest = datetime.now(UTC) + ZONES
    for path in paths:
        data = read_bytes(path, _LARGEST_REPORT)
        if isinstance(data, Problem):
            return _GateResult(None, data.message)
        try:
            report = read_junit(data, latest)
        except JUnitError as error:
            return _GateResult(None, f"{path}: {error}")
        if report.outcome is None:
            return _GateResult(None, f"{path}: {report.in_words()}")
        tests.append(_tests_of(path, report, latest))
        found.append(report)
        files.append(ReportFile(writable(path), sha256(data).hexdigest()))
    ran, failed, unnamed, skipped, *_ = zip(*found, strict=True)
    whole = JUnitReport(sum(ran), sum(failed, ()), sum(unnamed), sum(skipped))
    counts = {"cases": whole.ran, "failed": len(whole.failed) + whole.unnamed}
    evidence = {**counts, "skipped": whole.skipped, "reports": tuple(files)}
    return _GateResult(whole.outcome, whole.in_words(), evidence, tests)


def _tests_of(path: str, report: JUnitReport, latest: datetime) -> _Tests:
    moments = [(report.began, report.dated)] if report.began is not None else []
    if path != disk.STDIN:
        written = datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)
        # Who can set the time of a file to one that has not come yet says nothing by it.
        moments += [(written, written.isoformat(timespec="seconds"))] * (written <= latest)
    began, dated = min(moments, default=(None, ""))
    return _Tests(f"{path}: the report", dated, began and began + _SLACK)


def _why_late(tests: _Tests, worked: datetime | None) -> str | None:
    """Why tests say nothing of the run's last work, if that is so."""
    if worked == UNTIMED:
        said = "may be older than the run's last work, as a line that may be work has no time"
    elif worked is None or (tests.until is not None and worked <= tests.until):
        return None
    elif tests.until is None:
        said = "does not say when the tests ran"
    else:
        last = worked.isoformat(timespec="seconds")
        said = f"is from {tests.dated}, not known to be later than the run's last work of {last}"
    return f"{tests.name} {said}; run the tests again, or pass --accept-stale"
