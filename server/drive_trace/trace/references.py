"""What can be read from the text of a line that is rejected or outside the vocabulary.

These are guesses by name: the line may be broken JSON, and a key may stand anywhere in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set

import orjson

from drive_trace.json_text.lexemes import strings_named
from drive_trace.text.wording import listed, plural
from drive_trace.trace.line import FlaggedLine, Line, LineStatus, run_of
from drive_trace.vocabulary import (
    ALWAYS_KEPT,
    CORRECTNESS_FIELDS,
    COST,
    EVENTS,
    GRADE,
    NAMING,
    TOKEN_FIELDS,
    Entity,
)

MOST_RUNS = 100
"""A line that names more runs names none: each would be a run with a line of its own."""
RUN_FIELD = next(name for name, entity in NAMING.items() if entity is Entity.RUN)
_SIGNS = {
    feed: tuple(f'"{field}"' for field in fields)
    for feed, fields in ((GRADE, CORRECTNESS_FIELDS), (COST, TOKEN_FIELDS))
}
_ON_EVERY_EVENT = (Entity.RUN, Entity.EVENT)
_ALL_FIELDS = tuple(field for field, entity in NAMING.items() if entity not in _ON_EVERY_EVENT)
_FIELDS = {
    name: tuple(field for field in _ALL_FIELDS if field in event.fields)
    for name, event in EVENTS.items()
}


def references_in_text(line: FlaggedLine) -> Sequence[tuple[str, str]]:
    """What a line names: its event, if readers know that; then fields and values, in the order of
    the vocabulary.
    """
    text, found = line.text, list[tuple[str, str]]()
    if line.event_name is not None and line.event_name in EVENTS:
        found.append(("event_type", line.event_name))
    for field in _FIELDS.get(line.event_name or "", _ALL_FIELDS):
        for value, _ in strings_named(text, field):
            if (field, value) not in found:
                found.append((field, value))
    return found


def references_of(line: Line) -> Sequence[tuple[str, object]]:
    """What an event names: its type, then the fields that are kept of it and their values."""
    assert line.event is not None
    fields = zip(line.event.keeps, line.facts, strict=True)
    named = [each for each in fields if each[0] not in ALWAYS_KEPT and each[1] is not None]
    return [("event_type", line.event.name), *named]


def time_in(text: str) -> str | None:
    """The ``ts`` in the text of a line; None if it has none."""
    return next((value for value, _ in strings_named(text, "ts")), None)


def names_several(text: str, key: str) -> bool:
    """Whether a line names several types, or runs: an event may have been appended to a torn line,
    and nobody can say of which of them the rest is.
    """
    return text.count(f'"{key}"') > 1 and len({value for value, _ in strings_named(text, key)}) > 1


def named_run(line: FlaggedLine) -> str | None:
    """The run of a rejected line, if it names one only."""
    return None if names_several(line.text, RUN_FIELD) else line.run_id


def runs_named(line: Line) -> Set[str]:
    """All runs that a line names, wherever it does so; none where these are too many."""
    found = {value for value, _ in strings_named(line.text, RUN_FIELD)}
    return found if len(found) <= MOST_RUNS else frozenset()


def feed_named(text: str) -> str | None:
    """The feed whose name is somewhere in the text of a line."""
    return _unless_shared(next((feed for feed in _SIGNS if feed in text), None), text)


def feed_with_fields(text: str) -> str | None:
    """The feed all of whose fields are in the text of a line, whatever its type is."""
    signs = _SIGNS.items()
    found = next((feed for feed, keys in signs if all(key in text for key in keys)), None)
    return _unless_shared(found, text)


def _unless_shared(feed: str | None, text: str) -> str | None:
    """The feed, but None for a cost that shares its line with another event: that may be work."""
    return None if feed == COST and names_several(text, "event_type") else feed


def run_id_of(line: Line) -> str | None:
    """The run that a line names, as far as it can be read."""
    known = run_of(line)
    if known is None and line.status is not LineStatus.BLANK:
        known = next((value for value, _ in strings_named(line.text, RUN_FIELD)), None)
    return known


# Whether a text is a trace, by the fields that it names: others call their files trace.jsonl, too,
# and a text of any name that names two of the fields is a trace.

HEAD = 1 << 16
"""How much of a text shows what it is."""
_OF_EVERY_EVENT = ("event_type", "project_run_id", "schema_version")
"""Every event has them, and few other records do."""
_LETTERS = tuple(each.replace("_", "") for each in _OF_EVERY_EVENT)
_NO_LETTERS = bytes({*range(256)} - {*b"abcdefghijklmnopqrstuvwxyz"})
_ESCAPE = re.compile(r"\\u([0-9a-f]{4})")
_BETWEEN = r"[^a-z\"',:={}\[\]]*"
"""What may stand between the letters of a name that is spelled otherwise."""
_END = rf"{_BETWEEN}[\"']\s*[:=]"
_NO_SPACE = _BETWEEN.replace("a-z", r"a-z\s")
"""The same without quotes: the rest is prose, as in "the event type: click"."""
_SPELLED = (f"{_BETWEEN.join(each)}{_END}|{_NO_SPACE.join(each)}[:=]" for each in _LETTERS)
_KEY = f"(?<![a-z])({'|'.join(_SPELLED)})"
"""A name of a field as a key, with quotes or without."""


def fields_named(text: str) -> list[str]:
    """Which of the fields of every event are keys in a text, whatever else it holds. What a string
    of JSON quotes has other quotes, and does not count.
    """
    # To look for the plain text first is much faster than a pattern.
    found = (each for each in _OF_EVERY_EVENT if f'"{each}"' in text)
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
    what = f"none of its {plural(count, 'record')} has {listed(_OF_EVERY_EVENT, 'or')}"
    return f"not a trace: {what}" if count else None


def _may_be_event(record: str) -> bool:
    """Whether a record names a field of every event, as one does that somebody has wrapped or whose
    keys were renamed: ``{"log":"{\\"event_type\\":…}"}``, ``eventType``, ``Event-Type``.
    """
    text = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), record.lower())
    # To look for plain names, or at letters alone, is much faster than the pattern.
    letters = text.encode(errors="replace").translate(None, _NO_LETTERS).decode()
    may_be = any(each in letters for each in _LETTERS)
    return may_be and (bool(fields_named(record)) or re.search(_KEY, text) is not None)
