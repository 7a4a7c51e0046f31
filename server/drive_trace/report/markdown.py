"""The report in Markdown: for a comment on GitHub, or as a page of one run."""

from __future__ import annotations

from collections.abc import Sequence

from drive_trace.report.contents import RUN_FACTS, SCOPES, FullReport, report_on_run
from drive_trace.report.event_log import Event
from drive_trace.report.sections import (
    Places,
    assertions,
    dispatches,
    lines,
    metrics,
    provenance,
    runs_table,
)
from drive_trace.scorecard.render import card_document, caveats, not_read_blocks, run_page
from drive_trace.scorecard.run_score import RunScore
from drive_trace.text import document as doc

_MOST_RUNS = 100
_MOST_ROWS = 50
_MOST_CHARACTERS = 65_536
"""Of a comment on GitHub."""
_LEAST_RUN_ROWS = 20
"""The table of runs has so many rows, however short the rest has to be."""


def report_markdown(report: FullReport) -> str:
    """The whole report, as long as a comment on GitHub may be. What is cut is said."""
    places, runs, text = Places(report), len(report.card.runs), ""
    shown = report.card.runs[:_MOST_RUNS]
    found = report.findings_by_run()
    table = runs_table(shown, places, report.by_run(), found, is_page=False)
    for most in (_MOST_RUNS, 30, 10, 3, 1, 0):
        rows = table.rows[: max(most, _LEAST_RUN_ROWS)]
        cut = table._replace(rows=rows, left_out=runs - len(rows))
        head = [*_verdicts(report), *([cut] if runs > 1 else [])]
        parts = _parts(report, places, most) if report.traces else []
        page = doc.Section("Drive Trace report", [*head, *parts])
        text = doc.as_markdown([page], folds=True)
        if len(text) <= _MOST_CHARACTERS:
            break
    return text


def _verdicts(report: FullReport) -> list[doc.Block]:
    said = not_read_blocks(report.card)
    if len(report.card.runs) == 1:
        (run,) = report.card.runs
        said.append(doc.Paragraph(f"{doc.strong(run.headline)} · run {doc.name(run.run_id)}"))
        said += caveats(run)
    else:
        said.append(doc.Paragraph(doc.strong(report.card.headline)))
    return [*said, *map(doc.Paragraph, filter(None, [report.warning, report.line_counts]))]


def _parts(report: FullReport, places: Places, most: int) -> list[doc.Section]:
    """``most`` runs in full, and as many files and rows."""
    cut, runs = doc.more(len(report.card.runs) - most, "runs in full"), report.card.runs
    card = [*card_document(report.card, most), *([doc.Paragraph(doc.soft(cut))] if cut else [])]
    rows = min(_MOST_ROWS, max(most, 3))
    parts = (
        metrics(report, rows),
        _dispatches(report, places, most, rows),
        assertions(report, places),
        lines(report, places, max(most, 3)),
        provenance(SCOPES),
    )
    title = "Scorecard" if len(runs) == 1 else "Scorecard of each run"
    return [
        doc.Section(title, card, is_folded=len(runs) > 1),
        *(each._replace(is_folded=True) for each in parts),
    ]


def _dispatches(report: FullReport, places: Places, runs: int, rows: int) -> doc.Section:
    blocks: list[doc.Block] = [
        doc.Section(f"Dispatches of {doc.name(run_id)}", dispatches(spans, places, rows, ""))
        for run_id, spans in [*report.timelines.items()][:runs]
    ]
    cut = doc.more(len(report.timelines) - runs, "runs")
    blocks += [doc.Paragraph(doc.soft(cut))] if cut else []
    return doc.Section("Dispatches", blocks or dispatches((), places, 0, ""))


def run_report_markdown(run: RunScore, events: Sequence[Event], verdict: str | None = None) -> str:
    """A page on one run: its card, and below it the report on its events. ``verdict`` replaces the
    run's headline.
    """
    report = report_on_run(run, events)
    places = Places(report)
    page = run_page(run, verdict)
    parts = (
        metrics(report, _MOST_ROWS, RUN_FACTS),
        _dispatches(report, places, 1, _MOST_ROWS),
        assertions(report, places),
        provenance(),
    )
    return doc.as_markdown([page._replace(blocks=[*page.blocks, *parts])]) + "\n"
