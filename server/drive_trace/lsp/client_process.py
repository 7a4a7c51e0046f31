"""Watches the client's process: an editor that crashed says no goodbye.

Mostly its end also closes the server's standard input; not where another
process of the editor has inherited the pipe and lives on.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import suppress

_PERIOD = 3.0
"""Seconds between two looks, where the system does not tell by itself."""


def watch_process(pid: int, when_gone: Callable[[], None]) -> None:
    """Call ``when_gone`` in the running loop once the process has ended.

    A process that is not there to begin with is not watched: the client then counts in another
    namespace, as from inside a container.
    """
    loop = asyncio.get_running_loop()
    if not is_running(pid):
        return
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):  # old kernels, and sandboxes that forbid it
            _watch_descriptor(os.pidfd_open(pid), loop, when_gone)
            return

    def look() -> None:
        if is_running(pid):
            loop.call_later(_PERIOD, look)
        else:
            when_gone()

    loop.call_later(_PERIOD, look)


def _watch_descriptor(
    descriptor: int, loop: asyncio.AbstractEventLoop, when_gone: Callable[[], None]
) -> None:
    """A process's descriptor becomes readable when the process ends."""

    def ended() -> None:
        loop.remove_reader(descriptor)
        os.close(descriptor)
        when_gone()

    loop.add_reader(descriptor, ended)


def is_running(pid: int) -> bool:
    """Whether there is a process with this id."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return _is_running_on_windows(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (PermissionError, OverflowError):
        return True
    return True


def _is_running_on_windows(pid: int) -> bool:
    """``os.kill`` would end the process there."""
    import ctypes  # noqa: PLC0415 - for one system only

    synchronize, still_there = 0x00100000, 0x00000102
    kernel = ctypes.WinDLL("kernel32")  # type: ignore[attr-defined]
    handle = kernel.OpenProcess(synchronize, False, pid)
    if not handle:
        return False
    try:
        return bool(kernel.WaitForSingleObject(handle, 0) == still_there)
    finally:
        kernel.CloseHandle(handle)
