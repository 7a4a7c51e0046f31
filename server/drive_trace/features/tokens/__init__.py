"""``textDocument/semanticTokens/full`` and ``textDocument/semanticTokens/range``: what each key and
value of a trace is, for colours.

Whole answers have millions of numbers, so they are made as JSON text, in steps.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import point_at
from drive_trace.features.raw_json import JsonText
from drive_trace.features.tokens.kinds import LEGEND, TokenKind, palette
from drive_trace.features.tokens.lexing import tokens_of
from drive_trace.tasks import Task, in_batches
from drive_trace.text.spans import PositionEncoding, units_before
from drive_trace.trace.document import Document
from drive_trace.trace.line import Line

__all__ = ["LEGEND", "TokenLook", "tokens", "tokens_in"]

_STEP = 16
"""How many lines are a step: about 2 ms."""
_ON_ONE_LINE = re.compile("[^\r]+")


class TokenLook(NamedTuple):
    """What a client knows of tokens, and how it counts."""

    encoding: PositionEncoding
    types: frozenset[str] = frozenset(LEGEND.token_types)
    """The types that it knows."""
    modifiers: frozenset[str] = frozenset(LEGEND.token_modifiers)


def tokens(analysis: Analysis, look: TokenLook) -> Task[JsonText]:
    """All tokens."""
    return _answer(analysis.document, look, 0, len(analysis.document.lines))


def tokens_in(analysis: Analysis, where: types.Range, look: TokenLook) -> Task[JsonText]:
    """The tokens of the records in a range."""
    first = point_at(analysis, where.start, look.encoding).record
    last = point_at(analysis, where.end, look.encoding).record
    return _answer(analysis.document, look, first, last + 1)


def _answer(document: Document, look: TokenLook, first: int, stop: int) -> Task[JsonText]:
    shown, parts = palette(look.types, look.modifiers), []
    above = before = 0
    for records in in_batches(range(first, stop), _STEP):
        numbers = []
        for record in records:
            top = document.protocol_line(record)
            for down, column, length, kind in _placed(document.lines[record], look.encoding):
                look_of_kind = shown.get(kind)
                if look_of_kind is None:
                    continue
                line = top + down
                right = column - before if line == above else column
                numbers.append(f"{line - above},{right},{length},{look_of_kind}")
                above, before = line, column
        if numbers:
            parts.append(",".join(numbers).encode())
        yield
    data = b",".join(parts)
    yield  # all of a long trace are 25 MB, and each copy takes its time
    text = JsonText(b'{"data":[%b]}' % data)
    yield  # sending them is a step of its own
    return text


def _placed(line: Line, encoding: PositionEncoding) -> Iterator[tuple[int, int, int, TokenKind]]:
    """The tokens, cut where a line of the protocol ends within one: the line below the record's
    first, the column and the length in units of the encoding, and the kind.
    """
    text = line.text
    if text.isascii() and "\r" not in text:
        for start, end, kind in tokens_of(line):
            yield 0, start, end - start, kind
        return
    down = column = at = 0
    for start, end, kind in tokens_of(line):
        for part in _ON_ONE_LINE.finditer(text, start, end):
            between = text[at : part.start()]
            if "\r" in between:
                down, column = down + between.count("\r"), 0
                between = between.rpartition("\r")[2]
            column += units_before(between, len(between), encoding)
            length = units_before(part[0], len(part[0]), encoding)
            yield down, column, length, kind
            at, column = part.end(), column + length
