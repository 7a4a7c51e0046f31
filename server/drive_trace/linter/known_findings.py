"""Which lines a baseline hides findings of.

It knows of how many lines with the same text it hides what a rule finds: of the
first so many, in the order of the file. One more such line is a new finding.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from drive_trace.linter.settings import fingerprint
from drive_trace.trace.line import Line, LineSet


class KnownLines:
    """The lines on which something is found that a baseline knows."""

    def __init__(self, known: Mapping[str, int]) -> None:
        """``known`` says by fingerprint of how many lines a finding is hidden."""
        self._known = known
        self._alike: dict[str, LineSet] = {}
        self._of: dict[Line, dict[str, tuple[LineSet, int]]] = {}
        """By line and code: the lines with the same fingerprint, and how many are hidden."""

    def add(self, line: Line, codes: Iterable[str]) -> list[Line]:
        """Rules with these codes find something on a line; gives the lines that are shown now."""
        shown: list[Line] = []
        of_line: dict[str, tuple[LineSet, int]] = {}
        for code in dict.fromkeys(codes) if self._known else ():
            found_by = fingerprint(code, line.text)
            most = self._known.get(found_by)
            if most is None:
                continue
            alike = self._alike.setdefault(found_by, LineSet())
            alike.add(line)
            of_line[code] = (alike, most)
            if len(alike) > most and alike.position(line) < most:
                shown.append(alike[most])
        if of_line:
            self._of[line] = of_line
        return shown

    def remove(self, line: Line) -> list[Line]:
        """A line goes, or what is found on it; gives the lines that are hidden now."""
        hidden: list[Line] = []
        for alike, most in self._of.pop(line, {}).values():
            place = alike.position(line)
            alike.discard(line)
            if place < most <= len(alike):
                hidden.append(alike[most - 1])
        return hidden

    def hides(self, code: str, line: Line) -> bool:
        """Whether what a rule finds on a line is hidden."""
        of_line = self._of.get(line)
        if of_line is None or code not in of_line:
            return False
        alike, most = of_line[code]
        return alike.position(line) < most
