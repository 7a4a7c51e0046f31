"""``textDocument/references`` and ``textDocument/documentHighlight``: the places that name what the
cursor is on.
"""

from __future__ import annotations

from typing import Any

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import plain_range, range_of
from drive_trace.features.raw_json import JsonText, dumps
from drive_trace.tasks import Task, in_batches
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Point
from drive_trace.trace.occurrences import NamedEntity, Role, named_at, occurrences, occurrences_near


def references(
    analysis: Analysis,
    named: NamedEntity,
    uri: str,
    encoding: PositionEncoding,
    *,
    with_declarations: bool,
) -> Task[JsonText]:
    """Where a trace names something, in order, as the protocol's locations; ``with_declarations``
    also where that starts.
    """
    number = analysis.document.number
    locations: list[dict[str, Any]] = []
    for batch in in_batches((yield from occurrences(analysis.index, named))):
        locations += [
            {"uri": uri, "range": plain_range(analysis, number(each.line), each.span, encoding)}
            for each in batch
            if with_declarations or each.role is not Role.DECLARES
        ]
        yield
    return JsonText(dumps(locations))


MOST = 500
"""An editor requests them at each move of the cursor, and shows those in its window."""


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
