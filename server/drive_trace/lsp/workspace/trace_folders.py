"""Which traces there are under the workspace's folders. Called from threads."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.scorecard.caveats import Omitted
from drive_trace.storage.files import Problem
from drive_trace.storage.finding import NO_MORE, LeftOut, find_traces, is_trace, omitted
from drive_trace.storage.patterns import MoreFiles

_SHARE = 20
"""Folders are searched again after this many times the time that it took."""
_LONGEST = 5.0
"""But after so many seconds at the most, or as many as it took: so late is a trace found that
nobody tells of, where :meth:`TraceFolders.expire` does not ask for more.
"""


class _Found(NamedTuple):
    """The traces that a search has found, by one name for all spellings of their paths."""

    paths: dict[str, Path]
    folders: tuple[Path, ...]
    more: MoreFiles
    good_until: float
    """On the monotonic clock."""
    left_out: Mapping[Path, LeftOut]
    """What a search of a folder does not read."""


class TraceFolders:
    """The workspace's folders, and the traces in them."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self.folders = tuple(folders)
        self.more = NO_MORE
        """What else is a trace, beside what is called like one."""
        self._found = _Found({}, (), NO_MORE, 0.0, {})
        self._expired = 0
        """How often it was told that files have come or gone."""

    def change(self, added: Iterable[Path], removed: Iterable[Path]) -> None:
        """The user has taken folders out of the workspace, and then added some."""
        gone = set(removed)
        self.folders = (*(each for each in self.folders if each not in gone), *added)

    def expire(self) -> None:
        """Files have come or gone: search again when next asked."""
        self._expired += 1
        self._found = self._found._replace(good_until=0.0)

    def search(self) -> dict[str, Path]:
        """The traces by their real paths, in the order of their paths; links to one file count
        once. Folders that were searched of late are not searched again.
        """
        found, folders, more, start = self._found, self.folders, self.more, time.monotonic()
        expired = self._expired
        if (found.folders, found.more) == (folders, more) and start < found.good_until:
            return found.paths
        paths: dict[str, Path] = {}
        left_out: dict[Path, LeftOut] = {}
        there = [str(folder) for folder in folders if os.path.isdir(folder)]  # noqa: PTH112 - Path.is_dir raises
        for each in find_traces(there, more):
            if (folders, more) != (self.folders, self.more):
                return self.search()
            if isinstance(each, LeftOut):
                left_out[Path(each.path)] = each
            elif not isinstance(each, Problem):
                paths.setdefault(real_path(Path(each)), Path(each))
        if expired != self._expired:  # what came meanwhile may have been passed by already
            return self.search()
        now = time.monotonic()
        took = now - start
        good_until = now + min(took * _SHARE, max(took, _LONGEST))
        self._found = _Found(paths, folders, more, good_until, left_out)
        return paths

    def spelled(self, uris: Iterable[str]) -> Sequence[tuple[str, Path, str]]:
        """Every trace by its real path, its path, and its URI: as in ``uris`` where it stands
        there in some spelling.
        """
        known = {real_path(path): uri for uri in uris if (path := path_of(uri)) is not None}
        return [
            (real, path, known.get(real) or path.as_uri()) for real, path in self.search().items()
        ]

    def holds(self, path: Path) -> bool:
        """Whether a file of that path is, or would be, one of the traces, as far as is known: the
        last search tells which of them are left out.
        """
        if os.pardir in path.parts or path in self._found.left_out:
            return False
        inside = (each for each in self.folders if path.is_relative_to(each))
        return any(is_trace(path) or self.more.hold(path, each) for each in inside)

    def left_out_in(self, folder: Path | None) -> Omitted:
        """What of a folder the last search came upon and did not read."""
        found = self._found.left_out.items()
        return omitted([each for path, each in found if self.folder_of(path) == folder])

    def name_of(self, path: Path) -> str:
        """How a trace is called in what is shown: its path from its folder on, and with several
        folders that one's name before it.
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
    with suppress(OSError, ValueError):
        return os.path.realpath(path)
    return str(path)
