"""``textDocument/formatting`` and ``textDocument/rangeFormatting``: compact lines."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import TextChange, as_edits, of_record, point_at
from drive_trace.features.raw_json import JsonText
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Point
from drive_trace.trace.reading import laid_out

_FEW = 2000
"""Up to so many lines, edits are minimal. For more, they replace whole lines."""


def format_document(analysis: Analysis, encoding: PositionEncoding) -> JsonText:
    """The edits that format every line, a list of ``TextEdit``."""
    lines = analysis.document.lines
    changes = _changes(analysis, 0, len(lines))
    return as_edits(analysis.document, changes, encoding)


def format_range(analysis: Analysis, where: types.Range, encoding: PositionEncoding) -> JsonText:
    """The edits that format the lines that a range touches, a list of ``TextEdit``."""
    start, end = (point_at(analysis, each, encoding) for each in (where.start, where.end))
    # A selection of whole lines ends before the first character of the next one.
    is_before = end.offset == 0 and end.record > start.record
    stop = end.record + (not is_before)
    changes = _changes(analysis, start.record, stop)
    return as_edits(analysis.document, changes, encoding)


def _changes(analysis: Analysis, first: int, stop: int) -> Iterable[TextChange]:
    changed = [
        (record, line.text, text)
        for record, line in enumerate(unless_stopped(analysis.document.lines[first:stop]), first)
        if (text := laid_out(line)) != line.text
    ]
    if len(changed) > _FEW:
        return (
            TextChange(Point(record, 0), Point(record, len(before)), after)
            for record, before, after in changed
        )
    return (of_record(*each) for each in changed)
