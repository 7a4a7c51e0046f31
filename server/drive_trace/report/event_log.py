"""The valid events of one or several traces: in order, by dispatch and round, and in words."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from heapq import merge
from typing import NamedTuple

from drive_trace.scorecard import measures, scoring
from drive_trace.scorecard.dispatches import (
    SPANNING,
    DispatchSpan,
    Event,
    Period,
    dispatches_of,
    events_of,
)
from drive_trace.scorecard.run_score import RunScore
from drive_trace.text.wording import HUGE, compact, short_time
from drive_trace.trace import joined, times
from drive_trace.trace.line import Line
from drive_trace.trace.provenance import ProvenanceRecord
from drive_trace.vocabulary import ENVELOPE, EVENTS, FieldType, types


class TraceLog(NamedTuple):
    """One trace: its valid events in order, and the numbers of its other lines."""

    summary: scoring.TraceSummary
    events: tuple[Event, ...]
    invalid_lines: tuple[int, ...]
    """From 1."""
    records: Sequence[str] = ()
    """Its lines as they stand there, where somebody may look at them."""

    @property
    def path(self) -> str:
        """The name of the trace in what is shown."""
        return self.summary.path


def log_of(
    summary: scoring.TraceSummary, lines: Sequence[Line], records: Sequence[str]
) -> TraceLog:
    """What a report needs of a trace: its summary and every valid event, whole."""
    invalid = tuple(n for n, line in enumerate(lines, 1) if line.is_rejected)
    record = summary.lines.provenance if summary.lines is not None else None
    return TraceLog(summary, events_of(lines, None, summary.path, record), invalid, records)


def read_log(
    records: Sequence[str], path: str = "", provenance: ProvenanceRecord | None = None
) -> TraceLog:
    """The same of a trace that is given as its records without their newlines."""
    trace = scoring.ScoredTrace(records, path, provenance)
    return log_of(trace.summary(), trace.document.lines, records)


def _counted_once(traces: Sequence[TraceLog], runs: Sequence[RunScore]) -> Iterator[list[Event]]:
    """The events of each trace, without those that are copies."""
    # In the order of the traces, as the texts of two may be named alike.
    parts = {run.run_id: iter(run.parts) for run in runs}
    for trace in traces:
        own = (next(parts.get(run.run_id, iter(())), None) for run in trace.summary.runs)
        copied = {line for part in own if part is not None for line in part.copied}
        yield [event for event in trace.events if event.line not in copied]


def _by_moment(file: int, events: Iterable[Event]) -> Iterator[tuple[str, int, int, Event]]:
    """Events with what they are joined by: as in :mod:`drive_trace.trace.joined`, position outranks
    a ``ts`` that goes back, or cannot be read.
    """
    latest = ""
    for number, event in enumerate(events):
        latest = max(latest, times.sortable(event.ts) or "")
        yield latest, file, number, event


class EventLog:
    """The events of all traces, in the order of their runs: those of traces that share runs stand
    by ``ts``, within a trace by position; other traces follow one another in the order given.

    Metrics and assertions of a single trace are defined over its events in file order. Several
    traces are read as if they were one file, in which each event counts once: what is a copy, the
    scores of their runs say.
    """

    def __init__(self, traces: Sequence[TraceLog], runs: Sequence[RunScore] = ()) -> None:
        own = list(_counted_once(traces, runs))
        groups = joined.sharing([{run.run_id for run in each.summary.runs} for each in traces])
        self.events = tuple(
            event
            for group in groups
            for *_, event in merge(*(_by_moment(file, own[file]) for file in group))
        )
        self._by_name: dict[str, list[Event]] = {}
        for event in self.events:
            self._by_name.setdefault(event.name, []).append(event)

    def of(self, *names: str) -> Sequence[Event]:
        """The events of these names, in order."""
        if len(names) == 1:
            return self._by_name.get(names[0], [])
        return [event for event in self.events if event.name in names]


Timelines = Mapping[str, Sequence[DispatchSpan]]
"""The dispatches of each run, in order of first mention."""


def by_run(events: Iterable[Event]) -> dict[str, list[Event]]:
    """The events of each run, in order."""
    found: dict[str, list[Event]] = {}
    for event in events:
        found.setdefault(event.run_id, []).append(event)
    return found


def timelines(log: EventLog) -> Timelines:
    """The dispatches of each run."""
    return {run_id: dispatches_of(own) for run_id, own in by_run(log.of(*SPANNING)).items()}


def timelines_json(runs: Timelines) -> dict[str, object]:
    """Every dispatch and round of every run."""
    return {run_id: [_dispatch_json(each) for each in spans] for run_id, spans in runs.items()}


def _span_json(span: Period) -> dict[str, object]:
    return {
        "started": span.started,
        "ended": span.ended,
        "claimed_ms": measures.as_double(span.claimed_ms),
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
                "number": measures.as_double(each.number),
                **_span_json(each),
                "verdict": each.said,
                "findings": measures.as_double(each.findings),
            }
            for each in dispatch.rounds
        ],
    }


# Events in words


class EventWords:
    """Words events; a dispatch and a round are called by name, as their starts say it."""

    def __init__(self, events: Iterable[Event]) -> None:
        self._names: dict[tuple[types.Entity, object], str] = {}
        for event in events:
            opened = EVENTS[event.name].opens
            if opened is types.Entity.DISPATCH:
                name = event.text("dispatch_name")
                self._names[opened, event.values["dispatch_id"]] = name
            elif opened is types.Entity.ROUND:
                name = f"round {event.number('round_number')}"
                self._names[opened, event.values["round_id"]] = name

    def of(self, event: Event) -> str:
        """``M3b.1 parser, round 2, satisfied, findings filed 0, 5m 00s``; untrusted."""
        return ", ".join(self._phrases(event))

    def _phrases(self, event: Event) -> Iterator[str]:
        fields = EVENTS[event.name].fields
        for name, value in event.values.items():
            field = fields.get(name)
            if field is None or name in ENVELOPE or value is None:
                continue
            if field.names is not None and field.names is EVENTS[event.name].opens:
                continue  # it says its own name
            phrase = self._phrase(name, field, value)
            if phrase is not None:
                yield phrase

    def _phrase(self, name: str, field: FieldType, value: object) -> str | None:
        called = name.replace("_", " ")
        if field.names in (types.Entity.DISPATCH, types.Entity.ROUND):
            known = self._names.get((field.names, value))
            return known if name in ("dispatch_id", "round_id") else None
        if isinstance(value, bool):
            return called if value else f"not {called}"
        if isinstance(value, int | float):
            if field.unit == "bytes":
                return None
            if field.unit == "milliseconds":
                return short_time(round(value))
            whole = isinstance(value, int) and abs(value) < HUGE
            return f"{called} {f'{value:,}' if whole else compact(round(value))}"
        if isinstance(value, str):
            if name.endswith(("_hash", "_id")):
                return None
            if name.endswith("_path"):
                return "/".join(value.split("/")[-2:])
            is_bare = field.is_outcome or name in ("dispatch_name", "model", "subagent_type")
            return value if is_bare or "_" not in name else f"{called} {value}"
        if isinstance(value, list):
            return f"{called}: {'; '.join(map(str, value))}"
        return None
