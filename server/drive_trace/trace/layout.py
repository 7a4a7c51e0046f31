"""How a record should be written: without white space between its tokens.

Nothing else is touched: not a token, and not the order of the keys, as a trace is append-only.
Records that are no JSON object stay whole.
"""

from __future__ import annotations

from drive_trace.json_text.spacing import compacted
from drive_trace.trace.line import DiagnosticKind, Line

_UNREADABLE = frozenset(
    {DiagnosticKind.INVALID_JSON, DiagnosticKind.BYTE_ORDER_MARK, DiagnosticKind.NOT_AN_OBJECT}
)


def laid_out(line: Line) -> str:
    """The record as it should be written. The ``\\r`` of a line break stays."""
    kinds = {diagnostic.kind for diagnostic in line.diagnostics}
    if DiagnosticKind.NOT_COMPACT not in kinds or not _UNREADABLE.isdisjoint(kinds):
        return line.text
    return compacted(line.text) + ("\r" if line.text.endswith("\r") else "")
