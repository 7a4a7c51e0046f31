r"""Reads the sound pairs of an object by one regex: nearly all of a trace is such pairs.

Facts (ECMA-262, JSON.parse; RFC 8259): white space is space, tab, ``\n`` and
``\r``; strings hold no character below U+0020; surrogates need no partner.
Nothing that a regex has given up on is tried again, so the time grows with the
length of the record, whatever it holds.

Before 3.11.5 Python gets possessive groups wrong (python/cpython#106052): only
sets are repeated possessively here, groups are greedy and atomic.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from drive_trace.json_text import Member, Node, NodeKind
from drive_trace.text.spans import Span

WHITESPACE = " \t\n\r"
_WS = r"[ \t\n\r]*+"
_PLAIN = r'[^"\\\x00-\x1f]*+'
_ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_STRING = rf'"{_PLAIN}(?>(?:{_ESCAPE}{_PLAIN})*)"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?"
_SCALAR = rf"{_STRING}|{_NUMBER}|true|false|null"
_ARRAY = rf"\[{_WS}(?>(?:(?:{_SCALAR}){_WS}(?:,{_WS}(?!\])|(?=\]))){{0,99}})\]"
_NAME = rf'"{_PLAIN}"{_WS}:{_WS}'
_OBJECT = rf"\{{{_WS}(?>(?:{_NAME}(?:{_SCALAR}){_WS}(?:,{_WS}(?!\}})|(?=\}}))){{0,99}})\}}"
_NEAR = rf"{_SCALAR}|{_ARRAY}|{_OBJECT}"

SCALAR_WORD = re.compile(rf"{_NUMBER}|true|false|null")
# A comma before digits does not end the pair: it is a part of `1,900`.
_PAIR = re.compile(
    rf'{_WS}("{_PLAIN}"){_WS}:{_WS}({_NEAR})(?:{_WS}(,){_WS}(?![0-9])|(?={_WS}(?:\}}|\Z)))'
)
_INNER_PAIR = re.compile(rf'("{_PLAIN}"){_WS}:{_WS}({_SCALAR})')
_SCALARS = re.compile(_SCALAR)

_ESCAPE_OR_PAIR = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {
    "true": (NodeKind.BOOLEAN, True),
    "false": (NodeKind.BOOLEAN, False),
    "null": (NodeKind.NULL, None),
}


class SoundPairs(NamedTuple):
    """Neighbouring pairs of an object that are sound JSON."""

    members: list[Member]
    last: Span
    """What they end with: a comma, a closing bracket or a scalar."""
    is_end: bool
    """Whether the object's brace or the end of the text follows, not another pair."""


def pairs_at(text: str, at: int) -> SoundPairs | None:
    """The pairs that begin at a place, as many as are sound; None if there is none."""
    members: list[Member] = []
    comma = -1
    while (pair := _PAIR.match(text, at)) is not None:
        members.append(_member(pair))
        comma, at = pair.start(3), pair.end()
        if comma < 0:
            start = at - 1 if text[at - 1] in "}]" else pair.start(2)
            return SoundPairs(members, Span(start, at), is_end=True)
    return SoundPairs(members, Span(comma, comma + 1), is_end=False) if members else None


def _member(pair: re.Match[str]) -> Member:
    key, word = pair[1], pair[2]
    return Member(key[1:-1], Span(*pair.span(1)), _value(pair.string, word, Span(*pair.span(2))))


def _value(text: str, word: str, span: Span) -> Node:
    inner = span.start + 1, span.end - 1
    if word[0] == "{":
        members = tuple([_member(pair) for pair in _INNER_PAIR.finditer(text, *inner)])
        return Node(NodeKind.OBJECT, span, members=members)
    if word[0] == "[":
        items = [scalar(each[0], Span(*each.span())) for each in _SCALARS.finditer(text, *inner)]
        return Node(NodeKind.ARRAY, span, items=tuple(items))
    return scalar(word, span)


def scalar(word: str, span: Span) -> Node:
    """The node of a JSON string, a number, ``true``, ``false`` or ``null``."""
    if word[0] == '"':
        return Node(NodeKind.STRING, span, unescape(word[1:-1]))
    kind, value = _LITERALS.get(word) or (NodeKind.NUMBER, number(word))
    return Node(kind, span, value)


def number(word: str) -> int | float:
    """The value of a JSON number: an int if its double is whole and finite, else that double."""
    if len(word) < 16 and word.lstrip("-").isdigit():
        return int(word)
    value = float(word)
    return int(value) if value.is_integer() else value


def unescape(body: str) -> str:
    """The text of a string, given its body without quotes.

    Two escaped surrogates that make a pair become one character. An escape that
    JSON does not know stays as it is.
    """
    if "\\" not in body:
        return body
    plain = _ESCAPE_OR_PAIR.sub(_unescape_one, body)
    if "\\ud" in body or "\\uD" in body:
        return plain.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")
    return plain


def _unescape_one(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    character = found[2]
    if character in '"\\/':
        return str(character)
    return _SHORT_ESCAPES.get(character, found[0])
