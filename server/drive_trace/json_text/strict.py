r"""Exactly the records that JavaScript's ``JSON.parse`` accepts, with spans, and no others.

Facts (ECMA-262, JSON.parse; RFC 8259): white space is space, tab, ``\n`` and
``\r``; strings hold no character below U+0020; surrogates need no partner;
nesting has no limit. Nothing here recurses, and nothing that a regex has given up
on is tried again, so the time grows with the length of the record whatever it holds.

Nearly all of a trace is pairs without nesting: one regex passes over a run of
them, and :class:`Run` takes it apart when someone asks.

Before 3.11.5 Python gets possessive groups wrong (python/cpython#106052): only
sets are repeated possessively here, groups are greedy and atomic.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from drive_trace.json_text.nodes import Kind, Member, Node
from drive_trace.text import Span

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
# Where digits follow the comma, it does not end the pair: it stands inside of `1,900`.
_SOME_PAIRS = rf"(?>(?:{_NAME}(?:{_NEAR}){_WS},{_WS}(?![0-9])){{0,999}})"
_PAIRS = re.compile(_SOME_PAIRS)
_RUN = re.compile(rf"{_WS}({_SOME_PAIRS})(?:{_NAME}({_NEAR})(?={_WS}(?:\}}|\Z)))?")
_PAIR = re.compile(rf'("{_PLAIN}"){_WS}:{_WS}({_NEAR}){_WS},?{_WS}')
_VALUE = re.compile(rf"{_WS}({_SCALAR}|[{{\[]){_WS}")
_KEY = re.compile(rf"{_WS}({_STRING}){_WS}:")
_SKIP = re.compile(_WS)
_QUOTED = re.compile(r'"(?>(?:[^"\\]|\\.)*)"?', re.DOTALL)

_ESCAPE_OR_PAIR = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_LAST = ("}", "]", '"', "e", "l", *"0123456789")
"""What a JSON text can end with: an object that was cut off is known at once."""
_SHORT_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_NOWHERE = Span(0, 0)
_MOST_SEARCHES = 4
_DEEP = 1000
_LITERALS = {
    "true": (Kind.BOOLEAN, True),
    "false": (Kind.BOOLEAN, False),
    "null": (Kind.NULL, None),
}


def read(text: str) -> Node | None:
    """The value of a record, or None when ``JSON.parse`` would throw."""
    if not text.rstrip(WHITESPACE).endswith(_LAST):
        return None
    node, end = _read_value(text, 0)
    return node if end == len(text) else None


class Run:
    """Pairs that stand one after the other in an object, known to be sound.

    ``last_value`` is where the value begins that the run ends with, or -1 when it
    ends with the comma behind that.
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
            # Whole pairs lead up to it if it is a key; else it stands inside of one.
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
        nested = _read_value(self.text, span.start)[0] if word[0] in "{[" else None
        value = nested or scalar(word, span)
        return Member(key[1:-1], Span(*pair.span(1)), value)


def run_at(text: str, at: int) -> Run | None:
    """The run that begins here: as many pairs as may be, a thousand at most."""
    found = _RUN.match(text, at)
    if found is None or found.end() == found.start(1):
        return None
    return Run(text, found.start(1), found.end(), found.start(2))


class _Parts:
    """The members of an object, in the parts that they were read in.

    The first few lookups of a name search the text; then an index is made, so
    that thousands of lookups in one object take no longer than reading it.
    """

    __slots__ = ("_all", "_by_key", "_searches", "parts")

    def __init__(self, parts: list[Run | Member]) -> None:
        self.parts = parts
        self._all: tuple[Member, ...] | None = None
        self._by_key: dict[str, list[Member]] | None = None
        self._searches = 0

    def all(self) -> tuple[Member, ...]:
        if self._all is None:
            members: list[Member] = []
            for part in self.parts:
                members += part.members() if isinstance(part, Run) else [part]
            self._all = tuple(members)
        return self._all

    def named(self, key: str) -> Sequence[Member]:
        if self._by_key is None:
            if self._searches < _MOST_SEARCHES:
                self._searches += 1
                return self._search(key)
            self._by_key = {}
            for member in self.all():
                self._by_key.setdefault(member.key, []).append(member)
        return self._by_key.get(key, ())

    def _search(self, key: str) -> list[Member]:
        members: list[Member] = []
        for part in self.parts:
            if isinstance(part, Run):
                members += part.named(key)
            elif part.key == key:
                members.append(part)
        return members


