"""Defects, one a line: half of them on the line alone, half between it and others."""

import random
from collections.abc import Sequence
from typing import Any

import orjson

from drive_trace.vocabulary import ENVELOPE

Event = dict[str, Any]

_ALONE = ("unknown-value", "wrong-type", "missing-field", "undeclared-field", "invalid-json")
_BLOCK = 100
_FEW = 0.5

# Later lines refer to these, so a defect in one of them makes findings elsewhere too.
_REFERRED_TO = {
    "brief-issued",
    "dispatch-start",
    "plan-authored",
    "project-started",
    "round-start",
    "slice-started",
    "spec-authored",
}
_UNKNOWN_VALUES = {
    "verdict": "another-round",
    "result": "done",
    "brief_disposition": "re-scoped",
    "spec_kind": "task",
    "plan_kind": "task",
    "reason": "because",
    "triggered_by": "a hunch",
    "origin": "fork",
    "dod_status": "mostly",
    "cadence": "weekly",
    "trigger_class": "mood",
    "mechanical": "passed",
    "schema_version": "2",
}


def spoil_some(events: Sequence[Event], share: float, rng: random.Random) -> list[bytes]:
    """Lines of the events, of which that share, spread evenly, has a defect.

    Few defects (less than half of the lines) only go to lines that no other line refers to, so
    that a file with one defect in a hundred lines has about one finding in a hundred lines.
    """
    lines = []
    for start in range(0, len(events), _BLOCK):
        block = events[start : start + _BLOCK]
        candidates = [
            place
            for place, event in enumerate(block)
            if share >= _FEW or event["event_type"] not in _REFERRED_TO
        ]
        wanted = min(len(candidates), round(share * len(block)))
        chosen = set(rng.sample(candidates, wanted))
        for place, event in enumerate(block):
            previous = events[start + place - 1]
            lines.append(_spoil(event, previous, rng) if place in chosen else orjson.dumps(event))
    return lines


def _spoil(event: Event, previous: Event, rng: random.Random) -> bytes:
    """The event's line with one defect."""
    if rng.random() < _FEW:
        return orjson.dumps(_contradicting(event, previous, rng))
    return _spoil_alone(event, rng)


def _contradicting(event: Event, previous: Event, rng: random.Random) -> Event:
    """A valid event that does not go with the others."""
    ways: list[Event] = [{"event_id": previous["event_id"]}, {"ts": f"2020{event['ts'][4:]}"}]
    ids = [field for field in ("dispatch_id", "round_id", "slice_slug") if field in event]
    ways += ({field: f"{event[field][:-1]}x"} for field in ids)
    if "wall_clock_ms" in event:
        claimed = event["wall_clock_ms"]
        ways += ({"wall_clock_ms": each} for each in (2 * claimed + 10_000, claimed // 3))
    if "round_number" in event:
        ways.append({"round_number": event["round_number"] + 1})
    if event.get("verdict") == "satisfied":
        ways.append({"findings_filed": 2})
    if "bytes_delta" in event:
        ways.append({"bytes_delta": event["bytes_delta"] + 7})
    if "brief_disposition" in event:
        is_first = event["brief_disposition"] == "initial"
        ways.append({"brief_disposition": "amended" if is_first else "initial"})
    return event | rng.choice(ways)


def _spoil_alone(event: Event, rng: random.Random) -> bytes:
    """The event's line with one defect of its own, or without one sign that JSON needs."""
    kind = rng.choice(_ALONE)
    payload = [field for field in event if field not in ENVELOPE]
    if kind == "invalid-json":
        line = orjson.dumps(event)
        return rng.choice((line[:-1], line[:-1] + b",}", line.replace(b":", b"", 1)))
    spoiled = dict(event)
    if kind == "unknown-value":
        field = next(field for field in _UNKNOWN_VALUES if field in event)
        spoiled[field] = _UNKNOWN_VALUES[field]
    elif kind == "wrong-type":
        field = rng.choice(payload)
        spoiled[field] = {"value": spoiled[field]}
    elif kind == "missing-field":
        del spoiled[rng.choice(payload)]
    else:
        spoiled["brief_path"] = "briefs/d1.md"
    return orjson.dumps(spoiled)
