r"""Exactly the records that JavaScript's ``JSON.parse`` accepts, with spans, and no others.

Facts (ECMA-262, JSON.parse; RFC 8259): white space is space, tab, ``\n`` and
``\r``; strings hold no character below U+0020; surrogates need no partner;
nesting has no limit. Nothing here recurses or backtracks, so the time grows with
the length of the record whatever it holds.
"""

from __future__ import annotations

import re

from drive_trace.text import Span
from drive_trace.trace.syntax_nodes import Kind, Member, Node

WHITESPACE = " \t\n\r"
_WS = r"[ \t\n\r]*+"
_PLAIN = r'[^"\\\x00-\x1f]*+'
_ESCAPE = r'\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})'
_STRING = rf'"{_PLAIN}(?:{_ESCAPE}{_PLAIN})*+"'
_NUMBER = r"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+"
_LITERAL = r"true|false|null"

SCALAR_WORD = re.compile(rf"{_NUMBER}|{_LITERAL}")
_FLAT_START = re.compile(rf'{_WS}\{{{_WS}(?=")')
_FLAT_PAIR = re.compile(
    rf'("{_PLAIN}"){_WS}:{_WS}("{_PLAIN}"|{_NUMBER}|{_LITERAL}){_WS}(?:,{_WS}(?=")|\}})'
)
_VALUE = re.compile(rf"{_WS}({_STRING}|{_NUMBER}|{_LITERAL}|[{{\[]){_WS}")
_KEY = re.compile(rf"{_WS}({_STRING}){_WS}:")
_SKIP = re.compile(_WS)

_ESCAPE_OR_PAIR = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_LAST = ("}", "]", '"', "e", "l", *"0123456789")
"""What a JSON text can end with: an object that was cut off is known at once."""
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_LITERALS = {
    "true": (Kind.BOOLEAN, True),
    "false": (Kind.BOOLEAN, False),
    "null": (Kind.NULL, None),
}


def read(text: str) -> Node | None:
    """The value of a record, or None when ``JSON.parse`` would throw."""
    if not text.rstrip(WHITESPACE).endswith(_LAST):
        return None
    return _read_flat(text) or _read_nested(text)


def _read_flat(text: str) -> Node | None:
    """An object of scalars without escapes: nearly every line of a trace."""
    start = _FLAT_START.match(text)
    if start is None:
        return None
    at = start.end()
    pairs = []
    for found in _FLAT_PAIR.finditer(text, at):
        pair = found.regs
        if pair[0][0] != at:
            return None
        at = pair[0][1]
        pairs.append(pair)
        if text[at - 1] == "}":
            break
    if not pairs or text[at - 1] != "}" or _SKIP.fullmatch(text, at) is None:
        return None
    return Node(Kind.OBJECT, Span(text.index("{"), at), None, _FlatMembers(text, pairs))


_Spans = tuple[tuple[int, int], ...]


class _FlatMembers:
    """Members of a flat object: most callers want one of the dozen, or none."""

    __slots__ = ("pairs", "text")

    def __init__(self, text: str, pairs: list[_Spans]) -> None:
        self.text = text
        self.pairs = pairs

    def all(self) -> tuple[Member, ...]:
        return tuple(map(self._member, self.pairs))

    def named(self, key: str) -> list[Member]:
        quoted = f'"{key}"'
        length = len(quoted)
        return [
            self._member(pair)
            for pair in self.pairs
            if pair[1][1] - pair[1][0] == length and self.text.startswith(quoted, pair[1][0])
        ]

    def values(self) -> dict[str, object]:
        text = self.text
        said: dict[str, object] = {}
        for _, (key_start, key_end), (start, end) in self.pairs:
            word = text[start:end]
            key = text[key_start + 1 : key_end - 1]
            said[key] = word[1:-1] if word[0] == '"' else _scalar_value(word)[1]
        return said

    def _member(self, pair: _Spans) -> Member:
        _, (key_start, key_end), (start, end) = pair
        word = self.text[start:end]
        span = Span(start, end)
        value = Node(Kind.STRING, span, word[1:-1]) if word[0] == '"' else scalar(word, span)
        return Member(self.text[key_start + 1 : key_end - 1], Span(key_start, key_end), value)


