"""What the score needs of a trace, as JSON that may be kept. Whoever reads it back believes
nothing: it has the declared types, or it is no summary.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from typing import Any, NamedTuple, cast

import msgspec

from drive_trace.grading.judgements import Judgement
from drive_trace.scorecard.copies import Events
from drive_trace.scorecard.provenance import Provenance
from drive_trace.scorecard.summary import Recorded, RunSummary, TraceSummary, Worked, as_it_is
from drive_trace.scorecard.uncounted import Rejected, UnknownEvent

Counts = Mapping[str, int]
FindingCounts = Mapping[str, Counts]
"""By run, how often each rule found something in a trace."""


class _Recorded(NamedTuple):
    """As :class:`Recorded`, which has its judgement only once files are joined."""

    values: dict[str, str | int | float | None]
    ts: str
    path: str
    line: int
    judgement: None = None


class _Part(NamedTuple):
    """The fields of :class:`RunSummary` in their order, with types that can be checked."""

    run_id: str
    path: str
    first_line: int
    event_count: int
    correctness: _Recorded | None
    tokens: _Recorded | None
    started: str | None
    closed: str | None
    last: str | None
    dispatch_ms: int | None
    starts: Counts
    ends: Counts
    rounds_per_dispatch: Counts
    rejected: tuple[Rejected, ...]
    worked: Worked
    events: bytes
    """Their hashes."""
    unplaced: tuple[Rejected, ...]
    unplaced_count: int
    unknown: tuple[UnknownEvent, ...]
    provenance: Provenance
    verdicts: tuple[tuple[str, tuple[Judgement, ...]], ...]
    copies: tuple[int, ...]
    newest_grade: tuple[int, str] | None


class _Stored(NamedTuple):
    path: str
    runs: tuple[_Part, ...]
    unowned: tuple[Rejected, ...]
    unknown: tuple[UnknownEvent, ...]
    is_illegible: bool
    findings: dict[str, dict[str, int]] | None
    is_clean: bool


_DECODER = msgspec.json.Decoder(_Stored)


class Stored(NamedTuple):
    """A trace's summary, with no more of its events than their hashes, and what the rules found:
    only a run in several files needs more.
    """

    summary: TraceSummary
    findings: FindingCounts | None
    """None where the rules did not run."""
    is_clean: bool = False
    """Whether they have found nothing, on lines of no run either."""


def without_events(summary: TraceSummary) -> TraceSummary:
    """A summary without what only a run in several files needs; of its events it has the hashes."""
    runs = [
        run._replace(events=Events({}, run.events.hashes()), worked=run.worked._replace(times=()))
        for run in summary.runs
    ]
    return summary._replace(runs=tuple(map(as_it_is, runs)))


def to_bytes(stored: Stored) -> bytes | None:
    """The JSON; None where some text or number does not fit, as a lone surrogate."""
    summary = without_events(stored.summary)
    try:
        return msgspec.json.encode((*summary, *stored[1:]), enc_hook=_as_bytes)
    except (OverflowError, UnicodeEncodeError):
        return None


def _as_bytes(events: Events) -> bytes:
    return events.hashes().tobytes()


def from_bytes(data: bytes, path: str) -> Stored | None:
    """What :func:`to_bytes` made, of a trace that is known by this path now; None where the data
    are anything else.
    """
    try:
        _, runs, unowned, unknown, is_illegible, findings, is_clean = _DECODER.decode(data)
        parts = tuple(_run(each, path) for each in runs)
    except (msgspec.MsgspecError, ValueError, RecursionError):
        return None
    summary = TraceSummary(path, parts, unowned, _unknown(unknown, path), is_illegible)
    return Stored(summary, findings, is_clean)


def _run(part: _Part, path: str) -> RunSummary:
    run = RunSummary(*cast("tuple[Any, ...]", part))
    grade, cost = part.correctness, part.tokens
    return run._replace(
        path=path,
        correctness=None if grade is None else Recorded(*grade._replace(path=path)),
        tokens=None if cost is None else Recorded(*cost._replace(path=path)),
        worked=part.worked._replace(times=()),
        events=Events({}, array("Q", part.events)),
        unknown=_unknown(part.unknown, path),
    )


def _unknown(lines: tuple[UnknownEvent, ...], path: str) -> tuple[UnknownEvent, ...]:
    return tuple(each._replace(path=path) for each in lines)
