"""Writing files so that they are whole whenever somebody reads them."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path


def write_whole(path: Path, data: bytes) -> None:
    """Make a file, or put it in the place of the one that is there. Raises OSError, and then
    leaves what was there.
    """
    with _beside(path, data) as temporary:
        try:
            _liken(temporary, path.stat())
        except FileNotFoundError:
            temporary.chmod(0o666 & ~_umask())
        temporary.replace(path)
    _sync_folder(path.parent)


@contextmanager
def _beside(path: Path, data: bytes) -> Iterator[Path]:
    """A new file with that content in the folder of ``path``; gone at the end, if it is still
    there.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=".drive-trace-", suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def _liken(path: Path, status: os.stat_result) -> None:
    if hasattr(os, "chown"):
        with suppress(OSError):  # only a privileged user can give a file away
            os.chown(path, status.st_uid, status.st_gid)
    path.chmod(stat.S_IMODE(status.st_mode))


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


def _sync_folder(folder: Path) -> None:
    """See to it that a replaced name survives a crash of the system, where it can be seen to."""
    with suppress(OSError):  # as on Windows, where a folder cannot be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
