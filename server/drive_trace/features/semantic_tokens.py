"""``textDocument/semanticTokens/full`` and ``textDocument/semanticTokens/range``: what each key and
value of a trace is, for colours.

The tokens of a record come from its text alone, also of one that is not JSON, as far as its quotes
can be trusted. No tree is made, so a broken record costs as little as a sound one. Types and
modifiers are the protocol's own, as themes have colours for these.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from lsprotocol import types

from drive_trace import vocabulary
from drive_trace.analysis import Analysis
from drive_trace.features.results import JsonText, View, dumps, point_at
from drive_trace.json_text import ProblemKind, outside_strings
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import PositionEncoding, units_before
from drive_trace.trace.cursor import TOKEN
from drive_trace.trace.document import Document
from drive_trace.trace.line import Line, event_of
from drive_trace.vocabulary import ENVELOPE, Entity, EventType, Family, FieldType, Form, StringShape

_ON_ONE_LINE = re.compile("[^\r]+")
_COLON = re.compile(r"[ \t\r]*:")
_DIGITS = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_WORDS = frozenset({"true", "false", "null"})
_DIMMED = ENVELOPE.keys() - {"event_type"}
_QUOTES_ARE_WRONG = (ProblemKind.QUOTES, ProblemKind.MISSING_QUOTE, ProblemKind.DOUBLED_QUOTE)


# What kinds of tokens there are, and as what a client shows them

_T, _M = types.SemanticTokenTypes, types.SemanticTokenModifiers


class _Kind(NamedTuple):
    """What a token of a trace is, as a client shows it."""

    wanted: tuple[types.SemanticTokenTypes, ...]
    """The first of these types that the client knows."""
    modifiers: tuple[str, ...] = ()
    """Those of these that it knows."""


_READ_ONLY, _NEW = _M.Readonly.value, _M.Declaration.value
_BUILD_LOOP = _Kind((_T.Function, _T.Method, _T.Keyword, _T.String))
_PLANNING = _Kind((_T.Class, _T.Type, _T.Keyword, _T.String))
_LIFECYCLE = _Kind((_T.Namespace, _T.Keyword, _T.String))
_FEED = _Kind((_T.Macro, _T.Keyword, _T.String))
_KEY = _Kind((_T.Property, _T.Variable))
_UNDECLARED_KEY = _Kind((_T.Property, _T.Variable), (_M.Deprecated.value,))
_CHOICE = _Kind((_T.EnumMember, _T.Keyword, _T.String))
"""One of the values that a field allows."""
_ID = _Kind((_T.Variable, _T.String), (_READ_ONLY,))
_NEW_ID = _Kind((_T.Variable, _T.String), (_NEW, _READ_ONLY))
"""An id where the event starts what it names."""
_HASH = _Kind((_T.Variable, _T.String))
_NUMBER = _Kind((_T.Number,))
"""Also a time in quotes."""
_TEXT = _Kind((_T.String,))
_WORD = _Kind((_T.Keyword,))
"""``true``, ``false`` and ``null``."""

ENVELOPE_MODIFIER = "envelope"
"""Of what stands on every line, but for the event's type. It is no modifier of the protocol, for
clients that name it among those that they know.
"""
_IN_ENVELOPE = {
    kind: _Kind(kind.wanted, (ENVELOPE_MODIFIER,))
    for kind in (_KEY, _ID, _NEW_ID, _NUMBER, _TEXT, _WORD)
}
_SHOWN = (_BUILD_LOOP, _PLANNING, _LIFECYCLE, _FEED, _KEY, _CHOICE, _NUMBER)
_TYPES = list(dict.fromkeys(each.value for kind in _SHOWN for each in kind.wanted))
_MODIFIERS = [_NEW, _M.Deprecated.value, _READ_ONLY, ENVELOPE_MODIFIER]
LEGEND = types.SemanticTokensLegend(_TYPES, _MODIFIERS)

_FAMILIES = {
    Family.BUILD_LOOP: _BUILD_LOOP,
    Family.PLANNING: _PLANNING,
    Family.LIFECYCLE: _LIFECYCLE,
    Family.FEEDS: _FEED,
}


def _kind_of_string(event: EventType | None, field: FieldType | None) -> _Kind:
    """What a string is as the value, or an item of the value, of a field."""
    if field is None:
        return _TEXT
    if field.name == "event_type":
        return _FAMILIES[event.family] if event is not None else _TEXT
    if field.names not in (None, Entity.PATH):
        return _NEW_ID if event is not None and _starts(event, field) else _ID
    return _kind_of_shape(field.shape)


def _kind_of_shape(shape: vocabulary.Shape) -> _Kind:
    match shape:
        case vocabulary.ListShape(item):
            return _kind_of_shape(item)
        case vocabulary.OneOfShape(meanings) if len(meanings) > 1:
            return _CHOICE
        case StringShape(Form.TIMESTAMP):
            return _NUMBER
        case StringShape(Form.HASH):
            return _HASH
        case _:
            return _TEXT


def _starts(event: EventType, field: FieldType) -> bool:
    lifetime = vocabulary.LIFETIMES.get(event.opens) if event.opens is not None else None
    return event.opens is field.names and (lifetime is None or lifetime.field == field.name)


# The answers


class TokenLook(NamedTuple):
    """What a client knows of tokens, and how it counts."""

    encoding: PositionEncoding = PositionEncoding.UTF16
    types: frozenset[str] = frozenset(LEGEND.token_types)
    """The types that it knows."""
    modifiers: frozenset[str] = frozenset(LEGEND.token_modifiers)


def tokens(analysis: Analysis, look: TokenLook) -> JsonText:
    """All tokens."""
    return _answer(analysis.document, look, 0, len(analysis.document.lines))


def tokens_in(analysis: Analysis, where: types.Range, look: TokenLook) -> JsonText:
    """The tokens of the records in a range."""
    first = point_at(View(analysis, look.encoding), where.start).record
    last = point_at(View(analysis, look.encoding), where.end).record
    return _answer(analysis.document, look, first, last + 1)


def _answer(document: Document, look: TokenLook, first: int, stop: int) -> JsonText:
    shown: dict[_Kind, tuple[int, int] | None] = {}
    # As text, record by record: to encode ten million numbers holds up every other thread.
    data = bytearray(b'{"data":[')
    above = before = 0
    for record in range(first, stop):
        top, numbers = document.protocol_line(record), list[int]()
        placed = _placed(document.lines[record], look.encoding)
        for down, column, length, kind in unless_stopped(placed):
            if kind not in shown:
                shown[kind] = _type_and_modifiers(kind, look)
            is_shown = shown[kind]
            if is_shown is None:
                continue
            line = top + down
            right = column - before if line == above else column
            numbers += line - above, right, length, *is_shown
            above, before = line, column
        data += b"%b," % dumps(numbers)[1:-1] if numbers else b""
    data[len(data) - data.endswith(b",") :] = b"]}"
    return JsonText(bytes(data))


def _type_and_modifiers(kind: _Kind, look: TokenLook) -> tuple[int, int] | None:
    """How a token is shown to a client; None if it knows no fitting type."""
    name = next((each.value for each in kind.wanted if each.value in look.types), None)
    if name is None:
        return None
    known = (each for each in kind.modifiers if each in look.modifiers)
    return _TYPES.index(name), sum(1 << _MODIFIERS.index(each) for each in known)


def _placed(line: Line, encoding: PositionEncoding) -> Iterator[tuple[int, int, int, _Kind]]:
    """The tokens, cut where a line of the protocol ends within one: the line below the record's
    first, the column and the length in units of the encoding, and the kind.
    """
    text = line.text
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


def _tokens_of(line: Line) -> Iterator[tuple[int, int, _Kind]]:
    """The tokens of a record, in order and apart from each other: where each begins and ends in
    code points, quotes included, and its kind.
    """
    fields = _FieldTracker(event_of(line))
    text, stop = line.text, _end(line)
    for found in TOKEN.finditer(text, 0, stop):
        written = found[0]
        if written[0] == '"':
            end = found.end()
            if end == stop and outside_strings(written) is None:
                return
            is_key = text.startswith(":", end) or _COLON.match(text, end) is not None
            kind = fields.key(written) if is_key else fields.string()
        elif written in "{}[],:":
            if written != ":":
                fields.punctuation(written)
            continue
        elif written in _WORDS:
            kind = _WORD
        elif _DIGITS.fullmatch(written):
            yield *found.span(), _NUMBER
            continue
        else:
            continue
        yield *found.span(), _IN_ENVELOPE.get(kind, kind) if fields.envelope else kind


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

    def key(self, written: str) -> _Kind:
        """A string with a colon behind it."""
        name = _unescaped(written) if "\\" in written else written[1:-1]
        if len(self._open) <= 1:
            self._field, self._inner = self._fields.get(name), None
            is_declared = self._field is not None or self._event is None
            return _KEY if is_declared else _UNDECLARED_KEY
        shape = self._field.shape if self._field is not None else None
        if isinstance(shape, vocabulary.ObjectShape) and len(self._open) == 2:
            self._inner = shape.fields.get(name)
            return _KEY if self._inner is not None else _UNDECLARED_KEY
        return _KEY

    def string(self) -> _Kind:
        """A string that is a value."""
        if len(self._open) <= 1 or self._open == ["{", "["]:
            return _kind_of_string(self._event, self._field)
        return _kind_of_string(self._event, self._inner)


def _unescaped(written: str) -> str:
    try:
        return str(json.loads(written))
    except ValueError:
        return written
