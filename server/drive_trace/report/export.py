"""Runs in the formats of other viewers: spans for OpenTelemetry, and events for Perfetto.

Both are made from the same :class:`ExportedSpan` objects. Their times are the timestamps of events;
what an author claims, such as ``wall_clock_ms``, is an attribute. Nothing gets an end that no event
records.
"""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from drive_trace.report.contents import FullReport
from drive_trace.scorecard.dispatches import Event, Named, named_by
from drive_trace.scorecard.run_score import STANDINGS, RunScore
from drive_trace.text.quick import sha256_of
from drive_trace.text.wording import in_json
from drive_trace.trace.times import epoch_milliseconds
from drive_trace.vocabulary import CORRECTNESS_FIELDS, ENVELOPE, EVENTS, TOKEN_FIELDS, Entity, types

CONVENTIONS = "1.41.0"
"""The version of OpenTelemetry's semantic conventions that the ``gen_ai`` names are from."""
_KEYS: Mapping[Entity, tuple[str, ...]] = {
    Entity.RUN: ("project_run_id",),
    Entity.SLICE: ("slice_slug",),
    Entity.DISPATCH: ("dispatch_id",),
    Entity.ROUND: ("dispatch_id", "round_id"),
}
"""What has a span, from the outside in, and the fields by which events name it."""
_FAILURES = {"failed", "aborted"}
_LEAST, _MOST = -(2**63), 2**63 - 1
"""The integers that OpenTelemetry has; others become text."""

_LATEST = (2**64 - 1) // 1_000_000
"""The last millisecond since 1970 whose nanoseconds OpenTelemetry can tell, in 2554."""

Key = tuple[Entity, tuple[object, ...]]


class ExportedSpan(NamedTuple):
    """A run, slice, dispatch or round; or an event that neither starts nor ends one."""

    kind: str
    """``run``, ``slice``, ``dispatch`` or ``round``, or the type of the event."""
    name: str
    span_id: str
    """16 hexadecimal digits, the same at each export."""
    parent: str | None
    """The id of the span around it."""
    begin: int
    """Milliseconds since 1970."""
    finish: int
    start: Event | None
    """The event that starts it, or that it is."""
    end: Event | None

    @property
    def is_event(self) -> bool:
        """Whether it is one event, and takes no time."""
        return self.kind in EVENTS

    @property
    def is_open(self) -> bool:
        """Whether no event ends it. Then it reaches to the last event that names it."""
        return self.end is None and not self.is_event

    def values(self) -> dict[str, Any]:
        """The fields of its events, and behind them those of the envelope of each."""
        first = "event" if self.is_event else "start"
        both = {name: one.values for name, one in ((first, self.start), ("end", self.end)) if one}
        found = {name: one[name] for one in both.values() for name in one if name not in ENVELOPE}
        return found | {
            f"{which}.{name}": each.get(name) for which, each in both.items() for name in ENVELOPE
        }


