"""Reads JSON values one after another: a document, one a line, or as ``jq`` prints them."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from drive_trace.text.escaping import printable

_SPACE = re.compile(r"[ \t\r\n]*")


class UnreadableError(Exception):
    """The text is not such JSON; the message is a sentence for the person who gave it."""


class Value(NamedTuple):
    """A JSON value and where it stands."""

    line: int
    """Where it begins, from 1."""
    value: object


def values(text: str) -> Iterator[Value]:
    """The values of a text; those of an array are given one by one. Raises UnreadableError, also
    where a key stands twice in one object: which of its values is meant cannot be told.
    """
    text = text.removeprefix("\ufeff")
    line, end = 1, 0

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = printable(next(key for key in counts if counts[key] > 1))
            raise UnreadableError(
                f"the object in line {line} of the usage has the key `{twice}` twice: which one "
                "counts cannot be told; leave one out"
            )
        return found

    decoder = json.JSONDecoder(object_pairs_hook=unique, parse_constant=_refuse)
    while (start := _end_of_space(text, end)) < len(text):
        line += text.count("\n", end, start)
        try:
            value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            said = f"is not JSON: {error.msg}, column {error.colno}"
            raise UnreadableError(f"line {error.lineno} of the usage {said}") from error
        except RecursionError as error:
            raise UnreadableError(f"line {line} of the usage is nested too deeply") from error
        except ValueError as error:
            raise UnreadableError(f"line {line} of the usage is not JSON: {error}") from error
        for each in value if isinstance(value, list) else [value]:
            yield Value(line, each)
        line += text.count("\n", start, end)


def _end_of_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
