"""Who waits for a lock is told so."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import write
from tests.support.client_text import graded
from tests.support.systems import NO_FLOCK, not_on_windows

pytestmark = not_on_windows(NO_FLOCK)

IMPATIENT = """
from drive_trace.storage import appending
appending.PATIENCE = 0.0
from drive_trace.commands import main
main()
"""
HOLDER = """
import fcntl, sys
trace = open(sys.argv[1])
fcntl.flock(trace, fcntl.LOCK_EX)
print(flush=True)
sys.stdin.read()
"""
STARTED = '{"slice_slug":"retry","slice_index":1,"linear_ref":null}'


@pytest.mark.parametrize(
    "command",
    [
        ("emit", "--event", "slice-started", "--payload", STARTED),
        ("record", "--qa", "pass"),
        ("tokens", "--input-tokens", "1"),
    ],
    ids=lambda command: command[0],
)
def test_who_waits_for_a_lock_is_told_and_then_goes_on(
    command: tuple[str, ...], tmp_path: Path
) -> None:
    write(tmp_path, "drive-trace.toml", "")
    path = write(tmp_path, "trace.jsonl", graded("pass", None, None))
    target = ("--trace-file", str(path), "--project-run-id", "run-1")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdout.readline()
        with subprocess.Popen(
            [sys.executable, "-c", IMPATIENT, *command, *target],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as waiting:
            assert waiting.stderr is not None
            told = waiting.stderr.readline().decode()
            assert path.read_text().count("\n") == 1
            holder.stdin.close()
            rest = waiting.stderr.read()
    assert told == f"drive-trace: {path}: another process has the lock; waiting for it\n"
    assert (waiting.returncode, rest) == (0, b"")
    assert path.read_text().count("\n") == 2
