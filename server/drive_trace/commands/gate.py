"""``drive-trace gate``: run a gate, and record what came of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from io import BufferedWriter
from itertools import chain
from pathlib import Path
from typing import Any, Literal, NamedTuple, cast

import click

from drive_trace import __version__
from drive_trace.commands import options, writing
from drive_trace.commands.terminal import Ended, notify
from drive_trace.grading.judgements import Command, Gating, ReportFile, to_record
from drive_trace.grading.junit import JUnitError, JUnitReport, read_junit
from drive_trace.interrupts import Interrupted
from drive_trace.scorecard.scoring import UNTIMED, last_work
from drive_trace.storage.appending import AppendError, locked_trace
from drive_trace.storage.files import STDIN, Problem, leads_out, open_regular, read_bytes, why
from drive_trace.storage.git import tree_state
from drive_trace.storage.patterns import JUDGEMENTS_SUFFIX
from drive_trace.storage.processes import run_shell, runs_nothing
from drive_trace.storage.recording import new_stamp
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
@options.flag("--accept-stale", "Take a --result older than the run's work.")
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
    a signal: that says nothing of the run. What the commands print goes to standard error.

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
    worked, began = last_work(would.traces, request.project_run_id), new_stamp().ts
    commit, clean = tree_state(cwd or ".", request.trace_file)
    if gates:
        ended = _run(gates, timeout, cwd, log)
    else:
        ended = _read(reports, worked, accepts_stale=accept_stale)
    if ended.outcome is None:
        notes = [f"nothing was written to {request.trace_file}"]
        raise Ended(EXIT_NOTHING, ended.message, notes=notes)
    notify(ended.message)
    request = request._replace(
        changes={component: ended.outcome}, origin=Origin("gate", (component,))
    )
    gating = Gating(
        ts=new_stamp().ts,
        began=began,
        project_run_id=request.project_run_id,
        component=cast("Any", component),
        outcome=ended.outcome,
        commit=commit,
        clean=clean,
        tool=__version__,
        **ended.evidence,
    )
    _note(request.trace_file, gating)
    with _or_nothing():
        recorded = writing.append_feed(request)
    writing.show_graded(request, recorded)
    sys.exit(0 if ended.outcome == "pass" else EXIT_FAIL)


def _note(trace: str, gating: Gating) -> None:
    """Record the gate beside the trace, before the grade that rests on it. Where that cannot be
    done the grade is recorded all the same: it says of itself that it has no evidence.
    """
    try:
        with locked_trace(f"{trace}{JUDGEMENTS_SUFFIX}", waiting=notify) as file:
            file.append(to_record(gating))
    except AppendError as error:
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
        no_link = getattr(os, "O_NOFOLLOW", 0)
        file = None if path is None else BufferedWriter(open_regular(path, "a", no_link))
    except OSError as error:
        raise unwritable(error) from error

    def write(data: bytes) -> None:
        sys.stderr.flush()
        sys.stderr.buffer.write(data)
        sys.stderr.buffer.flush()
        try:
            if file is not None:
                file.write(data)
                file.flush()
        except OSError as error:
            raise unwritable(error) from error

    with file or nullcontext():
        yield write


def _check_log(path: str, trace: str) -> None:
    if (out := leads_out(path)) is not None:
        raise Ended(EXIT_NOTHING, f"{path}: not written: {out.strerror}")
    try:
        is_trace = may_be_trace(path, [trace])
    except OSError as error:
        raise Ended(EXIT_NOTHING, f"{path}: cannot be read: {why(error)}") from error
    if is_trace:
        raise click.UsageError("the --log is a trace, or named like one; name another file")


def _read(paths: tuple[str, ...], worked: datetime | None, *, accepts_stale: bool) -> _GateResult:
    """What several reports say together: all of them have to be there, and to be later than the
    run's last work, or accepted.
    """
    found: list[JUnitReport] = []
    files: list[ReportFile] = []
    is_stale = False
    for path in paths:
        data = read_bytes(path, _LARGEST_REPORT)
        if isinstance(data, Problem):
            return _GateResult(None, data.message)
        try:
            report = read_junit(data)
        except JUnitError as error:
            return _GateResult(None, f"{path}: {error}")
        late = _is_late(path, report, worked) if worked is not None else None
        if report.outcome is None or (late and not accepts_stale):
            return _GateResult(None, f"{path}: {late or report.in_words()}")
        is_stale |= late is not None
        found.append(report)
        files.append(ReportFile(writable(path), sha256(data).hexdigest()))
    ran, failed, unnamed, skipped, *_ = zip(*found, strict=True)
    whole = JUnitReport(sum(ran), tuple(chain.from_iterable(failed)), sum(unnamed), sum(skipped))
    counts = {"cases": whole.ran, "failed": len(whole.failed) + whole.unnamed}
    evidence = {**counts, "skipped": whole.skipped, "stale": is_stale, "reports": tuple(files)}
    return _GateResult(whole.outcome, whole.in_words(), evidence)


def _is_late(path: str, report: JUnitReport, worked: datetime) -> str | None:
    """Why a report says nothing of the run's last work, if that is so."""
    moments = [(report.began, report.dated)] if report.began is not None else []
    if path != STDIN:
        written = datetime.fromtimestamp(Path(path).stat().st_mtime, UTC)
        moments.append((written, written.isoformat(timespec="seconds")))
    said = "does not say when the tests ran"
    if worked == UNTIMED:
        said = "may be older than the run's last work, as a line that may be work has no time"
    elif moments:
        began, dated = min(moments)
        if worked - began <= _SLACK:
            return None
        last = worked.isoformat(timespec="seconds")
        said = f"is from {dated}, not known to be later than the run's last work of {last}"
    return f"the report {said}; run the tests again, or pass --accept-stale"
