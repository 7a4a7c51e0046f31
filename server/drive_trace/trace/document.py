"""A trace as a list of records that edits change in place."""

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import NamedTuple

from drive_trace.stopping import cached_property, unless_stopped
from drive_trace.text.spans import PositionEncoding, offset_of, units_before
from drive_trace.trace.line import FlaggedLine, Line, LineStatus

Reader = Callable[[Iterable[str]], list[Line]]


class Point(NamedTuple):
    """A place in a document: a record's index from 0, and a code point within it.

    One past a record's text is behind the newline that ends it.
    """

    record: int
    offset: int


class Position(NamedTuple):
    """A place as the protocol counts it from 0, ``character`` in units of some encoding."""

    line: int
    character: int


class Splice(NamedTuple):
    """An edit reduced to the records that really change: ``[first, stop)`` become ``texts``."""

    first: int
    stop: int
    texts: Sequence[str]


class Document:
    """The records of a trace. There is always a last one, empty after a final newline."""

    def __init__(self, records: Iterable[str], read: Reader) -> None:
        self._read = read
        self._lines = read(records)
        _mark_end(self._lines)
        self._number(0, len(self._lines))
        self.shape = 0
        """Changes when an edit may have moved lines: equal shapes mean equal line numbers."""

    @property
    def lines(self) -> Sequence[Line]:
        """Every record, in order."""
        return self._lines

    @property
    def text(self) -> str:
        """The whole text, as it was opened and edited."""
        return "\n".join([line.text for line in self._lines])

    def number(self, line: Line) -> int:
        """The index from 0 of a line of this document."""
        return line.order

    def splice(self, start: Point, end: Point, text: str) -> Splice:
        """What putting ``text`` in place of the text between two points changes."""
        lines = self._lines
        start, end = self._in_record(start), self._in_record(end)
        head, tail = lines[start.record].text, lines[end.record].text
        texts = f"{head[: start.offset]}{text}{tail[end.offset :]}".split("\n")
        first, stop = start.record, end.record + 1
        begin, finish = 0, len(texts)
        # From the end first: the last record is another thing than an equal one before it.
        while first < stop and begin < finish and lines[stop - 1].text == texts[finish - 1]:
            stop, finish = stop - 1, finish - 1
        at_end = int(stop == len(lines))
        while (
            first < stop - at_end and begin < finish - at_end and lines[first].text == texts[begin]
        ):
            first, begin = first + 1, begin + 1
        return Splice(first, stop, texts[begin:finish])

    def apply(self, splice: Splice) -> Sequence[Line]:
        """Carry out an edit and give the new lines.

        Callers forget the removed lines *before* this: lines below are numbered anew.
        """
        first, stop, texts = splice
        added = self._read(texts)
        may_divide = self.is_divided or any("\r" in text for text in texts)
        if may_divide or len(texts) != stop - first:
            self.shape += 1
        if may_divide:
            self.__dict__.pop("is_divided", None)
            self.__dict__.pop("_starts", None)
        if stop == len(self._lines):
            _mark_end(added)
        self._lines[first:stop] = added
        self._number(first, first + len(added) if len(added) == stop - first else len(self._lines))
        return added

    def _in_record(self, point: Point) -> Point:
        record, offset = point
        is_behind = offset > len(self._lines[record].text) and record + 1 < len(self._lines)
        return Point(record + 1, 0) if is_behind else point

    def _number(self, first: int, stop: int) -> None:
        for order, line in enumerate(self._lines[first:stop], first):
            line.order = order

    # Positions of the protocol

    def point_at(self, position: Position, encoding: PositionEncoding) -> Point:
        """Where a protocol position is: past a line's end is its end, past the file its end."""
        if position.line < 0:
            return Point(0, 0)
        record, inner = self._record_of(position.line)
        if record >= len(self._lines):
            last = len(self._lines) - 1
            return Point(last, len(self._lines[last].text))
        starts, stops = self._parts(record)
        part = self._lines[record].text[starts[inner] : stops[inner]]
        return Point(record, starts[inner] + offset_of(part, position.character, encoding))

    def position_of(self, point: Point, encoding: PositionEncoding) -> Position:
        """The protocol position of a point of this document."""
        point = self._in_record(point)
        text = self._lines[point.record].text
        line = self.protocol_line(point.record)
        if "\r" not in text:
            return Position(line, units_before(text, point.offset, encoding))
        starts, stops = self._parts(point.record)
        inner = max(0, bisect_right(starts, point.offset) - 1)
        start, stop = starts[inner], stops[inner]
        offset = min(point.offset, stop) - start
        return Position(line + inner, units_before(text[start:stop], offset, encoding))

    @cached_property
    def is_divided(self) -> bool:
        """Whether some record has a ``\\r`` inside, and is several lines to the protocol."""
        return any(line.text.find("\r", 0, -1) >= 0 for line in self._lines)

    def protocol_line(self, record: int) -> int:
        """The number from 0 of the first protocol line of a record."""
        return self._starts[record] if self.is_divided else record

    def _record_of(self, line: int) -> tuple[int, int]:
        """The record that a protocol line is in, and which of the record's lines it is."""
        if not self.is_divided:
            return line, 0
        record = bisect_right(self._starts, line) - 1
        return record, line - self._starts[record]

    @cached_property
    def _starts(self) -> list[int]:
        """The first protocol line of each record, and the one behind the last record."""
        every = unless_stopped(range(len(self._lines)))
        return list(accumulate((len(self._parts(record)[0]) for record in every), initial=0))

    def _parts(self, record: int) -> tuple[Sequence[int], Sequence[int]]:
        """Where the protocol's lines within a record start and stop, without their ends."""
        text = self._lines[record].text
        if "\r" not in text:
            return (0,), (len(text),)
        return _protocol_lines(text, is_last=record == len(self._lines) - 1)


@lru_cache(maxsize=1)  # a record may be a whole file, and is asked for each of its findings
def _protocol_lines(text: str, *, is_last: bool) -> tuple[Sequence[int], Sequence[int]]:
    # Of ten million spans each would be an object, which collecting garbage walks.
    starts, stops = array("q", [0]), array("q")
    for end in unless_stopped(re.finditer("\r", text)):
        stops.append(end.start())
        starts.append(end.end())
    if text.endswith("\r") and not is_last:  # one line end with the newline behind the record
        starts.pop()
    else:
        stops.append(len(text))
    return starts, stops


def _mark_end(lines: list[Line]) -> None:
    """Take the diagnostics off a blank last record: the next line goes there."""
    if lines and lines[-1].status is LineStatus.BLANK:
        lines[-1] = FlaggedLine(lines[-1].text, status=LineStatus.BLANK)
