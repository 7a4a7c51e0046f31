"""Runs the command line from outside, and reads what it prints."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from click.testing import CliRunner

from drive_trace.commands import cli
from tests.support.client_text import column_offset, graded, triage
from tests.support.command import COMMAND

CLEAN = triage()
REJECTED = graded("pass", "passed", None)
WARNED = triage(severity="low")


class Ran(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


def run(*args: str | Path, stdin: str | bytes = b"") -> Ran:
    """Run a command in this process, as fast as it gets."""
    result = CliRunner().invoke(cli, [str(arg) for arg in args], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return Ran(result.exit_code, result.stdout, result.stderr)


def process(
    *args: str | Path,
    program: Sequence[str] = (COMMAND,),
    stdin: bytes = b"",
    timeout: float = 120,
    **popen: Any,
) -> Ran:
    """Run a command as a process, by default of drive-trace."""
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    command = [*program, *map(str, args)]
    ended = subprocess.run(command, input=stdin, timeout=timeout, check=False, **pipes | popen)
    return Ran(ended.returncode, (ended.stdout or b"").decode(), (ended.stderr or b"").decode())


def shell(script: str, *args: str | Path, program: str = "/bin/sh", **popen: Any) -> Ran:
    """Run a script, in which ``$0`` and ``drive-trace`` are the command, and ``$1`` an argument."""
    path = os.pathsep.join([str(Path(COMMAND).parent), os.environ["PATH"]])
    popen = {"env": {**os.environ, "PATH": path}, **popen}
    return process("-c", script, COMMAND, *args, program=[program], **popen)


def completed(*words: str | Path, **popen: Any) -> list[str]:
    """What bash is offered for the last word."""
    typed = {
        "COMP_WORDS": " ".join(["drive-trace", *map(str, words)]),
        "COMP_CWORD": f"{len(words)}",
    }
    ran = process(env={**os.environ, "_DRIVE_TRACE_COMPLETE": "bash_complete", **typed}, **popen)
    assert (ran.code, ran.err) == (0, "")
    return ran.out.split()


def findings(text: str | bytes) -> list[Any]:
    """The findings of a trace, as programs get them."""
    data = text.encode() if isinstance(text, str) else text
    found = run("check", "--output-format", "json", "-", stdin=data).json
    assert isinstance(found, list)
    return found


def marked(text: str, finding: Any) -> str:
    """The text that a finding stands on."""
    start = column_offset(text, finding["line"], finding["column"])
    return text[start : column_offset(text, finding["end_line"], finding["end_column"])]


def write(folder: Path, name: str, text: str | bytes = CLEAN) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def git(folder: Path, *arguments: str) -> str:
    """What git says in a folder, run as somebody with no settings of their own."""
    who = ("-c", "user.name=ada", "-c", "user.email=ada@example.org", "-c", "commit.gpgsign=false")
    ran = subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True)
    return ran.stdout.decode(errors="replace").strip()


def commit(folder: Path, message: str = "base") -> None:
    """Commit all that is in a folder, which becomes a repository if it is none."""
    if not (folder / ".git").exists():
        git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", message)


def on_a_terminal(*args: str | Path, width: int = 80, typed: str = "", **env: str) -> str:
    """What a command writes to a terminal of some columns, on which somebody types."""
    pty = pytest.importorskip("pty", reason="Windows has no such terminals", exc_type=ImportError)
    termios = pytest.importorskip("termios", exc_type=ImportError)
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, width))
    here = {key: each for key, each in os.environ.items() if key not in {"COLUMNS", "NO_COLOR"}}
    try:
        with subprocess.Popen(
            [COMMAND, *map(str, args)],
            stdin=theirs if typed else subprocess.DEVNULL,
            stdout=theirs,
            stderr=theirs,
            env={**here, "TERM": "xterm-256color", **env},
        ) as running:
            os.write(ours, typed.encode())
            os.close(theirs)
            data = b""
            while chunk := _read(ours):
                data += chunk
            running.wait(30)
    finally:
        os.close(ours)
    return data.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # how Linux says that the other side is closed
        return b""
