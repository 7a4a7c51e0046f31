"""Running a shell command that a person asked for."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack, suppress
from typing import NamedTuple

from drive_trace.interrupts import raising_when_ended

_AT_ONCE = 1 << 20
"""Bytes; a pipe holds no more at one time."""
_GRACE = 2.0
"""Seconds between asking a command to end and killing it."""
_SIGNALLED = range(129, 193)
"""Exit codes with which a shell says that a signal ended a command."""
_NOT_STARTED = {126: "is not executable", 127: "was not found"}


class Ran(NamedTuple):
    """How a command ended."""

    code: int | None
    """Its exit code; None where it has none that says anything."""
    problem: str | None
    """Why it has none, in one phrase."""


def run_shell(  # noqa: PLR0913 - a command and its ends
    command: str,
    *,
    seconds: float,
    take: Callable[[bytes], object],
    text: bytes = b"",
    folder: str | None = None,
    environment: Mapping[str, str] | None = None,
    errors: Callable[[bytes], object] | None = None,
) -> Ran:
    """Run a command with ``sh -c``, with ``text`` on its standard input, and hand over what it
    writes as it comes: its standard output to ``take``, and its standard error to ``errors``, or
    to ``take``, too, where there are none. What is in ``environment`` is added to ours.

    The command and all that it started end with the call, except what left its process group; on
    Windows, except what outlived its parent.
    Both may raise to end it. Raises OSError where there is no ``sh``, or no such folder.
    """
    with tempfile.TemporaryFile() as file:
        file.write(text)
        file.seek(0)
        process = subprocess.Popen(  # noqa: S603 - as asked
            ["sh", "-c", command],  # noqa: S607 - the shell of the person who wrote the command
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT if errors is None else subprocess.PIPE,
            cwd=folder,
            env=None if environment is None else _ours_and(environment),
            start_new_session=True,
        )
    both = (process.stdout, take), (process.stderr, errors)
    with raising_when_ended(), ExitStack() as streams:
        takes = {
            streams.enter_context(stream).fileno(): each
            for stream, each in both
            if stream is not None and each is not None
        }
        try:
            is_late = _follow(process, takes, seconds)
        finally:
            _end(process)
    if is_late:
        return Ran(None, f"took longer than {seconds:g} seconds")
    return _result(process.returncode)


def _ours_and(more: Mapping[str, str]) -> dict[str, str]:
    """Ours and ``more``, without what tells git of another repository, as in a hook."""
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**ours, **more}


def _result(code: int) -> Ran:
    number = -code if code < 0 else code - 128 if code in _SIGNALLED else 0
    if number:
        try:
            name = signal.Signals(number).name
        except ValueError:
            name = f"signal {number}"
        if code > 0:
            return Ran(None, f"exited with {code}, as where {name} ended it")
        return Ran(None, f"was ended by {name}")
    if code in _NOT_STARTED:
        return Ran(None, _NOT_STARTED[code])
    return Ran(code, None)


def _follow(
    process: subprocess.Popen[bytes],
    takes: dict[int, Callable[[bytes], object]],
    seconds: float,
) -> bool:
    """Read until the command ends; whether it took too long."""
    end = time.monotonic() + seconds
    while True:
        has_ended = process.poll() is not None
        wait = 0.0 if has_ended else min(0.05, max(end - time.monotonic(), 0))
        for stream in _readable(takes, wait) if takes else ():
            data = os.read(stream, _AT_ONCE)
            takes[stream](data) if data else takes.pop(stream)
        if has_ended:
            # What it left running may go on writing: what was there has been read.
            return False
        if not takes:  # it has closed its output, and ends any moment
            with suppress(subprocess.TimeoutExpired):
                process.wait(wait)
        if time.monotonic() > end:
            return True


if sys.platform == "win32":
    import _winapi
    import msvcrt

    _STEP = 0.005
    """Seconds between two looks at pipes: ``select`` knows sockets alone."""

    def _readable(streams: Iterable[int], seconds: float) -> list[int]:
        end = time.monotonic() + seconds
        while True:
            found = [each for each in streams if _holds_data(each)]
            if found or time.monotonic() >= end:
                return found
            time.sleep(_STEP)

    def _holds_data(pipe: int) -> bool:
        try:
            available, _ = _winapi.PeekNamedPipe(msvcrt.get_osfhandle(pipe), 0)
        except OSError:  # all writers have gone: a read tells that at once
            return True
        return bool(available)

    def _end(process: subprocess.Popen[bytes]) -> None:
        """End the command and those that it started, unless it has ended before them."""
        if process.poll() is None:
            tree = ("taskkill", "/T", "/F", "/PID", str(process.pid))
            with suppress(OSError):
                subprocess.run(tree, capture_output=True, check=False)  # noqa: S603 - a pid
            process.kill()
        process.wait()

else:

    def _readable(streams: Iterable[int], seconds: float) -> list[int]:
        """Those that can be read without waiting, as soon as there is one."""
        return select.select([*streams], [], [], seconds)[0]

    def _end(process: subprocess.Popen[bytes]) -> None:
        """End the command's process group, whatever of it is left: first it is asked to."""
        group = process.pid
        if _send(group, signal.SIGTERM):
            end = time.monotonic() + _GRACE
            while time.monotonic() < end and (process.poll() is None or _send(group, 0)):
                time.sleep(0.01)
            _send(group, signal.SIGKILL)
        process.wait()

    def _send(group: int, number: int) -> bool:
        """Send a signal to a process group; whether there is one."""
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True
