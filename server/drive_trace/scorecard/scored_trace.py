"""A trace that is read only for its score. That is fast, as no rule runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial

from drive_trace.json_text.lexemes import strings_named
from drive_trace.scorecard.feed_state import FeedState, feed_state
from drive_trace.scorecard.run_lines import TraceLines
from drive_trace.scorecard.run_score import RunScore
from drive_trace.scorecard.scoring import TraceSummary, among, score_run, stray_grades, summarize
from drive_trace.trace.document import Document, Point
from drive_trace.trace.index import Index
from drive_trace.trace.line import LineStatus
from drive_trace.trace.reading import read_lines
from drive_trace.trace.references import runs_named
from drive_trace.trace.times import moment, sortable
from drive_trace.vocabulary import EventType


class ScoredTrace:
    """What the scorecard needs of a trace. Events can be appended to it."""

    def __init__(self, records: Sequence[str], path: str = "") -> None:
        """Read the records, given without their newlines; ``path`` is shown in messages."""
        self.document = Document(records, partial(read_lines, only_score=True))
        self.index = Index(self.document.lines)
        self.path = path

    @property
    def lines(self) -> TraceLines:
        """Its lines by run."""
        return TraceLines(self.index, self.path)

    def summary(self) -> TraceSummary:
        """The whole trace in short."""
        return summarize(self.index, self.path)

    def feed_state(self, feed: EventType, run_id: str) -> FeedState:
        """What the trace says of a run's feed."""
        return feed_state(self.index, feed, run_id)

    def append(self, record: str) -> None:
        """Take in an event that was appended, on a line of its own."""
        last = len(self.document.lines) - 1
        text = self.document.lines[last].text
        end = Point(last, len(text))
        splice = self.document.splice(end, end, f"{chr(10) if text else ''}{record}\n")
        named = self.index.remove(self.document.lines[splice.first : splice.stop])
        self.index.renew(named | self.index.add(self.document.apply(splice)))


UNTIMED = datetime.max.replace(tzinfo=UTC)
"""Stands for a moment that nobody knows."""


def last_work(traces: Iterable[ScoredTrace], run_id: str) -> datetime | None:
    """When a run was worked on last; None where it was not. What readers do not count may be work,
    unless it names other runs alone. What has no time is no later than the run's next line that has
    one, and UNTIMED where there is none.
    """
    found: list[datetime] = []
    for trace in traces:
        is_open = False
        for line in trace.document.lines:
            if line.event is not None:
                is_of_run, stamps = line.run == run_id, [line.text_fact("ts")]
            else:
                is_of_run = run_id in line.text or runs_named(line) <= {run_id}
                stamps = [value for value, _ in strings_named(line.text, "ts")]
            if line.status is LineStatus.BLANK or not is_of_run:
                continue
            is_open |= line.event is None or line.event.is_work
            moments = [at for each in stamps if sortable(each) and (at := moment(each))]
            found += moments if is_open else ()
            is_open &= not moments
        found += [UNTIMED] if is_open else ()
    return max(found, default=None)


def score_joined(traces: Sequence[ScoredTrace], run_id: str) -> RunScore | None:
    """One run over several traces; None where none has a line of it."""
    files = [trace.lines for trace in traces]
    run = score_run(run_id, files)
    strays = [each for lines in files for each in stray_grades(lines)]
    return among(run, (), strays) if run is not None else None
