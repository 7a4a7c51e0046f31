"""What an agent's transcript tells of a run that nobody traced.

A transcript has one turn a line. What is told, and how sure it is, are those of the reference's
parser, key for key: times and counts are null, as a transcript does not tell them. So readers of
traces reject these events, and they have no place in one.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from drive_trace.vocabulary import ENVELOPE, EVENTS

RUN_ID = "post-hoc"
_DISPATCHES = ("Task", "Agent")
"""Tools that start a subagent."""
_WRITERS = ("Write", "StrReplace", "Edit", "MultiEdit")
"""Tools that write a file."""
_PATHS = ("path", "file_path")
_NO_TIMES = "ts unavailable from transcript — all reconstructed events have ts: null"
_NO_SIGNAL = "no Drive dispatch/authoring signal detected"


class Reconstructed(NamedTuple):
    """An event that a transcript tells of."""

    event: Mapping[str, object]
    confidence: str
    """high, medium or low."""
    origin: str = RUN_ID


class Reconstruction(NamedTuple):
    """What a transcript tells. All texts are untrusted."""

    events: Sequence[Reconstructed]
    operator_turns: int
    """Turns of a person."""
    notes: Sequence[str]


class _Turn(NamedTuple):
    is_operators: bool
    items: Sequence[Mapping[str, Any]]
    """The texts and calls of tools."""


def reconstruct(text: str, source: str) -> Reconstruction:
    """Read a transcript. ``source`` is what notes call it. Never raises."""
    events: list[Reconstructed] = []
    notes = [_NO_TIMES]
    operator_turns = index = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            value = json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            notes.append(f"{source}: unparseable line (skipped)")
            continue
        turn = _turn(value)
        if turn is not None:
            operator_turns += turn.is_operators
            events += _events(turn, index)
        index += 1
    if not events:
        notes.append(_NO_SIGNAL)
    return Reconstruction(events, operator_turns, notes)


def _turn(value: object) -> _Turn | None:
    """The turn of a line; None for what is none."""
    if not isinstance(value, dict) or not isinstance(value.get("message"), dict):
        return None
    content = value["message"].get("content")
    role = value.get("role")
    of_claude_code = role is None and value.get("type") == value["message"].get("role")
    if of_claude_code:
        role = value.get("type")
        if isinstance(content, str):
            content = [{"type": "text", "text": content}]
    if role not in {"user", "assistant"} or not isinstance(content, list):
        return None
    items = [each for each in content if _is_item(each)]
    if role == "user" and of_claude_code:
        # It logs the results of tools, and its own remarks, as a user's turns, too.
        is_own = any(value.get(key) for key in ("isMeta", "isSidechain", "isCompactSummary"))
        return _Turn(bool(items) and not is_own, ())
    return _Turn(role == "user", items if role == "assistant" else ())


def _is_item(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") == "text":
        return isinstance(value.get("text"), str)
    is_call = value.get("type") == "tool_use" and isinstance(value.get("name"), str)
    return is_call and isinstance(value.get("input"), dict)


def _events(turn: _Turn, index: int) -> Iterator[Reconstructed]:
    for number, item in enumerate(turn.items):
        if item["type"] != "tool_use":
            continue
        id_ = f"posthoc-t{index}-i{number}"
        called, given = item["name"], item["input"]
        if called in _DISPATCHES:
            known = {
                "dispatch_id": id_,
                "dispatch_name": _text(given, "description"),
                "subagent_type": _text(given, "subagent_type"),
                "model": _text(given, "model"),
            }
            yield Reconstructed(_event("dispatch-start", id_, known), "medium")
        path = _text(given, *_PATHS) if called in _WRITERS else None
        for what in ("spec", "plan") if path is not None else ():
            if path is not None and path.endswith(f"{what}.md"):
                kind = "slice" if "slices/" in path else "project"
                known = {f"{what}_path": path, f"{what}_kind": kind}
                yield Reconstructed(_event(f"{what}-authored", id_, known), "low")


def _event(name: str, id_: str, known: Mapping[str, object]) -> dict[str, object]:
    """An event with what is known, and null for all else."""
    event: dict[str, object] = {"event_type": name, "event_id": id_, "schema_version": "1"}
    event |= {"ts": None, "project_run_id": RUN_ID, "orchestrator_agent_id": None}
    fields = (field for field in EVENTS[name].fields if field not in ENVELOPE)
    return {**event, **dict.fromkeys(fields), **known}


def _text(given: Mapping[str, object], *names: str) -> str | None:
    return next((value for name in names if isinstance(value := given.get(name), str)), None)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
