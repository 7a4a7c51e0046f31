"""Dispatches and their rounds in time: by the clock, and as the author claims."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from drive_trace.report.event_log import Event, EventLog
from drive_trace.scorecard.efficiency import as_double
from drive_trace.trace.times import milliseconds_between


class Outcome(StrEnum):
    """How a dispatch or round came out, as far as somebody who looks has to tell them apart."""

    PASSED = "passed"
    FAILED = "failed"
    AGAIN = "again"
    """Findings remain, and another round has to follow."""
    HALTED = "halted"
    OPEN = "open"
    """No end is recorded."""


_OUTCOMES = {
    "completed": Outcome.PASSED,
    "failed": Outcome.FAILED,
    "aborted": Outcome.HALTED,
    "satisfied": Outcome.PASSED,
    "another-round-needed": Outcome.AGAIN,
    "escalating-to-user": Outcome.HALTED,
    "stop-condition": Outcome.HALTED,
}


@dataclass(frozen=True)
class Period:
    """Something that starts and ends. None is *not recorded*."""

    start: Event | None
    end: Event | None

    @property
    def started(self) -> str | None:
        """The timestamp of its start."""
        return self.start.ts if self.start else None

    @property
    def ended(self) -> str | None:
        """The timestamp of its end."""
        return self.end.ts if self.end else None

    @property
    def claimed_ms(self) -> int | None:
        """The ``wall_clock_ms`` that its end asserts."""
        return self.end.number("wall_clock_ms") if self.end else None

    @property
    def clock_ms(self) -> int | None:
        """From its start to its end, by their timestamps."""
        return milliseconds_between(self.started, self.ended)

    @property
    def said(self) -> str | None:
        """How it ended: the result of a dispatch, or the verdict of a round."""
        if self.end is None:
            return None
        return self.end.text("result" if self.end.name == "dispatch-end" else "verdict")

    @property
    def outcome(self) -> Outcome:
        """The same, for who draws it."""
        return _OUTCOMES[self.said] if self.said is not None else Outcome.OPEN


@dataclass(frozen=True)
class RoundSpan(Period):
    """One round."""

    round_id: str

    @property
    def number(self) -> int | None:
        """Its place in the dispatch, from 1, as its start says."""
        return self.start.number("round_number") if self.start else None

    @property
    def findings(self) -> int | None:
        """How many findings its review filed."""
        return self.end.number("findings_filed") if self.end else None


@dataclass(frozen=True)
class DispatchSpan(Period):
    """One dispatch of a run."""

    dispatch_id: str
    round_starts: int
    """How often a round was started in it: its rework."""
    rounds: tuple[RoundSpan, ...]

    @property
    def name(self) -> str | None:
        """What its start calls it."""
        return self.start.text("dispatch_name") if self.start else None

    @property
    def called(self) -> str:
        """What people call it; untrusted."""
        return self.name or self.dispatch_id

    @property
    def claims_more(self) -> bool:
        """Whether its author claims clearly more time than the clock allows: over 2 s and 2 %."""
        claimed, clock = self.claimed_ms, self.clock_ms
        if claimed is None or clock is None:
            return False
        return claimed - clock > max(2000, clock // 50)

    @property
    def model(self) -> str | None:
        """What its sub-agent ran on."""
        model = self.start.values["model"] if self.start else None
        return None if model is None else str(model)


Timelines = Mapping[str, Sequence[DispatchSpan]]
"""The dispatches of each run, in order of first mention."""


SPANNING = ("dispatch-start", "dispatch-end", "round-start", "round-end")
"""The events that start and end dispatches and rounds."""


def timelines(log: EventLog) -> Timelines:
    """Group the events of the build loop. A start counts once, the first; an end, the last."""
    runs: dict[str, dict[str, list[Event]]] = {}
    for event in log.of(*SPANNING):
        dispatches = runs.setdefault(event.run_id, {})
        dispatches.setdefault(event.text("dispatch_id"), []).append(event)
    return {
        run_id: tuple(_dispatch_span(key, events) for key, events in dispatches.items())
        for run_id, dispatches in runs.items()
    }


def _dispatch_span(dispatch_id: str, events: Sequence[Event]) -> DispatchSpan:
    rounds: dict[str, list[Event]] = {}
    for event in events:
        if event.name in {"round-start", "round-end"}:
            rounds.setdefault(event.text("round_id"), []).append(event)
    return DispatchSpan(
        *_ends(events, "dispatch-start", "dispatch-end"),
        dispatch_id,
        sum(event.name == "round-start" for event in events),
        tuple(
            RoundSpan(*_ends(inside, "round-start", "round-end"), round_id)
            for round_id, inside in rounds.items()
        ),
    )


def _ends(events: Sequence[Event], opener: str, closer: str) -> tuple[Event | None, Event | None]:
    """The first event that opens it, and the last that closes it."""
    return _first(events, opener), _first(reversed(events), closer)


def _first(events: Iterable[Event], name: str) -> Event | None:
    return next((event for event in events if event.name == name), None)


def to_json(runs: Timelines) -> dict[str, object]:
    """Every dispatch and round of every run."""
    return {run_id: [_dispatch_json(each) for each in spans] for run_id, spans in runs.items()}


def _span_json(span: Period) -> dict[str, object]:
    return {
        "started": span.started,
        "ended": span.ended,
        "claimed_ms": as_double(span.claimed_ms),
        "clock_ms": span.clock_ms,
    }


def _dispatch_json(dispatch: DispatchSpan) -> dict[str, object]:
    return {
        "dispatch_id": dispatch.dispatch_id,
        "name": dispatch.name,
        "model": dispatch.model,
        **_span_json(dispatch),
        "result": dispatch.said,
        "round_starts": dispatch.round_starts,
        "rounds": [
            {
                "round_id": each.round_id,
                "number": as_double(each.number),
                **_span_json(each),
                "verdict": each.said,
                "findings": as_double(each.findings),
            }
            for each in dispatch.rounds
        ],
    }
