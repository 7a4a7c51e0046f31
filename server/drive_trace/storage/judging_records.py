"""The records of the judging beside traces, for those who show what a grade rests on."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING

from drive_trace.scorecard.scoring import TraceSummary
from drive_trace.storage.boundary import inside
from drive_trace.storage.files import STDIN, may_be_there, read_regular, records_of, version_of
from drive_trace.storage.patterns import JUDGEMENTS_SUFFIX

if TYPE_CHECKING:
    from drive_trace.grading.judgements import Judgements

MOST_BYTES = 16 << 20
"""A larger record is not read."""


def read_judgements_beside(trace: str) -> Judgements:
    """What the record beside a trace says; nothing if there is none that can be read."""
    return _judgements_in(read_record_beside(trace))


def _judgements_in(data: bytes) -> Judgements:
    # Most traces have no record, and are scored without loading what reads one.
    from drive_trace.grading.judgements import Judgements, read_judgements  # noqa: PLC0415

    return Judgements(read_judgements(records_of(data))[0] if data else ())


def read_record_beside(trace: str) -> bytes:
    """The record beside a trace; empty if there is none that can be read. Links out of the
    repository are not followed.
    """
    path = Path(f"{trace}{JUDGEMENTS_SUFFIX}")
    if trace == STDIN or not may_be_there(path):  # most traces have none: links cost more to follow
        return b""
    try:
        return read_regular(inside(path, path.parent), MOST_BYTES)
    except (OSError, ValueError):
        return b""


def with_judgements(trace: TraceSummary, path: str) -> TraceSummary:
    """The summary of the trace at a path with what its grades rest on."""
    data = read_record_beside(path) if any(each.correctness for each in trace.runs) else b""
    if not data:
        return trace
    judgements = _judgements_in(data)
    return trace._replace(verdicts={each.run_id: judgements.on(each.run_id) for each in trace.runs})


class JudgementFiles:
    """The records beside traces, as they were when last looked at. Threads may share it."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._nothing: tuple[object, Judgements] = None, _judgements_in(b"")
        self._known: dict[str, tuple[object, Judgements]] = {}

    def look(self, traces: Iterable[str]) -> bool:
        """Read what has changed beside these traces. Gives whether anything has."""
        has_changed = False
        with self._lock:
            for trace in traces:
                version = _version(trace)
                if version != self._known.get(trace, self._nothing)[0]:
                    self._known[trace] = version, read_judgements_beside(trace)
                    has_changed = True
        return has_changed

    def of(self, trace: str) -> Judgements:
        """What is known of the record beside a trace. Never waits."""
        return self._known.get(trace, self._nothing)[1]


def _version(trace: str) -> object:
    try:
        return version_of(Path(f"{trace}{JUDGEMENTS_SUFFIX}").stat())
    except (OSError, ValueError):
        return None
