"""Ctrl-C: a command ends with 130, whenever it comes, and leaves nothing behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import CLEAN, Ran, process, write
from tests.support.command import COMMAND
from tests.support.systems import NO_SIGNALS, not_on_windows

pytestmark = not_on_windows(NO_SIGNALS)

PRESSED = "import os, signal; os.kill(os.getpid(), signal.SIGINT)\n"
ENDED = (130, "", "")
AS_MODULE = (sys.executable, "-m", "drive_trace")


def interrupted(
    *args: str | Path,
    module: str,
    folder: Path,
    ignored: bool = False,
    command: tuple[str, ...] = AS_MODULE,
) -> Ran:
    """What comes of a command that is interrupted while it loads a module."""
    code = f"{PRESSED}import sys; sys.path.remove({str(folder)!r}); del sys.modules[__name__]\n"
    write(folder, f"{module}.py", f"{code}import {module}\n")
    return process(
        *args,
        program=command,
        env={**os.environ, "PYTHONPATH": str(folder)},
        preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) if ignored else None,
    )


@pytest.mark.parametrize("module", ["threading", "click", "msgspec"])
@pytest.mark.parametrize("command", [AS_MODULE, (COMMAND,)], ids=["module", "command"])
def test_while_it_loads(command: tuple[str, ...], module: str, tmp_path: Path) -> None:
    """Whatever of it is first: `threading` is loaded before the command line is."""
    ended = interrupted("score", "--help", module=module, folder=tmp_path, command=command)
    assert ended == ENDED


def test_where_the_shell_ignores_it_so_does_the_command(tmp_path: Path) -> None:
    code, out, err = interrupted("--version", module="click", folder=tmp_path, ignored=True)
    assert (code, err) == (0, "")
    assert out.startswith("drive-trace")


@pytest.mark.parametrize("command", ["check", "score", "report"])
def test_while_it_reads(command: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "drive_trace", command, "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin is not None
        # More than a pipe holds: once it is written, somebody reads.
        running.stdin.write(CLEAN.encode() * (1 + (1 << 20) // len(CLEAN)))
        running.send_signal(signal.SIGINT)
        out, err = running.communicate(timeout=30)
    assert (running.returncode, out, err) == (130, b"", b"")