def object_of(span: Span, parts: list[Run | Member]) -> Node:
    """The node of an object that was read in parts."""
    return Node(Kind.OBJECT, span, None, _Parts(parts) if parts else None)


class _Frame:
    """An object or array whose end has not been read yet."""

    __slots__ = ("closer", "is_closed", "items", "key", "key_span", "parts", "start")

    def __init__(self, start: int, opener: str) -> None:
        self.start = start
        self.closer = "}" if opener == "{" else "]"
        self.is_closed = False
        """Whether the position that was returned last is the closing bracket's."""
        self.parts: list[Run | Member] | None = [] if opener == "{" else None
        self.items: list[Node] | None = None
        self.key = ""
        self.key_span = _NOWHERE

    def begin(self, text: str, at: int) -> int:
        """From behind the opening bracket to the first value, or -1."""
        self.is_closed = text.startswith(self.closer, at)
        return at if self.is_closed else self._to_value(text, at)

    def add(self, node: Node, text: str, at: int) -> int:
        """Takes a value; from behind it to the next, or -1."""
        if self.parts is not None:
            self.parts.append(Member(self.key, self.key_span, node))
        elif self.items is not None:
            self.items.append(node)
        else:
            self.items = [node]
        return self._go_on(text, at)

    def _go_on(self, text: str, at: int) -> int:
        if text.startswith(",", at):
            return self._to_value(text, at + 1)
        self.is_closed = text.startswith(self.closer, at)
        return at if self.is_closed else -1

    def _to_value(self, text: str, at: int) -> int:
        if self.parts is None:
            return at
        run = run_at(text, at)
        if run is not None:
            self.parts.append(run)
            at = run.end
            if run.last_value >= 0:
                return self._go_on(text, _skip(text, at))
        found = _KEY.match(text, at)
        if found is None:
            return -1
        self.key_span = Span(*found.span(1))
        self.key = unescape(found[1][1:-1])
        return found.end()

    def close(self, end: int) -> Node:
        span = Span(self.start, end)
        if self.parts is not None:
            return object_of(span, self.parts)
        return Node(Kind.ARRAY, span, items=tuple(self.items or ()))


def _read_value(text: str, at: int) -> tuple[Node | None, int]:
    """The value that begins here, and where what follows it begins; None when there is none."""
    frames: list[_Frame] = []
    while True:
        found = _VALUE.match(text, at)
        if found is None:
            return None, at
        word, at = found[1], found.end()
        if word in "{[":
            if len(frames) == _DEEP and not _may_close(text):
                return None, at
            frames.append(_Frame(found.start(1), word))
            at = frames[-1].begin(text, at)
        else:
            node = scalar(word, Span(*found.span(1)))
            if not frames:
                return node, at
            at = frames[-1].add(node, text, at)
        while frames[-1].is_closed:
            node = frames.pop().close(at + 1)
            at = _skip(text, at + 1)
            if not frames:
                return node, at
            at = frames[-1].add(node, text, at)
        if at < 0:
            return None, at


def _may_close(text: str) -> bool:
    """Whether as many brackets close as open: else what is deep need not be read to its end."""
    marks = _QUOTED.sub("", text)
    return all(marks.count(opens) == marks.count(closes) for opens, closes in ("{}", "[]"))


def _skip(text: str, at: int) -> int:
    found = _SKIP.match(text, at)
    return at if found is None else found.end()


def scalar(word: str, span: Span) -> Node:
    """The node of a JSON string, a number, ``true``, ``false`` or ``null``."""
    if word[0] == '"':
        return Node(Kind.STRING, span, unescape(word[1:-1]))
    kind, value = _LITERALS.get(word) or (Kind.NUMBER, number(word))
    return Node(kind, span, value)


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
