"""``textDocument/semanticTokens/full`` and ``textDocument/semanticTokens/range``: what each key and
value of a trace is, for colours.

The tokens of a record come from its text alone, also of one that is not JSON, as far as its quotes
can be trusted. No tree is made, so a broken record costs as little as a sound one. Types and
modifiers are the protocol's own, as themes have colours for these. A whole answer has millions of
numbers, so it is made as JSON text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from enum import Enum, auto
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.results import JsonText, point_at
from drive_trace.json_text import ProblemKind
from drive_trace.json_text.lexemes import TOKEN, is_closed
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import PositionEncoding, units_before
from drive_trace.trace.document import Document
from drive_trace.trace.line import Line, event_of
from drive_trace.vocabulary import (
    ENVELOPE,
    LIFETIMES,
    Entity,
    EventType,
    Family,
    FieldType,
    Form,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
    StringShape,
)

_ON_ONE_LINE = re.compile("[^\r]+")
_COLON = re.compile(r"[ \t\r]*:")
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = frozenset({"true", "false", "null"})
_DIMMED = ENVELOPE.keys() - {"event_type"}
_QUOTES_ARE_WRONG = (ProblemKind.QUOTES, ProblemKind.MISSING_QUOTE)


# What kinds of tokens there are, and as what a client shows them


class TokenKind(Enum):
    """What a token of a trace is."""

    BUILD_LOOP = auto()
    PLANNING = auto()
    LIFECYCLE = auto()
    FEED = auto()
    KEY = auto()
    UNDECLARED_KEY = auto()
    CHOICE = auto()
    """One of the values that a field allows."""
    ID = auto()
    NEW_ID = auto()
    """An id where the event starts what it names."""
    HASH = auto()
    TIME = auto()
    TEXT = auto()
    NUMBER = auto()
    WORD = auto()
    """``true``, ``false`` and ``null``."""
    ENVELOPE_KEY = auto()
    ENVELOPE_ID = auto()
    ENVELOPE_TIME = auto()
    ENVELOPE_TEXT = auto()
    ENVELOPE_WORD = auto()


_OF_ENVELOPE = {
    TokenKind.KEY: TokenKind.ENVELOPE_KEY,
    TokenKind.ID: TokenKind.ENVELOPE_ID,
    TokenKind.NEW_ID: TokenKind.ENVELOPE_ID,
    TokenKind.TIME: TokenKind.ENVELOPE_TIME,
    TokenKind.TEXT: TokenKind.ENVELOPE_TEXT,
    TokenKind.WORD: TokenKind.ENVELOPE_WORD,
}
"""What stands on every line. The event's type is no such thing."""
ENVELOPE_MODIFIER = "envelope"
"""No modifier of the protocol, for clients that name it among those that they know."""


_T, _M = types.SemanticTokenTypes, types.SemanticTokenModifiers

_SHOWN_AS: Mapping[TokenKind, tuple[tuple[types.SemanticTokenTypes, ...], tuple[str, ...]]] = {
    TokenKind.BUILD_LOOP: ((_T.Function, _T.Method, _T.Keyword, _T.String), ()),
    TokenKind.PLANNING: ((_T.Class, _T.Type, _T.Keyword, _T.String), ()),
    TokenKind.LIFECYCLE: ((_T.Namespace, _T.Keyword, _T.String), ()),
    TokenKind.FEED: ((_T.Macro, _T.Keyword, _T.String), ()),
    TokenKind.KEY: ((_T.Property, _T.Variable), ()),
    TokenKind.UNDECLARED_KEY: ((_T.Property, _T.Variable), (_M.Deprecated.value,)),
    TokenKind.CHOICE: ((_T.EnumMember, _T.Keyword, _T.String), ()),
    TokenKind.ID: ((_T.Variable, _T.String), (_M.Readonly.value,)),
    TokenKind.NEW_ID: ((_T.Variable, _T.String), (_M.Declaration.value, _M.Readonly.value)),
    TokenKind.HASH: ((_T.Variable, _T.String), ()),
    TokenKind.TIME: ((_T.Number,), ()),
    TokenKind.TEXT: ((_T.String,), ()),
    TokenKind.NUMBER: ((_T.Number,), ()),
    TokenKind.WORD: ((_T.Keyword,), ()),
    TokenKind.ENVELOPE_KEY: ((_T.Property, _T.Variable), (ENVELOPE_MODIFIER,)),
    TokenKind.ENVELOPE_ID: ((_T.Variable, _T.String), (ENVELOPE_MODIFIER,)),
    TokenKind.ENVELOPE_TIME: ((_T.Number,), (ENVELOPE_MODIFIER,)),
    TokenKind.ENVELOPE_TEXT: ((_T.String,), (ENVELOPE_MODIFIER,)),
    TokenKind.ENVELOPE_WORD: ((_T.Keyword,), (ENVELOPE_MODIFIER,)),
}
"""The first of these types that a client knows, and those of the modifiers."""

_TYPES = list(dict.fromkeys(each.value for known, _ in _SHOWN_AS.values() for each in known))
_MODIFIERS = [_M.Declaration.value, _M.Deprecated.value, _M.Readonly.value, ENVELOPE_MODIFIER]
LEGEND = types.SemanticTokensLegend(_TYPES, _MODIFIERS)

