"""Lines by the value of one of their facts."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import compress
from operator import is_not

from drive_trace.trace.line import Line, LineSet


class Table:
    """The lines of one event by the value of one of their facts; null is no value."""

    __slots__ = ("_position", "first", "several")

    def __init__(self, position: int, lines: Iterable[Line]) -> None:
        self._position = position
        lines = list(lines)
        values = [line.facts[position] for line in lines]
        self.first: dict[object, Line] = dict(zip(reversed(values), reversed(lines), strict=True))
        """The earliest line with each value."""
        self.several: dict[object, LineSet] = {}
        """All lines with a value that more than one has."""
        is_unique = len(self.first) == len(lines)
        self.first.pop(None, None)
        if not is_unique:
            are_others = list(map(is_not, map(self.first.get, values), lines))
            for value, line in compress(zip(values, lines, strict=True), are_others):
                if value is not None:
                    self._add_another(value, line)

    def of(self, value: object) -> LineSet:
        """The lines with a value."""
        several = self.several.get(value)
        if several is not None:
            return several
        only = self.first.get(value)
        return LineSet() if only is None else LineSet((only,))

    def beside(self, value: object, line: Line) -> tuple[Line | None, Line | None]:
        """The nearest lines with a value before and after a line, itself apart."""
        several = self.several.get(value)
        if several is not None:
            return several.before(line), several.after(line)
        only = self.first.get(value)
        if only is None or only is line:
            return None, None
        return (only, None) if only.order < line.order else (None, only)

    def add(self, line: Line) -> None:
        """Take in a line of the event."""
        value = line.facts[self._position]
        if value is not None and self.first.setdefault(value, line) is not line:
            self._add_another(value, line)

    def remove(self, line: Line) -> None:
        """Forget a line of the event."""
        value = line.facts[self._position]
        if value is None:
            return
        several = self.several.get(value)
        if several is None:
            del self.first[value]
            return
        several.discard(line)
        self.first[value] = several[0]
        if len(several) == 1:
            del self.several[value]

    def _add_another(self, value: object, line: Line) -> None:
        several = self.several.get(value)
        if several is None:
            several = self.several[value] = LineSet((self.first[value],))
        several.add(line)
        self.first[value] = several[0]
