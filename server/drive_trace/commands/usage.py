"""Reads the usage that agents' SDKs report, in their own names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import orjson

from drive_trace.drafts import Refused
from drive_trace.rules.base import printable, shown
from drive_trace.trace.exact import whole_number
from drive_trace.vocabulary import COST, EVENTS, TOKEN_FIELDS


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


USAGE_NAMES: Mapping[str, str] = {_camel_case(name): name for name in TOKEN_FIELDS}
"""The vocabulary's names by the SDK's: ``inputTokens`` is ``input_tokens``."""


class Usage(NamedTuple):
    """The sum of some usage objects."""

    tokens: Mapping[str, int]
    """By the vocabulary's names; without those that no object has."""
    notes: tuple[str, ...]
    """What the sum leaves out, a sentence each."""


def total_usage(text: str) -> Usage | Refused:
    """Sum up usage objects: one, an array of them, or one a line; each may also be the ``usage``
    of a ``TurnEndedUpdate``. Refused where anything is not what it should be. Never raises.
    """
    values = _values(text)
    if isinstance(values, Refused):
        return values
    if not values:
        return Refused(("there is no usage object",))
    reasons = [reason for number, each in enumerate(values, 1) for reason in _wrong(number, each)]
    if reasons:
        return Refused(tuple(reasons))
    objects = [_usage_of(value) for value in values if isinstance(value, dict)]
    return _sum(objects)


def _sum(objects: list[dict[str, object]]) -> Usage:
    tokens: dict[str, int] = {}
    notes = []
    for camel, name in USAGE_NAMES.items():
        counts = [count for each in objects if (count := whole_number(each.get(camel))) is not None]
        if counts:
            tokens[name] = sum(counts)
            if len(counts) < len(objects):
                notes.append(
                    f"`{camel}` is in {len(counts)} of {len(objects)} usage objects only: "
                    "the sum is theirs"
                )
    others = {key for each in objects for key in each} - USAGE_NAMES.keys()
    if others:
        names = ", ".join(f"`{printable(key)}`" for key in sorted(others)[:10])
        notes.append(f"the token feed has no place for {names}")
    return Usage(tokens, tuple(notes))


def _values(text: str) -> list[object] | Refused:
    """The values of a JSON document, or of one a line."""
    try:
        return _flat(orjson.loads(text))
    except ValueError:
        pass
    values: list[object] = []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                values += _flat(orjson.loads(line))
            except ValueError as error:
                return Refused((f"line {number} of the usage is not JSON: {error}",))
    return values


def _flat(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _usage_of(value: dict[str, object]) -> dict[str, object]:
    """The usage object itself, where it is a part of what the SDK sent."""
    inner = value.get("usage")
    return inner if isinstance(inner, dict) and not USAGE_NAMES.keys() & value.keys() else value


def _wrong(number: int, value: object) -> Iterator[str]:
    """What is wrong with the usage object of this number, from 1."""
    which = f"usage object {number}"
    if not isinstance(value, dict):
        yield f"{which} must be an object; found {shown(value)}"
        return
    usage = _usage_of(value)
    if not USAGE_NAMES.keys() & usage.keys():
        yield f"{which} has none of {', '.join(USAGE_NAMES)}"
    for camel, name in USAGE_NAMES.items():
        found = usage.get(camel)
        count = whole_number(found)
        if found is not None and (count is None or count < 0):
            expected = EVENTS[COST].fields[name].describe()
            yield f"`{camel}` of {which} must be {expected}; found {shown(found)}"
