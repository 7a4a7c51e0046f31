"""The report as one HTML file that loads nothing. It reads without its script, which filters,
sorts, zooms and leads from place to place.
"""

from __future__ import annotations

from importlib.resources import files

from drive_trace.report import sections
from drive_trace.report.contents import SCOPES, FullReport
from drive_trace.report.html.charts import textures
from drive_trace.report.html.runs import MOST_RUNS, Runs
from drive_trace.text import document as doc
from drive_trace.text.escaping import plain
from drive_trace.text.html import as_html, document, join, tag, words
from drive_trace.text.wording import first_of

_ASSETS = files(__name__)
STYLE = _ASSETS.joinpath("style.css").read_text("utf-8")
_PAGE = _ASSETS.joinpath("page.js").read_text("utf-8")
SCRIPT = f"{_PAGE}\nenhance(document.documentElement, document.body);\n"
_MOST_NAMES = 3
_MOST_ROWS = 40
_MOST_FILES = 300
_PARTS = {
    "timeline": "Timeline",
    "scorecard": "Scorecard",
    "findings": "Findings of check",
    "events": "Events",
    "runs": "Each run",
    "metrics": "Metrics",
    "assertions": "Assertions",
    "lines": "Lines",
    "provenance": "Where the values come from",
}


def report_html(report: FullReport, generator: str) -> str:
    """The report as one file; its footer names ``generator``. Long tables are cut, with a note."""
    made_by = f"Made by {generator}. This file loads nothing, and runs its own script only."
    runs = Runs(report, lists=True)
    body = _body(report, runs)
    footer = tag("footer", tag("p", made_by), runs.events.raw())
    return document(STYLE, SCRIPT, title_of(report), body, footer)


def report_body(report: FullReport) -> doc.Html:
    """What the page shows, for an editor, which has :data:`STYLE` already and the lines beside."""
    return _body(report, Runs(report, lists=False))


def timeline_body(report: FullReport) -> doc.Html:
    """The timeline alone of the report's only run, for the same page."""
    runs = Runs(report, lists=False)
    (run,) = report.card.runs
    verdict = doc.Paragraph(f"{doc.chip(run.word, run.standing)} {doc.name(run.run_id, 120)}")
    return join([textures(), tag("main", as_html([verdict, runs.timeline(run, 0)]))])


def title_of(report: FullReport) -> str:
    """``Drive Trace: checkout-retry, search-index and 3 more``."""
    names = [plain(run.run_id, 40) for run in report.card.runs]
    return f"Drive Trace: {first_of(names, _MOST_NAMES)}" if names else "Drive Trace report"


def _body(report: FullReport, runs: Runs) -> doc.Html:
    blocks = [
        *runs.sections(),
        sections.metrics(report, _MOST_ROWS),
        sections.assertions(report, runs.places),
        sections.lines(report, runs.places, _MOST_FILES),
        sections.provenance(SCOPES),
    ]
    parts = (
        tag("a", "Skip to the scorecard", href="#scorecard", class_="skip"),
        textures(),
        tag("header", tag("h1", title_of(report)), runs.headline()),
        _navigation(report, {each.id for each in blocks}),
        tag("main", as_html(blocks)),
    )
    return join(parts)


def _navigation(report: FullReport, ids: set[str]) -> doc.Html:
    links = [
        tag("li", words(doc.named_link(f"run-{n}", run.run_id, 40)))
        for n, run in enumerate(report.card.runs[:MOST_RUNS])
    ]
    parts = [
        tag("li", tag("a", title, href=f"#{id_}"), tag("ul", links) if id_ == "runs" else None)
        for id_, title in _PARTS.items()
        if id_ in ids
    ]
    return tag("nav", tag("ul", parts), aria_label="Parts of the report")


__all__ = ["SCRIPT", "STYLE", "report_body", "report_html", "timeline_body"]
