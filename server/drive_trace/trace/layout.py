"""How a record should be written: compact, its keys in the order of the vocabulary.

What tokens say is never touched: a number, an escape or a key stays as it is written, and so does
the order of equal keys, of which the last one counts. Records that are no JSON object stay whole.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import NamedTuple

import orjson

from drive_trace.trace.line import Concern, Line, OddLine, Status
from drive_trace.trace.places import syntax_of
from drive_trace.trace.spacing import compacted
from drive_trace.vocabulary import EVENTS, EventType, FieldType, ObjectShape

_UNREADABLE = frozenset({Concern.INVALID_JSON, Concern.BYTE_ORDER_MARK, Concern.NOT_AN_OBJECT})
# Atomic groups: Python 3.11.0 to 3.11.4 match possessive ones wrongly.
_STRING = r'"(?>(?:[^"\\]+|\\.)*)"'
_FLAT = rf'[\[{{](?>(?:[^\[\]{{}}"]+|{_STRING})*)[\]}}]'
_NESTED = rf'[\[{{](?>(?:[^\[\]{{}}"]+|{_STRING}|{_FLAT})*)[\]}}]'
_VALUE = rf'{_STRING}|[-+.0-9eEa-z]++|[\[{{](?>(?:[^\[\]{{}}"]+|{_STRING}|{_NESTED})*)[\]}}]'
_PAIR = re.compile(rf"({_STRING}):(?:{_VALUE})(?=,|}}\Z)")
"""A pair of a compact object, whose value is not nested deeply."""


class _Pair(NamedTuple):
    key: str
    """As a reader has it."""
    text: str
    """As it is written, key and value."""


def laid_out(line: Line) -> str:
    """The record as it should be written; of what is no JSON object, as it is. The ``\r`` of a
    line break stays. White space goes from records of unknown events, and nothing else changes.
    """
    text, event = line.text, line.event
    if isinstance(line, OddLine):
        concerns = {remark.concern for remark in line.remarks}
        if line.status is Status.BLANK or not _UNREADABLE.isdisjoint(concerns):
            return text
        if Concern.NOT_COMPACT in concerns:
            text = compacted(text) + ("\r" if text.endswith("\r") else "")
        event = EVENTS.get(line.event_name or "", event)
    if event is None:
        return text
    try:
        data = orjson.loads(text)
    except ValueError:  # what only the exact path reads, as a lone surrogate
        data = None
    if data is not None and _is_in_order(data, event):
        return text if _says_no_more(line) else _ordered(text, event.fields)
    return _quickly_ordered(text, data, event.fields) or _ordered(text, event.fields)


def _is_in_order(data: Mapping[str, object], event: EventType) -> bool:
    fields = event.fields
    if tuple(data) != tuple(fields):
        order = {name: place for place, name in enumerate(fields)}
        places = [order.get(key, len(order)) for key in data]
        if places != sorted(places):
            return False
    return all(
        tuple(inner) == keys
        for name, keys in _inner_orders(event.name)
        if isinstance(inner := data.get(name), dict)
    )


def _says_no_more(line: Line) -> bool:
    """Whether no key of a line stands twice, as far as that is noticed."""
    return all(remark.concern is not Concern.DUPLICATE_KEY for remark in line.remarks)


@cache
def _inner_orders(name: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """The fields of an event that are objects, and their keys."""
    return tuple(
        (field.name, tuple(field.shape.fields))
        for field in EVENTS[name].fields.values()
        if isinstance(field.shape, ObjectShape)
    )


def _quickly_ordered(
    text: str, data: Mapping[str, object] | None, fields: Mapping[str, FieldType]
) -> str | None:
    """The same as :func:`_ordered`, for a compact object that holds no other: it is cut before
    each key, as no quote without a backslash before it stands in a string. None where that is not
    sure.
    """
    # Where nothing is escaped, a quote and a colon end a key; more of them are keys that repeat.
    if data is None or text.find("{", 1) >= 0 or "\\" in text or text.count('":') != len(data):
        return None
    parts: dict[str, str] = {}
    last, start, end = "", 0, text.rindex("}")
    for key in data:
        at = text.find(f',"{key}":', start) if start else text.find(f'{{"{key}":', 0, len(key) + 4)
        if at < 0:
            return None
        if start:
            parts[last] = text[start:at]
        last, start = key, at + 1
    parts[last] = text[start:end]
    in_order = [parts.pop(name) for name in fields if name in parts]
    return f"{{{','.join([*in_order, *parts.values()])}{text[end:]}"


def _ordered(text: str, fields: Mapping[str, FieldType]) -> str:
    """The compact text of an object with its declared keys first, in the order of ``fields``."""
    body = text.removesuffix("\r")
    pairs = _quick_pairs(body)
    if pairs is None:
        pairs = list(_read_pairs(body))
    places = {name: place for place, name in enumerate(fields)}
    # Equal keys keep their order: sorting is stable.
    pairs.sort(key=lambda pair: places.get(pair.key, len(places)))
    return "{" + ",".join([_inside(pair, fields) for pair in pairs]) + "}" + text[len(body) :]


def _inside(pair: _Pair, fields: Mapping[str, FieldType]) -> str:
    """The pair, an object that is declared as its value in order, too."""
    shape = fields[pair.key].shape if pair.key in fields else None
    if not isinstance(shape, ObjectShape) or not pair.text.endswith("}"):
        return pair.text
    colon = pair.text.index(":{") + 1
    return pair.text[:colon] + _ordered(pair.text[colon:], shape.fields)


def _quick_pairs(text: str) -> list[_Pair] | None:
    """The pairs of a compact object without reading all of it; None where that is not sure."""
    pairs, at = [], 1
    for found in _PAIR.finditer(text, 1):
        if found.start() != at:
            return None
        at = found.end() + 1
        pairs.append(_Pair(_unquoted(found[1]), found[0]))
    return pairs if at == len(text) else None


def _read_pairs(text: str) -> Iterator[_Pair]:
    root = syntax_of(text).root
    assert root is not None
    for member in root.members:
        assert member.value is not None
        yield _Pair(member.key, text[member.key_span.start : member.value.span.end])


def _unquoted(written: str) -> str:
    return str(json.loads(written)) if "\\" in written else written[1:-1]
