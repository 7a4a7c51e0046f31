"""A lock on a file that several processes write to. Readers are never held up.

The lock is on the file itself, so that nothing is left beside it, and it belongs to the open file:
the system lets go of it when the process ends, however it ends. Only those who ask for it heed it.
"""

from __future__ import annotations

import sys

if sys.platform == "win32":
    import msvcrt
    import os
    from errno import EDEADLK

    _FAR_AWAY = 1 << 62
    """Where no trace has a byte: a region that is locked here cannot be read by others."""

    def lock(handle: int) -> None:
        """Wait until nobody else has the lock, and take it. Raises OSError where there are none."""
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

    def lock(handle: int) -> None:
        """Wait until nobody else has the lock, and take it. Raises OSError where there are none."""
        # Not a POSIX lock (lockf): that is lost as soon as the process closes any handle of the
        # file, also one that it only read with.
        fcntl.flock(handle, fcntl.LOCK_EX)
