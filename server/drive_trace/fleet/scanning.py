"""A scan of one trace: what it is, in short, unless it is as it was. All of it can be pickled, so
that any process may scan.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import NamedTuple

from drive_trace.analysis import Analysis, summarize_text
from drive_trace.linter.settings import RuleSettings
from drive_trace.scorecard.stored import Stored, to_bytes
from drive_trace.scorecard.summary import without_lines
from drive_trace.storage.files import Problem, TraceRecords, decoded, digest_of, read_bytes
from drive_trace.storage.judging_records import read_record_beside, with_judgements
from drive_trace.storage.patterns import JUDGEMENTS_SUFFIX

_SETTLED = 2_000_000_000
"""Nanoseconds: what was written less long ago may be written again with the same timestamp."""


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
