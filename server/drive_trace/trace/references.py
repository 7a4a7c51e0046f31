"""What can be read from the text of a line that is rejected or outside the vocabulary.

These are guesses by name: the line may be broken JSON, and a key may stand anywhere in it.
"""

from __future__ import annotations

from collections.abc import Sequence, Set

from drive_trace.json_text.lexemes import strings_named
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
