"""``textDocument/codeLens``: the verdict over each run, and what each correctness event decides."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, islice

from lsprotocol import types

from drive_trace.api import Analysis
from drive_trace.features.positions import range_of
from drive_trace.scorecard.render import lens_title
from drive_trace.scorecard.verdict import headline
from drive_trace.text import PositionEncoding, Span
from drive_trace.trace.line import Line

MOST = 500
"""Lenses a file: editors lay each out, and more would be a wall."""
SHOW_RUN = "driveTrace.showRun"
_CORRECTNESS = "correctness-recorded"


def code_lenses(analysis: Analysis, uri: str, encoding: PositionEncoding) -> list[types.CodeLens]:
    """Where lenses stand; what they say is worked out when they come into view."""
    runs = analysis.index.runs_in_order()
    of_runs = (_lens(analysis, uri, run.first_line, "run", encoding) for run in runs)
    graded = chain.from_iterable(run.events(_CORRECTNESS) for run in runs)
    of_events = (_lens(analysis, uri, line, "event", encoding) for line in graded)
    lenses = list(islice(chain(of_runs, of_events), MOST))
    return sorted(lenses, key=lambda lens: lens.range.start.line)


def resolve_lens(analysis: Analysis | None, lens: types.CodeLens) -> types.CodeLens:
    """Say what a lens says now; one whose line has changed meanwhile says so."""
    data = lens.data if isinstance(lens.data, dict) else {}
    run_id, uri = str(data.get("runId", "")), str(data.get("uri", ""))
    title = _title(analysis, data, run_id) if analysis is not None else None
    lens.command = types.Command(
        title=title or "the trace has changed",
        command=SHOW_RUN if title else "",
        arguments=[{"uri": uri, "runId": run_id}] if title else None,
    )
    return lens


def _title(analysis: Analysis, data: dict[str, object], run_id: str) -> str | None:
    run = analysis.score_run(run_id)
    if run is None:
        return None
    if data.get("kind") == "run":
        return lens_title(run)
    line = _line(analysis.index.runs[run_id].events(_CORRECTNESS), data.get("order"))
    if line is None:
        return None
    following = analysis.index.runs[run_id].events(_CORRECTNESS).after(line)
    if following is not None:
        return f"superseded by line {analysis.line_number(following)}"
    return f"decides: {headline(run.gate)}"


def _lens(
    analysis: Analysis, uri: str, line: Line, kind: str, encoding: PositionEncoding
) -> types.CodeLens:
    record = analysis.document.number(line)
    return types.CodeLens(
        range=range_of(analysis, record, Span(0, 0), encoding),
        data={
            "uri": uri,
            "runId": line.run,
            "kind": kind,
            "order": str(line.order),  # too large for a number in JavaScript
        },
    )


def _line(lines: Iterable[Line], order: object) -> Line | None:
    found: Iterator[Line] = (line for line in lines if str(line.order) == order)
    return next(found, None)
