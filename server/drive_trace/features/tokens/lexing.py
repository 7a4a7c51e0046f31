"""The tokens of a record, from its text alone: also of one that is not JSON, as far as its quotes
can be trusted.

No tree is made, so a broken record costs as little as a sound one.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from drive_trace.features.tokens.kinds import OF_ENVELOPE, TokenKind, kind_of_string
from drive_trace.json_text import ProblemKind
from drive_trace.json_text.lexemes import TOKEN, is_closed
from drive_trace.trace.line import Line, event_of
from drive_trace.vocabulary import ENVELOPE, EventType, FieldType, ObjectShape

_COLON = re.compile(r"[ \t\r]*:")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = frozenset({"true", "false", "null"})
_DIMMED = ENVELOPE.keys() - {"event_type"}
_QUOTES_ARE_WRONG = (ProblemKind.QUOTES, ProblemKind.MISSING_QUOTE)


class TokenSpan(NamedTuple):
    """A token of a record: code points, quotes included."""

    start: int
    end: int
    kind: TokenKind


def tokens_of(line: Line) -> Iterator[TokenSpan]:
    """The tokens of a record, in order and apart from each other."""
    fields = _FieldTracker(event_of(line))
    text, stop = line.text, _end(line)
    for found in TOKEN.finditer(text, 0, stop):
        written = found[0]
        if written[0] == '"':
            end = found.end()
            if end == stop and not is_closed(written):
                return
            is_key = text.startswith(":", end) or _COLON.match(text, end) is not None
            kind = fields.key(written) if is_key else fields.string()
        elif written in "{}[],:":
            if written != ":":
                fields.punctuation(written)
            continue
        elif written in _WORDS:
            kind = TokenKind.WORD
        elif _NUMBER.fullmatch(written):
            kind = TokenKind.NUMBER
        else:
            continue
        yield TokenSpan(*found.span(), OF_ENVELOPE.get(kind, kind) if fields.envelope else kind)


def _end(line: Line) -> int:
    """Up to where it is sure what is inside of quotes and what is outside."""
    starts = (
        diagnostic.problem.span.start
        for diagnostic in line.diagnostics
        if diagnostic.problem is not None and diagnostic.problem.kind in _QUOTES_ARE_WRONG
    )
    return min(starts, default=len(line.text))


class _FieldTracker:
    """Knows which field a token belongs to."""

    def __init__(self, event: EventType | None) -> None:
        self._event = event
        self._fields: Mapping[str, FieldType] = event.fields if event is not None else ENVELOPE
        self._open: list[str] = []
        self._field: FieldType | None = None
        self._inner: FieldType | None = None

    @property
    def envelope(self) -> bool:
        """Whether the field is one that stands on every line, and not the event's type."""
        return self._field is not None and self._field.name in _DIMMED

    def punctuation(self, sign: str) -> None:
        """Take in a bracket or a comma."""
        if sign in "{[":
            self._open.append(sign)
        elif sign in "}]":
            del self._open[-1:]
        elif self._open[-1:] == ["{"]:
            if len(self._open) == 1:
                self._field = None
            self._inner = None

    def key(self, written: str) -> TokenKind:
        """A string with a colon behind it."""
        name = _unescaped(written) if "\\" in written else written[1:-1]
        if len(self._open) <= 1:
            self._field, self._inner = self._fields.get(name), None
            is_declared = self._field is not None or self._event is None
            return TokenKind.KEY if is_declared else TokenKind.UNDECLARED_KEY
        shape = self._field.shape if self._field is not None else None
        if isinstance(shape, ObjectShape) and len(self._open) == 2:
            self._inner = shape.fields.get(name)
            return TokenKind.KEY if self._inner is not None else TokenKind.UNDECLARED_KEY
        return TokenKind.KEY

    def string(self) -> TokenKind:
        """A string that is a value."""
        if len(self._open) <= 1 or self._open == ["{", "["]:
            return kind_of_string(self._event, self._field)
        return kind_of_string(self._event, self._inner)


def _unescaped(written: str) -> str:
    try:
        return str(json.loads(written))
    except ValueError:
        return written
