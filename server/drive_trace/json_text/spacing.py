"""White space between the tokens of a record, which compact JSON does not have.

For records that are JSON. The ``\\r`` of a line break is white space here, too.
"""

from __future__ import annotations

import re

from drive_trace.json_text.strings import STRING
from drive_trace.text.spans import Span

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
