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


def fields_named(text: str, end: int = HEAD) -> list[str]:
    """Which of the fields of every event are keys in a text, up to its ``end``. What a string of
    JSON quotes has other quotes, and does not count.
    """
    # To look for the plain text first is much faster than a pattern.
    found = (each for each in _FIELDS if text.find(f'"{each}"', 0, end) >= 0)
    return [each for each in found if re.compile(rf'"{each}"\s*:').search(text, 0, end)]


def why_no_trace(records: Iterable[str]) -> str | None:
    """Why a text with the name of a trace is none: every line is an object, and none of them has a
    field of every event, at any depth. None for all others, whatever is wrong with them.
    """
    count = 0
    for record in filter(str.strip, records):
        try:
            found = orjson.loads(record)
        except ValueError:
            return None
        # One without fields may become an event.
        is_object = isinstance(found, dict) and bool(found)
        if not is_object or set(_FIELDS) & found.keys() or fields_named(record, len(record)):
            return None
        count += 1
    what = f"none of its {plural(count, 'record')} has {listed(_FIELDS, 'or')}"
    return f"not a trace: {what}" if count else None
