"""Whether a text is a trace, by the fields that it names: others call their files ``trace.jsonl``,
too, and a text of any name that names two of the fields is a trace.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import orjson

from drive_trace.text.wording import listed, plural

HEAD = 1 << 16
"""How much of a text shows what it is."""
_FIELDS = ("event_type", "project_run_id", "schema_version")
"""Every event has them, and few other records do."""
_LETTERS = tuple(each.replace("_", "") for each in _FIELDS)
_NO_LETTERS = bytes({*range(256)} - {*b"abcdefghijklmnopqrstuvwxyz"})
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
_BETWEEN = r"[^a-z\"',:={}\[\]]*"
"""What may stand between the letters of a name that is spelled otherwise."""
_END = rf"{_BETWEEN}[\"']\s*[:=]"
_NO_SPACE = _BETWEEN.replace("a-z", r"a-z\s")
"""The same without quotes: the rest is prose, as in "the event type: click"."""
_SPELLED = (f"{_BETWEEN.join(each)}{_END}|{_NO_SPACE.join(each)}[:=]" for each in _LETTERS)
_KEY = re.compile(f"(?<![a-z])({'|'.join(_SPELLED)})")
"""A name of a field as a key, with quotes or without."""


def fields_named(text: str) -> list[str]:
    """Which of the fields of every event are keys in a text, whatever else it holds. What a string
    of JSON quotes has other quotes, and does not count.
    """
    # To look for the plain text first is much faster than a pattern.
    found = (each for each in _FIELDS if f'"{each}"' in text)
    return [each for each in found if re.search(rf'"{each}"\s*:', text)]


def why_no_trace(records: Iterable[str]) -> str | None:
    """Why a text with the name of a trace is none: every line is an object, and none of them names
    a field of every event, at any depth, in any spelling, or inside a string. None for all others,
    whatever is wrong with them. An object without fields may become an event.
    """
    count = 0
    for record in filter(str.strip, records):
        try:
            it = orjson.loads(record)
        except ValueError:
            return None
        if not isinstance(it, dict) or not it or _may_be_event(record):
            return None
        count += 1
    what = f"none of its {plural(count, 'record')} has {listed(_FIELDS, 'or')}"
    return f"not a trace: {what}" if count else None


def _may_be_event(record: str) -> bool:
    """Whether a record names a field of every event, as one does that somebody has wrapped or whose
    keys were renamed: ``{"log":"{\\"event_type\\":…}"}``, ``eventType``, ``Event-Type``.
    """
    text = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), record.lower())
    # To look at letters alone is much faster than the pattern.
    letters = text.encode(errors="replace").translate(None, _NO_LETTERS).decode()
    return any(each in letters for each in _LETTERS) and _KEY.search(text) is not None