class _Spans:
    """The spans of a run, given all its events in their order; each stands after its parent."""

    def __init__(self, run_id: str, events: Sequence[Event]) -> None:
        self.run_id = run_id
        self.moments = _moments(events)
        self.seen: Counter[tuple[str, str]] = Counter()
        self.ids: dict[Key, str] = {}
        self.found: list[ExportedSpan] = []
        slices = _slices_around(events)
        for entity, fields in _KEYS.items():
            keys = [(_key(entity, fields, event), event.name, event) for event in events]
            for key, named in named_by(entity, keys).items():
                if key is not None:
                    self._add(key, named, slices.get(id(named[0])))
        ends = {id(end) for each in self.found for end in (each.start, each.end)}
        for event in events:
            if id(event) not in ends:
                at = self.moments[id(event)]
                own, around = self._id("event", event), self._around(event)
                name = event.name
                self.found.append(ExportedSpan(name, name, own, around, at, at, event, None))

    def _add(self, key: Key, named: Named[Event], around: Key | None) -> None:
        entity, start, end = key[0], named.start, named.end
        inside: Sequence[Event] = named
        if entity is Entity.RUN:
            self.ids[key] = _digest("run", self.run_id)
            # What is recorded on the run afterwards is not part of its time.
            inside = [e for e in named if EVENTS[e.name].family is not types.Family.FEEDS] or named
        elif (own := start or end) is None:
            return
        else:
            self.ids[key] = self._id(entity, own)
        times = [self.moments[id(each)] for each in inside]
        begin = self.moments[id(start)] if start is not None else min(times)
        finish = self.moments[id(end)] if end is not None else max(times)
        parent = self.ids.get(around) if around is not None else None
        if parent is None and entity is not Entity.RUN:
            parent = self._around(inside[0], entity)
        name, finish = self._name(entity, start, key), max(begin, finish)
        span = ExportedSpan(entity, name, self.ids[key], parent, begin, finish, start, end)
        self.found.append(span)

    def _name(self, entity: Entity, start: Event | None, key: Key) -> str:
        if entity is Entity.ROUND:
            return "round" if start is None else f"round {start.number('round_number')}"
        if entity is Entity.DISPATCH and start is not None:
            return start.text("dispatch_name")
        return str(key[1][-1])

    def _around(self, event: Event, below: Entity | None = None) -> str:
        """The id of the innermost span that an event names; of those around ``below`` only."""
        found = ""
        for entity, fields in _KEYS.items():
            if entity is below:
                break
            key = _key(entity, fields, event)
            found = self.ids.get(key, found) if key is not None else found
        return found

    def _id(self, kind: str, event: Event) -> str:
        self.seen[kind, event.event_id] += 1
        nth = self.seen[kind, event.event_id]  # where events share their id
        return _digest(kind, self.run_id, event.event_id, str(nth))


def _key(entity: Entity, fields: tuple[str, ...], event: Event) -> Key | None:
    values = tuple(event.values.get(name) for name in fields)
    return None if None in values else (entity, values)


def _digest(*names: str) -> str:
    return sha256_of("\0".join(names).encode("utf-8", "surrogatepass"))[:16]


def _moments(events: Sequence[Event]) -> dict[int, int]:
    """When each event was. One whose ``ts`` cannot be read stands where the one before it does."""
    known = {id(event): _moment(event) for event in events}
    latest = next((each for each in known.values() if each is not None), 0)
    found = {}
    for key, at in known.items():
        found[key] = latest = latest if at is None else at
    return found


def _moment(event: Event) -> int | None:
    read = epoch_milliseconds(event.ts)
    return None if read is None or read > _LATEST else max(read, 0)


def _slices_around(events: Sequence[Event]) -> dict[int, Key]:
    """The slice of each event that opens a dispatch: the one that is open then, if it is one."""
    opened: dict[Key, None] = {}
    found = {}
    for event in events:
        kind = EVENTS[event.name]
        if Entity.SLICE in (kind.opens, kind.closes):
            key = (Entity.SLICE, (event.text("slice_slug"),))
            if kind.opens is Entity.SLICE:
                opened[key] = None
            else:
                opened.pop(key, None)
        elif kind.opens is Entity.DISPATCH and len(opened) == 1:
            found[id(event)] = next(iter(opened))
    return found


# OpenTelemetry


def otlp(report: FullReport, version: str) -> dict[str, object]:
    """The runs as ``TracesData`` of OpenTelemetry, in its JSON mapping: a trace a run."""
    events = report.by_run()
    return {
        "resourceSpans": [
            {
                "resource": {
                    "attributes": _attributes(
                        {
                            "service.name": "drive",
                            "drive_trace.run_id": run.run_id,
                            "drive_trace.files": [part.path for part in run.parts],
                        }
                    )
                },
                "scopeSpans": [
                    {
                        "scope": {"name": "drive-trace", "version": version},
                        "schemaUrl": f"https://opentelemetry.io/schemas/{CONVENTIONS}",
                        "spans": _otlp_spans(run, events[run.run_id], report),
                    }
                ],
            }
            for run in report.card.runs
            if run.run_id in events
        ]
    }


