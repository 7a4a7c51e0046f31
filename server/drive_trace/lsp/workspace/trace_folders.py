"""Finds the traces in the workspace's folders. Called from threads."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.storage.files import LeftOut, Problem
from drive_trace.storage.finding import GONE, NO_MORE, LinkOut, SearchOptions, find_traces, identity
from drive_trace.storage.patterns import MoreFiles, is_trace
from drive_trace.storage.projects import Projects

_SHARE = 20
"""Folders are searched again after this many times the time that it took."""
_LONGEST = 5.0
"""But after so many seconds at the most, or as many as it took. That is how late a new trace is
found if nobody calls :meth:`TraceFolders.expire`.
"""


class _Found(NamedTuple):
    """The result of a search: traces by their real paths."""

    paths: dict[str, Path]
    folders: tuple[Path, ...]
    more: MoreFiles
    good_until: float
    """On the monotonic clock."""
    left_out: Mapping[Path, LeftOut]
    """The paths that the search left out."""


class TraceFolders:
    """The workspace's folders, and the traces in them."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(folders)
        self.more = NO_MORE
        """The files that are traces by the settings, whatever their names."""
        self.trusted = False
        """Whether the person trusts the workspace, and so what its configurations exclude."""
        self._found = _Found({}, (), NO_MORE, 0.0, {})
        self.links_out: Mapping[str, Path] = {}
        """The links of the last search that lead out of a repository, which nobody follows."""
        self._expired = 0
        """How often :meth:`expire` was called."""

    def change(self, added: Iterable[Path], removed: Iterable[Path]) -> None:
        """The user has removed folders from the workspace, and added others."""
        gone = set(removed)
        self.folders = (*(each for each in self.folders if each not in gone), *added)

    def expire(self) -> None:
        """Files have come or gone: the next search is a new one."""
        self._expired += 1
        self._found = self._found._replace(good_until=0.0)

    def search(self) -> dict[str, Path]:
        """The traces by their real paths, in the order of their paths. Links to one file count
        once. A recent search is not repeated.
        """
        found, folders, more, start = self._found, self.folders, self.more, time.monotonic()
        expired = self._expired
        if (found.folders, found.more) == (folders, more) and start < found.good_until:
            return found.paths
        paths: dict[str, Path] = {}
        left_out: dict[Path, LeftOut] = {}
        links_out: dict[str, Path] = {}
        there = [str(folder) for folder in folders if os.path.isdir(folder)]  # noqa: PTH112 - Path.is_dir raises
        projects = Projects(".", with_baseline=False, trusted=self.trusted)
        options = SearchOptions(projects=projects)
        for each in find_traces(there, more, options):
            if (folders, more) != (self.folders, self.more):
                return self.search()
            if isinstance(each, LeftOut):
                left_out[Path(each.path)] = each
            elif isinstance(each, LinkOut):
                links_out[real_path(Path(each.path))] = Path(each.path)
            elif not isinstance(each, Problem):
                paths.setdefault(real_path(Path(each)), Path(each))
        if expired != self._expired:  # the search may have missed what came meanwhile
            return self.search()
        now = time.monotonic()
        took = now - start
        good_until = now + min(took * _SHARE, max(took, _LONGEST))
        self._found = _Found(paths, folders, more, good_until, left_out)
        self.links_out = links_out
        return paths

    def spelled(self, uris: Iterable[str]) -> Sequence[tuple[str, Path, str]]:
        """The real path, path and URI of every trace. A URI is spelled as in ``uris`` if it is
        there in some spelling.
        """
        known = {real_path(path): uri for uri in uris if (path := path_of(uri)) is not None}
        return [
            (real, path, known.get(real) or path.as_uri()) for real, path in self.search().items()
        ]

    def holds(self, path: Path) -> bool:
        """Whether a file of that path is, or would be, one of the traces. The last search decides
        which of them are left out.
        """
        left_out = (self._found.left_out.get(each) for each in (path, *path.parents))
        # Somebody may be writing anew what is gone.
        if os.pardir in path.parts or any(each and each.reason not in GONE for each in left_out):
            return False
        return self.folder_of(path) is not None and (is_trace(path) or self.takes(path))

    def takes(self, path: Path) -> bool:
        """Whether a file is a trace by the settings."""
        inside = (each for each in self.folders if path.is_relative_to(each))
        return any(self.more.hold(path, each) for each in inside)

    def left_out_in(self, folder: Path | None) -> list[LeftOut]:
        """The files of a folder that the last search left out."""
        found = self._found.left_out.items()
        return [each for path, each in found if self.folder_of(path) == folder]

    def name_of(self, path: Path) -> str:
        """The name of a trace for people: its path in its folder. If there are several folders, the
        folder's name comes first.
        """
        folder = self.folder_of(path)
        if folder is None:
            return "/".join(path.parts[-2:])
        inner = path.relative_to(folder).as_posix()
        return inner if len(self.folders) == 1 else f"{folder.name}/{inner}"

    def folder_of(self, path: Path) -> Path | None:
        """The innermost of the folders that a file stands in."""
        inside = (each for each in self.folders if path.is_relative_to(each))
        return max(inside, key=lambda each: len(each.parts), default=None)


def real_path(path: Path) -> str:
    """One name for all spellings of a path, as far as it can be followed."""
    return identity(str(path))
