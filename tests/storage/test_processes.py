"""Commands that a person asked for: how they end is told, and nothing of them stays."""

import os
import shlex
import shutil
import sys
from pathlib import Path

import psutil
import pytest

from drive_trace.storage.processes import Ran, run_shell
from tests.support.systems import NO_SIGNALS, OTHER_IDS, not_on_windows


def is_running(pid: int) -> bool:
    """Whether a process goes on, after what was sent to it had time to arrive."""
    try:
        process = psutil.Process(pid)
        _, alive = psutil.wait_procs([process], timeout=10)
    except psutil.NoSuchProcess:
        return False
    return bool(alive)


def ran(command: str, *, text: bytes = b"", seconds: float = 30.0) -> tuple[Ran, bytes]:
    written = bytearray()
    result = run_shell(command, seconds=seconds, take=written.extend, text=text)
    return result, bytes(written)


@pytest.mark.parametrize(
    ("command", "code"), [("exit 0", 0), ("exit 3", 3), ("exit 255", 255), ("false", 1)]
)
def test_an_exit_code_is_told(command: str, code: int) -> None:
    assert ran(command) == (Ran(code, None), b"")


def test_no_shell_of_the_current_folder_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Windows would take it before all others; elsewhere a path with a dot in it says so."""
    shutil.copy(shutil.which("false") or sys.executable, tmp_path / "sh")
    shutil.copy(tmp_path / "sh", tmp_path / "sh.exe")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", os.pathsep.join([os.curdir, os.environ["PATH"]]))
    assert ran("echo ours") == (Ran(0, None), b"ours\n")


@not_on_windows(NO_SIGNALS)
@pytest.mark.parametrize(
    ("command", "problem"),
    [
        ("no-such-command-here", "was not found"),
        ("/", "is not executable"),
        ("kill -9 $$", "was ended by SIGKILL"),
        ("sh -c 'kill -TERM $$'; exit $?", "exited with 143, as where SIGTERM ended it"),
    ],
)
def test_what_has_no_result_says_why(command: str, problem: str) -> None:
    result, _ = ran(command)
    assert (result.code, result.problem) == (None, problem)


@not_on_windows(OTHER_IDS)
def test_what_takes_too_long_is_ended_with_all_that_it_started() -> None:
    # The command does not end when it is asked to.
    stubborn = "trap '' TERM; echo $$; while :; do sleep 0.1; done"
    result, written = ran(f"sh -c {shlex.quote(stubborn)} & wait", seconds=0.5)
    assert result == Ran(None, "took longer than 0.5 seconds")
    assert not is_running(int(written))


@not_on_windows(OTHER_IDS)
def test_what_it_leaves_running_is_not_waited_for() -> None:
    result, written = ran("sleep 60 & echo $!")
    assert result == Ran(0, None)
    assert not is_running(int(written))


def test_what_it_leaves_running_is_not_listened_to() -> None:
    result, written = ran("yes & exit 0")
    assert result == Ran(0, None)
    assert len(written) <= 2 << 20


def test_what_goes_to_standard_error_may_go_elsewhere() -> None:
    written, errors = bytearray(), bytearray()
    command = "echo out; echo err >&2"
    result = run_shell(command, seconds=30.0, take=written.extend, errors=errors.extend)
    assert (result, written, errors) == (Ran(0, None), b"out\n", b"err\n")


def test_any_amount_goes_in_and_comes_out() -> None:
    text = os.urandom(1 << 20)
    assert ran("cat", text=text) == (Ran(0, None), text)
    assert ran("true", text=text) == (Ran(0, None), b"")
    assert ran("echo out; echo err >&2") == (Ran(0, None), b"out\nerr\n")


def test_it_runs_where_it_is_told_to(tmp_path: Path) -> None:
    written = bytearray()
    run_shell("pwd -P", seconds=30.0, take=written.extend, folder=str(tmp_path))
    assert written.decode().strip() == str(tmp_path.resolve())
    with pytest.raises(OSError, match="No such file"):
        run_shell("true", seconds=30.0, take=written.extend, folder=str(tmp_path / "gone"))
