"""What an agent's transcript tells: of a run that nobody traced, and what the operator said. And
what a trace tells for the same readers: what failed.

A transcript has one turn a line. What is told of a run, and how sure it is, are those of the
reference's parser, key for key: times and counts are null, as a transcript does not tell them. So
readers of traces reject these events, and they have no place in one.
"""

import json
from collections import deque
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from drive_trace.authoring.usage_shapes import DISPATCHERS
from drive_trace.grading.prompts import Item
from drive_trace.json_text import from_json, refuse_number
from drive_trace.text.wording import writable
from drive_trace.trace.line import Line
from drive_trace.vocabulary import ENVELOPE, EVENTS

RUN_ID = "post-hoc"
_WRITERS = ("Write", "StrReplace", "Edit", "MultiEdit")
"""Tools that write a file."""
_REMARKS = ("isMeta", "isSidechain", "isCompactSummary")
"""Claude Code logs its own remarks, and its subagents' turns, as turns, too."""
_LONGEST_PART = 2_000
"""Characters of a call of a tool, or its result, that are shown."""
_NO_TIMES = "ts unavailable from transcript — all reconstructed events have ts: null"
_NO_SIGNAL = "no Drive dispatch/authoring signal detected"
IN_WORDS = {
    _NO_TIMES: "the transcript has no times, so the events have none",
    _NO_SIGNAL: "nothing in it starts a dispatch, or writes a spec or a plan",
}
"""What these notes mean, which are those of the reference's parser."""


class Reconstructed(NamedTuple):
    """An event that a transcript tells of."""

    event: Mapping[str, object]
    confidence: str
    """high, medium or low."""
    origin: str = RUN_ID
    lines: Sequence[int] | None = None
    """Of the session's log, from 1; None for a transcript."""


class Reconstruction(NamedTuple):
    """What a transcript tells. All texts are untrusted."""

    events: Sequence[Reconstructed]
    operator_turns: int
    """Turns of a person."""
    notes: Sequence[str]
    turns: int = 0
    """Lines that are a turn, of a person or an agent."""


class _Turn(NamedTuple):
    role: str
    """user or assistant."""
    parts: Sequence[Any]
    """Of what they say and do."""
    is_remark: bool
    """Whether the person and the agent have no part in it."""


def reconstruct(text: str, source: str) -> Reconstruction:
    """Read a transcript. ``source`` is what notes call it. Never raises."""
    events: list[Reconstructed] = []
    notes = [_NO_TIMES]
    operator_turns = turns = index = 0
    for line in text.split("\n"):
        if not line.strip():
            continue
        try:
            value = from_json(line, parse_constant=refuse_number)
        except (ValueError, RecursionError):
            notes.append(f"{source}: unparseable line (skipped)")
            continue
        turn = _turn(value)
        turns += turn is not None
        if turn is not None and _is_told(value, turn):
            operator_turns += _is_operators(value, turn)
            events += _events(turn, index)
        index += 1
    if not events:
        notes.append(_NO_SIGNAL)
    return Reconstruction(events, operator_turns, notes, turns)


def operator_turns_of(records: Iterable[str]) -> list[Item]:
    """The operator's turns, each with what the assistant said and did since the one before. What is
    no turn is passed over, as is a turn of the user without text: tools reply in those.
    """
    items: list[Item] = []
    before: list[str] = []
    for line, record in enumerate(records, 1):
        try:
            turn = _turn(from_json(record))
            parts = turn.parts if turn is not None and not turn.is_remark else ()
            said = [text for part in parts if (text := _said(part))]
            shown = [_said(part) or json.dumps(part)[:_LONGEST_PART] for part in parts]
        except (ValueError, RecursionError):
            continue
        if turn is not None and turn.role == "assistant":
            before += map(writable, shown)
        elif said:
            items.append(Item(line, writable("\n\n".join(said)), "\n\n".join(before)))
            before = []
    return items


def is_operators_turn(value: dict[str, Any]) -> bool:
    """Whether a line of a transcript is a turn of a person, as the reference's parser counts."""
    turn = _turn(value)
    return turn is not None and _is_told(value, turn) and _is_operators(value, turn)


