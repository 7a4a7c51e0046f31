"""JSON text of results, parts of which may be JSON text already."""

from __future__ import annotations

import json
from collections.abc import Iterable

import orjson


class JsonText:
    """A part of a value that is JSON text already."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text


def joined(lists: Iterable[JsonText]) -> JsonText:
    """One list of all their items."""
    items = (each.text[1:-1] for each in lists)
    return JsonText(b"[%b]" % b",".join(filter(None, items)))


def dumps(value: object) -> bytes:
    """JSON text of a value; a lone surrogate becomes its escape."""
    try:
        return orjson.dumps(value, default=_as_it_stands)
    except TypeError:
        return json.dumps(value, separators=(",", ":"), default=_parsed).encode()


def _as_it_stands(part: object) -> orjson.Fragment:
    if isinstance(part, JsonText):
        return orjson.Fragment(part.text)
    raise TypeError(f"{type(part).__name__} is no JSON")


def _parsed(part: object) -> object:
    if isinstance(part, JsonText):
        return json.loads(part.text)
    raise TypeError(f"{type(part).__name__} is no JSON")
