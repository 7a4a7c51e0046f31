"""The join of a run's parts in several files into its row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

import msgspec

from drive_trace.analysis import summarize_text
from drive_trace.fleet.scanning import read
from drive_trace.report.fleet import Row, row_of
from drive_trace.scorecard.card import score_run
from drive_trace.scorecard.caveats import Unread
from drive_trace.scorecard.stored import FindingCounts
from drive_trace.scorecard.summary import RunSummary, Unplaced, parts_by_run, without_text
from drive_trace.storage.files import Problem
from drive_trace.storage.finding import project_of
from drive_trace.storage.judging_records import with_judgements

_ROWS = msgspec.json.Decoder(Row)
CHANGED = "changed while runs were joined"


class Doubts(NamedTuple):
    """What may belong to any run, and which runs may be copies."""

    unread: tuple[Unread, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    copied: Mapping[str, str] = {}
    """By the id of a run that has events of another one, a file of the other."""

    def and_changed(self, path: str) -> Doubts:
        """These, and that a trace is no longer what it was."""
        return self._replace(unread=(*self.unread, Unread(path, CHANGED)))


class Group(NamedTuple):
    """A run in several files."""

    run_id: str
    files: Sequence[tuple[str, bytes]]
    """The paths, each with the digest of what was there."""
    key: bytes = b""
    """In the cache; empty where nothing is kept."""
    kept: bytes | None = None
    """The row as JSON, where it is kept."""


def row(parts: Sequence[RunSummary], doubts: Doubts) -> Row:
    """The row of a run, without findings."""
    unread, unplaced, copied = doubts
    score = score_run(parts, unread, unplaced, copied.get(parts[0].run_id))
    return row_of(score, project_of(parts[0].path))


def with_findings(row: Row, of_files: Iterable[FindingCounts | None]) -> Row:
    """The row with what the rules found in each of its files; None is that they did not run."""
    found: Counter[str] = Counter()
    for findings in of_files:
        if findings is None:
            return row
        found.update(findings.get(row.run_id, {}))
    return msgspec.structs.replace(row, findings=dict(found))


class Joiner:
    """Joins runs in several files. It reads them again, as what is kept has no events."""

    def __init__(self, doubts: Doubts) -> None:
        self._doubts = doubts
        self._read: dict[str, tuple[bytes, Mapping[str, RunSummary]]] = {}

    def __call__(self, group: Group) -> Row | str:
        """The run's row, without findings; or the path of a file that is no longer what it was."""
        with suppress(msgspec.MsgspecError, ValueError):  # as where it is nothing of ours
            if group.kept is not None:
                return _ROWS.decode(group.kept)
        # Runs that follow each other are often in the same files.
        paths = {path for path, _ in group.files}
        self._read = {path: self._read[path] for path in paths & self._read.keys()}
        parts = []
        for path, expected in group.files:
            if path not in self._read:
                trace = read(path)
                if isinstance(trace, Problem):
                    return path
                summary = without_text(summarize_text(trace[0].records, path))
                self._read[path] = trace[1], parts_by_run(with_judgements(summary, path))
            content, by_run = self._read[path]
            if content != expected:
                return path
            parts.append(by_run[group.run_id])
        return row(parts, self._doubts)
