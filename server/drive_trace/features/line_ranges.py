"""Ranges of whole records as JSON text, for answers about every line of a long trace."""

from __future__ import annotations

from drive_trace.analysis import Analysis
from drive_trace.text.spans import PositionEncoding, units_before
from drive_trace.trace.document import Point


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
            said = self._lines[last].text.removesuffix("\r")
            character = units_before(said, len(said), self._encoding)
        else:
            start = self._document.protocol_line(first)
            behind = Point(last, len(self._lines[last].text))
            end, character = self._document.position_of(behind, self._encoding)
        return (
            f'{{"start":{{"line":{start},"character":0}},'
            f'"end":{{"line":{end},"character":{character}}}}}'
        )
