"""Finds what is sorted in texts that people hand over: paragraphs, and an operator's turns."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any

from drive_trace.grading.classes import Item

_LONGEST_PART = 2_000
"""Characters of a call of a tool, or its result, that are shown."""


def items_of(text: str) -> list[Item]:
    """Each paragraph of a text; where there is only one, each of its lines."""
    lines = enumerate(text.removeprefix("\ufeff").split("\n"), 1)
    said = groupby(lines, key=lambda line: bool(line[1].strip()))
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
        role, parts = _turn(record)
        said = "\n\n".join(each["text"] for each in parts if _is_text(each)).strip()
        if role == "user" and said:
            items.append(Item(line, said, "\n\n".join(before)))
            before = []
        elif role == "assistant":
            before += _shown(parts)
    return items


def _turn(record: str) -> tuple[str | None, list[Any]]:
    """Who speaks, and the parts of what they say; nobody and nothing where it is no turn."""
    try:
        turn = json.loads(record)
        message = turn.get("message", turn)
        role, content = turn.get("role") or message.get("role"), message.get("content")
    except (ValueError, RecursionError, AttributeError):
        return None, []
    if isinstance(content, str):
        return role, [{"type": "text", "text": content}]
    return role, content if isinstance(content, list) else []


def _is_text(part: Any) -> bool:
    return isinstance(part, dict) and part.get("type") == "text" and isinstance(part["text"], str)


def _shown(parts: Iterable[Any]) -> Iterator[str]:
    for part in parts:
        yield part["text"] if _is_text(part) else json.dumps(part)[:_LONGEST_PART]
