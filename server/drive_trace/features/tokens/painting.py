"""Tokens as the numbers of an answer, five each, written as JSON text.

Nearly all lines of a trace are built like others of their event. Lines with the same keys, and with
strings and numbers of the same lengths, have the same tokens, which a cache holds: a whole answer
for 20,000 lines takes 0.4 s with the cache, and 0.9 s at the best without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import itemgetter
from typing import NamedTuple

from drive_trace.features.tokens.kinds import Palette
from drive_trace.features.tokens.lexing import TokenSpan, tokens_of
from drive_trace.json_text.lexemes import split_strings
from drive_trace.text.spans import PositionEncoding, units_before
from drive_trace.trace.line import Line

_MOST_REMEMBERED = 1 << 15
_ANY_DIGIT = str.maketrans("123456789", "000000000")
_BREAK = re.compile("\r")


class Painted(NamedTuple):
    """The tokens of a record."""

    text: str
    """The numbers, as if the token before the first were on the line above; "" for none."""
    tokens: int
    """How many tokens."""
    first: int = 0
    """The record's line, from 0, with the first token."""
    last: int = 0
    """The record's line with the last token."""

    def below(self, lines: int) -> str:
        """The numbers if the token before the first is so many lines above it."""
        return self.text if lines == 1 else f"{lines}{self.text[1:]}"


NOTHING = Painted("", 0)


class Painter:
    """Paints records for one kind of client."""

    def __init__(self, encoding: PositionEncoding, palette: Palette) -> None:
        self._encoding = encoding
        self._palette = palette
        self._keys: dict[str, Callable[[Sequence[str]], tuple[str, ...]]] = {}
        """Which of the strings are keys, by the text between the strings."""
        self._painted: dict[tuple[object, ...], Painted] = {}

    def paint(self, line: Line) -> Painted:
        """The tokens of a record."""
        event, text = line.event, line.text
        if event is None:
            return self._paint(line, tokens_of(line))
        # Without escapes each quote opens or closes a string; what is not between two of them is
        # punctuation, numbers and words, of which numbers differ by their length alone.
        pieces = split_strings(text)
        strings, between = pieces[1::2], '"'.join(pieces[::2]).translate(_ANY_DIGIT)
        keys_of = self._keys.get(between)
        if keys_of is None:
            places = [at for at, part in enumerate(pieces[2::2]) if part.lstrip().startswith(":")]
            keys_of = self._keys[between] = itemgetter(*places)
        keys = keys_of(strings)
        if "\\" in text and any("\0" in key for key in keys):  # its escapes count
            return self._paint(line, tokens_of(line))
        alike = (event.name, between, keys, tuple(self._lengths(text, strings)))
        painted = self._painted.get(alike)
        if painted is None:
            if len(self._painted) >= _MOST_REMEMBERED:
                self._painted.clear()
                self._keys.clear()
            painted = self._painted[alike] = self._paint(line, tokens_of(line))
        return painted

    def _lengths(self, text: str, strings: Iterable[str]) -> Iterable[int]:
        if self._encoding is PositionEncoding.UTF32 or text.isascii():
            return map(len, strings)
        return map(self._units, strings)

    def _paint(self, line: Line, tokens: Iterable[TokenSpan]) -> Painted:
        shown = [each for each in tokens if each.kind in self._palette]
        if not shown:
            return NOTHING
        text = line.text
        is_plain = self._encoding is PositionEncoding.UTF32 or text.isascii()
        if "\r" in text[:-1] or not is_plain:
            return self._counted(text, shown)
        numbers, before = [], 0
        for start, end, kind in shown:
            numbers.append(f"0,{start - before},{end - start},{self._palette[kind]}")
            before = start
        return Painted(f"1{','.join(numbers)[1:]}", len(shown))

    def _counted(self, text: str, shown: Iterable[TokenSpan]) -> Painted:
        """Tokens counted in units of the encoding, on the lines that the protocol sees."""
        numbers: list[str] = []
        first = line = column = at = before_line = before = 0
        for start, end, kind in _on_one_line(text, shown) if "\r" in text else shown:
            breaks = text.count("\r", at, start)
            if breaks:
                line += breaks
                at, column = text.rindex("\r", at, start) + 1, 0
            column += self._units(text[at:start])
            length = self._units(text[start:end])
            if not numbers:
                first = before_line = line
            down = line - before_line
            right = column - (0 if down else before)
            numbers.append(f"{down},{right},{length},{self._palette[kind]}")
            at, column, before_line, before = end, column + length, line, column
        return Painted(f"1{','.join(numbers)[1:]}", len(numbers), first, line)

    def _units(self, text: str) -> int:
        return units_before(text, len(text), self._encoding)


def _on_one_line(text: str, tokens: Iterable[TokenSpan]) -> Iterator[TokenSpan]:
    """The tokens, cut where a line of the protocol ends within one."""
    for start, end, kind in tokens:
        begin = start
        for found in _BREAK.finditer(text, start, end):
            if found.start() > begin:
                yield TokenSpan(begin, found.start(), kind)
            begin = found.end()
        if begin < end:
            yield TokenSpan(begin, end, kind)
