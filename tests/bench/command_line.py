"""The command line as a user sees it: whole processes, their time, CPU and memory."""

import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from tests.bench.files import FEW_DEFECTS, MOST_DEFECTS, SMALL_LINES, BenchFiles
from tests.bench.floors import OrjsonLoop
from tests.bench.table import Heading, Row, Target, first_line

_LAUNCH = Path(__file__).with_name("launch.py")
_JSON, _CONCISE = ("--output-format", "json"), ("--output-format", "concise")
_TIME_LIMIT_S = 300


class CommandFailedError(Exception):
    """The command could not be run, or ended with an exit code that says so."""


@dataclass(frozen=True)
class Cost:
    """What one run of a process took."""

    wall_ms: float
    cpu_ms: float
    peak_mib: float
    exit_code: int


def run_once(command: Sequence[str], output: Path, exit_code: int = 0) -> Cost:
    """Run the command, its stdout into the file, in the file's folder, and expect that exit code.

    A Python program that crashes ends with 1 too, as if it had found errors, but prints none.
    """
    launch = [sys.executable, "-I", "-S", str(_LAUNCH), str(output), *command]
    try:
        done = subprocess.run(
            launch, capture_output=True, cwd=output.parent, timeout=_TIME_LIMIT_S, check=True
        )
    except subprocess.CalledProcessError as error:
        raise CommandFailedError(error.stderr.decode(errors="replace")[-100:]) from error
    except subprocess.TimeoutExpired as error:
        raise CommandFailedError(f"took over {_TIME_LIMIT_S} s") from error
    cost = Cost(**orjson.loads(done.stdout))
    crashed = exit_code == 1 and not output.stat().st_size
    if cost.exit_code != exit_code or crashed:
        reason = (done.stderr.decode(errors="replace").splitlines() or [""])[-1]
        raise CommandFailedError(f"exit code {cost.exit_code}: {reason}")
    return cost


@dataclass(frozen=True)
class Commands:
    """Measures runs of `drive-trace`, with the unit sampled before each."""

    program: Sequence[str]
    output: Path
    unit: OrjsonLoop
    repeats: int

    def row(
        self, what: str, *arguments: str, target: Target | None = None, exit_code: int = 0
    ) -> Row:
        """A row for a command, with its ratio to the unit if the target is one of ratio."""
        command = [*self.program, *arguments]
        targets = (target,) if target else ()
        compared = target is not None and target.of == "ratio"
        try:
            run_once(command, self.output, exit_code)
            costs = []
            for _ in range(self.repeats):
                if compared:
                    self.unit.sample()
                costs.append(run_once(command, self.output, exit_code))
        except CommandFailedError as error:
            return Row(what, targets=targets, failure=first_line(error))
        cpu = statistics.median(cost.cpu_ms for cost in costs)
        peak = statistics.median(cost.peak_mib for cost in costs)
        return Row(
            what,
            [cost.wall_ms for cost in costs],
            base=self.unit.samples if compared else (),
            targets=targets,
            notes=f"CPU {cpu:,.0f} ms, peak {peak:,.0f} MiB",
        )

    def findings_row(self, what: str, path: Path, *targets: Target, exit_code: int = 1) -> Row:
        """How many findings `check` reports for a file."""
        command = [*self.program, "check", str(path), *_JSON]
        try:
            run_once(command, self.output, exit_code)
            found = len(orjson.loads(self.output.read_bytes()))
        except (CommandFailedError, ValueError) as error:
            return Row(what, unit="", targets=targets, failure=first_line(error))
        return Row(what, [found], unit="", targets=targets)


def measure_command_line(
    program: Sequence[str], files: BenchFiles, unit: OrjsonLoop, repeats: int
) -> list[Row | Heading]:
    """Score and check of long traces, and what a short one takes."""
    commands = Commands(program, files.folder / "output", unit, repeats)
    clean, some, most = map(files.trace, (0.0, FEW_DEFECTS, MOST_DEFECTS))
    small = files.trace(lines=SMALL_LINES)
    score, check, worst = (Target(limit, of="ratio") for limit in (4, 7, 25))

    def checked(what: str, path: Path, output: Sequence[str], target: Target) -> Row:
        exit_code = int(path != clean)
        arguments = ("check", str(path), *output)
        return commands.row(what, *arguments, target=target, exit_code=exit_code)

    return [
        Heading(f"command line, whole process, {files.lines:,} lines; × orjson loop"),
        commands.row("score, 1 % defects", "score", str(some), target=score),
        checked("check to JSON, 1 % defects", some, _JSON, check),
        checked("check, concise, 1 % defects", some, _CONCISE, check),
        checked("check to JSON, no defect", clean, _JSON, check),
        checked("check to JSON, 95 % defects", most, _JSON, worst),
        checked("check, concise, 95 % defects", most, _CONCISE, worst),
        commands.row("report, 1 % defects", "report", str(some)),
        commands.row("report as HTML, 1 % defects", "report", "--format", "html", str(some)),
        commands.findings_row("findings, no defect", clean, Target(0), exit_code=0),
        commands.findings_row("findings, 1 % defects", some),
        commands.findings_row("findings, 95 % defects", most),
        Heading("command line, whole process, short"),
        commands.row(f"check, {SMALL_LINES} lines", "check", str(small), target=Target(250)),
        commands.row("--help", "--help"),
    ]
