"""The workspace's traces that are on disk but not open: what is wrong in them, when asked.

All of it may take long and is called from threads. Nothing of a trace is kept but
what it was like when it was read, and the name of the answer.
"""

from __future__ import annotations

import logging
import os
import stat
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from drive_trace.api import Analysis
from drive_trace.features.diagnostics import DiagnosticMaker, DiagnosticOptions
from drive_trace.lsp.client import path_of
from drive_trace.lsp.reports import Report
from drive_trace.storage.traces import Problem, find_traces, read_trace

log = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""A larger file is left to the command line: editors do not open it either."""
_SHARE = 20
"""Folders are searched again after this many times the time that it took."""


class Stamp(NamedTuple):
    """What a file was like when it was last read, and for whom."""

    file: int
    modified: int
    changed: int
    size: int
    options: DiagnosticOptions


class _Found(NamedTuple):
    """The traces that a search has found, by one name for all spellings of their paths."""

    paths: dict[str, Path]
    folders: tuple[Path, ...]
    good_until: float
    """On the monotonic clock."""


class ClosedTraces:
    """Traces under the workspace's folders. May be used from several threads at once."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = tuple(folders)
        self._found = _Found({}, (), 0.0)
        self._answers: dict[Path, tuple[Stamp, str | None]] = {}
        """By path, what it was like and the name of the answer; None where it cannot be read."""
        self._lock = Lock()

    def change_folders(self, added: Iterable[Path], removed: Iterable[Path]) -> None:
        """The user has taken folders out of the workspace, and then added some."""
        gone = set(removed)
        self._folders = (*(each for each in self._folders if each not in gone), *added)

    def has(self, path: Path) -> bool:
        """Whether a path leads to one of the traces."""
        return real_path(path) in self._search()

    def spelled(self, uris: Iterable[str]) -> Sequence[tuple[str, Path, str]]:
        """Every trace by its real path, its path, and its URI: as in ``uris`` where it stands
        there in some spelling.
        """
        known = {real_path(path): uri for uri in uris if (path := path_of(uri)) is not None}
        return [
            (real, path, known.get(real) or path.as_uri()) for real, path in self._search().items()
        ]

    def report(self, path: Path, previous: str | None, options: DiagnosticOptions) -> Report | None:
        """What is wrong in one trace; None where it cannot be read, or is gone.

        ``previous`` names the client's last answer: a file that is as it was then is not read.
        """
        try:
            status = path.stat()
        except (OSError, ValueError):
            return None
        stamp = Stamp(
            status.st_ino, status.st_mtime_ns, status.st_ctime_ns, status.st_size, options
        )
        last = self._answers.get(path)
        if last is not None and last[0] == stamp and last[1] in (None, previous):
            return Report(options.uri, last[1], None) if last[1] is not None else None
        report = self._read(path, status, options)
        with self._lock:
            self._answers[path] = (stamp, report.result_id if report is not None else None)
        return report.unless(previous) if report is not None else None

    def _read(
        self, path: Path, status: os.stat_result, options: DiagnosticOptions
    ) -> Report | None:
        if not stat.S_ISREG(status.st_mode):
            return None
        if status.st_size > MOST_BYTES:
            log.warning("%s has %s bytes and is left out", path, status.st_size)
            return None
        trace = read_trace(str(path))
        if isinstance(trace, Problem):
            log.warning("%s", trace.message)
            return None
        analysis = Analysis(trace.records, options.rules, str(path))
        return Report.of(options.uri, DiagnosticMaker(analysis, options).as_json())

    def _search(self) -> dict[str, Path]:
        """Look for traces, unless that was done of late; links to one file count once."""
        found, folders, start = self._found, self._folders, time.monotonic()
        if found.folders == folders and start < found.good_until:
            return found.paths
        paths: dict[str, Path] = {}
        for each in find_traces([str(folder) for folder in folders if os.path.isdir(folder)]):  # noqa: PTH112 - Path.is_dir raises
            if folders != self._folders:
                return self._search()
            if not isinstance(each, Problem):
                paths.setdefault(real_path(Path(each)), Path(each))
        now = time.monotonic()
        with self._lock:
            self._found = _Found(paths, folders, now + (now - start) * _SHARE)
            there = set(paths.values())
            self._answers = {path: said for path, said in self._answers.items() if path in there}
        return paths


def real_path(path: Path) -> str:
    """One name for all spellings of a path, as far as it can be followed."""
    with suppress(OSError, ValueError):
        return os.path.realpath(path)
    return str(path)
