"""The tokens of a record without a tree of it, however broken the record is.

An escape is a backslash and any character. Where nothing closes a string, its inside reaches to the
end of the text, so that no quote in it is tried anew.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from drive_trace.text.spans import Span

# Atomic groups, as Python 3.11.0 to 3.11.4 match possessive ones wrongly.
INSIDE = r'(?>[^"\\]*(?:\\.[^"\\]*)*)'
STRING = rf'"{INSIDE}"'
TOKEN = re.compile(
    rf'"{INSIDE}(?:"|\\?\Z)|[{{}}\[\],:]|[^\s{{}}\[\],:"]+',
    re.DOTALL,
)
"""A string with its quotes, closed or not; a bracket, comma or colon; or a word without quotes."""

_VALUE = re.compile(rf"[ \t]*:[ \t]*({STRING})")
_ESCAPE = re.compile(r"\\.", re.DOTALL)
WHITESPACE = " \t\n\r"
_USUAL = {": ": ":", ", ": ",", ":": ":", ",": ","}
"""The usual text between two strings, and the same without white space."""


def split_strings(text: str) -> list[str]:
    """The text cut at the quotes of its strings: by turns what is outside of strings and inside.

    Escapes are masked, so that each piece has its length but no quote. If the last string is not
    closed, the number of pieces is even.
    """
    return (_ESCAPE.sub("\0\0", text) if "\\" in text else text).split('"')


def outside_strings(text: str) -> str | None:
    """What is outside of the strings; None if the last string is not closed."""
    pieces = split_strings(text)
    return "".join(pieces[::2]) if len(pieces) % 2 else None


def is_closed(string: str) -> bool:
    """Whether a token that starts with a quote ends with one, too."""
    return outside_strings(string) is not None


def strings_named(text: str, field: str) -> Iterator[tuple[str, Span]]:
    """The value and the span (quotes included) of every string behind a key of this name, wherever
    the key is in a record.
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


def space_count(text: str) -> int:
    """How many characters of white space a JSON record has between, before and after its tokens."""
    return sum(map("".join(split_strings(text)[::2]).count, WHITESPACE))


def first_space(text: str) -> Span | None:
    """Where the first white space of a JSON record is that is not in a string."""
    for found in re.finditer(rf"{STRING}|([{WHITESPACE}]+)", text):
        if found[1]:
            return Span(*found.span())
    return None


def compacted(text: str) -> str:
    """A JSON record without white space between its tokens, which stay as they are written.

    The ``\\r`` of a line break is white space here, too.
    """
    if "\\" not in text:  # then each quote opens or closes a string
        pieces = text.split('"')
        pieces[::2] = [_USUAL.get(between) or "".join(between.split()) for between in pieces[::2]]
        return '"'.join(pieces)
    pieces = re.split(f"({STRING})", text)
    pieces[::2] = ["".join(between.split()) for between in pieces[::2]]
    return "".join(pieces)
