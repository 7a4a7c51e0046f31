"""The sections of a report that are about all events together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drive_trace.report.assertions import Checked, CheckResult
from drive_trace.report.contents import (
    FACTS,
    FILE_HEADERS,
    NOTHING_RIGHT,
    PROVENANCE,
    SCOPES,
    FullReport,
)
from drive_trace.report.event_log import Event
from drive_trace.report.figures import FigureTable, view
from drive_trace.report.html.lines import Places
from drive_trace.report.html.old import folded, left_out, table
from drive_trace.report.metrics import GROUPS, Measured
from drive_trace.text.document import Html
from drive_trace.text.html import Content, join, section, tag, untrusted

_MOST_ROWS = 40
_MOST_FILES = 300
_MOST_EVIDENCE = 8
_MOST_LINES = 20
_FOLDED = {
    CheckResult.PASS: "Passed",
    CheckResult.NOT_APPLICABLE: "Not applicable",
    CheckResult.NOT_CHECKABLE: "Not checkable from a trace",
}


def metrics(report: FullReport) -> Html:
    """Every metric, group by group."""
    content: list[Content] = [tag("p", FACTS)]
    if report.warning:
        content.append(tag("p", f"{NOTHING_RIGHT}.", class_="warn"))
    for group, title in GROUPS.items():
        measured = [each for each in report.metrics if each.metric.group == group]
        content.append(folded(f"{title} ({len(measured)})", *_group(title, measured)))
    return section("metrics", "Metrics: facts, not a score", *content)


def _group(title: str, measured: Sequence[Measured]) -> Iterator[Content]:
    views = [(each.metric, view(each, _MOST_ROWS)) for each in measured]
    rows = [
        [
            metric.title,
            [tag("div", f"{label}: {value}") for label, value in shown.figures] or "see below",
            str(metric.polarity),
            str(metric.source),
        ]
        for metric, shown in views
    ]
    headers = ("metric", "value", "reading", "source")
    yield table(f"{title} metrics", headers, rows, label=f"{title} metrics", wide=(1,))
    yield from (_breakdown(each) for _, shown in views for each in shown.tables)


def _breakdown(each: FigureTable) -> Html:
    rows = [[untrusted(name), *cells] for name, *cells in each.rows]
    count = len(rows) + each.left_out
    figures = table(each.caption, each.headers, rows, label=each.caption, numbers_from=1)
    return folded(f"{each.caption} ({count:,})", figures, left_out(each.left_out, "rows"))


def assertions(report: FullReport, places: Places) -> Html:
    """What failed; folded, what passed, what does not apply and what no trace can tell."""
    by_status: dict[CheckResult, list[Checked]] = {each: [] for each in CheckResult}
    for each in report.assertions:
        by_status[each.outcome.status].append(each)
    failed = by_status[CheckResult.FAIL]
    return section(
        "assertions",
        "Assertions",
        tag("p", report.assertion_counts),
        _assertion_table("Failed", failed, places) if failed else None,
        *(
            folded(f"{title} ({len(found)})", _assertion_table(title, found, places))
            for status, title in _FOLDED.items()
            if (found := by_status[status])
        ),
    )


def _assertion_table(caption: str, checked: Sequence[Checked], places: Places) -> Html:
    rows = [
        [
            assertion.id,
            assertion.title,
            note,
            _evidence(evidence, places),
        ]
        for assertion, (_, evidence, note) in checked
    ]
    headers = ("id", "assertion", "why", "evidence")
    return table(caption, headers, rows, label=caption, wide=(1, 2, 3))


def _evidence(events: Sequence[Event], places: Places) -> Html:
    shown = events[:_MOST_EVIDENCE]
    more = f"and {len(events) - len(shown):,} more" if len(events) > len(shown) else ""
    by_path: dict[str, list[int]] = {}
    for each in shown:
        by_path.setdefault(each.path, []).append(each.line)
    files = [tag("div", places.links(path, numbers)) for path, numbers in by_path.items()]
    return join([*files, tag("div", more)])


def lines(report: FullReport, places: Places) -> Html:
    """What became of the lines of each file."""
    rows = [
        [untrusted(path), *(places.linked(cell, path) for cell in cells)]
        for path, *cells in report.file_rows(_MOST_FILES, _MOST_LINES)
    ]
    caption = "What became of the lines of each file"
    content = "Invalid lines are rejected and count nowhere; unknown event types are kept apart."
    return section(
        "lines",
        "Lines",
        tag("p", content),
        table(caption, FILE_HEADERS, rows, label=caption, wide=(2, 3)),
        left_out(len(report.traces) - _MOST_FILES, "files"),
    )


def provenance() -> Html:
    """Where values come from."""
    items = [tag("li", each) for each in (*PROVENANCE, SCOPES)]
    return section("provenance", "Where the values come from", tag("ul", items))