_NONE: list[Node] = []
_NOWHERE = Span(0, 0)


class _Frame:
    """An object or array whose end has not been read yet."""

    __slots__ = ("items", "key", "key_span", "members", "start")

    def __init__(self, start: int, *, is_object: bool) -> None:
        self.start = start
        self.members: list[Member] | None = [] if is_object else None
        self.items: list[Node] = _NONE if is_object else []
        self.key = ""
        self.key_span = _NOWHERE

    def add(self, node: Node) -> None:
        if self.members is None:
            self.items.append(node)
        else:
            self.members.append(Member(self.key, self.key_span, node))

    def read_key(self, text: str, at: int) -> int:
        """Reads ``"key":`` of an object; where the value begins, or -1."""
        if self.members is None:
            return at
        found = _KEY.match(text, at)
        if found is None:
            return -1
        self.key_span = Span(*found.span(1))
        self.key = unescape(text[self.key_span.start + 1 : self.key_span.end - 1])
        return found.end()

    def close(self, end: int) -> Node:
        span = Span(self.start, end)
        if self.members is None:
            return Node(Kind.ARRAY, span, None, (), tuple(self.items))
        return Node(Kind.OBJECT, span, None, tuple(self.members))


def _read_nested(text: str) -> Node | None:
    frames: list[_Frame] = []
    at = 0
    while at >= 0:
        found = _VALUE.match(text, at)
        if found is None:
            return None
        start, end = found.span(1)
        at = found.end()
        first = text[start]
        if first in "{[":
            frame = _Frame(start, is_object=first == "{")
            if text[at : at + 1] != ("}" if first == "{" else "]"):
                frames.append(frame)
                at = frame.read_key(text, at)
                continue
            node = frame.close(at + 1)
            at = _skip(text, at + 1)
        elif first == '"':
            node = Node(Kind.STRING, Span(start, end), unescape(text[start + 1 : end - 1]))
        else:
            node = scalar(text[start:end], Span(start, end))
        at, root = _after_value(text, at, node, frames)
        if root is not None:
            return root
    return None


def _after_value(text: str, at: int, node: Node, frames: list[_Frame]) -> tuple[int, Node | None]:
    """Closes what ends behind a value: where the next value begins (or -1), or the root."""
    while frames:
        frame = frames[-1]
        frame.add(node)
        following = text[at : at + 1]
        if following == ",":
            return frame.read_key(text, at + 1), None
        if following != ("]" if frame.members is None else "}"):
            return -1, None
        frames.pop()
        node = frame.close(at + 1)
        at = _skip(text, at + 1)
    return (at, node) if at == len(text) else (-1, None)


def _skip(text: str, at: int) -> int:
    found = _SKIP.match(text, at)
    return at if found is None else found.end()


def scalar(word: str, span: Span) -> Node:
    """The node of a JSON number, ``true``, ``false`` or ``null``."""
    kind, value = _scalar_value(word)
    return Node(kind, span, value)


def _scalar_value(word: str) -> tuple[Kind, int | float | bool | None]:
    return _LITERALS.get(word) or (Kind.NUMBER, number(word))


def number(word: str) -> int | float:
    """What a JSON number says: an int when its double is whole and finite, else that double."""
    if len(word) < 16 and word.lstrip("-").isdigit():
        return int(word)
    value = float(word)
    return int(value) if value.is_integer() else value


def unescape(body: str) -> str:
    """The text that a string's body (without its quotes) stands for.

    Two escaped surrogates that make a pair become one character. An escape that
    JSON does not know stands for itself.
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
