"""`python -m tests.bench`: measure, and print a table of measurements beside their targets."""

import argparse
import os
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.bench.command_line import measure_command_line
from tests.bench.files import FEW_DEFECTS, BenchFiles
from tests.bench.floors import OrjsonLoop, measure_floors
from tests.bench.server import Server, measure_plain_server, measure_server
from tests.bench.table import Heading, Row, machine, render

TARGET_LINES = 100_000
_SLOWING = ("PYTHONDONTWRITEBYTECODE", "PYTHONUNBUFFERED")
"""Set by some containers: every process would compile anew, and write line by line."""
PARTS = ("floors", "command-line", "server", "plain")
_PLAIN_SERVER = Path(__file__).with_name("plain_server.py")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for; the exit code is 1 for a miss if that is strict."""
    options = _parse(arguments)
    for name in _SLOWING:
        os.environ.pop(name, None)
    repeats = 1 if options.quick else options.repeats
    lines = options.lines or (2_000 if options.quick else TARGET_LINES)
    with tempfile.TemporaryDirectory(prefix="drive-trace-bench-") as folder:
        os.environ["DRIVE_TRACE_CACHE"] = str(Path(folder) / "cache")
        files = BenchFiles(Path(folder).resolve(), lines)
        sys.stdout.write(machine() + "\n")
        if lines < TARGET_LINES:
            sys.stdout.write(f"targets are meant for {TARGET_LINES:,} lines, not {lines:,}\n")
        sys.stdout.write("\n")
        rows = _measure(options.only or PARTS, files, repeats)
    sys.stdout.write(render(rows) + "\n")
    judged = [row for row in rows if isinstance(row, Row) and (row.targets or row.failure)]
    missed = sum(row.missed for row in judged)
    sys.stdout.write(f"\nmissed: {missed} of {len(judged)} rows with a target\n")
    return 1 if missed and options.strict else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2,000 lines, one repetition")
    parser.add_argument("--lines", type=int, help="length of the long traces (100,000)")
    parser.add_argument("--repeats", type=int, default=5, help="runs a measurement (5)")
    parser.add_argument("--only", nargs="+", choices=PARTS, help="measure these parts alone")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a target is missed")
    return parser.parse_args(arguments)


def _measure(parts: Sequence[str], files: BenchFiles, repeats: int) -> list[Row | Heading]:
    drive_trace = _drive_trace()
    unit = OrjsonLoop(files.trace(FEW_DEFECTS).read_bytes().splitlines())
    for _ in range(repeats):
        unit.sample()
    rows: list[Row | Heading] = []
    if "floors" in parts:
        rows += measure_floors(unit, files.trace().read_bytes().splitlines(), repeats)
    if "command-line" in parts:
        rows += measure_command_line([drive_trace], files, unit, repeats)
    sessions, edits = min(repeats, 3), 60 if repeats > 1 else 10
    if "server" in parts:
        rows += measure_server(Server([drive_trace, "serve"], sessions, edits), files, unit)
    if "plain" in parts:
        plain = Server([sys.executable, str(_PLAIN_SERVER)], sessions, edits // 6)
        rows += measure_plain_server(plain, files, unit)
    return rows


def _drive_trace() -> str:
    """The program of this environment; one that is not there shows in the rows that need it."""
    return shutil.which("drive-trace", path=sysconfig.get_path("scripts")) or "drive-trace"


if __name__ == "__main__":
    sys.exit(main())
