"""Where runs, dispatches, rounds and slices are named, on lines of every kind.

Ids of dispatches, rounds and slices count within their run; but a run may resume another one's
dispatch, which it then names as a parent. Of lines that are rejected counts what their text shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from drive_trace.text import Span
from drive_trace.trace.line import Concern, Line, OddLine
from drive_trace.trace.places import pair_at, syntax_of
from drive_trace.trace.syntax import Kind
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity

_NAMED = (Entity.RUN, *LIFETIMES)
ENTITIES = {
    field.name: field.names
    for event in EVENTS.values()
    for field in event.fields.values()
    if field.names in _NAMED
}
"""What each field names."""
_OWN_FIELDS = {lifetime.field for lifetime in LIFETIMES.values()}
"""The fields that say what a line belongs to; others refer to it."""
_PATTERNS = {field: re.compile(rf'"{field}"[ \t]*:[ \t]*("(?:[^"\\]|\\.)*")') for field in ENTITIES}


class Mention(NamedTuple):
    """A place where something is named."""

    record: int
    """The line's index in the document."""
    line: Line
    field: str
    span: Span
    """Inside the quotes."""
    value: str

    @property
    def run_id(self) -> str | None:
        """The run of the line, as far as it can be read."""
        line = self.line
        return line.run_id if isinstance(line, OddLine) and line.event is None else line.run


class Named(NamedTuple):
    """A run, or something within one."""

    entity: Entity
    run_id: str | None
    """The run that it is in; None where no line says it."""
    value: str


def mention_at(lines: Sequence[Line], record: int, offset: int) -> Mention | None:
    """What is named at a code point of a line, be it on either quote or behind the last."""
    for field in ENTITIES:
        for mention in _mentions(record, lines[record], field):
            if mention.span.start - 1 <= offset <= mention.span.end + 1:
                return mention
    return None


def named_by(lines: Iterable[Line], mention: Mention) -> Named:
    """What a mention means."""
    entity = ENTITIES[mention.field]
    assert entity is not None
    if entity is Entity.RUN:
        return Named(entity, mention.value, mention.value)
    homes = _homes(_all_mentions(lines, entity, mention.value))
    home = mention.run_id
    if home not in homes and len(homes) == 1:
        (home,) = homes
    return Named(entity, home, mention.value)


def mentions_of(lines: Iterable[Line], named: Named) -> list[Mention]:
    """Every place where something is named, in the order of the lines."""
    found = list(_all_mentions(lines, named.entity, named.value))
    if named.entity is Entity.RUN:
        return found
    homes = _homes(found)
    is_only = homes <= {named.run_id}

    def is_meant(mention: Mention) -> bool:
        run_id = mention.run_id
        if run_id == named.run_id:
            return True
        return is_only and (run_id is None or mention.field not in _OWN_FIELDS)

    return list(filter(is_meant, found))


def _homes(mentions: Iterable[Mention]) -> set[str | None]:
    """The runs that have something of that name themselves."""
    return {each.run_id for each in mentions if each.field in _OWN_FIELDS} - {None}


def _all_mentions(lines: Iterable[Line], entity: Entity, value: str) -> Iterator[Mention]:
    fields = [field for field, named in ENTITIES.items() if named is entity]
    for record, line in enumerate(lines):
        if value in line.text or "\\" in line.text:
            for field in fields:
                for mention in _mentions(record, line, field):
                    if mention.value == value:
                        yield mention


def _mentions(record: int, line: Line, field: str) -> Iterator[Mention]:
    for start, end in _strings(line, field):
        inside = Span(start + 1, end - 1)
        value = _unescaped(line.text[slice(*inside)])
        if value is not None:
            yield Mention(record, line, field, inside, value)


def _strings(line: Line, field: str) -> Iterator[Span]:
    """The strings that a field has on a line, with their quotes."""
    text = line.text
    if line.is_rejected:
        yield from (Span(*found.span(1)) for found in _PATTERNS[field].finditer(text))
    elif any(remark.concern is Concern.DUPLICATE_KEY for remark in line.remarks):
        root = syntax_of(text).root
        for member in root.members_named(field) if root is not None else ():
            if member.value is not None and member.value.kind is Kind.STRING:
                yield member.value.span
    elif f'"{field}"' in text or "\\u" in text:
        pair = pair_at(text, (field,))
        if pair is not None and pair.value is not None and text[pair.value.start] == '"':
            yield pair.value


def _unescaped(written: str) -> str | None:
    if "\\" not in written:
        return written
    try:
        return str(json.loads(f'"{written}"'))
    except ValueError:
        return None
