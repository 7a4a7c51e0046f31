"""One record as JSON: whether it is, its tree with spans, and what is wrong with it.

:func:`parse` never raises, whatever the text, and takes time that grows with its
length only. It accepts exactly what JavaScript's ``JSON.parse`` accepts.
"""

from __future__ import annotations

from drive_trace.json_text.nodes import (
    Member,
    Node,
    NodeKind,
    ProblemKind,
    Repair,
    Syntax,
    SyntaxProblem,
    find_member,
)

__all__ = [
    "Member",
    "Node",
    "NodeKind",
    "ProblemKind",
    "Repair",
    "Syntax",
    "SyntaxProblem",
    "find_member",
    "parse",
]


def parse(text: str) -> Syntax:
    """Read one record, given without the newline that ends it."""
    # Its patterns take longer to make than a small trace takes to check, and clean lines need none.
    from drive_trace.json_text.parsing import parse as read_record  # noqa: PLC0415

    return read_record(text)
