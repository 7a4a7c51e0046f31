"""The join of a run's parts in several files into its row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from drive_trace.fleet.scanning import read
from drive_trace.report.fleet import Row, row_of
from drive_trace.scorecard.card import CHANGED
from drive_trace.scorecard.caveats import Unread
from drive_trace.scorecard.run_lines import TraceLines
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scored_trace import ScoredTrace
from drive_trace.scorecard.scoring import among, score_run
from drive_trace.scorecard.stored import FindingCounts
from drive_trace.scorecard.uncounted import StrayGrade
from drive_trace.storage.files import Problem
from drive_trace.storage.finding import project_of
from drive_trace.storage.judging_records import read_judgements_beside

if TYPE_CHECKING:  # where there is no record of judging, nothing needs it
    from drive_trace.grading.judgements import Verdicts

_ROWS = msgspec.json.Decoder(Row)


class AllFiles(NamedTuple):
    """What all files together say of any run."""

    unread: tuple[Unread, ...] = ()
    strays: tuple[StrayGrade, ...] = ()
    """The lines that may grade any run."""
    copied: Mapping[str, str] = {}
    """By the id of a run that has events of another one, a file of the other."""

    def and_changed(self, path: str) -> AllFiles:
        """The same, and that a trace is no longer what it was."""
        return self._replace(unread=(*self.unread, Unread(path, CHANGED)))

    def row(self, run: RunScore, verdicts: Sequence[Verdicts]) -> Row:
        """The row of a run, without findings; ``verdicts`` are those beside each of its files."""
        copied = self.copied.get(run.run_id)
        score = among(run, self.unread, self.strays, copied, verdicts)
        return row_of(score, project_of(run.parts[0].path))


class Group(NamedTuple):
    """A run in several files."""

    run_id: str
    files: Sequence[tuple[str, bytes]]
    """The paths, each with the digest of what was there."""
    key: bytes = b""
    """In the cache; empty where nothing is kept."""
    kept: bytes | None = None
    """The row as JSON, where it is kept."""


def with_findings(row: Row, of_files: Iterable[FindingCounts | None]) -> Row:
    """The row with what the rules found in each of its files; None is that they did not run."""
    found: Counter[str] = Counter()
    for findings in of_files:
        if findings is None:
            return row
        found.update(findings.get(row.run_id, {}))
    return msgspec.structs.replace(row, findings=dict(found))


class Joiner:
    """Joins runs in several files. It reads them again, as what is kept has no lines."""

    def __init__(self, known: AllFiles) -> None:
        self._all = known
        self._read: dict[str, tuple[bytes, TraceLines]] = {}

    def __call__(self, group: Group) -> Row | str:
        """The run's row, without findings; or the path of a file that is no longer what it was."""
        with suppress(msgspec.MsgspecError, ValueError):  # as where it is nothing of ours
            if group.kept is not None:
                return _ROWS.decode(group.kept)
        # Runs that follow each other are often in the same files.
        paths = [path for path, _ in group.files]
        self._read = {path: self._read[path] for path in paths if path in self._read}
        for path, expected in group.files:
            if path not in self._read:
                trace = read(path)
                if isinstance(trace, Problem):
                    return path
                self._read[path] = trace[1], ScoredTrace(trace[0].records, path).lines
            if self._read[path][0] != expected:
                return path
        run = score_run(group.run_id, [self._read[path][1] for path in paths])
        if run is None:
            return paths[0]
        return self._all.row(run, [read_judgements_beside(path).on(run.run_id) for path in paths])
