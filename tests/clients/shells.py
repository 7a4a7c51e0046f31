"""Real shells in terminals of their own, each set up as `drive-trace completion --help` says."""

import fcntl
import os
import pty
import select
import shutil
import subprocess
import termios
import time
from pathlib import Path
from typing import NamedTuple

from tests.support.command import COMMAND

PATIENCE = 90.0
"""Seconds for one thing to show; a machine may have much else to do."""


class _Start(NamedTuple):
    command: tuple[str, ...]
    setup: str
    """What is typed first."""


SHELLS = {
    "bash": _Start(
        ("bash", "--norc", "--noprofile", "-i"), 'eval "$(drive-trace completion bash)"'
    ),
    "zsh": _Start(
        ("zsh", "-f", "-i"),
        'autoload -U compinit; compinit -D -u; eval "$(drive-trace completion zsh)"',
    ),
    "fish": _Start(
        ("fish", "-i"),
        "mkdir -p ~/.config/fish/completions; "
        "drive-trace completion fish > ~/.config/fish/completions/drive-trace.fish",
    ),
}


class Shell:
    """A shell that somebody types into, standing in a folder."""

    def __init__(self, name: str, folder: Path, home: Path) -> None:
        self._terminal, inner = pty.openpty()
        self._said = b""
        self._marks = 0
        start = SHELLS[name]
        path = f"{Path(COMMAND).parent}{os.pathsep}{os.environ['PATH']}"
        self._process = subprocess.Popen(
            start.command,
            stdin=inner,
            stdout=inner,
            stderr=inner,
            cwd=folder,
            env={"PATH": path, "HOME": str(home), "TERM": "xterm", "LC_ALL": "C.UTF-8"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509
        )
        os.close(inner)
        self.enter(start.setup)

    def enter(self, line: str) -> str:
        """Type a line, in which `\\t` completes, and give what showed until it was done."""
        self._marks += 1
        before = len(self._said)
        os.write(self._terminal, f"{line}\n".encode())
        # What is typed is shown, too: only what is printed has no quotes in it.
        os.write(self._terminal, f"echo 'it is'' done {self._marks}'\n".encode())
        self._wait_for(f"it is done {self._marks}".encode())
        return self._said[before:].decode(errors="replace")

    def close(self) -> None:
        """Hang up, as a terminal does whose window is closed."""
        os.close(self._terminal)
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _wait_for(self, text: bytes) -> None:
        deadline = time.monotonic() + PATIENCE
        while text not in self._said:
            left = deadline - time.monotonic()
            readable, _, _ = select.select([self._terminal], [], [], max(0.0, left))
            if not readable:
                shown = self._said.decode(errors="replace")
                raise TimeoutError(f"still waiting for {text!r}; it shows {shown}")
            self._said += os.read(self._terminal, 65536)


def is_here(name: str) -> bool:
    return shutil.which(name) is not None