def _otlp_spans(
    run: RunScore, events: Sequence[Event], report: FullReport
) -> list[dict[str, object]]:
    spans = _Spans(run.run_id, events).found
    trace = sha256_of(run.run_id.encode("utf-8", "surrogatepass"))[:32]
    dispatches = {
        each.values().get("dispatch_id"): each.span_id for each in spans if each.kind == "dispatch"
    }
    found = []
    for span in spans:
        values = span.values()
        attributes = {f"drive_trace.{name}": value for name, value in values.items()}
        attributes |= {"drive_trace.unclosed": True} if span.is_open else {}
        if span.kind == Entity.RUN:
            attributes |= _verdict(run, report)
        if span.kind == Entity.DISPATCH:
            attributes["gen_ai.operation.name"] = "invoke_agent"
            attributes["gen_ai.agent.name"] = values.get("subagent_type")
            attributes["gen_ai.request.model"] = values.get("model")
        failure = values.get("result") if span.kind == Entity.DISPATCH else None
        resumed = dispatches.get(values.get("parent_dispatch_id"))
        found.append(
            {
                "traceId": trace,
                "spanId": span.span_id,
                **({} if span.parent is None else {"parentSpanId": span.parent}),
                "name": span.name,
                "kind": 1,
                "startTimeUnixNano": str(span.begin * 1_000_000),
                "endTimeUnixNano": str(span.finish * 1_000_000),
                "attributes": _attributes(attributes),
                **({"links": [{"traceId": trace, "spanId": resumed}]} if resumed else {}),
                "status": {"code": 2, "message": failure} if failure in _FAILURES else {},
            }
        )
    return found


def _verdict(run: RunScore, report: FullReport) -> dict[str, object]:
    """What the scorecard says of a run, and the lines that it does not count: the run's, and those
    of its files that may be. What is null there has no attribute, and is no score.
    """
    rejected = [f"{part.path}:{each.line}" for part in run.parts for each in part.rejected]
    paths = {part.path for part in run.parts}
    unowned = [trace for trace in report.card.traces if trace.path in paths]
    rejected += [f"{trace.path}:{each.line}" for trace in unowned for each in trace.unowned]
    grade = run.correctness.values if run.correctness is not None else {}
    tokens = run.tokens.values if run.tokens is not None else {}
    fresh, out, read, written = map(tokens.get, TOKEN_FIELDS)
    # There, the input includes what a cache was read and written for.
    whole = [each for each in (fresh, read, written) if isinstance(each, int)]
    return {
        "drive_trace.verdict": STANDINGS[run.standing],
        "drive_trace.verdict.reason": run.headline,
        "drive_trace.caveats": [each.sentence() for each in run.caveats],
        "drive_trace.rejected_lines": rejected,
        **{f"drive_trace.grade.{name}": grade.get(name) for name in CORRECTNESS_FIELDS},
        **{f"drive_trace.run.{name}": tokens.get(name) for name in TOKEN_FIELDS},
        "gen_ai.usage.input_tokens": sum(whole) if len(whole) == 3 else None,
        "gen_ai.usage.output_tokens": out,
        "gen_ai.usage.cache_read.input_tokens": read,
        "gen_ai.usage.cache_creation.input_tokens": written,
    }


def _attributes(values: Mapping[str, object]) -> list[dict[str, object]]:
    return [
        {"key": key, "value": _any_value(value)}
        for key, value in values.items()
        if value is not None and value != []
    ]


def _any_value(value: object) -> dict[str, object]:
    match value:
        case bool():
            return {"boolValue": value}
        case int() if _LEAST <= value <= _MOST:
            return {"intValue": str(value)}
        case float():
            return {"doubleValue": value}
        case list() | tuple():
            return {"arrayValue": {"values": [_any_value(each) for each in value]}}
        case Mapping():
            return {"kvlistValue": {"values": _attributes(value)}}
    return {"stringValue": str(value)}


# Chrome's trace event format

_TRACKS = {Entity.RUN: 1, Entity.SLICE: 2, Entity.DISPATCH: 3, Entity.ROUND: 3}
_EVENTS_TRACK = 4
_TRACK_NAMES = {1: "run", 2: "slices", 3: "dispatches and rounds", _EVENTS_TRACK: "events"}


