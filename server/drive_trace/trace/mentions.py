"""By which fields lines belong together, and what a line names that cannot be read as an event."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from drive_trace.trace.line import OddLine
from drive_trace.vocabulary import EVENTS, LIFETIMES


def mentioned(line: OddLine) -> Sequence[tuple[str, str]]:
    """What a line names, read from its text alone, whatever else is wrong with it."""
    text, found = line.text, list[tuple[str, str]]()
    for field, key in _KEYS.get(line.event_name or "", _ALL_KEYS):
        at = text.find(key)
        while at >= 0:
            start = at + len(key)
            value = _string_after(text, start)
            if value is not None and (field, value) not in found:
                found.append((field, value))
            at = text.find(key, start)
    return found


def _string_after(text: str, key_end: int) -> str | None:
    if text.startswith(':"', key_end):
        start = key_end + 2
        value = text[start : text.find('"', start)]
        if "\\" not in value:
            return value
    match = _VALUE.match(text, key_end)
    try:
        return str(json.loads(match[1])) if match is not None else None
    except ValueError:
        return None


def _grouped() -> Iterator[tuple[str, tuple[bool, tuple[str, ...]]]]:
    for lifetime in LIFETIMES.values():
        yield lifetime.field, (True, lifetime.members)
    for field in ("spec_path", "plan_path"):
        names = tuple(name for name, event in EVENTS.items() if field in event.fields)
        yield field, (False, names)


GROUPED: Mapping[str, tuple[bool, tuple[str, ...]]] = dict(_grouped())
"""By each field that says what lines belong to: whether that is within a run, and its events."""

_ALL_KEYS = tuple((field, f'"{field}"') for field in GROUPED)
_KEYS = {
    name: tuple((field, key) for field, key in _ALL_KEYS if field in event.fields)
    for name, event in EVENTS.items()
}
_VALUE = re.compile(r'[ \t]*:[ \t]*("(?:[^"\\]|\\.)*")')
