"""``driveTrace/timeline``: the dispatches and rounds of a run in time, for views that draw them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from drive_trace.report.event_log import Event, EventLog, TraceLog
from drive_trace.report.timeline import DispatchSpan, RoundSpan, marks, timelines
from drive_trace.scorecard.card import as_double
from drive_trace.scorecard.summary import TraceSummary
from drive_trace.text.escaping import plain
from drive_trace.trace.times import epoch_milliseconds
from drive_trace.vocabulary import EVENTS

_MOST = 80
"""Characters of a name or an id."""

LineOf = Callable[[int], int]
"""A record's line in the protocol, from 0, by its number from 1."""


def timeline_json(run_id: str, events: Sequence[Event], line_of: LineOf) -> dict[str, object]:
    """The lanes of one run, one for each dispatch with its rounds, and all other events.

    Moments are milliseconds since 1970, null if a timestamp is missing or invalid. Durations are
    milliseconds, ``claimed`` by the author and by the ``clock``, which is the timestamps. The run
    lasts as long as somebody worked on it: a grade months later would make everything else tiny.
    """
    log = EventLog([TraceLog(TraceSummary("", (), (), ()), tuple(events), ())])
    spans = timelines(log).get(run_id, ())
    others = marks(log)
    work = [event.ts for event in others if not EVENTS[event.name].is_feed]
    moments = list(_moments([*work, *_timestamps(spans)]))
    return {
        "runId": run_id,
        "start": min(moments, default=None),
        "end": max(moments, default=None),
        "lanes": [_lane(span, line_of) for span in spans],
        "marks": [_mark(event, line_of) for event in others],
    }


def _timestamps(spans: Sequence[DispatchSpan]) -> Iterator[str | None]:
    every: Iterator[DispatchSpan | RoundSpan] = chain(spans, *(each.rounds for each in spans))
    for span in every:
        yield from (span.started, span.ended)


def _moments(timestamps: Iterable[str | None]) -> Iterator[int]:
    return (at for ts in timestamps if (at := epoch_milliseconds(ts)) is not None)


def _mark(event: Event, line_of: LineOf) -> dict[str, object]:
    at = epoch_milliseconds(event.ts)
    return {"type": event.name, "at": at, "line": line_of(event.line)}


def _lane(span: DispatchSpan, line_of: LineOf) -> dict[str, object]:
    return {
        "id": plain(span.dispatch_id, _MOST),
        "name": plain(span.name, _MOST) if span.name is not None else None,
        "model": plain(span.model, _MOST) if span.model is not None else None,
        "outcome": span.result,
        "roundStarts": span.round_starts,
        **_times(span, line_of),
        "rounds": [_round(each, line_of) for each in span.rounds],
    }


def _round(span: RoundSpan, line_of: LineOf) -> dict[str, object]:
    return {
        "number": as_double(span.number),
        "outcome": span.verdict,
        "findings": as_double(span.findings),
        **_times(span, line_of),
    }


def _times(span: DispatchSpan | RoundSpan, line_of: LineOf) -> dict[str, object]:
    return {
        "start": epoch_milliseconds(span.started),
        "end": epoch_milliseconds(span.ended),
        "claimed": as_double(span.claimed_ms),
        "clock": span.clock_ms,
        "startLine": line_of(span.start_line) if span.start_line is not None else None,
        "endLine": line_of(span.end_line) if span.end_line is not None else None,
    }
