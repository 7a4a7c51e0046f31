"""``textDocument/codeLens``: the verdict of each run, and what each correctness event decides."""

from __future__ import annotations

from itertools import chain, islice

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.options import LensOptions
from drive_trace.features.runs import Joined, nothing_joined, of_one_file
from drive_trace.trace.line import FlaggedLine, Line, run_of
from drive_trace.vocabulary import GRADE

MOST = 500
"""The most lenses of a file. Editors lay out each of them."""
_MOST_BROKEN = 64
"""How many broken lines can be the first one of a run."""
SHOW_RUN = "driveTrace.showRun"
_RUN = "run"
_EVENT = "event"
DEFAULTS = LensOptions()


def code_lenses(
    analysis: Analysis,
    uri: str,
    options: LensOptions = DEFAULTS,
) -> list[types.CodeLens]:
    """The places of lenses. Their titles are made when they come into view."""
    index = analysis.index
    grades = index.runs_in_order if options.grades else ()
    graded = chain.from_iterable(run.events(GRADE) for run in grades)
    rejected = (
        line
        for line in index.rejected_feeds
        if isinstance(line, FlaggedLine) and line.event_name == GRADE and options.grades
    )
    runs = chain(
        ((run.run_id, run.first_line) for run in index.runs_in_order),
        ((run_id, lines[0]) for run_id, lines in index.uncounted.items()),
    )
    wanted = chain(
        (
            (_top_of(analysis, line), line, _RUN, run_id)
            for run_id, line in (runs if options.runs else ())
        ),
        ((line, line, _EVENT, run_of(line)) for line in chain(graded, rejected)),
    )
    lenses = [_lens(analysis, uri, *each) for each in islice(wanted, MOST)]
    return sorted(lenses, key=lambda lens: lens.range.start.line)


def resolve_lens(
    analysis: Analysis | None,
    lens: types.CodeLens,
    joined: Joined = nothing_joined,
) -> types.CodeLens:
    """A lens with its title, or with a note that the line has changed meanwhile."""
    data = lens.data if isinstance(lens.data, dict) else {}
    run_id, uri = str(data.get("runId", "")), str(data.get("uri", ""))
    title = _title(analysis, data, run_id, joined) if analysis is not None else None
    can_show = title is not None and analysis is not None and analysis.index.names(run_id)
    lens.command = types.Command(
        title=title or "the trace has changed",
        command=SHOW_RUN if can_show else "",
        arguments=[{"uri": uri, "runId": run_id}] if can_show else None,
    )
    return lens


def _title(
    analysis: Analysis,
    data: dict[str, object],
    run_id: str,
    joined: Joined,
) -> str | None:
    here = analysis.score_run(run_id)
    run = (joined(run_id) or of_one_file(here)) if here is not None else None
    if data.get("kind") == _RUN:
        return run.title if run is not None else None
    order = data.get("order")
    if not isinstance(order, int):
        return None
    if analysis.index.rejected_feeds.at(order) is not None:
        return "rejected, not counted"
    if run is None or run_id not in analysis.index.runs:
        return None
    feed = analysis.index.runs[run_id].events(GRADE)
    line = feed.at(order)
    if line is None:
        return None
    following = feed.after(line)
    if following is not None:
        return f"superseded by line {analysis.line_number(following)}"
    if run.supersedes is not None:
        return f"superseded by {run.supersedes}"
    return f"decides: {run.headline}"


def _top_of(analysis: Analysis, first: Line) -> Line:
    """Where the lens of a run stands: over its first line. What is broken above that may be the
    first line, which somebody is writing in.
    """
    lines, index = analysis.document.lines, analysis.index
    rejected = index.rejected.get(run_of(first))
    if rejected and rejected[0].order < first.order:
        first = rejected[0]
    place = analysis.document.number(first)
    for line in lines[max(0, place - _MOST_BROKEN) : place][::-1]:
        if not line.is_rejected or run_of(line) is not None:
            break
        first = line
    return first


def _lens(  # noqa: PLR0913, PLR0917 - where it stands, and what of it is shown
    analysis: Analysis, uri: str, over: Line, line: Line, kind: str, run_id: str | None
) -> types.CodeLens:
    document = analysis.document
    start = types.Position(document.protocol_line(document.number(over)), 0)
    return types.CodeLens(
        range=types.Range(start, start),
        data={
            "uri": uri,
            "runId": run_id or "",
            "kind": kind,
            "order": line.order,
        },
    )