def _turn(value: object) -> _Turn | None:
    """The turn of a line: an object with a ``role``, and a ``content`` that is a string or a list
    of parts; or one with such a ``message``. None for what is none.
    """
    message = value.get("message", value) if isinstance(value, dict) else None
    if not isinstance(value, dict) or not isinstance(message, dict):
        return None
    role, content = value.get("role"), message.get("content")
    role = message.get("role") if role is None else role
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    if role not in ("user", "assistant") or not isinstance(parts, list):
        return None
    return _Turn(role, parts, any(value.get(key) for key in _REMARKS))


def _is_told(value: dict[str, Any], turn: _Turn) -> bool:
    """Whether the reference's parser knows a turn: it has a message, and a role beside it with a
    list of parts, or the role as its type, as Claude Code has it.
    """
    if not isinstance(value.get("message"), dict):
        return False
    if value.get("role") is None:
        return value.get("type") == turn.role
    return isinstance(value["message"].get("content"), list)


def _is_operators(value: dict[str, Any], turn: _Turn) -> bool:
    """Claude Code logs the results of tools as a user's turns, too."""
    if turn.role != "user" or value.get("role") is not None:
        return turn.role == "user"
    return any(map(_is_item, turn.parts)) and not turn.is_remark


def _said(part: Any) -> str | None:
    """What a part says; None where it is a call of a tool, a picture or the like."""
    is_text = isinstance(part, dict) and part.get("type") == "text"
    text = part.get("text") if is_text else None
    return text.strip() if isinstance(text, str) else None


def _is_item(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    if value.get("type") == "text":
        return isinstance(value.get("text"), str)
    is_call = value.get("type") == "tool_use" and isinstance(value.get("name"), str)
    return is_call and isinstance(value.get("input"), dict)


def _events(turn: _Turn, index: int) -> Iterator[Reconstructed]:
    items = filter(_is_item, turn.parts if turn.role == "assistant" else ())
    for number, item in enumerate(items):
        if item["type"] != "tool_use":
            continue
        id_ = f"posthoc-t{index}-i{number}"
        called, given = item["name"], item["input"]
        if called in DISPATCHERS:
            known = {
                "dispatch_id": id_,
                "dispatch_name": _text(given, "description"),
                "subagent_type": _text(given, "subagent_type"),
                "model": _text(given, "model"),
            }
            yield Reconstructed(_event("dispatch-start", id_, known), "medium")
        path = _text(given, "path", "file_path") if called in _WRITERS else None
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


# The failures of a run that a trace tells of: halts, and what did not come out as it should

_FAILURES: Mapping[str, tuple[str, Container[str]]] = {
    "dispatch-end": ("result", {"failed", "aborted"}),
    "round-end": ("verdict", {"another-round-needed", "escalating-to-user", "stop-condition"}),
    "slice-completed": ("result", {"abandoned"}),
}
"""By event: the field that tells a failure, and the values that do. A halt is one anyway."""
_BEFORE = 20
"""So many events of the run stand before each failure as its context."""


def failures_of(lines: Iterable[Line], run_id: str | None = None) -> list[Item] | None:
    """The halts, failed dispatches and rounds, and abandoned slices of a run, or for None of all,
    each with the events of its run before it; None where there is no event. Grades and costs are
    no part of it.
    """
    events: dict[str, deque[str]] = {}
    items = []
    for number, line in enumerate(lines, 1):
        if line.event is None or line.event.is_feed or run_id not in {None, line.run}:
            continue
        before = events.setdefault(line.run, deque(maxlen=_BEFORE))
        name = _failure(line)
        if name is not None:
            items.append(Item(number, line.text, "\n".join(before), name))
        before.append(line.text)
    return items if events else None


def _failure(line: Line) -> str | None:
    assert line.event is not None
    name = line.event.name
    if name == "falsified-assumption":
        return name
    field, values = _FAILURES.get(name, (None, ()))
    value = line.fact(field) if field is not None else None
    return f"{name}: {value}" if value in values else None
