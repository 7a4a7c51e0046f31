"""Finds tokens on a line, when somebody looks at it."""

from __future__ import annotations

import re
from enum import Enum
from functools import cache, lru_cache
from itertools import chain, repeat

import msgspec

from drive_trace.json_text import STRING, Member, Node, NodeKind, Syntax, find_member, parse
from drive_trace.stopping import unless_stopped
from drive_trace.text.quick import Frozen
from drive_trace.text.spans import JS_WHITESPACE, Span
from drive_trace.trace.line import Path


class Part(Enum):
    """Which token a place means."""

    KEY = "key"
    VALUE = "value"
    START = "start"
    """The opening brace of the event."""
    END = "end"
    """The closing brace of the object at the path: where a missing field would go."""
    WHOLE = "whole"
    """The line without the white space around it."""
    LINE_END = "line end"
    """The empty span behind the line's last character."""


class Place(Frozen, frozen=True):
    """A token of a line, named by its path rather than by its position."""

    part: Part
    path: Path = ()
    occurrence: int = -1
    """Which of several equal keys; the last is the one that counts."""

    @classmethod
    def value(cls, name: str) -> Place:
        """The value of a field of the event."""
        return cls(Part.VALUE, (name,))


class PairSpans(msgspec.Struct, frozen=True):
    """The spans of a pair's key, with its quotes, and of its value."""

    key: Span
    value: Span | None
    """None where the line breaks before the value."""


_LONG = 1 << 14
"""From this length on, a line's tree is too large to keep more than one (a broken line's takes some
50 bytes for each character), and the line may hold too many pairs to be searched for each of them.
"""


def syntax_of(text: str) -> Syntax:
    """The syntax tree of a record. A cache holds the latest trees."""
    return _syntax_of_short(text) if len(text) < _LONG else _syntax_of_long(text)


_syntax_of_short = lru_cache(maxsize=64)(parse)
_syntax_of_long = lru_cache(maxsize=1)(parse)


def resolve(text: str, place: Place | Span) -> Span:
    """The span of a place; if the line does not have it, that of the nearest token that it has."""
    if isinstance(place, Span):
        return place
    part, path = place.part, place.path
    if part is Part.LINE_END:
        end = len(text.rstrip("\r"))
        return Span(end, end)
    if part is Part.WHOLE:
        return _whole(text)
    if part is Part.START:
        start = _whole(text).start
        return Span(start, start + 1)
    if part is Part.END:
        return _end(text, path)
    pair = pair_at(text, path, place.occurrence)
    if pair is not None:
        return pair.key if part is Part.KEY or pair.value is None else pair.value
    node = node_at(syntax_of(text).root, path)
    return node.span if node is not None else _whole(text)


def pair_at(text: str, path: Path, occurrence: int = -1) -> PairSpans | None:
    """Where the pair is whose key is the last step of ``path``, if that is a key."""
    if len(path) == 1 and occurrence == -1 and len(text) < _LONG:
        pair = _quick_pair(text, str(path[0]))
        if pair is not None:
            return pair
    member = member_at(syntax_of(text).root, path, occurrence)
    if member is None:
        return None
    return PairSpans(member.key_span, member.value.span if member.value is not None else None)


def member_at(root: Node | None, path: Path, occurrence: int = -1) -> Member | None:
    """The pair whose key is the last step of ``path``, if that is a key."""
    if not path or not isinstance(path[-1], str):
        return None
    return find_member(node_at(root, path[:-1]), path[-1], occurrence)


def node_at(root: Node | None, path: Path) -> Node | None:
    """The value at ``path``."""
    node = root
    for step in path:
        if node is None:
            return None
        if isinstance(step, str):
            member = find_member(node, step) if node.kind is NodeKind.OBJECT else None
            node = member.value if member is not None else None
        else:
            node = node.items[step] if step < len(node.items) else None
    return node


def inside(string: Span) -> Span:
    """The span of a string without its quotes."""
    return Span(string.start + 1, string.end - 1)


def path_at(text: str, offset: int) -> Place | None:
    """The key or value at a code point of a line."""
    node = syntax_of(text).root
    path: list[str | int] = []
    for _ in unless_stopped(repeat(None)):  # a line may be nested a hundred thousand deep
        if node is None:
            break
        for member in node.members:
            if member.key_span.start <= offset < member.key_span.end:
                return Place(Part.KEY, (*path, member.key))
        pairs = ((member.key, member.value) for member in node.members)
        for step, value in chain[tuple[str | int, Node | None]](pairs, enumerate(node.items)):
            if value is not None and value.span.start <= offset < value.span.end:
                path.append(step)
                node = value
                break
        else:
            return Place(Part.VALUE, tuple(path)) if path else None
    return None


_VALUE = rf'({STRING}|[-+.0-9eEa-z]++|[\[{{](?>(?:[^\[\]{{}}"]|{STRING})*)[\]}}])(?=[,}}])'


_value_pattern = cache(lambda: re.compile(_VALUE))
"""To make it takes a millisecond, and traces without findings do not need it."""


@lru_cache(maxsize=512)  # a finding, its causes and its fix ask for the same
def _quick_pair(text: str, key: str) -> PairSpans | None:
    """A pair of a compact object, found without a tree; None if that is not certain. It takes 4 µs
    where a tree takes 25, for every one of a thousand findings.

    Inside a JSON string every quote has a backslash before it, so that a quoted
    key with a colon after it, and no backslash before, can be nothing but a key.
    It is the outer object's when no other object opens before it.
    """
    quoted = f'"{key}":'
    start = text.find(quoted)
    if start < 1 or text.find(quoted, start + 1) >= 0 or text.find("{", 1, start) >= 0:
        return None
    # A key can be spelt with escapes too, and then the search has not seen it.
    if text[start - 1] not in "{," or "\\" in key or '"' in key or "\\u" in text:
        return None
    value = _value_pattern().match(text, start + len(quoted))
    if value is None:
        return None
    return PairSpans(Span(start, start + len(quoted) - 1), Span(*value.span(1)))


def _end(text: str, path: Path) -> Span:
    if not path:
        whole = _whole(text)
        if text[whole.end - 1 : whole.end] == "}":
            return Span(whole.end - 1, whole.end)
    node = node_at(syntax_of(text).root, path)
    return Span(node.span.end - 1, node.span.end) if node is not None else _whole(text)


def _whole(text: str) -> Span:
    start = len(text) - len(text.lstrip(JS_WHITESPACE))
    return Span(start, max(start, len(text.rstrip(JS_WHITESPACE))))
