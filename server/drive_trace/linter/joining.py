"""Objects that are spread over several lines, as in pretty-printed JSON: each is one finding, and
can be joined.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from operator import attrgetter

import orjson

from drive_trace.json_text import NodeKind, ProblemKind, compacted, outside_strings, parse
from drive_trace.linter.rule import LINES_BELOW, Edit, Fix, Level
from drive_trace.text.spans import Span
from drive_trace.trace.line import Line

_SPACE = " \t\r\n"
CUT_OFF = (ProblemKind.SPREAD_OBJECT, ProblemKind.UNFINISHED)
"""What is wrong with the first line of such an object."""
_order = attrgetter("order")


class SpreadObjects:
    """The objects of a trace that are spread over several lines. What is wrong with their lines is
    said on the first of them.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        """``lines`` are all of the trace, now and after each edit."""
        self._lines = lines
        self._rest: dict[Line, tuple[Line, ...]] = {}
        self._first: dict[Line, Line] = {}
        for place, line in enumerate(lines):
            if line.diagnostics:
                self._look(place, line)

    def covers(self, line: Line) -> bool:
        """Whether a line goes on with an object, or ends it."""
        return line in self._first

    def first(self, line: Line) -> Line:
        """The first line of the object that this line goes on with, else the line itself."""
        return self._first.get(line, line)

    def last(self, line: Line) -> Line | None:
        """The last line of the object that begins with this one."""
        rest = self._rest.get(line)
        return rest[-1] if rest else None

    def change(self, gone: Iterable[Line], came: Iterable[Line]) -> set[Line]:
        """Lines went and came, all at one place; gives the lines that are in other objects now."""
        places = [bisect_left(self._lines, each.order, key=_order) for each in [*came] or gone]
        changed = set[Line]()
        for line in gone:
            changed.update(self._forget(line))
        if places:
            first = max(0, min(places) - LINES_BELOW)
            for place, line in enumerate(self._lines[first : max(places) + 1], first):
                changed.update(self._forget(line), self._look(place, line))
        return changed

    def _forget(self, line: Line) -> Iterable[Line]:
        rest = self._rest.pop(line, ())
        for each in rest:
            self._first.pop(each, None)
        return (line, *rest) if rest else ()

    def _look(self, place: int, line: Line) -> Iterable[Line]:
        problems = (each.problem for each in line.diagnostics)
        if not any(each is not None and each.kind in CUT_OFF for each in problems):
            return ()
        count = _line_count(line, self._lines[place + 1 : place + LINES_BELOW])
        rest = tuple(self._lines[place + 1 : place + count])
        if rest:
            self._rest[line] = rest
            self._first.update(dict.fromkeys(rest, line))
        return (line, *rest)


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
