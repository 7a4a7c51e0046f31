"""Finds what is sorted in texts that people hand over: paragraphs, and an operator's turns."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from drive_trace.grading.classes import Item

_LONGEST_PART = 2_000
"""Characters of a call of a tool, or its result, that are shown."""


def items_of(records: Iterable[str]) -> list[Item]:
    """Each paragraph of a text; where there is only one, each of its lines."""
    said = groupby(enumerate(records, 1), key=lambda line: bool(line[1].strip()))
    parts = [list(group) for is_text, group in said if is_text]
    if len(parts) == 1:
        parts = [[line] for line in parts[0]]
    return [Item(part[0][0], "\n".join(line for _, line in part).strip()) for part in parts]


def operator_turns_of(records: Iterable[str]) -> list[Item]:
    """The operator's turns in a transcript of an agent's session, each with what the assistant
    said and did since the one before. A turn is a JSON object with a ``role``, and a ``content``
    that is a string or a list of parts. What is no turn is passed over, as is a turn of the user
    without text: tools reply in those.
    """
    items: list[Item] = []
    before: list[str] = []
    for line, record in enumerate(records, 1):
        try:
            role, parts = _turn(json.loads(record))
            said = [text for part in parts if (text := _text(part))]
            shown = [_text(part) or json.dumps(part)[:_LONGEST_PART] for part in parts]
        except (ValueError, RecursionError):
            continue
        if role == "user" and said:
            items.append(Item(line, _writable("\n\n".join(said)), "\n\n".join(before)))
            before = []
        elif role == "assistant":
            before += map(_writable, shown)
    return items


def _turn(value: Any) -> tuple[object, list[Any]]:
    """Who speaks, and the parts of what they say; nobody and nothing where it is no turn."""
    turn = value if isinstance(value, dict) else {}
    message = turn.get("message", turn)
    if not isinstance(message, dict):
        return None, []
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return turn.get("role") or message.get("role"), parts if isinstance(parts, list) else []


def _text(part: Any) -> str | None:
    """What a part says; None where it is a call of a tool, a picture or the like."""
    is_text = isinstance(part, dict) and part.get("type") == "text"
    text = part.get("text") if is_text else None
    return text.strip() if isinstance(text, str) else None


def _writable(text: str) -> str:
    """Text as it can be sent: half of a pair of surrogates cannot."""
    return text.encode("utf-8", "replace").decode()
