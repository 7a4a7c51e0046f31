"""Defects, one a line, of five kinds in equal parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

Event = dict[str, Any]

_KINDS = ("unknown-value", "wrong-type", "missing-field", "undeclared-field", "invalid-json")
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
ENVELOPE = {
    "event_id",
    "event_type",
    "schema_version",
    "ts",
    "project_run_id",
    "orchestrator_agent_id",
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
            lines.append(_spoil(event, rng) if place in chosen else orjson.dumps(event))
    return lines


def _spoil(event: Event, rng: random.Random) -> bytes:
    """The event's line with one defect, or without one sign that JSON needs."""
    kind = rng.choice(_KINDS)
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
