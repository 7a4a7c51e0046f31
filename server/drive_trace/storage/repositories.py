"""What git would leave out of a folder that is searched, without asking git."""

from __future__ import annotations

import errno
import os
from bisect import bisect_left
from functools import cached_property
from itertools import takewhile
from pathlib import Path

from drive_trace.storage.git_index import Tracked, tracked_files
from drive_trace.storage.gitignore import Patterns, as_bytes
from drive_trace.storage.regular_files import read_regular

_MOST_OF_PATTERNS = 1 << 16
"""The most bytes of a file of patterns: each of them is held against each path."""


class Repositories:
    """The repositories in and around a folder that is searched. They are looked at when they are
    asked about.
    """

    def __init__(self, base: Path) -> None:
        """``base`` is absolute. Whoever names it wants what is in it, so it is ignored by none."""
        self._base = base
        self._around: dict[Path, tuple[_Repository, ...]] = {}
        self.unread: list[Path] = []
        """The files of patterns that have more than anybody writes, and leave nothing out."""

    def ignore(self, path: Path) -> bool:
        """Whether git ignores a file that it may or may not track."""
        return any(repository.ignores(each) for repository, each in self._pairs(path))

    def track(self, path: Path) -> bool:
        """Whether git tracks a file; a repository's own files are tracked only if it is.

        Where an index cannot be read they are: one trace too many is better than one too few.
        """
        pairs = list(self._pairs(path))
        return bool(pairs) and all(repository.tracks(each) for repository, each in pairs)

    def tracked_below(self, folder: Path) -> list[Path]:
        """The files in a folder that git tracks."""
        repositories = self._of(folder)
        return repositories[0].tracked_below(folder) if repositories else []

    def _pairs(self, path: Path) -> list[tuple[_Repository, Path]]:
        """Each repository that has a say in a path, and what of it: the outer ones know no more
        than the folder of the inner one.
        """
        repositories = self._of(path.parent)
        return list(zip(repositories, (path, *(each.root for each in repositories)), strict=False))

    def _of(self, folder: Path) -> tuple[_Repository, ...]:
        """The repositories around a folder, the innermost first; of those that hold all of the
        base only that one.
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
        self._unasked = len(base.relative_to(root).parts) if base.is_relative_to(root) else 0
        """So many steps of a path from the root on lead to the base."""
        self._ignored_folders: dict[str, bool] = {}
        self._patterns: dict[str, Patterns] = {}

    def ignores(self, path: Path) -> bool:
        steps = self._steps(path)
        for count in range(self._unasked + 1, len(steps)):
            folder = "/".join(steps[:count]) + "/"
            if folder not in self._ignored_folders:
                self._ignored_folders[folder] = self._decide(steps[:count], "/")
            if self._ignored_folders[folder]:  # what is in it cannot be taken back
                return True
        # Not Path.is_dir, which raises for names that the system refuses.
        end = "/" if os.path.isdir(path) else ""  # noqa: PTH112
        return len(steps) > self._unasked and self._decide(steps, end)

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
        """That of the main one, where this is a further working tree of a repository."""
        try:
            there = read_regular(self._git_folder / "commondir").decode().rstrip("\n")
        except (OSError, ValueError):
            return self._git_folder
        return self._git_folder / there

    @cached_property
    def _tracked(self) -> Tracked | None:
        return tracked_files(self._git_folder, self._common_folder)

    def _decide(self, steps: list[str], end: str) -> bool:
        """By the nearest file whose patterns mean the path."""
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
        """The patterns of a file; none where it cannot be read, or has more than anybody writes."""
        try:
            return Patterns.of_file(read_regular(path, _MOST_OF_PATTERNS))
        except (OSError, ValueError) as error:
            if not isinstance(error, OSError) or error.errno == errno.EFBIG:
                self._unread.append(path)
            return Patterns(())


def git_folder_of(root: Path) -> Path | None:
    """Where git keeps what it knows of a repository; None where the folder is no root of one."""
    found = root / ".git"
    try:
        if found.is_file():
            said = os.fsdecode(read_regular(found))
            if not said.startswith("gitdir: "):
                return None
            found = root / said.removeprefix("gitdir: ").rstrip("\n")
        return found if (found / "HEAD").exists() else None
    except (OSError, ValueError):
        return None
