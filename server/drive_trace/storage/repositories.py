"""What git ignores and tracks in a folder that is searched, found without running git."""

from __future__ import annotations

import errno
import os
import re
from bisect import bisect_left
from collections.abc import Iterator
from functools import cached_property
from itertools import islice, takewhile
from pathlib import Path
from typing import NamedTuple

from drive_trace.storage.files import read_regular
from drive_trace.storage.patterns import Patterns, as_bytes

_MOST_OF_PATTERNS = 1 << 16
"""The most bytes of a file of patterns: each of them is held against each path."""


class Repositories:
    """The repositories in and around a folder that is searched. Each is read when it is needed."""

    def __init__(self, base: Path) -> None:
        """``base`` is absolute. A person named it to search it, so no repository ignores it."""
        self._base = base
        self._around: dict[Path, tuple[_Repository, ...]] = {}
        self.unread: list[Path] = []
        """The ``.gitignore`` files that are too large to be applied."""

    @property
    def has_base(self) -> bool:
        """Whether the folder that is searched is in a repository."""
        return bool(self._of(self._base))

    def ignore(self, path: Path) -> bool:
        """Whether git ignores a file that it may or may not track."""
        return any(repository.ignores(each) for repository, each in self._pairs(path))

    def track(self, path: Path) -> bool:
        """Whether git tracks a file. In a repository within another, both have to.

        If an index cannot be read, its files count as tracked: one trace too many is better than
        one too few.
        """
        pairs = list(self._pairs(path))
        return bool(pairs) and all(repository.tracks(each) for repository, each in pairs)

    def tracked_below(self, folder: Path) -> list[Path]:
        """The files that git tracks in a folder, which may be another repository itself."""
        repositories = self._of(folder.parent)
        return repositories[0].tracked_below(folder) if repositories else []

    def _pairs(self, path: Path) -> list[tuple[_Repository, Path]]:
        """The repositories around a path, each with the path that it decides on: an outer one sees
        the inner one as a folder.
        """
        repositories = self._of(path.parent)
        return list(zip(repositories, (path, *(each.root for each in repositories)), strict=False))

    def _of(self, folder: Path) -> tuple[_Repository, ...]:
        """The repositories around a folder, the innermost first. Of those around all of the base,
        only the innermost counts.
        """
        found = self._around.get(folder)
        if found is None:
            git_folder = git_folder_of(folder)
            found = (
                ()
                if git_folder is None
                else (_Repository(folder, git_folder, self._base, self.unread),)
            )
            is_outermost = bool(found) and self._base.is_relative_to(folder)
            if not is_outermost and folder.parent != folder:
                found += self._of(folder.parent)
            self._around[folder] = found
        return found


class _Repository:
    def __init__(self, root: Path, git_folder: Path, base: Path, unread: list[Path]) -> None:
        self.root = root
        self._unread = unread
        self._git_folder = git_folder
        self._steps_to_base = len(base.relative_to(root).parts) if base.is_relative_to(root) else 0
        """The number of steps from the root to the base."""
        self._ignored_folders: dict[str, bool] = {}
        self._patterns: dict[str, Patterns] = {}

    def ignores(self, path: Path) -> bool:
        steps = self._steps(path)
        for count in range(self._steps_to_base + 1, len(steps)):
            folder = "/".join(steps[:count]) + "/"
            if folder not in self._ignored_folders:
                self._ignored_folders[folder] = self._decide(steps[:count], "/")
            if self._ignored_folders[folder]:  # what is in it cannot be taken back
                return True
        # Not Path.is_dir, which raises for names that the system refuses.
        end = "/" if os.path.isdir(path) else ""  # noqa: PTH112
        return len(steps) > self._steps_to_base and self._decide(steps, end)

    def tracks(self, path: Path) -> bool:
        return self._tracked is None or self._tracked.holds("/".join(self._steps(path)))

    def tracked_below(self, folder: Path) -> list[Path]:
        inner = "/".join((*self._steps(folder), ""))
        names = self._names[bisect_left(self._names, inner) :]
        below = takewhile(lambda each: each.startswith(inner), names)
        return [self.root / os.fsdecode(each.encode("latin-1")) for each in below]

    @cached_property
    def _names(self) -> list[str]:
        return sorted(self._tracked.names) if self._tracked is not None else []

    @cached_property
    def _common_folder(self) -> Path:
        """The git folder of the main working tree, if this is a further one."""
        try:
            there = read_regular(self._git_folder / "commondir").decode().rstrip("\n")
        except (OSError, ValueError):
            return self._git_folder
        return self._git_folder / there

    @cached_property
    def _tracked(self) -> Tracked | None:
        return tracked_files(self._git_folder, self._common_folder)

    def _decide(self, steps: list[str], end: str) -> bool:
        """Whether a path is ignored: the nearest file with a pattern that matches decides."""
        for above in range(len(steps) - 1, -1, -1):
            patterns = self._patterns_in("".join(f"{each}/" for each in steps[:above]))
            decided = patterns.decide("/".join(steps[above:]) + end)
            if decided is not None:
                return decided
        return bool(self._excluded.decide("/".join(steps) + end))

    def _patterns_in(self, folder: str) -> Patterns:
        if folder not in self._patterns:
            path = self.root / os.fsdecode(folder.encode("latin-1")) / ".gitignore"
            self._patterns[folder] = (
                Patterns(()) if os.path.islink(path) else self._read(path)  # noqa: PTH114
            )
        return self._patterns[folder]

    @cached_property
    def _excluded(self) -> Patterns:
        return self._read(self._common_folder / "info" / "exclude")

    def _steps(self, path: Path) -> list[str]:
        return [as_bytes(each) for each in path.relative_to(self.root).parts]

    def _read(self, path: Path) -> Patterns:
        """The patterns of a file; none if it cannot be read, or has more than anybody writes."""
        try:
            return Patterns.of_file(read_regular(path, _MOST_OF_PATTERNS))
        except (OSError, ValueError) as error:
            if not isinstance(error, OSError) or error.errno == errno.EFBIG:
                self._unread.append(path)
            return Patterns(())


