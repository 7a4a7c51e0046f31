"""What git ignores and tracks in a folder that is searched.

Ignore files are read here, so that what counts does not depend on whether git is installed. Only
for what would be left out is git asked whether it tracks it.
"""

from __future__ import annotations

import errno
import os
from functools import cached_property
from pathlib import Path

from drive_trace.storage.boundary import git_folder_of
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
        """Whether git tracks a file, as it says. Where git does not say, it tracks none: what is
        left out is named then, and a gate fails.
        """
        innermost = next(iter(self._of(path.parent)), None)
        return (
            innermost is not None
            and path.relative_to(innermost.root).as_posix() in innermost.tracked
        )

    def tracked_below(self, folder: Path) -> list[Path]:
        """The files that git tracks in a folder, which may be another repository itself."""
        innermost = next(iter(self._of(folder.parent)), None)
        if innermost is None:
            return []
        inner = f"{folder.relative_to(innermost.root).as_posix()}/"
        below = sorted(each for each in innermost.tracked if each.startswith(inner))
        return [innermost.root / each for each in below]

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

    @cached_property
    def tracked(self) -> frozenset[str]:
        """The files that git tracks here: paths from the root, with ``/`` in between."""
        from drive_trace.storage.git import tracked_files  # noqa: PLC0415 - few need git

        return tracked_files(self.root, self._git_folder)

    @cached_property
    def _common_folder(self) -> Path:
        """The git folder of the main working tree, if this is a further one."""
        try:
            there = read_regular(self._git_folder / "commondir").decode().rstrip("\n")
        except (OSError, ValueError):
            return self._git_folder
        return self._git_folder / there

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
