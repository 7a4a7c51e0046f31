"""Strings of a record without a tree of it, however broken the record is.

An escape is a backslash and any character. Where nothing closes a string, its inside reaches to the
end of the text, so that no quote in it is tried anew.
Atomic groups, as Python 3.11.0 to 3.11.4 match possessive ones wrongly.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from drive_trace.text.spans import Span

INSIDE = r'(?>[^"\\]*(?:\\.[^"\\]*)*)'
STRING = rf'"{INSIDE}"'

_VALUE = re.compile(rf"[ \t]*:[ \t]*({STRING})")


def strings_named(text: str, field: str) -> Iterator[tuple[str, Span]]:
    """Every string behind a key of this name, wherever in a record it stands and however broken
    that is; with its span, quotes included.
    """
    key = f'"{field}"'
    at = text.find(key)
    while at >= 0:
        key_end = at + len(key)
        found = _string_after(text, key_end)
        if found is not None:
            yield found
        at = text.find(key, key_end)


def _string_after(text: str, key_end: int) -> tuple[str, Span] | None:
    if text.startswith(':"', key_end):
        start = key_end + 2
        end = text.find('"', start)
        value = text[start:end]
        if end >= 0 and "\\" not in value:
            return value, Span(start - 1, end + 1)
    match = _VALUE.match(text, key_end)
    try:
        return (str(json.loads(match[1])), Span(*match.span(1))) if match is not None else None
    except ValueError:
        return None


_WHITESPACE = " \t\n\r"
_USUAL = {": ": ":", ", ": ",", ":": ":", ",": ","}
"""What mostly stands between two strings, and what it is without white space."""


def space_count(text: str) -> int:
    """How many characters of white space stand between, before and after the tokens."""
    # Without escapes, which stand in strings alone, each quote opens or closes a string.
    plain = re.sub(r"\\.", "", text) if "\\" in text else text
    return sum(map("".join(plain.split('"')[::2]).count, _WHITESPACE))


def first_space(text: str) -> Span | None:
    """Where the first white space stands that is not in a string."""
    for found in re.finditer(rf"{STRING}|([{_WHITESPACE}]+)", text):
        if found[1]:
            return Span(*found.span())
    return None


def compacted(text: str) -> str:
    """The record without white space between its tokens, which stay as they are written."""
    if "\\" not in text:  # then each quote opens or closes a string
        pieces = text.split('"')
        pieces[::2] = [_USUAL.get(between) or "".join(between.split()) for between in pieces[::2]]
        return '"'.join(pieces)
    pieces = re.split(f"({STRING})", text)
    pieces[::2] = ["".join(between.split()) for between in pieces[::2]]
    return "".join(pieces)
