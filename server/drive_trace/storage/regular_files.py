"""Opening files that others have put there: a name can be a pipe, a device, or a link to one."""

from __future__ import annotations

import errno
import io
import os
import stat
from pathlib import Path

SMALL = 1 << 20
"""The most bytes of a file that is written by hand or for one purpose, as a configuration."""


def open_regular(path: str | Path) -> io.FileIO:
    """Open a file to read it, which never waits for anybody. Links are followed.

    Raises OSError, also for a folder, and for what is no regular file: reading from a pipe or a
    device may never end.
    """
    file = io.FileIO(path, opener=_open)
    mode = os.fstat(file.fileno()).st_mode
    if stat.S_ISREG(mode):
        return file
    file.close()
    raise OSError(errno.EINVAL, "it is no regular file", str(path))


def read_regular(path: str | Path, most: int = SMALL) -> bytes:
    """All bytes of a regular file. Raises OSError, also where it has more than ``most``."""
    with io.BufferedReader(open_regular(path)) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"it has more than {_in_words(most)}", str(path))
    return data


def _in_words(size: int) -> str:
    return f"{size >> 20} MB" if size >= 1 << 20 else f"{size} bytes"


def _open(path: str, flags: int) -> int:
    # A pipe that nobody writes to is opened at once, and a terminal does not become ours.
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    return os.open(path, flags)
