"""Between the engine's code points and the protocol's positions."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.document import Point, Position


def range_of(
    analysis: Analysis, record: int, span: Span, encoding: PositionEncoding
) -> types.Range:
    """The protocol's range of a span of a record."""
    document = analysis.document
    start = document.position_of(Point(record, span.start), encoding)
    end = document.position_of(Point(record, span.end), encoding)
    return types.Range(types.Position(*start), types.Position(*end))


def point_at(analysis: Analysis, position: types.Position, encoding: PositionEncoding) -> Point:
    """Where a position of the protocol is; past the end is the end."""
    return analysis.document.point_at(Position(position.line, position.character), encoding)


def plain_range(
    analysis: Analysis, record: int, span: Span, encoding: PositionEncoding
) -> dict[str, dict[str, int]]:
    """The same as JSON, for answers with a range for each line of a long trace."""
    document = analysis.document
    start = document.position_of(Point(record, span.start), encoding)
    end = document.position_of(Point(record, span.end), encoding)
    return {
        "start": {"line": start.line, "character": start.character},
        "end": {"line": end.line, "character": end.character},
    }
