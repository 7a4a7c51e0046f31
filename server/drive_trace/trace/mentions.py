"""By which fields lines belong together, and what a line names that cannot be read as an event."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

from drive_trace.text import Span
from drive_trace.trace.line import OddLine
from drive_trace.vocabulary import EVENTS, LIFETIMES, NAMING, Entity


def mentioned(line: OddLine) -> Sequence[tuple[str, str]]:
    """What a line names, read from its text alone, whatever else is wrong with it."""
    text, found = line.text, list[tuple[str, str]]()
    for field, key in _KEYS.get(line.event_name or "", _ALL_KEYS):
        for value, _ in _strings_behind(text, key):
            if (field, value) not in found:
                found.append((field, value))
    return found


def strings_named(text: str, field: str) -> Iterator[tuple[str, Span]]:
    """Every string behind a key of this name, wherever in a record it stands and however broken
    that is; with its span, quotes included.
    """
    return _strings_behind(text, f'"{field}"')


def _strings_behind(text: str, key: str) -> Iterator[tuple[str, Span]]:
    at = text.find(key)
    while at >= 0:
        key_end = at + len(key)
        found = _string_after(text, key_end)
        if found is not None:
            yield found
        at = text.find(key, key_end)


def _string_after(text: str, key_end: int) -> tuple[str, Span] | None:
    if text.startswith(':"', key_end):
        start = key_end + 2
        end = text.find('"', start)
        value = text[start:end]
        if end >= 0 and "\\" not in value:
            return value, Span(start - 1, end + 1)
    match = _VALUE.match(text, key_end)
    try:
        return (str(json.loads(match[1])), Span(*match.span(1))) if match is not None else None
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

_SAID_OF_EVERY_EVENT = (Entity.RUN, Entity.EVENT)
_ALL_KEYS = tuple(
    (field, f'"{field}"') for field, entity in NAMING.items() if entity not in _SAID_OF_EVERY_EVENT
)
_KEYS = {
    name: tuple((field, key) for field, key in _ALL_KEYS if field in event.fields)
    for name, event in EVENTS.items()
}
_VALUE = re.compile(r'[ \t]*:[ \t]*("(?:[^"\\]|\\.)*")')
