"""Where the keys and values of a TOML document stand, which ``tomllib`` does not tell.

Only for documents that ``tomllib`` has read: what it says of any other is void.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import NamedTuple

from drive_trace.text import Span

Steps = tuple[str | int, ...]
"""Keys and indices from the document down to a value."""

_SPACE = re.compile(r"(?:[ \t\n]|#[^\n]*)*")
# Atomic groups: Python 3.11.0 to 3.11.4 match possessive ones wrongly.
_STRING = re.compile(
    r'"""(?>(?:[^"\\]|\\.|"{1,2}(?!"))*)"{3,5}'
    r"|'''(?>(?:[^']|'{1,2}(?!'))*)'{3,5}"
    r'|"(?>(?:[^"\\\n]|\\.)*)"'
    r"|'[^'\n]*'",
    re.DOTALL,
)
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]*")


class TomlPlace(NamedTuple):
    """Where a pair stands, in code points of the whole text. Of an array's item, and of a table
    that a header or a dotted key opens, both spans are the same.
    """

    key: Span
    value: Span


def toml_places(text: str) -> Mapping[Steps, TomlPlace]:
    """The places of all keys and values. Lines must end with ``\\n``."""
    scan = _Scan(text)
    scan.document()
    return scan.found


class _Scan:
    def __init__(self, text: str) -> None:
        self.found: dict[Steps, TomlPlace] = {}
        self._text = text
        self._at = 0
        self._last_of: dict[Steps, int] = {}
        """The index of the last table so far of each array of tables."""

    def document(self) -> None:
        table: Steps = ()
        self._skip()
        while self._at < len(self._text):
            if self._text[self._at] == "[":
                table = self._header()
            else:
                self._pair(table)
            self._skip()

    def _skip(self, count: int = 0) -> None:
        """Go on by ``count`` characters, and then over space, line ends and comments."""
        space = _SPACE.match(self._text, self._at + count)
        assert space is not None
        self._at = space.end()

    def _header(self) -> Steps:
        """``[a.b]`` or ``[[a.b]]``; gives the steps to the table that it opens."""
        brackets = 2 if self._text.startswith("[[", self._at) else 1
        self._skip(brackets)
        keys = self._keys()
        steps: Steps = ()
        for place, (name, span) in enumerate(keys):
            steps = (*steps, name)
            if brackets == 2 and place == len(keys) - 1:
                self._last_of[steps] = self._last_of.get(steps, -1) + 1
            self.found.setdefault(steps, TomlPlace(span, span))
            if steps in self._last_of:
                steps = (*steps, self._last_of[steps])
                self.found.setdefault(steps, TomlPlace(span, span))
        self._skip(brackets)
        return steps

    def _pair(self, table: Steps) -> None:
        keys = self._keys()
        self._skip(len("="))
        steps = (*table, *(name for name, _ in keys))
        span = self._value(steps)
        for place, (_, key) in enumerate(keys[:-1], start=1):
            self.found.setdefault(steps[: len(table) + place], TomlPlace(key, key))
        self.found[steps] = TomlPlace(keys[-1][1], span)

    def _keys(self) -> list[tuple[str, Span]]:
        """The names of a dotted key; what follows it comes next."""
        keys = []
        while True:
            token = _BARE_KEY.match(self._text, self._at) or _STRING.match(self._text, self._at)
            assert token is not None
            name = token[0]
            if name[0] in "\"'":
                name = tomllib.loads(f"key = {name}")["key"]
            keys.append((name, Span(*token.span())))
            self._skip(len(token[0]))
            if self._text[self._at] != ".":
                return keys
            self._skip(len("."))

    def _value(self, steps: Steps) -> Span:
        start = self._at
        opening = self._text[start]
        if opening == "[":
            self._array(steps)
        elif opening == "{":
            self._inline_table(steps)
        else:
            token = _STRING.match(self._text, start) or _BARE_VALUE.match(self._text, start)
            assert token is not None
            self._at = start + len(token[0].rstrip())
        return Span(start, self._at)

    def _array(self, steps: Steps) -> None:
        self._skip(len("["))
        count = 0
        while self._text[self._at] != "]":
            if self._text[self._at] == ",":
                self._skip(len(","))
                continue
            item = (*steps, count)
            span = self._value(item)
            self.found[item] = TomlPlace(span, span)
            count += 1
            self._skip()
        self._at += len("]")

    def _inline_table(self, steps: Steps) -> None:
        self._skip(len("{"))
        while self._text[self._at] != "}":
            if self._text[self._at] == ",":
                self._skip(len(","))
                continue
            self._pair(steps)
            self._skip()
        self._at += len("}")
