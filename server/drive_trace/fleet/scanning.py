"""The two passes of a fleet: a look at one trace, whose result may be kept, and the join of a run's
files into its row. Any process may do both, as all of it can be pickled.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from drive_trace.analysis import Analysis, summarize_text
from drive_trace.grading.judgements import Judgement, Verdicts
from drive_trace.linter.settings import RuleSettings
from drive_trace.report.fleet import Row, row_of
from drive_trace.scorecard.card import CHANGED
from drive_trace.scorecard.caveats import Unread
from drive_trace.scorecard.copies import HASH
from drive_trace.scorecard.run_lines import TraceLines
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import ScoredTrace, TraceSummary, among, score_run, without_lines
from drive_trace.scorecard.uncounted import StrayGrade
from drive_trace.storage.files import Problem, TraceRecords, decoded, digest_of, read_bytes
from drive_trace.storage.finding import project_of
from drive_trace.storage.judging_records import (
    read_judgements_beside,
    read_record_beside,
    with_judgements,
)
from drive_trace.storage.patterns import JUDGEMENTS_SUFFIX

_ROWS = msgspec.json.Decoder(Row)
_SETTLED = 2_000_000_000
"""Nanoseconds: what was written less long ago may be written again with the same timestamp."""

# What is kept of a trace: JSON of it in short. Whoever reads it back believes nothing: it has the
# declared types, or it is no summary

FindingCounts = Mapping[str, Mapping[str, int]]
"""By run, how often each rule found something in a trace."""
_Verdicts = dict[str, tuple[tuple[str, tuple[Judgement, ...]], ...]]


class Stored(NamedTuple):
    """A trace without its lines, and what the rules found."""

    summary: TraceSummary
    findings: FindingCounts | None
    """None where the rules did not run."""
    is_clean: bool = False
    """Whether they have found nothing, on lines of no run either."""


_DECODER = msgspec.json.Decoder(Stored)


def to_bytes(stored: Stored) -> bytes | None:
    """The JSON; None where some text or number does not fit, as a lone surrogate."""
    try:
        return msgspec.json.encode(stored)
    except (OverflowError, UnicodeEncodeError):
        return None


def from_bytes(data: bytes, path: str) -> Stored | None:
    """What :func:`to_bytes` made, of a trace that is known by this path now; None where the data
    are anything else.
    """
    try:
        stored = _DECODER.decode(data)
        verdicts = msgspec.convert(stored.summary.verdicts, _Verdicts)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    summary = stored.summary._replace(verdicts=verdicts)
    if not _can_be_true(summary):
        return None
    before = summary.path
    return stored._replace(summary=summary if before == path else _renamed(summary, before, path))


def _can_be_true(trace: TraceSummary) -> bool:
    """Whether a trace is what its types cannot say: each run stands in it alone, and is judged
    without what is beside it; the hashes of events are whole.
    """
    runs = all(len(run.parts) == 1 and run.judgement is None for run in trace.runs)
    return runs and all(len(hashes) % HASH == 0 for hashes in trace.hashes.values())


def _renamed(value: Any, before: str, path: str) -> Any:
    """Data that are about a trace, with another path in all that names it."""
    if not isinstance(value, tuple):
        return value
    parts = [_renamed(each, before, path) for each in value]
    if not hasattr(value, "_make"):
        return tuple(parts)
    renamed = value._make(parts)
    return renamed._replace(path=path) if getattr(value, "path", None) == before else renamed


# A look at one trace


class Fingerprint(NamedTuple):
    """What a trace was when it was read."""

    version: str
    """See :func:`_version`."""
    digest: bytes
    """The digest of the content of its file, and that of the record beside it."""


class File(NamedTuple):
    """A trace to look at."""

    path: str
    name: str
    """What people know it by."""
    settings: RuleSettings | None
    """None where the configuration cannot be used."""
    key: bytes = b""
    """Of where it is, the settings and this version of the program; empty where nothing is kept."""
    known: Fingerprint | None = None
    """What it was when it was looked at last."""


class Scanned(NamedTuple):
    """What a look at a trace gave."""

    fingerprint: Fingerprint
    stored: bytes | Stored | None
    """The trace in short; None where it is as it was, and itself where it is no JSON."""


def scan_file(file: File, *, as_json: bool = True) -> Scanned | Problem:
    """Look at a trace, and read it unless it is as it was."""
    version = _version(file.path)
    if file.known is not None and version and file.known.version == version:
        return Scanned(file.known, None)
    trace = read(file.path)
    if isinstance(trace, Problem):
        return trace
    records, content = trace
    fingerprint = Fingerprint(version, content)
    if file.known is not None and file.known.digest == content:
        return Scanned(fingerprint, None)
    stored = summarized(records.records, file)
    return Scanned(fingerprint, (to_bytes(stored) if as_json else None) or stored)


def scan_files(files: Sequence[File]) -> list[Scanned | Problem]:
    """The same of some traces: to hand over one takes as long as to read a small one."""
    return [scan_file(each) for each in files]


def read(path: str) -> tuple[TraceRecords, bytes] | Problem:
    """A trace, and the digest of its content and of the record beside it."""
    data = read_bytes(path)
    if isinstance(data, Problem):
        return data
    found = decoded(path, data)
    if isinstance(found, Problem):
        return found
    return found, digest_of(data) + digest_of(read_record_beside(path))


def summarized(records: Sequence[str], file: File) -> Stored:
    """What the score needs of a trace, and what the rules find in it by its settings."""
    if file.settings is None:
        summary, findings, is_clean = summarize_text(records, file.name), None, False
    else:
        where = os.path.abspath(file.path)  # noqa: PTH100 - that would follow links
        analysis = Analysis(records, file.settings, where)
        summary = analysis.summary(file.name)
        by_run = analysis.findings_by_rule()
        findings = {run_id: dict(each) for run_id, each in by_run.items() if run_id is not None}
        is_clean = not by_run
    return Stored(with_judgements(without_lines(summary), file.path), findings, is_clean)


def _version(path: str) -> str:
    """Of a trace's file and of the record beside it; empty if one may change without being seen."""
    found = []
    for each in (path, f"{path}{JUDGEMENTS_SUFFIX}"):
        try:
            state = os.stat(each)  # noqa: PTH116 - Path raises for some names
        except (OSError, ValueError):
            if each == path:
                return ""
            found.append("-")
            continue
        changed = max(state.st_mtime_ns, state.st_ctime_ns)
        if time.time_ns() - changed < _SETTLED:
            return ""
        found += map(str, (state.st_size, state.st_mtime_ns, state.st_ctime_ns, state.st_ino))
    return " ".join(found)


# Runs in several files


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
