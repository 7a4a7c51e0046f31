"""Converts between the engine's code points and the protocol's positions."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.text.spans import PositionEncoding, Span, units_before
from drive_trace.trace.document import Document, Point, Position


def range_of(
    analysis: Analysis, record: int, span: Span, encoding: PositionEncoding
) -> types.Range:
    """The protocol's range of a span of a record."""
    start, end = Point(record, span.start), Point(record, span.end)
    return range_between(analysis, start, end, encoding)


def range_between(
    analysis: Analysis, start: Point, end: Point, encoding: PositionEncoding
) -> types.Range:
    """The protocol's range between two points."""
    ends = (analysis.document.position_of(each, encoding) for each in (start, end))
    return types.Range(*(types.Position(*each) for each in ends))


def point_at(analysis: Analysis, position: types.Position, encoding: PositionEncoding) -> Point:
    """The point at a position of the protocol. A position past the end is the end."""
    return analysis.document.point_at(Position(position.line, position.character), encoding)


def plain_range(
    analysis: Analysis, record: int, span: Span, encoding: PositionEncoding
) -> dict[str, dict[str, int]]:
    """A range of a record as JSON, for results with a range for each line of a long trace."""
    start, end = Point(record, span.start), Point(record, span.end)
    return plain_between(analysis.document, start, end, encoding)


def plain_between(
    document: Document, start: Point, end: Point, encoding: PositionEncoding
) -> dict[str, dict[str, int]]:
    """The range between two points as JSON."""
    return {
        "start": document.position_of(start, encoding)._asdict(),
        "end": document.position_of(end, encoding)._asdict(),
    }


class LineRanges:
    """Writes the protocol's ranges from a record's first character to another's last."""

    def __init__(self, analysis: Analysis, encoding: PositionEncoding) -> None:
        self._document = analysis.document
        self._lines = analysis.document.lines
        self._encoding = encoding
        self._is_simple = not self._document.is_divided and not self._lines[-1].text.endswith("\r")

    def text(self, first: int, last: int) -> str:
        """The range over some records, given by their numbers from 0."""
        start, end, character = first, last, 0
        if self._is_simple:
            text = self._lines[last].text.removesuffix("\r")
            character = units_before(text, len(text), self._encoding)
        else:
            start = self._document.protocol_line(first)
            behind = Point(last, len(self._lines[last].text))
            end, character = self._document.position_of(behind, self._encoding)
        return (
            f'{{"start":{{"line":{start},"character":0}},'
            f'"end":{{"line":{end},"character":{character}}}}}'
        )
