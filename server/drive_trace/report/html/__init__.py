"""The report as one HTML file that loads nothing. It reads without its script, which filters,
sorts, zooms and leads from place to place.
"""

from __future__ import annotations

from importlib.resources import files

from drive_trace.report.contents import FullReport
from drive_trace.report.html import whole
from drive_trace.report.html.charts import textures
from drive_trace.report.html.runs import MOST_RUNS, Runs, chip
from drive_trace.text.document import Html
from drive_trace.text.escaping import plain
from drive_trace.text.html import document, join, tag, untrusted
from drive_trace.text.wording import first_of

_ASSETS = files(__name__)
STYLE = _ASSETS.joinpath("style.css").read_text("utf-8")
_PAGE = _ASSETS.joinpath("page.js").read_text("utf-8")
SCRIPT = f"{_PAGE}\nenhance(document.documentElement, document.body);\n"
_MOST_NAMES = 3
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


def report_body(report: FullReport) -> Html:
    """What the page shows, for an editor, which has :data:`STYLE` already and the lines beside."""
    return _body(report, Runs(report, lists=False))


def timeline_body(report: FullReport) -> Html:
    """The timeline alone of the report's only run, for the same page."""
    runs = Runs(report, lists=False)
    (run,) = report.card.runs
    verdict = tag("p", chip(run), " ", untrusted(run.run_id))
    return join([textures(), tag("main", verdict, runs.timeline(run, 0))])


def title_of(report: FullReport) -> str:
    """``Drive Trace: checkout-retry, search-index and 3 more``."""
    names = [plain(run.run_id, 40) for run in report.card.runs]
    return f"Drive Trace: {first_of(names, _MOST_NAMES)}" if names else "Drive Trace report"


def _body(report: FullReport, runs: Runs) -> Html:
    sections = [
        *runs.sections(),
        whole.metrics(report),
        whole.assertions(report, runs.places),
        whole.lines(report, runs.places),
        whole.provenance(),
    ]
    parts = (
        tag("a", "Skip to the scorecard", href="#scorecard", class_="skip"),
        textures(),
        tag("header", tag("h1", title_of(report)), runs.headline()),
        _navigation(report, join(sections)),
        tag("main", sections),
    )
    return join(parts)


def _navigation(report: FullReport, content: str) -> Html:
    parts = [
        tag("li", tag("a", title, href=f"#{id_}"), _runs(report) if id_ == "runs" else None)
        for id_, title in _PARTS.items()
        if f' id="{id_}"' in content
    ]
    return tag("nav", tag("ul", parts), aria_label="Parts of the report")


def _runs(report: FullReport) -> Html:
    links = [
        tag("li", tag("a", untrusted(run.run_id, 40), href=f"#run-{n}"))
        for n, run in enumerate(report.card.runs[:MOST_RUNS])
    ]
    return tag("ul", links)


__all__ = ["SCRIPT", "STYLE", "report_body", "report_html", "timeline_body"]
