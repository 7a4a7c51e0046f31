"""Tokens as the numbers of an answer, five each, written as JSON text.

Nearly all lines of a trace are built like others of their event: a pattern tells so, and lines
whose values have the same lengths have the same numbers, which are remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from drive_trace.features.tokens.kinds import Palette, TokenKind
from drive_trace.features.tokens.lexing import Token, tokens_of
from drive_trace.json_text.strings import STRING
from drive_trace.text.spans import PositionEncoding, units_before
from drive_trace.trace.line import Line, event_of
from drive_trace.vocabulary import (
    BooleanShape,
    EventType,
    FieldType,
    IntegerShape,
    ListShape,
    ObjectShape,
)

_MOST_PATTERNS = 8
"""Of one event: its keys can stand in any order."""
_MOST_REMEMBERED = 4096
"""Of one pattern."""
_BREAK = re.compile("\r")


class Painted(NamedTuple):
    """The tokens of a record."""

    text: str
    """The numbers, as if the token before the first stood on the line above; "" for none."""
    tokens: int
    """How many tokens."""
    first: int = 0
    """On which of the record's lines, from 0, the first token stands."""
    last: int = 0
    """On which the last one stands."""

    def below(self, lines: int) -> str:
        """The numbers where the token before the first stands so many lines above it."""
        return self.text if lines == 1 else f"{lines}{self.text[1:]}"


NOTHING = Painted("", 0)


class Painter:
    """Paints records for one kind of client."""

    def __init__(self, encoding: PositionEncoding, palette: Palette) -> None:
        self._encoding = encoding
        self._palette = palette
        self._patterns: dict[str, list[_Pattern]] = {}

    def paint(self, line: Line) -> Painted:
        """The tokens of a record."""
        event, text = event_of(line), line.text
        if event is None:
            return self._paint(line, tokens_of(line))
        patterns = self._patterns.setdefault(event.name, [])
        for place, pattern in enumerate(patterns):
            match = pattern.expression.fullmatch(text)
            if match is not None:
                if place:
                    patterns.insert(0, patterns.pop(place))
                return self._alike(line, pattern, match)
        tokens = list(tokens_of(line))
        if len(patterns) < _MOST_PATTERNS:
            expression = _expression(event, text, tokens)
            if expression is not None:
                patterns.insert(0, expression)
        return self._paint(line, tokens)

    def _alike(self, line: Line, pattern: _Pattern, match: re.Match[str]) -> Painted:
        text = line.text
        lengths: tuple[int | str, ...]
        if self._encoding is PositionEncoding.UTF32 or text.isascii():
            lengths = tuple([end - start for start, end in match.regs])
        else:
            units = [
                units_before(each, len(each), self._encoding) if each else 0
                for each in match.groups("")
            ]
            lengths = (0, *units)
        if pattern.containers:
            lengths += match.group(0, *pattern.containers)[1:]
        # The first of the lengths is the whole line's, which says no more than the others.
        key = lengths[1:]
        painted = pattern.painted.get(key)
        if painted is None:
            if len(pattern.painted) >= _MOST_REMEMBERED:
                pattern.painted.clear()
            painted = pattern.painted[key] = self._paint(line, tokens_of(line))
        return painted

    def _paint(self, line: Line, tokens: Iterable[Token]) -> Painted:
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

    def _counted(self, text: str, shown: Iterable[Token]) -> Painted:
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


def _on_one_line(text: str, tokens: Iterable[Token]) -> Iterator[Token]:
    """The tokens, cut where a line of the protocol ends within one."""
    for start, end, kind in tokens:
        begin = start
        for found in _BREAK.finditer(text, start, end):
            if found.start() > begin:
                yield Token(begin, found.start(), kind)
            begin = found.end()
        if begin < end:
            yield Token(begin, end, kind)


# Patterns


class _Pattern:
    """How compact lines of an event are written whose keys stand in one order."""

    def __init__(self, expression: str, containers: tuple[int, ...]) -> None:
        self.expression = re.compile(expression)
        self.containers = containers
        """The groups whose length does not say what is in them."""
        self.painted: dict[tuple[object, ...], Painted] = {}


_INSIDE = STRING.replace(r"[^", r"[^\x00-\x1f")
_CONTAINER = rf"[\[{{](?>(?:[^\[\]{{}}\"\x00-\x1f]|{_INSIDE})*)[\]}}]"


def _expression(event: EventType, text: str, tokens: Iterable[Token]) -> _Pattern | None:
    """The pattern of a line; None where its keys are not the event's, each once."""
    names = [text[each.start + 1 : each.end - 1] for each in tokens if each.kind is TokenKind.KEY]
    fields = [event.fields[name] for name in names if name in event.fields]
    if len(fields) != len(event.fields) or len({field.name for field in fields}) < len(fields):
        return None
    written = ",".join(f'"{re.escape(field.name)}":{_value(field)}' for field in fields)
    containers = [
        number
        for number, field in enumerate(fields, 1)
        if isinstance(field.shape, ListShape | ObjectShape)
    ]
    return _Pattern(rf"\{{{written}\}}\r?", tuple(containers))


def _value(field: FieldType) -> str:
    """A value, captured: nothing is captured of null where another value could stand."""
    match field.shape:
        case IntegerShape():
            value = r"(-?[0-9]+)"
        case BooleanShape():
            value = r"(true|false)"
        case ListShape() | ObjectShape():
            value = f"({_CONTAINER})"
        case _:
            value = f"({_INSIDE})"
    return f"(?:null|{value})" if field.nullable else value
