"""The lines that a trace had when it was recorded last, and which of them are gone."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from drive_trace.text.spans import is_blank
from drive_trace.trace.line import Line


class Gap(NamedTuple):
    """Lines that stood below each other and are gone."""

    first: int
    """The first one's number in what was recorded, from 0."""
    size: int


class RecordedLines:
    """What was recorded of a trace, compared with its lines. Tell it of every line that comes and
    goes. A line that was recorded is there if any line has its text: copies may go.
    """

    def __init__(self, texts: Iterable[str], lines: Iterable[Line]) -> None:
        self.texts: Sequence[str] = [text.removesuffix("\r") for text in texts]
        """As they were recorded."""
        self._places: dict[str, int] = {}
        for place, text in enumerate(self.texts):
            if not is_blank(text):
                self._places.setdefault(text, place)
        self._counts = dict.fromkeys(self._places, 0)
        for line in lines:
            text = line.text.removesuffix("\r")
            if text in self._counts:
                self._counts[text] += 1
        self._missing = [self._places[text] for text, count in self._counts.items() if not count]

    def has(self, line: Line) -> bool:
        """Whether a line was recorded as it is."""
        return line.text.removesuffix("\r") in self._places

    def note(self, line: Line, sign: int) -> None:
        """A line came (1), or went (-1)."""
        text = line.text.removesuffix("\r")
        count = self._counts.get(text)
        if count is None:
            return
        self._counts[text] = count + sign
        place = self._places[text]
        if sign > 0 and not count:
            del self._missing[bisect_left(self._missing, place)]
        elif sign < 0 and count == 1:
            insort(self._missing, place)

    def gaps(self) -> Iterator[Gap]:
        """What is gone, in the order in which it was recorded."""
        start, missing = 0, self._missing
        while start < len(missing):
            first = missing[start]
            # Numbers that follow each other stand as far apart as their places.
            end = bisect_left(
                range(start, len(missing)), 1, key=lambda at: missing[at] - first > at - start
            )
            yield Gap(first, end)
            start += end
