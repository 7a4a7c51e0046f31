"""Spans, records, protocol lines and position encodings.

The one module that knows how the three LSP position encodings count. Everything
else in the package counts in *code points*: Python's own string indices.

Facts: a record of a trace ends at ``\\n`` only (the vocabulary); a line of the
Language Server Protocol ends at ``\\n``, ``\\r\\n`` or ``\\r`` (LSP 3.17, "Text
Documents"). U+2028, U+2029, U+0085 and the other characters that
``str.splitlines`` splits at end neither.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple, Self

JS_WHITESPACE = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007"
    "\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
"""What JavaScript's ``String.prototype.trim`` removes (ECMA-262, WhiteSpace and LineTerminator)."""


class Span(NamedTuple):
    """A half-open range ``[start, end)`` of code points within one record."""

    start: int
    end: int


class Spot(NamedTuple):
    """A place in a trace: the record's index from 0 and the span in it."""

    record: int
    span: Span


def replace_spans(text: str, edits: Iterable[tuple[Span, str]]) -> str:
    """The text with other text in place of some spans, which are in order and apart."""
    parts: list[str] = []
    at = 0
    for span, replacement in edits:
        parts += (text[at : span.start], replacement)
        at = max(at, span.end)
    return "".join([*parts, text[at:]])


class PositionEncoding(StrEnum):
    """What one unit of an LSP ``character`` offset is."""

    UTF8 = "utf-8"
    UTF16 = "utf-16"
    UTF32 = "utf-32"


class BrokenText(str):
    """The text of a record whose bytes are not all UTF-8, each broken sequence as U+FFFD.

    It keeps its bytes, so that a finding can point at them and nobody rewrites them by accident.
    A slice of it, or its concatenation with other text, is an ordinary string.
    """

    __slots__ = ("exact",)

    exact: str
    """Each broken byte as a lone surrogate, as the ``surrogateescape`` of Python has it."""

    def broken(self) -> Iterator[tuple[Span, bytes]]:
        """Where sequences that are not UTF-8 stand next to each other, and their bytes."""
        shift = 0
        for found in re.finditer("[\udc80-\udcff]+", self.exact):
            data = found[0].encode("utf-8", "surrogateescape")
            start = found.start() - shift
            size = len(data.decode("utf-8", "replace"))
            yield Span(start, start + size), data
            shift += len(found[0]) - size


def decode(record: bytes) -> str:
    """The text of a record's bytes as the reference's runtime reads them: each sequence that is
    not UTF-8 (a maximal subpart, as the Unicode Standard calls it) is one U+FFFD.
    """
    try:
        return record.decode()
    except UnicodeDecodeError:
        text = BrokenText(record.decode("utf-8", "replace"))
        text.exact = record.decode("utf-8", "surrogateescape")
        return text


def exact(text: str) -> str:
    """A record's text as :func:`encode_exactly` takes it: with the very bytes that it has."""
    return text.exact if isinstance(text, BrokenText) else text


def encode_exactly(text: str) -> bytes:
    """The bytes of text that was made of what :func:`exact` gives."""
    return text.encode("utf-8", "surrogateescape")


_RECORD = re.compile("^.*", re.MULTILINE)
_PIECE = 1 << 14
"""So many characters are looked at in one go: other threads wait meanwhile."""


class LongText(str):
    """A text that is never put together: of 10 MB that takes 50 ms, while other threads wait. As a
    string it is its first piece.
    """

    __slots__ = ("pieces",)

    pieces: Sequence[str]
    """Of whole records each; between two of them stands a newline."""

    def __new__(cls, pieces: Sequence[str]) -> Self:
        """The text of some pieces."""
        text = super().__new__(cls, pieces[0])
        text.pieces = pieces
        return text


def pieces_of(text: str) -> Sequence[str]:
    """What a text consists of, as of :class:`LongText`."""
    return text.pieces if isinstance(text, LongText) else (text,)


def records_of(text: str) -> Iterator[str]:
    """The records of a text, one by one: to split it at once keeps other threads waiting."""
    return (found[0] for piece in pieces_of(text) for found in _RECORD.finditer(piece))


def is_blank(text: str) -> bool:
    """Whether the reference reader skips this record as blank."""
    return not stripped(text, JS_WHITESPACE)


def stripped(text: str, characters: str) -> str:
    """A text without some characters at its ends."""
    start, stop = 0, len(text)
    while stop - start > _PIECE and not text[start : start + _PIECE].strip(characters):
        start += _PIECE
    while stop - start > _PIECE and not text[stop - _PIECE : stop].strip(characters):
        stop -= _PIECE
    return text[start:stop].strip(characters)


def units_before(line: str, offset: int, encoding: PositionEncoding) -> int:
    """The number of ``encoding`` units before code point ``offset`` of ``line``."""
    if encoding is PositionEncoding.UTF32 or line.isascii():
        return offset
    return _units(line[:offset], encoding)


def offset_of(line: str, units: int, encoding: PositionEncoding) -> int:
    """The code point at ``units`` of ``encoding``; past the end is the end.

    A position inside a character (between two surrogates, or two bytes) is the
    character's start.
    """
    if units <= 0:
        return 0
    if encoding is PositionEncoding.UTF32 or line.isascii():
        return min(units, len(line))
    widest = 2 if encoding is PositionEncoding.UTF16 else 4
    offset = 0
    # Each step takes as many characters as are surely before the position.
    while piece := line[offset : offset + max(1, units // widest)]:
        units -= _units(piece, encoding)
        if units < 0:
            break
        offset += len(piece)
    return offset


def _units(text: str, encoding: PositionEncoding) -> int:
    if encoding is PositionEncoding.UTF8:
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def terminal_columns(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1
        for each in text
    )


def common_start(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
