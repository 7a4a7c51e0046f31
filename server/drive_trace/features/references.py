"""``textDocument/references``: every place that names what the cursor is on."""

from __future__ import annotations

from typing import Any

from drive_trace.analysis import Analysis
from drive_trace.features.positions import plain_range
from drive_trace.features.raw_json import JsonText, dumps
from drive_trace.tasks import Task, in_batches
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.occurrences import Named, Role, occurrences


def references(
    analysis: Analysis,
    named: Named,
    uri: str,
    encoding: PositionEncoding,
    *,
    with_declarations: bool,
) -> Task[JsonText]:
    """Where a trace names something, in order, as the protocol's locations; ``with_declarations``
    also where that starts.
    """
    number = analysis.document.number
    said: list[dict[str, Any]] = []
    for batch in in_batches((yield from occurrences(analysis.index, named))):
        said += [
            {"uri": uri, "range": plain_range(analysis, number(each.line), each.span, encoding)}
            for each in batch
            if with_declarations or each.role is not Role.DECLARES
        ]
        yield
    return JsonText(dumps(said))
