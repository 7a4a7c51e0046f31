"""Where somebody is writing in a record that may be half-written, and what surrounds that place.

What stands at the cursor is replaced with a mark, and the tolerant reader says where the mark is.
The text behind the next quote decides whether that quote closes the string at the cursor.
"""

import re
from collections.abc import Mapping
from enum import Enum
from typing import NamedTuple

from drive_trace.json_text import INSIDE, STRING, Node, NodeKind, outside_strings, parse
from drive_trace.text.spans import JS_WHITESPACE, Span
from drive_trace.trace.line import Path
from drive_trace.trace.places import node_at

_MARK = "\ufdd0"
"""No character of any text."""

_LONGEST = 1 << 16
"""The longest record that is read: nobody writes longer ones by hand."""

TOKEN = re.compile(rf'"{INSIDE}(?:"|\\?\Z)|[{{}}\[\],:]|[^\s{{}}\[\],:"]+', re.DOTALL)
"""A string with its quotes, closed or not; a bracket, comma or colon; or a word without quotes."""
_REST = re.compile(f'{INSIDE}"', re.DOTALL)
_WORD = re.compile(r'[^\s{}\[\],:"]*')
_NEXT = re.compile(r"\s*(\S?)")
_KEY_AHEAD = re.compile(rf"\s*{STRING}\s*:", re.DOTALL)
_STRING_AHEAD = re.compile(STRING, re.DOTALL)
_BARE = re.compile(r'\{?\s*"?[\w.-]*"?\s*\}?')
"""A record in which somebody can have written nothing but the name of an event."""


class Where(Enum):
    """What somebody writes at the cursor."""

    EVENT = "event"
    """A whole event: the record is empty, or as good as that."""
    KEY = "key"
    VALUE = "value"


class Cursor(NamedTuple):
    """A place in a record where something can be written."""

    where: Where
    path: Path
    """Of the object whose key it is, or of the value."""
    span: Span
    """The token there, with its quotes, as far as it has any: what is to be replaced."""
    word: str
    """The part of the token before the cursor, without the quote."""
    lead: str
    """The text of the span before the word."""
    before: str
    """A comma or colon that is missing before it."""
    after: str
    """A comma that is missing behind it."""
    has_colon: bool
    """Whether a colon follows it already, if it is a key."""
    given: Mapping[str, object]
    """The other scalars of the record, by key."""
    siblings: Mapping[str, object]
    """The other members of the object that the cursor is in; None for what is no scalar."""
    items: tuple[object, ...]
    """The scalars of the array that the cursor is in."""


def cursor_at(text: str, offset: int) -> Cursor | None:
    """What can be written at a code point of a record; None if nothing can."""
    if len(text) > _LONGEST:
        return None
    whole = text.strip(JS_WHITESPACE)
    if _BARE.fullmatch(whole):
        return _bare(text, offset)
    start = _token_start(text, offset)
    # Without its comma, the reader takes a key for nothing.
    heads = (f'{text[:start]}{missing}"{_MARK}"' for missing in (" ", ","))
    marked = next(filter(None, (_marked(parse(each).root) for each in heads)), None)
    return _in_record(text, offset, start, marked) if marked is not None else None


def _bare(text: str, offset: int) -> Cursor | None:
    stop = len(text.rstrip("\r"))
    start = len(text) - len(text.lstrip(JS_WHITESPACE))
    start, stop = (0, stop) if start >= stop else (start, len(text.rstrip(JS_WHITESPACE)))
    span = Span(min(start, offset), max(stop, offset))
    if "\r" in text[span.start : span.end]:
        return None  # it would reach over several of the protocol's lines
    head = text[span.start : offset]
    lead = head.rstrip(_WORDS)
    word = head[len(lead) :]
    return Cursor(Where.EVENT, (), span, word, lead, "", "", False, {}, {}, ())


_WORDS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"


class _Marked(NamedTuple):
    """Where the mark is."""

    path: Path
    """Of the object whose key it is, or of the value."""
    is_key: bool
    in_object: bool


