"""Which kinds of tokens a trace has, and as what a client shows them.

Types and modifiers are the protocol's own, as themes have colours for these.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum, auto

from lsprotocol import types

from drive_trace.vocabulary import (
    LIFETIMES,
    Entity,
    EventType,
    Family,
    FieldType,
    Form,
    ListShape,
    OneOfShape,
    Shape,
    StringShape,
)


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


OF_ENVELOPE = {
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

Palette = Mapping[TokenKind, str]
"""By the kinds that a client shows: type and modifiers, as they stand in an answer."""


def palette(known_types: Collection[str], known_modifiers: Collection[str]) -> Palette:
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


def kind_of_string(event: EventType | None, field: FieldType | None) -> TokenKind:
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
