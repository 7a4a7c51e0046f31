"""The files that a trace names. A trace is untrusted: none is found outside the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path


def linked_file(named: str, trace: Path | None, folders: Sequence[Path]) -> Path | None:
    """The file that a trace means by a path; None where there is none in the workspace's folders.

    A relative path is looked for from the top of each folder, then from the folders between the top
    and the trace, then from those above, as somebody may have opened one project of a repository.
    Nothing outside is asked for on disk, and no link leads there.
    """
    for folder in folders:
        for base in (folder, *_between(folder, trace), *folder.parents):
            path = Path(os.path.normpath(base / named))
            if path.is_relative_to(folder) and _is_file_within(path, folder):
                return path
    return None


def _between(folder: Path, trace: Path | None) -> Iterator[Path]:
    """The folders below one on the way to a trace."""
    if trace is None or not trace.is_relative_to(folder):
        return
    for parent in reversed(trace.relative_to(folder).parents):
        if parent != Path():
            yield folder / parent


def _is_file_within(path: Path, folder: Path) -> bool:
    try:
        real = Path(os.path.realpath(path, strict=True))
        return real.is_relative_to(os.path.realpath(folder)) and real.is_file()
    except (OSError, ValueError):
        return False