def _in_record(text: str, offset: int, start: int, marked: _Marked) -> Cursor | None:
    path, is_key, in_object = marked
    if start == offset and not is_key and not _KEY_AHEAD.match(text, offset):
        span = Span(start, _closed(text, offset))
    else:
        span = Span(start, _end_of(text, start, offset))
    next_character = _next(text, span.end)
    if (not is_key and next_character in ("{", "[")) or "\r" in text[span.start : span.end]:
        return None
    has_colon = is_key and next_character == ":"
    ends, missing = ("{,", ",") if is_key else (":", ":") if in_object else ("[,", "")
    before = "" if text[:start].rstrip()[-1:] in ends else missing
    is_after = not in_object and text[:start].rstrip()[-1:] not in ends
    if is_after or (before == ":" and next_character == ":"):
        return None  # behind an item, or between a key and its colon
    lead = '"' if text.startswith('"', start) and offset > start else ""
    after = "," if _KEY_AHEAD.match(text, span.end) or next_character in _SCALAR else ""
    value = ":0" if is_key and not has_colon else ""
    whole = f'{text[:start]}{before}"{_MARK}"{value}{after}{text[span.end :]}'
    root = parse(whole).root
    holder = node_at(root, path if is_key else path[:-1])
    return Cursor(
        Where.KEY if is_key else Where.VALUE,
        path,
        span,
        text[start + len(lead) : offset],
        lead,
        before,
        after,
        has_colon,
        _members(root),
        _members(holder),
        tuple(_scalar(each) for each in (holder.items if holder else ()) if each.value != _MARK),
    )


def _marked(root: Node | None) -> _Marked | None:
    """Where the mark is that a record ends with; None if it is not in an object or array."""
    node, path = root, list[str | int]()
    while node is not None:
        in_object = node.kind is NodeKind.OBJECT
        if node.members:
            last = node.members[-1]
            if last.key == _MARK:
                return _Marked(tuple(path), is_key=True, in_object=True)
            path.append(last.key)
            node = last.value
        elif node.items:
            path.append(len(node.items) - 1)
            node = node.items[-1]
        else:
            return None
        if node is not None and node.value == _MARK:
            return _Marked(tuple(path), is_key=False, in_object=in_object)
    return None


def _members(node: Node | None) -> dict[str, object]:
    members = node.members if node is not None else ()
    return {each.key: _scalar(each.value) for each in members if each.key != _MARK}


def _scalar(node: Node | None) -> object:
    """The value of a scalar of JSON; None for all else."""
    is_scalar = node is not None and node.kind is not NodeKind.BROKEN and node.value != _MARK
    return node.value if node is not None and is_scalar else None


_SCALAR = frozenset('"-0123456789tfn')


def _next(text: str, at: int) -> str:
    found = _NEXT.match(text, at)
    return found[1] if found is not None else ""


def _closed(text: str, at: int) -> int:
    """The end of the value that starts at a place, if that is no object and no array."""
    found = _STRING_AHEAD.match(text, at) or _WORD.match(text, at)
    return found.end() if found is not None else at


def _end_of(text: str, start: int, offset: int) -> int:
    """Where the token ends that starts before the cursor and reaches up to it at least."""
    if text.startswith('"', start) and start < offset:
        closing = _REST.match(text, offset)
        if closing is not None and _is_close(text, closing.end()):
            return closing.end()
    word = _WORD.match(text, offset)
    return word.end() if word is not None else offset


def _is_close(text: str, behind: int) -> bool:
    """Whether a quote before a place can close a string: no word follows it, and the quotes behind
    it go in pairs.
    """
    following = _next(text, behind)
    if following and following not in ',:}]"':
        return False
    return outside_strings(text[behind:]) is not None


def _token_start(text: str, offset: int) -> int:
    """The start of the token that somebody is writing at the cursor, or the cursor's place if there
    is no such token.
    """
    at = 0
    while (token := TOKEN.search(text, at, offset)) is not None:
        start, at = token.span()
        if token[0][0] == '"':
            if outside_strings(token[0]) is None:
                return start
            at = _real_end(text, start, at)
        elif at == offset and token[0] not in _STRUCTURE:
            return start
    return offset


def _real_end(text: str, start: int, end: int) -> int:
    """Where a string ends that a quote seems to close. If a word follows the quote, the quote opens
    the next string instead, and this one ends before its first comma.
    """
    following = _next(text, end)
    if not following or following in ',:}]"{[':
        return end
    comma = text.find(",", start, end)
    return comma if comma >= 0 else end


_STRUCTURE = frozenset("{}[],:")