def chrome_trace(report: FullReport, version: str) -> dict[str, object]:
    """The runs in Chrome's trace event format, which Perfetto, Speedscope and Firefox read: a
    process a run. A span that overlaps another one of its track, or has no end, is asynchronous.
    """
    by_run = report.by_run()
    found: list[dict[str, object]] = []
    shown = [run for run in report.card.runs if run.run_id in by_run]
    for process, run in enumerate(shown, 1):
        named: dict[str, object] = {
            "process_name": {"name": run.run_id},
            "process_labels": {"labels": run.headline},
        }
        found += [{"ph": "M", "pid": process, "name": key, "args": named[key]} for key in named]
        for track, name in _TRACK_NAMES.items():
            about = {"ph": "M", "pid": process, "tid": track, "name": "thread_name"}
            found.append({**about, "args": {"name": name}})
        spans = _Spans(run.run_id, by_run[run.run_id]).found
        found += _chrome_events(process, spans, _verdict(run, report))
    return {
        "traceEvents": found,
        "displayTimeUnit": "ms",
        "otherData": {"tool": f"drive-trace {version}"},
    }


def _chrome_events(
    process: int, spans: Sequence[ExportedSpan], verdict: Mapping[str, object]
) -> list[dict[str, object]]:
    crossing = _crossing(spans)
    placed: list[tuple[int, int, dict[str, object]]] = []
    for span in spans:
        args = span.values()
        args |= verdict if span.kind == Entity.RUN else {}
        begin, finish = span.begin * 1000, span.finish * 1000
        entity = None if span.is_event else Entity(span.kind)
        said: dict[str, object] = {
            "name": span.name,
            "cat": span.kind,
            "pid": process,
            "tid": _TRACKS[entity] if entity is not None else _EVENTS_TRACK,
            "ts": begin,
            "args": args,
        }
        depth = [*_KEYS].index(entity) if entity is not None else len(_KEYS)
        if entity is None:
            placed.append((begin, depth, {**said, "ph": "i", "s": "t"}))
        elif span.span_id not in crossing:
            placed.append((begin, depth, {**said, "ph": "X", "dur": finish - begin}))
        else:
            own = crossing[span.span_id]
            said |= {"cat": "dispatch" if entity is Entity.ROUND else entity, "id": own}
            placed.append((begin, depth, {**said, "ph": "b"}))
            if not span.is_open:
                # No end stands before its beginning, also where both have one timestamp.
                end = max(finish, begin + 1)
                placed.append((end, -depth, {**said, "ph": "e", "ts": end, "args": {}}))
    return [event for *_, event in sorted(placed, key=lambda each: each[:2])]


def _crossing(spans: Sequence[ExportedSpan]) -> dict[str, str]:
    """The spans that cannot be stacked on their track, and the ids of what they are nested in."""
    found: dict[str, str] = {}
    around = {span.span_id: span for span in spans}
    siblings: dict[tuple[str, str | None], list[ExportedSpan]] = {}
    for span in spans:
        if not span.is_event:
            parent = span.parent if span.kind == Entity.ROUND else None
            siblings.setdefault((span.kind, parent), []).append(span)
    for (_, parent), group in siblings.items():
        latest: ExportedSpan | None = None
        for span in sorted(group, key=lambda each: each.begin):
            if latest is not None and span.begin < latest.finish:
                found |= {each.span_id: each.span_id for each in (latest, span)}
            if latest is None or span.finish > latest.finish:
                latest = span
        outer = around.get(parent) if parent is not None else None
        for span in group:
            is_inside = outer is None or outer.begin <= span.begin <= span.finish <= outer.finish
            if span.is_open or not is_inside:
                found[span.span_id] = span.span_id
            elif outer is not None and outer.span_id in found:
                found.setdefault(span.span_id, outer.span_id)
    return found


WRITERS = {"otlp": otlp, "perfetto": chrome_trace}
"""By the names of the formats."""


def exported(report: FullReport, target: str, version: str) -> str:
    """The runs as JSON text; ``target`` is one of :data:`WRITERS`."""
    text = json.dumps(WRITERS[target](report, version), ensure_ascii=False)
    # Other tools refuse halves of characters, which a trace may hold.
    return f"{in_json(text.encode('utf-16', 'surrogatepass').decode('utf-16', 'replace'))}\n"
