"""Opening files that others have put there: a name can be a pipe, a device, or a link to one."""

from __future__ import annotations

import errno
import io
import os
import re
import stat
from pathlib import Path
from typing import BinaryIO

_PIECE = 1 << 24
SMALL = 1 << 20
"""The most bytes of a file that is written by hand or for one purpose, as a configuration."""

LARGEST = 1 << 30
"""The most bytes of a trace, or of standard input: work on it takes up to six times as much."""


_DESCRIPTOR = re.compile(r"/dev/fd/\d+|/proc/self/fd/\d+")


def is_open_already(path: str, *devices: str) -> bool:
    """Whether a path names what a shell has opened for the command, or is one of some devices."""
    return path in devices or _DESCRIPTOR.fullmatch(path) is not None


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
        refuse_large(file, most)
        return read_stream(file, most)


def read_stream(stream: BinaryIO, most: int = LARGEST) -> bytes:
    """All bytes until the end. Raises OSError where there are more than ``most``."""
    pieces, size = [], 0
    while piece := stream.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise _too_large(most)
    return b"".join(pieces)


def refuse_large(file: BinaryIO | io.RawIOBase, most: int = LARGEST) -> None:
    """Raise OSError where an open file has more than ``most`` bytes, before one is read."""
    if os.fstat(file.fileno()).st_size > most:
        raise _too_large(most)


def _too_large(most: int) -> OSError:
    units = (("GB", 30), ("MB", 20), ("bytes", 0))
    unit, shift = next(each for each in units if most >> each[1])
    return OSError(errno.EFBIG, f"it has more than {most >> shift} {unit}")


def _open(path: str, flags: int) -> int:
    # A pipe that nobody writes to is opened at once, and a terminal does not become ours.
    flags |= getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0)
    return os.open(path, flags)