_Palette = Mapping[TokenKind, str]
"""By the kinds that a client shows: type and modifiers, as they stand in an answer."""


def _palette(known_types: Collection[str], known_modifiers: Collection[str]) -> _Palette:
    """How tokens are shown to a client that knows these types and modifiers."""
    shown = {}
    for kind, (wanted, modifiers) in _SHOWN_AS.items():
        name = next((each.value for each in wanted if each.value in known_types), None)
        if name is not None:
            known = [each for each in modifiers if each in known_modifiers]
            bits = sum(1 << _MODIFIERS.index(each) for each in known)
            shown[kind] = f"{_TYPES.index(name)},{bits}"
    return shown


_FAMILIES = {
    Family.BUILD_LOOP: TokenKind.BUILD_LOOP,
    Family.PLANNING: TokenKind.PLANNING,
    Family.LIFECYCLE: TokenKind.LIFECYCLE,
    Family.FEEDS: TokenKind.FEED,
}
_NO_IDS = (None, Entity.PATH)


def _kind_of_string(event: EventType | None, field: FieldType | None) -> TokenKind:
    """What a string is as the value, or an item of the value, of a field."""
    if field is None:
        return TokenKind.TEXT
    if field.name == "event_type":
        return _FAMILIES[event.family] if event is not None else TokenKind.TEXT
    if field.names not in _NO_IDS:
        return TokenKind.NEW_ID if event is not None and _starts(event, field) else TokenKind.ID
    return _kind_of_shape(field.shape)


def _kind_of_shape(shape: Shape) -> TokenKind:
    match shape:
        case ListShape(item):
            return _kind_of_shape(item)
        case OneOfShape(meanings) if len(meanings) > 1:
            return TokenKind.CHOICE
        case StringShape(Form.TIMESTAMP):
            return TokenKind.TIME
        case StringShape(Form.SHA256):
            return TokenKind.HASH
        case _:
            return TokenKind.TEXT


def _starts(event: EventType, field: FieldType) -> bool:
    lifetime = LIFETIMES.get(event.opens) if event.opens is not None else None
    return event.opens is field.names and (lifetime is None or lifetime.field == field.name)


# The answers


class TokenLook(NamedTuple):
    """What a client knows of tokens, and how it counts."""

    encoding: PositionEncoding
    types: frozenset[str] = frozenset(LEGEND.token_types)
    """The types that it knows."""
    modifiers: frozenset[str] = frozenset(LEGEND.token_modifiers)


def tokens(analysis: Analysis, look: TokenLook) -> JsonText:
    """All tokens."""
    return _answer(analysis.document, look, 0, len(analysis.document.lines))


def tokens_in(analysis: Analysis, where: types.Range, look: TokenLook) -> JsonText:
    """The tokens of the records in a range."""
    first = point_at(analysis, where.start, look.encoding).record
    last = point_at(analysis, where.end, look.encoding).record
    return _answer(analysis.document, look, first, last + 1)


def _answer(document: Document, look: TokenLook, first: int, stop: int) -> JsonText:
    shown, parts = _palette(look.types, look.modifiers), list[str]()
    above = before = 0
    for record in range(first, stop):
        top, numbers = document.protocol_line(record), list[str]()
        placed = _placed(document.lines[record], look.encoding)
        for down, column, length, kind in unless_stopped(placed):
            type_and_modifiers = shown.get(kind)
            if type_and_modifiers is None:
                continue
            line = top + down
            right = column - before if line == above else column
            numbers.append(f"{line - above},{right},{length},{type_and_modifiers}")
            above, before = line, column
        if numbers:
            parts.append(",".join(numbers))
    return JsonText(f'{{"data":[{",".join(parts)}]}}'.encode())


def _placed(line: Line, encoding: PositionEncoding) -> Iterator[tuple[int, int, int, TokenKind]]:
    """The tokens, cut where a line of the protocol ends within one: the line below the record's
    first, the column and the length in units of the encoding, and the kind.
    """
    text = line.text
    if text.isascii() and "\r" not in text:
        for start, end, kind in _tokens_of(line):
            yield 0, start, end - start, kind
        return
    down = column = at = 0
    for start, end, kind in _tokens_of(line):
        for part in _ON_ONE_LINE.finditer(text, start, end):
            between = text[at : part.start()]
            if "\r" in between:
                down, column = down + between.count("\r"), 0
                between = between.rpartition("\r")[2]
            column += units_before(between, len(between), encoding)
            length = units_before(part[0], len(part[0]), encoding)
            yield down, column, length, kind
            at, column = part.end(), column + length


# The tokens of a record


class _TokenSpan(NamedTuple):
    """A token of a record: code points, quotes included."""

    start: int
    end: int
    kind: TokenKind


def _tokens_of(line: Line) -> Iterator[_TokenSpan]:
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
        yield _TokenSpan(*found.span(), _OF_ENVELOPE.get(kind, kind) if fields.envelope else kind)


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
            return _kind_of_string(self._event, self._field)
        return _kind_of_string(self._event, self._inner)


def _unescaped(written: str) -> str:
    try:
        return str(json.loads(written))
    except ValueError:
        return written