def git_folder_of(root: Path) -> Path | None:
    """The git folder of a repository with this root; None if the folder is no root."""
    found = root / ".git"
    try:
        if found.is_file():
            phrase = os.fsdecode(read_regular(found))
            if not phrase.startswith("gitdir: "):
                return None
            found = root / phrase.removeprefix("gitdir: ").rstrip("\n")
        return found if (found / "HEAD").exists() else None
    except (OSError, ValueError):
        return None


_MOST, _MOST_SHARED = 256 << 20, 64
"""The most bytes of all files of an index, and the most files that a split one has beside it."""
_LONGEST, _MOST_TOGETHER = 4096, 64 << 20
"""The most bytes of a name, and of all names: version 4 packs a long name into a few bytes."""
_SHA256 = re.compile(rb"(?im)^\s*objectformat\s*=\s*sha256\s*$")
_HEADER, _STATUS, _FLAGS = 12, 40, 2
"""Bytes before the first entry, before an entry's hash, and of its flags."""
_EXTENDED = 0x4000
"""Set in the flags of an entry that has two more bytes of them."""


class Tracked(NamedTuple):
    """The files that a repository tracks: paths with ``/``, each byte a character."""

    names: frozenset[str]
    folders: tuple[str, ...] = ()
    """Folders that the index has as one entry, with a ``/`` at the end."""

    def holds(self, path: str) -> bool:
        """Whether a file, or the root of a repository in this one, is tracked."""
        return path in self.names or path.startswith(self.folders or "\0")


def tracked_files(git_folder: Path, common_folder: Path) -> Tracked | None:
    """The files that the index in a git folder names; None if it cannot be read."""
    try:
        index = git_folder / "index"
        if not index.exists():
            return Tracked(frozenset())
        config = common_folder / "config"
        hash_size = 32 if config.exists() and _SHA256.search(read_regular(config)) else 20
        # Of an index that is split, the larger part stands in another file.
        shared = list(islice(git_folder.glob("sharedindex.*"), _MOST_SHARED + 1))
        if len(shared) > _MOST_SHARED:
            return None
        names = list(_names_of([index, *shared], hash_size))
    except (OSError, ValueError, IndexError):
        return None
    return Tracked(frozenset(names), tuple(each for each in names if each.endswith("/")))


def _names_of(files: list[Path], hash_size: int) -> Iterator[str]:
    """The names in all files of an index. Raises ValueError, IndexError or OSError."""
    bytes_left, names_left = _MOST, _MOST_TOGETHER
    for file in files:
        data = read_regular(file, bytes_left)
        bytes_left -= len(data)
        for name in _names_in(data, hash_size):
            names_left -= len(name)
            if names_left < 0:
                raise ValueError("has too many names")
            yield name


def _names_in(data: bytes, hash_size: int) -> Iterator[str]:
    """The names in an index of version 2, 3 or 4. Raises ValueError or IndexError for others."""
    version, count = int.from_bytes(data[4:8], "big"), int.from_bytes(data[8:12], "big")
    if data[:4] != b"DIRC" or version not in (2, 3, 4):
        raise ValueError("is no index")
    at, name = _HEADER, b""
    for _ in range(count):
        start = at
        at += _STATUS + hash_size
        at += _FLAGS * (2 if (data[at] << 8) & _EXTENDED else 1)
        kept = 0
        if version == 4:
            dropped, at = _dropped(data, at)
            kept = len(name) - dropped
            if kept < 0:
                raise ValueError("drops more of a name than there is")
        end = data.index(b"\0", at)
        name = name[:kept] + data[at:end]
        if len(name) > _LONGEST:
            raise ValueError("has a name that is too long")
        # Entries of the older versions are filled up to a multiple of eight.
        at = end + 1 if version == 4 else start + (end - start + 8) // 8 * 8
        yield name.decode("latin-1")


def _dropped(data: bytes, at: int) -> tuple[int, int]:
    """How many bytes this name drops from the end of the last one, and where the rest begins."""
    value = data[at] & 127
    while data[at] & 128:
        at += 1
        value = ((value + 1) << 7) | (data[at] & 127)
    return value, at + 1
