"""Where on a line something stands, worked out only when somebody looks."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import NamedTuple

from drive_trace.text import JS_WHITESPACE, Span
from drive_trace.trace.line import Path
from drive_trace.trace.syntax import Kind, Member, Node, Syntax, find_member, parse


class Part(Enum):
    """Which token a place means."""

    KEY = "key"
    VALUE = "value"
    END = "end"
    """The closing brace of the object at the path: where a missing field would go."""
    WHOLE = "whole"
    """The line without the white space around it."""
    LINE_END = "line end"
    """The empty span behind the line's last character."""


class Place(NamedTuple):
    """A token of a line, named by what it is rather than by where."""

    part: Part
    path: Path = ()
    occurrence: int = -1
    """Which of several equal keys; the last is the one that counts."""


@lru_cache(maxsize=512)
def syntax_of(text: str) -> Syntax:
    """The syntax tree of a record; the latest ones asked for are remembered."""
    return parse(text)


def resolve(text: str, place: Place | Span) -> Span:
    """The span of a place; where the line does not have it, the nearest token that it has."""
    if isinstance(place, Span):
        return place
    if place.part is Part.LINE_END:
        end = len(text.rstrip("\r"))
        return Span(end, end)
    whole = _whole(text)
    if place.part is Part.WHOLE:
        return whole
    root = syntax_of(text).root
    if place.part is Part.END:
        node = node_at(root, place.path)
        return Span(node.span.end - 1, node.span.end) if node is not None else whole
    member = member_at(root, place.path, place.occurrence)
    if member is None:
        node = node_at(root, place.path)
        return node.span if node is not None else whole
    if place.part is Part.KEY or member.value is None:
        return member.key_span
    return member.value.span


def member_at(root: Node | None, path: Path, occurrence: int = -1) -> Member | None:
    """The pair whose key is the last step of ``path``, if that is a key."""
    if not path or not isinstance(path[-1], str):
        return None
    node = node_at(root, path[:-1])
    return find_member(node, path[-1], occurrence) if node is not None else None


def node_at(root: Node | None, path: Path) -> Node | None:
    """The value at ``path``."""
    node = root
    for step in path:
        if node is None:
            return None
        if isinstance(step, str):
            member = find_member(node, step) if node.kind is Kind.OBJECT else None
            node = member.value if member is not None else None
        else:
            node = node.items[step] if step < len(node.items) else None
    return node


def path_at(text: str, offset: int) -> Place | None:
    """The key or value that a code point of a line stands in."""
    node = syntax_of(text).root
    path: Path = ()
    while node is not None:
        inside = None
        for member in node.members:
            if member.key_span.start <= offset < member.key_span.end:
                return Place(Part.KEY, (*path, member.key))
            if member.value is not None and _covers(member.value, offset):
                path, inside = (*path, member.key), member.value
                break
        else:
            for index, item in enumerate(node.items):
                if _covers(item, offset):
                    path, inside = (*path, index), item
                    break
        if inside is None:
            return Place(Part.VALUE, path) if path else None
        node = inside
    return None


def _covers(node: Node, offset: int) -> bool:
    return node.span.start <= offset < node.span.end


def _whole(text: str) -> Span:
    bare = text.strip(JS_WHITESPACE)
    start = len(text) - len(text.lstrip(JS_WHITESPACE))
    return Span(start, start + len(bare))
