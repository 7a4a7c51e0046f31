"""Where somebody is writing in a record that may be half-written, and what surrounds that place.

This is a scanner of tokens, not a parser: it reads any text, as far as a cursor needs it. The text
behind the next quote decides whether that quote closes the string at the cursor.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import NamedTuple

from drive_trace.json_text import INSIDE, STRING, TOKEN, is_closed, outside_strings
from drive_trace.text.spans import JS_WHITESPACE, Span
from drive_trace.trace.line import Path

_LONGEST = 1 << 16
"""The longest record that is read: nobody writes longer ones by hand."""

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


class _Expected(Enum):
    KEY = "a key is expected"
    COLON = "a colon is expected"
    VALUE = "a value is expected"
    AFTER = "a comma or the end is expected"


@dataclass(slots=True)
class _Frame:
    """An object or array that is open."""

    is_object: bool
    state: _Expected
    key: str = ""
    count: int = 0
    members: dict[str, object] = field(default_factory=dict)
    items: list[object] = field(default_factory=list)

    @property
    def step(self) -> str | int:
        return self.key if self.is_object else self.count


def cursor_at(text: str, offset: int) -> Cursor | None:
    """What can be written at a code point of a record; None if nothing can."""
    if len(text) > _LONGEST:
        return None
    whole = text.strip(JS_WHITESPACE)
    if _BARE.fullmatch(whole):
        return _bare(text, offset)
    scan = _Scan(text)
    start = scan.up_to(offset)
    if not scan.frames:
        return None
    return _in_record(text, offset, scan, start)


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


def _in_record(text: str, offset: int, scan: _Scan, start: int) -> Cursor | None:
    frame = scan.frames[-1]
    state = frame.state
    is_key = frame.is_object and state in (_Expected.KEY, _Expected.AFTER)
    if start == offset and not is_key and not _KEY_AHEAD.match(text, offset):
        span = Span(start, _closed(text, offset))
    else:
        span = Span(start, _end_of(text, start, offset))
    next_character = _next(text, span.end)
    if (not is_key and next_character in ("{", "[")) or "\r" in text[span.start : span.end]:
        return None
    has_colon = is_key and next_character == ":"
    if state is _Expected.AFTER and not frame.is_object:
        return None
    if state is _Expected.COLON and next_character == ":":
        return None  # between a key and its colon
    path = tuple(each.step for each in scan.frames[:-1])
    lead = '"' if text.startswith('"', start) and offset > start else ""
    before = {_Expected.AFTER: ",", _Expected.COLON: ":"}.get(state, "")
    after = "," if _KEY_AHEAD.match(text, span.end) or next_character in _SCALAR else ""
    where = (Where.KEY, path) if is_key else (Where.VALUE, (*path, frame.step))
    scan.go_on(span.end, is_key=is_key, has_colon=has_colon)
    return Cursor(
        *where,
        span,
        text[start + len(lead) : offset],
        lead,
        before,
        after,
        has_colon,
        scan.root.members,
        frame.members,
        tuple(frame.items),
    )


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


class _Scan:
    """Reads the tokens of a record before and behind the cursor."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.root = _Frame(True, _Expected.KEY)
        self.frames: list[_Frame] = []

    def up_to(self, offset: int) -> int:
        """Read up to the cursor, and give the start of the token that somebody is writing there, or
        the cursor's place if there is no such token.
        """
        at = 0
        while (token := TOKEN.search(self._text, at, offset)) is not None:
            start, at = token.span()
            if token[0][0] == '"':
                if not is_closed(token[0]):
                    return start
                at = self._real_end(start, at)
            elif at == offset and token[0] not in _STRUCTURE:
                return start
            self._take(self._text[start:at])
        return offset

    def go_on(self, start: int, *, is_key: bool, has_colon: bool) -> None:
        """Read on behind the cursor's token, for the rest of its object."""
        frame, depth = self.frames[-1], len(self.frames)
        frame.state = _Expected.AFTER
        if is_key:
            frame.key, frame.state = "", _Expected.COLON if has_colon else _Expected.AFTER
        at = start
        while depth and (token := TOKEN.search(self._text, at)) is not None:
            first, at = token.span()
            if token[0][0] == '"' and is_closed(token[0]):
                at = self._real_end(first, at)
            self._take(self._text[first:at])

    def _real_end(self, start: int, end: int) -> int:
        """Where a string ends that a quote seems to close. If a word follows the quote, the quote
        opens the next string instead, and this one ends before its first comma.
        """
        following = _next(self._text, end)
        if not following or following in ',:}]"{[':
            return end
        comma = self._text.find(",", start, end)
        return comma if comma >= 0 else end

    def _take(self, read: str) -> None:
        frame = self.frames[-1] if self.frames else None
        if read in ("{", "["):
            self._open(read == "{")
        elif read in ("}", "]"):
            if self.frames:
                self.frames.pop()
            if self.frames:
                self.frames[-1].state = _Expected.AFTER
        elif frame is None:
            return
        elif read == ",":
            frame.count += 1
            frame.state = _Expected.KEY if frame.is_object else _Expected.VALUE
        elif read == ":":
            frame.state = _Expected.VALUE
        else:
            _take_word(frame, read)

    def _open(self, is_object: bool) -> None:
        state = _Expected.KEY if is_object else _Expected.VALUE
        if not self.frames:
            self.root = _Frame(is_object, state)
            self.frames.append(self.root)
            return
        outer = self.frames[-1]
        if outer.is_object and outer.state is _Expected.VALUE and outer.key:
            outer.members.setdefault(outer.key, None)
        self.frames.append(_Frame(is_object, state))


def _take_word(frame: _Frame, token: str) -> None:
    if not frame.is_object:
        frame.items.append(_scalar(token))
        frame.state = _Expected.AFTER
    elif frame.state in (_Expected.KEY, _Expected.AFTER):
        key = _scalar(token)
        frame.key = key if isinstance(key, str) else token
        frame.members.setdefault(frame.key, None)
        frame.state = _Expected.COLON
    else:
        if frame.key:
            frame.members[frame.key] = _scalar(token)
        frame.state = _Expected.AFTER


_STRUCTURE = frozenset("{}[],:")


def _scalar(token: str) -> object:
    """The value of a token; None if it is no scalar of JSON."""
    try:
        return json.loads(token, strict=False)
    except (ValueError, RecursionError):
        return None
