"""A trace in short as JSON that may be kept. Whoever reads it back believes nothing: it has the
declared types, or it is no summary.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from drive_trace.grading.judgements import Judgement
from drive_trace.scorecard.copies import HASH
from drive_trace.scorecard.run_score import Recorded, RunScore
from drive_trace.scorecard.scoring import TraceSummary
from drive_trace.scorecard.uncounted import UnknownEvent

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
    return stored._replace(summary=summary if summary.path == path else _renamed(summary, path))


def _can_be_true(trace: TraceSummary) -> bool:
    """Whether a trace is what its types cannot say: each run stands in it alone, and is judged
    without what is beside it; the hashes of events are whole.
    """
    runs = all(len(run.parts) == 1 and run.judgement is None for run in trace.runs)
    return runs and all(len(hashes) % HASH == 0 for hashes in trace.hashes.values())


def _renamed(trace: TraceSummary, path: str) -> TraceSummary:
    return trace._replace(
        path=path,
        runs=tuple(_run(run, path) for run in trace.runs),
        unknown=_unknown(trace.unknown, path),
        strays=tuple(each._replace(path=path) for each in trace.strays),
    )


def _run(run: RunScore, path: str) -> RunScore:
    (part,) = run.parts
    return run._replace(
        parts=(
            part._replace(
                path=path,
                correctness=_recorded(part.correctness, path),
                tokens=_recorded(part.tokens, path),
                unknown=_unknown(part.unknown, path),
            ),
        ),
        correctness=_recorded(run.correctness, path),
        tokens=_recorded(run.tokens, path),
        caveats=tuple(
            each._replace(lines=tuple(place._replace(path=path) for place in each.lines))
            for each in run.caveats
        ),
    )


def _recorded(event: Recorded | None, path: str) -> Recorded | None:
    return event._replace(path=path) if event is not None else None


def _unknown(lines: tuple[UnknownEvent, ...], path: str) -> tuple[UnknownEvent, ...]:
    return tuple(each._replace(path=path) for each in lines)
