"""What the scorecard needs to know of a trace: the scores of its runs, each as if it stood in this
file alone, and what concerns the runs of other files.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from drive_trace.scorecard.copies import event_hashes
from drive_trace.scorecard.run_lines import TraceLines
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import score_run
from drive_trace.scorecard.uncounted import (
    MOST_STRAYS,
    Rejected,
    StrayGrade,
    UnknownEvent,
    rejected_lines,
)
from drive_trace.trace.index import Index
from drive_trace.trace.times import sortable
from drive_trace.vocabulary import GRADE

if TYPE_CHECKING:  # most traces are scored without
    from drive_trace.grading.judgements import Verdicts
else:
    Verdicts: TypeAlias = Any


class TraceSummary(NamedTuple):
    """A trace in short."""

    path: str
    runs: tuple[RunScore, ...] = ()
    """Every run that a line names, in the order of their first lines: those with valid events
    before those of which readers count no line.
    """
    unowned: tuple[Rejected, ...] = ()
    """Rejected lines from which no run can be read."""
    unknown: tuple[UnknownEvent, ...] = ()
    """All lines of unknown types, in their order."""
    strays: tuple[StrayGrade, ...] = ()
    """The latest of the lines that may grade any run."""
    is_illegible: bool = False
    """See :attr:`Index.is_illegible`."""
    verdicts: Mapping[str, Verdicts] = {}
    """By run the recorded ones on its intent, as they stand beside the trace."""
    hashes: Mapping[str, bytes] = {}
    """By run those of its events, where the lines are not at hand."""
    lines: Index | None = None
    """The lines, where they are at hand. A run in several files is judged by them."""

    @property
    def unknown_lines(self) -> tuple[int, ...]:
        """Their numbers, from 1."""
        return tuple(each.line for each in self.unknown)

    @property
    def lookalikes(self) -> tuple[UnknownEvent, ...]:
        """Those of them that look like a feed's."""
        return tuple(each for each in self.unknown if each.meant is not None)


def summarize(index: Index, path: str = "") -> TraceSummary:
    """Sum a trace up; ``path`` is how it is called in what is shown."""
    lines = TraceLines(index, path)
    ids = [*(run.run_id for run in index.runs_in_order), *index.uncounted]
    return TraceSummary(
        path,
        tuple(run for run_id in ids if (run := score_run(run_id, [lines])) is not None),
        rejected_lines(index.rejected.get(None, ())),
        lines.unknown,
        stray_grades(lines),
        index.is_illegible,
        lines=index,
    )


def with_hashes(trace: TraceSummary) -> TraceSummary:
    """A trace by whose events copies in other runs are known."""
    return trace if trace.lines is None else trace._replace(hashes=event_hashes(trace.lines))


def without_lines(trace: TraceSummary) -> TraceSummary:
    """What is kept of a trace when its lines are let go of."""
    return with_hashes(trace)._replace(lines=None)


def stray_grades(lines: TraceLines) -> tuple[StrayGrade, ...]:
    """The latest of the lines of a trace that may grade any run."""
    rejected = rejected_lines(lines.index.rejected.get(None, ()))
    found = [
        StrayGrade(lines.path, each.line, each.ts, each.is_alike)
        for each in rejected
        if each.feed == GRADE
    ]
    found += [
        StrayGrade(lines.path, each.line, each.ts, is_alike=True)
        for each in lines.unknown
        if each.run_id is None and each.meant == GRADE
    ]
    # What has no moment may be later than all.
    found.sort(key=lambda each: (each.ts is not None and sortable(each.ts)) or "~")
    return tuple(found[-MOST_STRAYS:])
