"""Files that a trace names. A trace is untrusted: nothing outside the workspace is looked at."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from drive_trace.storage.regular_files import read_regular

_LARGEST = 16 * 1024 * 1024
"""In bytes; no spec, plan or brief is that long."""


def file_named(path: str, folders: Iterable[Path], trace: Path | None) -> Path | None:
    """The file of the workspace that a trace means by a path: from the root of a folder, or from
    one of those between there and the trace. None where there is none, or where links lead out of
    the workspace.
    """
    for folder in folders:
        for base in _bases(folder, trace):
            found = _within(base / path, folder)
            if found is not None:
                return found
    return None


def length_and_sha256(file: Path) -> tuple[int, str]:
    """Length in bytes and sha256 in hexadecimal. Raises OSError, also where it is too large."""
    data = read_regular(file, _LARGEST)
    return len(data), hashlib.sha256(data).hexdigest()


def _bases(folder: Path, trace: Path | None) -> Iterator[Path]:
    yield folder
    for parent in trace.parents if trace is not None else ():
        if folder in parent.parents:
            yield parent


def _within(path: Path, folder: Path) -> Path | None:
    try:
        real = path.resolve()
        is_inside = real.is_relative_to(folder.resolve())
        return real if is_inside and real.is_file() else None
    except (OSError, ValueError, RuntimeError):  # no path, or links in a circle
        return None
