"""A lock on a file that several processes write to. Readers are never held up.

The lock is on the file itself, so that nothing is left beside it, and it belongs to the open file:
the system lets go of it when the process ends, however it ends. Only those who ask for it heed it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

PATIENCE = 2.0
"""Seconds to wait for a lock without a word."""
LOCKS = Path("/proc/locks")
"""Where Linux tells which process has which lock."""

if sys.platform == "win32":
    import msvcrt
    from errno import EDEADLK

    _FAR_AWAY = 1 << 62
    """Where no trace has a byte: a region that is locked here cannot be read by others."""

    def _try_lock(handle: int) -> bool:
        try:
            os.lseek(handle, _FAR_AWAY, os.SEEK_SET)
            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        except OSError:  # the same for each reason; waiting tells them apart
            return False
        return True

    def _wait_for_lock(handle: int) -> None:
        while True:
            os.lseek(handle, _FAR_AWAY, os.SEEK_SET)
            try:
                msvcrt.locking(handle, msvcrt.LK_LOCK, 1)
            except OSError as error:
                if error.errno != EDEADLK:  # it gives up after ten seconds
                    raise
            else:
                return

else:
    import fcntl

    # Not a POSIX lock (lockf): that is lost as soon as the process closes any handle of the file,
    # also one that it only read with.
    def _try_lock(handle: int) -> bool:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True

    def _wait_for_lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX)


def lock(handle: int, tell: Callable[[str], None] | None = None) -> None:
    """Wait until nobody else has the lock, and take it. Raises OSError where there are none.

    Where that takes longer than :data:`PATIENCE`, ``tell`` is called once, from another thread,
    with the name of whoever has it.
    """
    if not _try_lock(handle):
        with _told_late(handle, tell):
            _wait_for_lock(handle)


@contextmanager
def _told_late(handle: int, tell: Callable[[str], None] | None) -> Iterator[None]:
    if tell is None:
        yield
        return
    from threading import Timer  # noqa: PLC0415 - most locks are free, and it takes a while to load

    timer = Timer(PATIENCE, lambda: tell(_holder(handle)))
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _holder(handle: int) -> str:
    """Who has the lock, as far as Linux tells: no other system does, and none what happens in
    another container or on another machine.
    """
    status = os.fstat(handle)
    device = f"{os.major(status.st_dev):02x}:{os.minor(status.st_dev):02x}"
    try:
        for line in LOCKS.read_text("ascii").splitlines():
            # "5: FLOCK  ADVISORY  WRITE 4711 08:02:131 0 EOF"; who waits has "->", too.
            _, kind, *_, pid, file, _, _ = line.split()
            if (kind, file) == ("FLOCK", f"{device}:{status.st_ino}"):
                name = Path(f"/proc/{int(pid)}/comm").read_text("utf-8", "replace")
                return f"process {pid} ({name.removesuffix(chr(10))})"
    except (OSError, ValueError):
        pass
    return "another process (it cannot be told which)"
