"""Who waits for a lock is told so, and whose it is."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import write
from tests.support.client_text import graded
from tests.support.systems import NO_FLOCK, not_on_windows

pytestmark = not_on_windows(NO_FLOCK)

IMPATIENT = """
import pathlib
from drive_trace.storage import appending
appending.PATIENCE, appending.LOCKS = 0.0, pathlib.Path({!r})
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
UNKNOWN = re.escape("another process (it cannot be told which)")
LOCK = """\
1: POSIX  ADVISORY  WRITE 1 {file} 0 EOF
2: FLOCK  ADVISORY  WRITE {pid} {file} 0 EOF
2: -> FLOCK  ADVISORY  WRITE 1 {file} 0 EOF
"""


def name_of(path: Path) -> str:
    """As Linux names a file among the locks."""
    status = path.stat()
    return f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}:{status.st_ino}"


@pytest.mark.parametrize("is_known", [True, False])
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
    command: tuple[str, ...], is_known: bool, tmp_path: Path
) -> None:
    write(tmp_path, "drive-trace.toml", "")
    path = write(tmp_path, "trace.jsonl", graded("pass", None, None))
    locks = tmp_path / "locks"
    target = ("--trace-file", str(path), "--project-run-id", "run-1")
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        holder.stdout.readline()
        if is_known:
            locks.write_text(LOCK.format(pid=holder.pid, file=name_of(path)))
        with subprocess.Popen(
            [sys.executable, "-c", IMPATIENT.format(str(locks)), *command, *target],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        ) as waiting:
            assert waiting.stderr is not None
            told = waiting.stderr.readline().decode()
            assert path.read_text().count("\n") == 1
            holder.stdin.close()
            rest = waiting.stderr.read()
    who = rf"process {holder.pid} \(python[^)]*\)" if is_known else UNKNOWN
    said = rf"drive-trace: {re.escape(str(path))}: {who} has the lock; waiting for it\n"
    assert re.fullmatch(said, told)
    assert (waiting.returncode, rest) == (0, b"")
    assert path.read_text().count("\n") == 2
