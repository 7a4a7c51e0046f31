r"""Reads runs of sound pairs of an object by one regex: nearly all of a trace is such pairs.

Facts (ECMA-262, JSON.parse; RFC 8259): white space is space, tab, ``\n`` and
``\r``; strings hold no character below U+0020; surrogates need no partner.
The regex passes over a run of pairs, and :class:`PairRun` takes it apart on first
use. Nothing that a regex has given up on is tried again, so the time grows with
the length of the record, whatever it holds.

Before 3.11.5 Python gets possessive groups wrong (python/cpython#106052): only
sets are repeated possessively here, groups are greedy and atomic.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from drive_trace.json_text.nodes import Member, Node, NodeKind
from drive_trace.text.spans import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

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
_SOME_PAIRS = rf"(?>(?:{_NAME}(?:{_NEAR}){_WS},{_WS}(?![0-9])){{0,999}})"
_PAIRS = re.compile(_SOME_PAIRS)
_RUN = re.compile(rf"{_WS}({_SOME_PAIRS})(?:{_NAME}({_NEAR})(?={_WS}(?:\}}|\Z)))?")
_PAIR = re.compile(rf'("{_PLAIN}"){_WS}:{_WS}({_NEAR}){_WS},?{_WS}')
_SCALARS = re.compile(_SCALAR)
_SKIP = re.compile(_WS)

_ESCAPE_OR_PAIR = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_MOST_SEARCHES = 4
_LITERALS = {
    "true": (NodeKind.BOOLEAN, True),
    "false": (NodeKind.BOOLEAN, False),
    "null": (NodeKind.NULL, None),
}


class PairRun:
    """Neighbouring pairs of an object that are known to be sound.

    ``last_value`` is the start of the value at the end of the run, or -1 if the
    run ends with the comma behind that value.
    """

    __slots__ = ("end", "last_value", "start", "text")

    def __init__(self, text: str, start: int, end: int, last_value: int) -> None:
        self.text = text
        self.start = start
        self.end = end
        self.last_value = last_value

    def last_token(self) -> Span:
        """What the run ends with: a comma, a closing bracket or a scalar."""
        if self.last_value < 0:
            comma = self.text.rindex(",", self.start, self.end)
            return Span(comma, comma + 1)
        is_bracket = self.text[self.end - 1] in "}]"
        return Span(self.end - 1 if is_bracket else self.last_value, self.end)

    def members(self) -> list[Member]:
        """Every member, in text order."""
        return [self._member(pair) for pair in _PAIR.finditer(self.text, self.start, self.end)]

    def named(self, key: str) -> list[Member]:
        """The members with this key, in text order."""
        text, at, end = self.text, self.start, self.end
        quoted = f'"{key}"'
        members = []
        while (candidate := text.find(quoted, at, end)) >= 0:
            # Whole pairs lead up to it if it is a key; else it is inside of one.
            before = _PAIRS.match(text, at, candidate)
            pair = _PAIR.match(text, before.end() if before else at, end)
            if pair is None:
                break
            if pair[1] == quoted:
                members.append(self._member(pair))
            at = pair.end()
        return members

    def _member(self, pair: re.Match[str]) -> Member:
        key, word = pair.groups()
        span = Span(*pair.span(2))
        return Member(key[1:-1], Span(*pair.span(1)), self._value(word, span))

    def _value(self, word: str, span: Span) -> Node:
        start, end = span.start + 1, span.end - 1
        if word[0] == "{":
            return object_of(span, [PairRun(self.text, _skip(self.text, start), end, -1)])
        if word[0] == "[":
            items = _SCALARS.finditer(self.text, start, end)
            return Node(
                NodeKind.ARRAY,
                span,
                items=tuple([scalar(each[0], Span(*each.span())) for each in items]),
            )
        return scalar(word, span)


def run_at(text: str, at: int) -> PairRun | None:
    """The longest run of pairs that begins here, a thousand at most; None if there is none."""
    found = _RUN.match(text, at)
    if found is None or found.end() == found.start(1):
        return None
    return PairRun(text, found.start(1), found.end(), found.start(2))


class _Parts:
    """The members of an object, in the parts that they were read in.

    The first few lookups of a name search the text; then an index is made, so
    that thousands of lookups in one object take no longer than reading it.
    """

    __slots__ = ("_all", "_by_key", "_searches", "parts")

    def __init__(self, parts: list[PairRun | Member]) -> None:
        self.parts = parts
        self._all: tuple[Member, ...] | None = None
        self._by_key: dict[str, list[Member]] | None = None
        self._searches = 0

    def all(self) -> tuple[Member, ...]:
        if self._all is None:
            members: list[Member] = []
            for part in self.parts:
                members += part.members() if isinstance(part, PairRun) else [part]
            self._all = tuple(members)
        return self._all

    def named(self, key: str) -> Sequence[Member]:
        if self._by_key is None:
            if self._all is None and self._searches < _MOST_SEARCHES:
                self._searches += 1
                return self._search(key)
            self._by_key = {}
            for member in self.all():
                self._by_key.setdefault(member.key, []).append(member)
        return self._by_key.get(key, ())

    def _search(self, key: str) -> list[Member]:
        members: list[Member] = []
        for part in self.parts:
            if isinstance(part, PairRun):
                members += part.named(key)
            elif part.key == key:
                members.append(part)
        return members


def object_of(span: Span, parts: list[PairRun | Member]) -> Node:
    """The node of an object that was read in parts."""
    return Node(NodeKind.OBJECT, span, None, _Parts(parts) if parts else None)


def _skip(text: str, at: int) -> int:
    found = _SKIP.match(text, at)
    return at if found is None else found.end()


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
