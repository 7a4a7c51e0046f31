"""Dispatches and their rounds in time: what the clock says, beside what the author claimed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from drive_trace.report.event_log import Event, EventLog
from drive_trace.scorecard.card import as_double
from drive_trace.trace.times import milliseconds_between


class RoundSpan(NamedTuple):
    """One round. None is *not recorded*."""

    round_id: str
    number: int | None
    started: str | None
    ended: str | None
    claimed_ms: int | None
    """The ``wall_clock_ms`` that its end asserts."""
    verdict: str | None
    findings: int | None
    start_line: int | None
    """From 1, in the trace that it was started in."""
    end_line: int | None

    @property
    def clock_ms(self) -> int | None:
        """From its start to its end, by their timestamps."""
        return milliseconds_between(self.started, self.ended)


class DispatchSpan(NamedTuple):
    """One dispatch of a run. None is *not recorded*."""

    dispatch_id: str
    name: str | None
    model: str | None
    started: str | None
    ended: str | None
    claimed_ms: int | None
    """The ``wall_clock_ms`` that its last end asserts."""
    result: str | None
    round_starts: int
    """How often a round was started in it: its rework."""
    rounds: tuple[RoundSpan, ...]
    start_line: int | None
    """From 1, in the trace that it was started in."""
    end_line: int | None

    @property
    def clock_ms(self) -> int | None:
        """From its start to its end, by their timestamps."""
        return milliseconds_between(self.started, self.ended)


Timelines = Mapping[str, Sequence[DispatchSpan]]
"""The dispatches of each run, in order of first mention."""


@dataclass
class _Dispatch:
    start: Event | None = None
    end: Event | None = None
    round_starts: int = 0
    rounds: dict[str, _Round] = field(default_factory=dict)


@dataclass
class _Round:
    start: Event | None = None
    end: Event | None = None


_SPANNING = ("dispatch-start", "dispatch-end", "round-start", "round-end")


def timelines(log: EventLog) -> Timelines:
    """Group the events of the build loop. A start counts once, the first; an end, the last."""
    runs: dict[str, dict[str, _Dispatch]] = {}
    for event in log.of(*_SPANNING):
        dispatches = runs.setdefault(event.run_id, {})
        _take_in(dispatches.setdefault(event.text("dispatch_id"), _Dispatch()), event)
    return {
        run_id: tuple(_span(key, dispatch) for key, dispatch in dispatches.items())
        for run_id, dispatches in runs.items()
    }


def marks(log: EventLog) -> list[Event]:
    """The events that are no start or end of a span: moments on the line of time."""
    return [event for event in log if event.name not in _SPANNING]


def _take_in(dispatch: _Dispatch, event: Event) -> None:
    if event.name == "dispatch-start":
        dispatch.start = dispatch.start or event
    elif event.name == "dispatch-end":
        dispatch.end = event
    else:
        span = dispatch.rounds.setdefault(event.text("round_id"), _Round())
        if event.name == "round-start":
            dispatch.round_starts += 1
            span.start = span.start or event
        else:
            span.end = event


def _span(dispatch_id: str, dispatch: _Dispatch) -> DispatchSpan:
    start, end = dispatch.start, dispatch.end
    model = start.values["model"] if start else None
    return DispatchSpan(
        dispatch_id,
        name=start.text("dispatch_name") if start else None,
        model=None if model is None else str(model),
        started=start.ts if start else None,
        ended=end.ts if end else None,
        claimed_ms=end.number("wall_clock_ms") if end else None,
        result=end.text("result") if end else None,
        round_starts=dispatch.round_starts,
        rounds=tuple(_round_span(key, each) for key, each in dispatch.rounds.items()),
        start_line=start.line if start else None,
        end_line=end.line if end else None,
    )


def _round_span(round_id: str, each: _Round) -> RoundSpan:
    start, end = each.start, each.end
    return RoundSpan(
        round_id,
        number=start.number("round_number") if start else None,
        started=start.ts if start else None,
        ended=end.ts if end else None,
        claimed_ms=end.number("wall_clock_ms") if end else None,
        verdict=end.text("verdict") if end else None,
        findings=end.number("findings_filed") if end else None,
        start_line=start.line if start else None,
        end_line=end.line if end else None,
    )


def to_json(runs: Timelines) -> dict[str, object]:
    """Every dispatch and round of every run."""
    return {run_id: [_dispatch_json(each) for each in spans] for run_id, spans in runs.items()}


_LINES = ("start_line", "end_line")
"""Say nothing where a report is on several traces."""


def _without_lines(span: DispatchSpan | RoundSpan) -> dict[str, object]:
    return {name: value for name, value in span._asdict().items() if name not in _LINES}


def _dispatch_json(dispatch: DispatchSpan) -> dict[str, object]:
    return {
        **_without_lines(dispatch),
        "claimed_ms": as_double(dispatch.claimed_ms),
        "clock_ms": dispatch.clock_ms,
        "rounds": [
            {
                **_without_lines(each),
                "number": as_double(each.number),
                "claimed_ms": as_double(each.claimed_ms),
                "findings": as_double(each.findings),
                "clock_ms": each.clock_ms,
            }
            for each in dispatch.rounds
        ],
    }
