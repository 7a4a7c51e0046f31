"""Reads JSON values one after another: a document, one a line, or as ``jq`` prints them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple, NoReturn

from drive_trace.text.escaping import printable


class UnreadableError(Exception):
    """The text is not such JSON; the message is a sentence for the person who gave it."""


class Value(NamedTuple):
    """A JSON value and where it stands."""

    line: int
    """Where it begins, from 1."""
    value: object


class _RepeatedKeyError(ValueError):
    pass


def values(text: str) -> Iterator[Value]:
    """The values of a text; those of an array are given one by one. Raises UnreadableError, also
    where a key stands twice in one object: which of its values is meant cannot be told.
    """
    text = text.removeprefix("\ufeff")
    decoder = json.JSONDecoder(object_pairs_hook=_object, parse_constant=_refuse)
    at, line = 0, 1
    while (start := _skipped(text, at)) < len(text):
        line += text.count("\n", at, start)
        value, end = _decoded(decoder, text, start, line)
        for each in value if isinstance(value, list) else [value]:
            yield Value(line, each)
        line += text.count("\n", start, end)
        at = end


def _decoded(decoder: json.JSONDecoder, text: str, start: int, line: int) -> tuple[object, int]:
    try:
        return decoder.raw_decode(text, start)
    except json.JSONDecodeError as error:
        reason = f"line {error.lineno} of the usage is not JSON: {error.msg}, column {error.colno}"
        raise UnreadableError(reason) from error
    except _RepeatedKeyError as error:
        raise UnreadableError(f"the object in line {line} of the usage {error}") from error
    except RecursionError as error:
        raise UnreadableError(f"line {line} of the usage is nested too deeply") from error
    except ValueError as error:
        raise UnreadableError(f"line {line} of the usage is not JSON: {error}") from error


def _skipped(text: str, at: int) -> int:
    while at < len(text) and text[at] in " \t\r\n":
        at += 1
    return at


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) < len(pairs):
        twice = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise _RepeatedKeyError(
            f"has the key `{printable(twice)}` twice: which one counts cannot be told; "
            "leave one out"
        )
    return found


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
