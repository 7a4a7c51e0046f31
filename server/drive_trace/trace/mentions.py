"""What lines name: events by their facts, other lines as far as their text shows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, cast

from drive_trace.json_text.strings import strings_named
from drive_trace.trace.line import FlaggedLine, Line, name_of
from drive_trace.vocabulary import (
    CORRECTNESS_FIELDS,
    COST,
    EVENTS,
    GRADE,
    LIFETIMES,
    NAMING,
    TOKEN_FIELDS,
    Entity,
    EventType,
    Lifetime,
)

if TYPE_CHECKING:
    from drive_trace.trace.index import Index

_SIGNS = {
    feed: tuple(f'"{field}"' for field in fields)
    for feed, fields in ((GRADE, CORRECTNESS_FIELDS), (COST, TOKEN_FIELDS))
}


def mentioned(line: FlaggedLine) -> Sequence[tuple[str, str]]:
    """What a line names, read from its text alone, whatever else is wrong with it."""
    text, found = line.text, list[tuple[str, str]]()
    for field in _FIELDS.get(line.event_name or "", _ALL_FIELDS):
        for value, _ in strings_named(text, field):
            if (field, value) not in found:
                found.append((field, value))
    return found


def time_in(text: str) -> str | None:
    """When a line was written, as far as its text says that."""
    return next((value for value, _ in strings_named(text, "ts")), None)


def feed_named(text: str) -> str | None:
    """The feed whose name stands somewhere in a line."""
    return next((feed for feed in _SIGNS if feed in text), None)


def feed_with_fields(text: str) -> str | None:
    """The feed all of whose fields stand in a line, whatever its type is."""
    return next((feed for feed, keys in _SIGNS.items() if all(key in text for key in keys)), None)


_SAID_OF_EVERY_EVENT = (Entity.RUN, Entity.EVENT)
_ALL_FIELDS = tuple(field for field, entity in NAMING.items() if entity not in _SAID_OF_EVERY_EVENT)
_FIELDS = {
    name: tuple(field for field in _ALL_FIELDS if field in event.fields)
    for name, event in EVENTS.items()
}

LEVELS = _SLICE, _DISPATCH, _ROUND = (
    LIFETIMES[Entity.SLICE],
    LIFETIMES[Entity.DISPATCH],
    LIFETIMES[Entity.ROUND],
)


class Said(NamedTuple):
    """What an event says of what it stands in."""

    places: tuple[int | None, ...]
    """Where among the facts the slice, the dispatch and the round are that it names."""
    opens: Lifetime | None
    level: int
    """Which of the three it opens."""
    is_about_run: bool


def _said(event: EventType) -> Said:
    places = (event.keeps.index(of.field) if of.field in event.fields else None for of in LEVELS)
    opened = [level for level, of in enumerate(LEVELS) if of.opener == event.name]
    is_about_run = event.is_feed or Entity.RUN in (event.opens, event.closes)
    level = next(iter(opened), 0)
    return Said(tuple(places), LEVELS[level] if opened else None, level, is_about_run)


SAID: Mapping[str | None, Said] = {name: _said(event) for name, event in EVENTS.items()}
_UNKNOWN = Said((None, None, None), None, 0, is_about_run=False)

Names = tuple[str | None, str | None, str | None]


def said_of(line: Line) -> Said:
    """What the event that a line records, or was meant to record, says of what it stands in."""
    event = line.event
    return SAID[event.name] if event is not None else SAID.get(name_of(line), _UNKNOWN)


def names_of(index: Index, run_id: str, line: Line) -> Names:
    """The slice, the dispatch and the round that a line names, as far as it can be read."""
    if line.event is not None:
        facts = cast("tuple[str, ...]", line.facts)
        slug, dispatch, round_id = SAID[line.event.name].places
        return (
            None if slug is None else facts[slug],
            None if dispatch is None else facts[dispatch],
            None if round_id is None else facts[round_id],
        )
    if not line.is_rejected:
        return None, None, None
    said = dict(reversed(mentioned(cast("FlaggedLine", line))))
    dispatch_id, round_said = said.get(_DISPATCH.field), said.get(_ROUND.field)
    run = index.runs.get(run_id)
    if dispatch_id is None and round_said is not None and run is not None:
        started = run.table(_ROUND.opener, _ROUND.field).of(round_said).first
        dispatch_id = started.text_fact(_DISPATCH.field) if started is not None else None
    return said.get(_SLICE.field), dispatch_id, round_said if dispatch_id is not None else None
