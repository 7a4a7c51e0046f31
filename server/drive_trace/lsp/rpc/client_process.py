"""Watches the client's process: an editor that crashed says no goodbye.

Mostly its end also closes the server's standard input; not where another
process of the editor has inherited the pipe and lives on.
"""

from __future__ import annotations

import os
import select
import sys
import time
from contextlib import suppress

_PERIOD = 3.0
"""Seconds between two looks, where the system does not tell by itself."""


def wait_for_end(pid: int) -> None:
    """Return when the process has ended."""
    if hasattr(os, "pidfd_open"):
        with suppress(OSError):  # old kernels, and sandboxes that forbid it
            descriptor = os.pidfd_open(pid)
            try:
                select.select([descriptor], [], [])  # readable when the process ends
            finally:
                os.close(descriptor)
            return
    while is_running(pid):
        time.sleep(_PERIOD)


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
