"""Dispatches and their rounds in time: by the clock, and as the author claims."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

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
class _Round:
    start: Event | None = None
    end: Event | None = None


@dataclass
class _Dispatch(_Round):
    round_starts: int = 0
    rounds: dict[str, _Round] = field(default_factory=dict)


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
    """The events that neither start nor end a dispatch or round."""
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
        result=end.text("result") if end else None,
        round_starts=dispatch.round_starts,
        rounds=tuple(_round_span(key, each) for key, each in dispatch.rounds.items()),
        **_times(dispatch),
    )


def _round_span(round_id: str, each: _Round) -> RoundSpan:
    start, end = each.start, each.end
    return RoundSpan(
        round_id,
        number=start.number("round_number") if start else None,
        verdict=end.text("verdict") if end else None,
        findings=end.number("findings_filed") if end else None,
        **_times(each),
    )


def _times(span: _Round) -> dict[str, Any]:
    """What dispatches and rounds have in common."""
    start, end = span.start, span.end
    return {
        "started": start.ts if start else None,
        "ended": end.ts if end else None,
        "claimed_ms": end.number("wall_clock_ms") if end else None,
        "start_line": start.line if start else None,
        "end_line": end.line if end else None,
    }


def to_json(runs: Timelines) -> dict[str, object]:
    """Every dispatch and round of every run."""
    return {run_id: [_dispatch_json(each) for each in spans] for run_id, spans in runs.items()}


def _span_json(span: DispatchSpan | RoundSpan) -> dict[str, object]:
    # Line numbers say nothing where a report is on several traces.
    facts = {key: each for key, each in span._asdict().items() if not key.endswith("_line")}
    return {**facts, "claimed_ms": as_double(span.claimed_ms), "clock_ms": span.clock_ms}


def _dispatch_json(dispatch: DispatchSpan) -> dict[str, object]:
    rounds = [
        {
            **_span_json(each),
            "number": as_double(each.number),
            "findings": as_double(each.findings),
        }
        for each in dispatch.rounds
    ]
    return {**_span_json(dispatch), "rounds": rounds}
