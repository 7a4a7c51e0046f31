"""What is measured: the program of one tree, as whole processes, and what each took."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import orjson

_LAUNCH = Path(__file__).with_name("launch.py")
_TIME_LIMIT_S = 600
_SLOWING = {"PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED"}
"""Set by some containers: every process would compile anew, and write line by line."""


class CommandFailedError(Exception):
    """The command could not be run, or ended with an exit code that says so."""


@dataclass(frozen=True)
class Cost:
    """What one run of a process took, its own children included."""

    wall_ms: float
    cpu_ms: float
    peak_mib: float
    exit_code: int


@dataclass(frozen=True)
class Program:
    """The `drive-trace` of one source tree, with the libraries of this environment."""

    tree: Path
    folder: Path
    """Where its output and its cache go."""

    @property
    def command(self) -> list[str]:
        return [sys.executable, "-m", "drive_trace"]

    @cached_property
    def environment(self) -> Mapping[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in _SLOWING}
        own = {"PYTHONPATH": self.tree / "server", "DRIVE_TRACE_CACHE": self.folder / "cache"}
        return kept | {name: str(path) for name, path in own.items()}

    def forget(self) -> None:
        """Delete what it has kept of the traces that it looked at."""
        shutil.rmtree(self.folder / "cache", ignore_errors=True)

    def run(self, *arguments: str, exit_code: int = 0) -> Cost:
        """What `drive-trace` with these arguments takes; its output goes to a file."""
        return run([*self.command, *arguments], self.folder, exit_code, self.environment)


def run(
    command: Sequence[str],
    folder: Path,
    exit_code: int = 0,
    environment: Mapping[str, str] | None = None,
) -> Cost:
    """What a command takes. `CommandFailedError` unless it ends with that exit code.

    A Python program that crashes ends with 1, too, as if it had found errors, but prints none.
    """
    output = folder / "output"
    launch = [sys.executable, "-I", "-S", str(_LAUNCH), str(output), *command]
    try:
        done = subprocess.run(
            launch,
            capture_output=True,
            cwd=folder,
            env=environment,
            timeout=_TIME_LIMIT_S,
            check=True,
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
