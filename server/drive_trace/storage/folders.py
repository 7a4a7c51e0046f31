"""What lies in a folder of a project, for who writes a path by hand."""

from __future__ import annotations

import os
from itertools import islice
from pathlib import Path
from typing import NamedTuple

_MOST = 200
"""Files and folders that are told of."""
_MOST_READ = 2000
"""Entries of a folder that are looked at."""


class Listed(NamedTuple):
    """A file or folder, by its path from the project's folder, with slashes; a folder's ends with
    one.
    """

    path: str
    is_folder: bool


def list_folder(base: Path, folder: str) -> list[Listed]:
    """What lies in one folder below ``base``, folders first. Nothing outside of ``base`` is told
    of, neither by ``..`` nor through a link; nothing where the folder cannot be read. Never raises.
    """
    parts = folder.split("/")
    if "\0" in folder or "\\" in folder or folder.startswith("/") or ".." in parts:
        return []
    try:
        root = base.resolve()
        here = (root / folder).resolve()
        if not here.is_relative_to(root):
            return []
        with os.scandir(here) as entries:
            found = [
                Listed(
                    f"{folder}{entry.name}/" if is_folder else f"{folder}{entry.name}", is_folder
                )
                for entry in islice(entries, _MOST_READ)
                if (is_folder := _is_folder(entry, root)) is not None
            ]
    except (OSError, ValueError, RuntimeError):
        return []
    return sorted(found, key=lambda each: (not each.is_folder, each.path))[:_MOST]


def _is_folder(entry: os.DirEntry[str], root: Path) -> bool | None:
    """None for what is hidden, for links that lead nowhere or out of the project, and for names
    that JSON cannot spell.
    """
    if entry.name.startswith("."):
        return None
    try:
        entry.name.encode()
        if entry.is_symlink() and not Path(entry.path).resolve(strict=True).is_relative_to(root):
            return None
        return entry.is_dir()
    except (OSError, ValueError, RuntimeError):
        return None
