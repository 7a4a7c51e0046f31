"""Files of the workspace: those that a trace names, and those in a folder that a person types.

A trace is untrusted: nothing outside the workspace is looked at. Paths are strings here: thousands
may be asked for at once, and as objects they take several times as long.
"""
# ruff: noqa: PTH113, PTH115, PTH117, PTH118, PTH120, PTH206

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from drive_trace.storage.regular_files import read_regular

_MOST_NAMES = 10_000
"""So many names are looked for: no project has as many specs and plans."""
_MOST_LINKS = 40
"""A path that leads through more symbolic links leads in a circle."""
_JUNCTION = getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", None)
"""What marks a junction of Windows, which leads elsewhere like a symbolic link and is none."""


def linked_files(
    names: Iterable[str], trace: Path | None, folders: Sequence[Path]
) -> Mapping[str, Path]:
    """The files that a trace means by paths, by those that lead to one in the workspace's folders.

    A relative path is looked for from the top of each folder, then from the folders between the top
    and the trace, then from those above, as somebody may have opened one project of a repository.
    Nothing outside is asked for on disk, and no link leads there. Never raises.
    """
    roots = [_Root(folder, trace) for folder in folders]
    files: dict[str, Path] = {}
    for name in islice(names, _MOST_NAMES):
        found = next(filter(None, (root.file(name) for root in roots)), None)
        if found is not None:
            files[name] = Path(found)
    return files


class _Root:
    """A folder of the workspace, as it is on disk while some names are looked for."""

    def __init__(self, folder: Path, trace: Path | None) -> None:
        self._path = str(folder)
        self._real = os.path.realpath(folder)
        self._bases = [str(each) for each in (folder, *_between(folder, trace), *folder.parents)]
        self._folders: dict[str, str | None] = {}
        """Where folders in it really are, by their paths from here."""

    def file(self, name: str) -> str | None:
        """The file that is meant by a path."""
        if "\0" in name:
            return None
        for base in self._bases:
            path = os.path.normpath(os.path.join(base, name))
            inner = _below(path, self._path)
            if inner and self._is_file(*os.path.split(inner)):
                return path
        return None

    def _is_file(self, folder: str, name: str) -> bool:
        if folder not in self._folders:
            self._folders[folder] = self._followed(self._real, folder)
        at = self._folders[folder]
        real = self._followed(at, name) if at is not None else None
        return real is not None and os.path.isfile(real)

    def _followed(self, at: str, path: str) -> str | None:
        """Where a path from a real folder really leads; None where nothing is, or outside."""
        steps, links = _steps(path), 0
        while steps and links <= _MOST_LINKS:
            found = self._step(at, steps.pop())
            if found is None:
                return None
            at, more = found
            if more:
                links += 1
                steps += _steps(more)
        return at if not steps else None

    def _step(self, at: str, step: str) -> tuple[str, str] | None:
        """Where one step leads from a real folder, and the path that is to be followed from there
        if it is a link; None where nothing is, or outside.
        """
        if step in {"", os.curdir}:
            return at, ""
        if step == os.pardir:
            return (os.path.dirname(at), "") if at != self._real else None
        path = os.path.join(at, step)
        try:
            target = _target_of(path)
        except (OSError, ValueError):
            return None
        if target is None:
            return path, ""
        if not os.path.isabs(target):
            return at, target
        inner = _below(target, self._real) or _below(target, self._path)
        return (self._real, inner) if inner else None


def _between(folder: Path, trace: Path | None) -> Iterator[Path]:
    """The folders below one on the way to a trace."""
    if trace is None or not trace.is_relative_to(folder):
        return
    for parent in reversed(trace.relative_to(folder).parents):
        if parent != Path():
            yield folder / parent


def _below(path: str, folder: str) -> str | None:
    """The rest of a path that begins with a folder's."""
    head = folder if folder.endswith(os.sep) else folder + os.sep
    is_below = os.path.normcase(path).startswith(os.path.normcase(head))
    return path[len(head) :] if is_below else None


def _steps(path: str) -> list[str]:
    """The first one last."""
    return path.split(os.sep)[::-1]


def _target_of(path: str) -> str | None:
    """What a link says; None for what is none. Raises OSError or ValueError where nothing is."""
    status = os.lstat(path)
    is_link = stat.S_ISLNK(status.st_mode)
    if is_link or (_JUNCTION is not None and getattr(status, "st_reparse_tag", 0) == _JUNCTION):
        return os.readlink(path)
    return None


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


_MOST_LISTED = 200
"""Files and folders of one list."""
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
    return sorted(found, key=lambda each: (not each.is_folder, each.path))[:_MOST_LISTED]


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
