"""``textDocument/references``: every place that names what the cursor is on."""

from __future__ import annotations

from collections.abc import Iterable

from drive_trace.api import Analysis
from drive_trace.features.json_text import JsonText, dumps
from drive_trace.features.positions import plain_range
from drive_trace.text import PositionEncoding
from drive_trace.trace.document import Point
from drive_trace.trace.occurrences import Named, Occurrence, Role, named_at, occurrences


def references(
    analysis: Analysis,
    point: Point,
    uri: str,
    encoding: PositionEncoding,
    *,
    with_declarations: bool,
) -> JsonText | None:
    """Where it is named, in the order of the trace; None where nothing is named at the point."""
    found = named_at(analysis.document.lines[point.record], point.offset)
    if found is None:
        return None
    return locations(analysis, references_to(analysis, found[0], with_declarations), uri, encoding)


def references_to(analysis: Analysis, named: Named, with_declarations: bool) -> list[Occurrence]:
    """Where a trace refers to something; ``with_declarations`` also where that starts."""
    every = occurrences(analysis.index, named)
    return [each for each in every if with_declarations or each.role is not Role.DECLARES]


def locations(
    analysis: Analysis, found: Iterable[Occurrence], uri: str, encoding: PositionEncoding
) -> JsonText:
    """The protocol's locations, as JSON text: a run can have all lines of a long trace."""
    number = analysis.document.number
    return JsonText(
        dumps(
            [
                {
                    "uri": uri,
                    "range": plain_range(analysis, number(each.line), each.span, encoding),
                }
                for each in found
            ]
        )
    )
