"""The workspace's traces that are on disk but not open: what is wrong in them, when asked.

Reading and analysing happen in the caller's thread; nothing of a trace is kept
but the name of the last answer, so a workspace of any size costs no memory.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from drive_trace.api import Analysis
from drive_trace.features.diagnostics import DiagnosticMaker, DiagnosticOptions
from drive_trace.lsp.reports import Report
from drive_trace.storage.traces import Problem, find_traces, read_trace

log = logging.getLogger(__name__)

MOST_BYTES = 64 << 20
"""A larger file is left to the command line: editors do not open it either."""
_SHARE = 20
"""Folders are searched again after this many times the time that it took."""


class _Stamp(NamedTuple):
    """What a file was like when it was last read."""

    modified: int
    size: int
    options: DiagnosticOptions


class ClosedTraces:
    """Traces under the workspace's folders, by their paths."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = list(folders)
        self._answers: dict[Path, tuple[_Stamp, str]] = {}
        self._found: list[Path] = []
        self._search_again = 0.0

    def change_folders(self, added: Iterable[Path], removed: Iterable[Path]) -> None:
        """The user has added folders to the workspace, or taken some out."""
        gone = set(removed)
        self._folders = [each for each in [*self._folders, *added] if each not in gone]
        self._search_again = 0.0

    def paths(self) -> list[Path]:
        """The traces that are there, without links that lead to another's file."""
        now = time.monotonic()
        if now >= self._search_again:
            self._found = list(self._search())
            took = time.monotonic() - now
            self._search_again = now + took * _SHARE
            known = set(self._found)
            self._answers = {path: said for path, said in self._answers.items() if path in known}
        return self._found

    def report(self, path: Path, previous: str | None, options: DiagnosticOptions) -> Report | None:
        """What is wrong in one trace; None where it cannot be read, or is gone.

        ``previous`` names the client's last answer: a file that is as it was then is not read.
        """
        try:
            stat = path.stat()
        except OSError:
            return None
        stamp = _Stamp(stat.st_mtime_ns, stat.st_size, options)
        last = self._answers.get(path)
        if last is not None and last == (stamp, previous):
            return Report(options.uri, last[1], None)
        if stat.st_size > MOST_BYTES:
            log.warning("%s has %s bytes and is left out", path, stat.st_size)
            return None
        trace = read_trace(str(path))
        if isinstance(trace, Problem):
            log.warning("%s", trace.message)
            return None
        made = Report.of(options.uri, DiagnosticMaker(Analysis(trace.records), options).as_json())
        self._answers[path] = (stamp, made.result_id)
        return made if made.result_id != previous else Report(options.uri, made.result_id, None)

    def _search(self) -> Iterator[Path]:
        seen: set[str] = set()
        for found in find_traces([str(folder) for folder in self._folders]):
            if isinstance(found, Problem):
                log.info("%s", found.message)
                continue
            real = os.path.realpath(found)
            if real not in seen:
                seen.add(real)
                yield Path(found)
