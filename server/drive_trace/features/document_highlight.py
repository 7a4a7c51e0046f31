"""``textDocument/documentHighlight``: the other places of what the cursor is on."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import range_of
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Point
from drive_trace.trace.occurrences import Role, named_at, occurrences_near

MOST = 500
"""An editor asks at each move of the cursor, and shows those in its window."""


def document_highlights(
    analysis: Analysis, point: Point, encoding: PositionEncoding
) -> list[types.DocumentHighlight] | None:
    """What starts, ends or changes it is a write, all else a read; None where nothing is named."""
    line = analysis.document.lines[point.record]
    found = named_at(line, point.offset)
    if found is None:
        return None
    kinds = types.DocumentHighlightKind
    number = analysis.document.number
    return [
        types.DocumentHighlight(
            range_of(analysis, number(each.line), each.span, encoding),
            kinds.Read if each.role is Role.READS else kinds.Write,
        )
        for each in occurrences_near(analysis.index, found[0], line, MOST)
    ]
