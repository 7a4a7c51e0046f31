"""Joins an object that is spread over several lines, as in pretty-printed JSON."""

from __future__ import annotations

from collections.abc import Sequence

import orjson

from drive_trace.json_text import NodeKind, parse
from drive_trace.json_text.lexemes import compacted, outside_strings
from drive_trace.linter.rule import LINES_BELOW, Edit, Fix, Level
from drive_trace.text.spans import Span
from drive_trace.trace.line import Line

_SPACE = " \t\r\n"


def join(first: Line, number: int, below: Sequence[Line]) -> Fix | None:
    """Puts the object that begins on a line on one line, if the lines below complete it.

    ``number`` is the first line's, ``below`` what follows, one line more than may belong to it.
    """
    count = _line_count(first, below[: LINES_BELOW - 1])
    lines = (first, *below[: count - 1])
    text = _one_object(" ".join(line.text.strip(_SPACE) for line in lines)) if count > 1 else None
    if text is None:
        return None
    edits = [Edit(first, Span(0, len(first.text.removesuffix("\r"))), text)]
    for place, line in enumerate(lines[1:], 1):
        has_newline = place < len(below)
        edits.append(Edit(line, Span(0, len(line.text) + has_newline), ""))
    title = f"Join lines {number:,}–{number + count - 1:,} into one"
    return Fix(title, Level.IN_BULK, tuple(edits))


def _line_count(first: Line, below: Sequence[Line]) -> int:
    """Over how many lines an object goes, by its brackets; 0 if it does not end.

    No object goes on behind a line that begins with a brace, as no event has objects in an array.
    So each line is read once, whatever the trace consists of.
    """
    depth = _depth(first.text)
    if depth is None or depth <= 0 or not _begins(first):
        return 0
    for count, line in enumerate(below, 2):
        change = _depth(line.text)
        if change is None or _begins(line):
            return 0
        depth += change
        if depth <= 0:
            return count if depth == 0 else 0
    return 0


def _begins(line: Line) -> bool:
    return line.text.lstrip(_SPACE).startswith("{")


def _depth(text: str) -> int | None:
    """How many more brackets a line opens than it closes; None if it ends inside a string."""
    signs = outside_strings(text)
    if signs is None:
        return None
    return sum(map(signs.count, "{[")) - sum(map(signs.count, "}]"))


def _one_object(text: str) -> str | None:
    """The compact text of an object; None for anything else. A comma behind it goes."""
    text = text.removesuffix(",")
    try:
        is_object = isinstance(orjson.loads(text), dict)
    except ValueError:
        # It refuses some records that readers accept.
        syntax = parse(text)
        is_object = (
            syntax.is_json and syntax.root is not None and syntax.root.kind is NodeKind.OBJECT
        )
    return compacted(text) if is_object else None
