"""The whole page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drive_trace.report.assertions import Checked, Status
from drive_trace.report.contents import FACTS, PROVENANCE, SCOPES, Report, count_lines
from drive_trace.report.event_log import Event
from drive_trace.report.figures import Table, view
from drive_trace.report.html import runs
from drive_trace.report.html.markup import Content, Html, document, join, tag, untrusted
from drive_trace.report.html.parts import left_out, section, table
from drive_trace.report.html.style import STYLE
from drive_trace.report.metrics import GROUPS, Measured

_MOST_ROWS = 40
_MOST_FILES = 300
_MOST_EVIDENCE = 8
_MOST_LINES = 20
_PARTS = {
    "scorecard": "Scorecard",
    "dispatches": "Dispatches and rounds",
    "metrics": "Metrics",
    "assertions": "Assertions",
    "lines": "Lines",
    "provenance": "Where the values come from",
}


def report_html(report: Report, generator: str) -> str:
    """The report as one file; ``generator`` says what made it. Long tables are cut, and say so."""
    made_by = f"Made by {generator}. This file loads nothing and runs nothing."
    return document(
        STYLE,
        "Drive Trace report",
        report_body(report),
        tag("footer", tag("p", made_by)),
    )


def report_body(report: Report) -> Html:
    """What the page shows, for a page that has :data:`STYLE` already."""
    links = [tag("li", tag("a", title, href=f"#{id_}")) for id_, title in _PARTS.items()]
    parts = (
        tag("a", "Skip to the scorecard", href="#scorecard", class_="skip"),
        tag("header", tag("h1", "Drive Trace report"), runs.headline_of(report)),
        tag("nav", tag("ul", links), aria_label="Parts of the report"),
        tag(
            "main",
            runs.scorecard(report),
            runs.dispatches(report),
            _metrics(report),
            _assertions(report),
            _lines(report),
            _provenance(),
        ),
    )
    return join(parts)


def _metrics(report: Report) -> Html:
    content: list[Content] = [tag("p", FACTS)]
    if report.warning:
        content.append(tag("p", report.warning, class_="warn"))
    for group, title in GROUPS.items():
        measured = [each for each in report.metrics if each.metric.group == group]
        content += _group(title, measured)
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
    yield tag("h3", title)
    headers = ("metric", "value", "reading", "source")
    yield table(f"{title} metrics", headers, rows, label=f"{title} metrics", wide=(1,))
    yield from (_breakdown(each) for _, shown in views for each in shown.tables)


def _breakdown(each: Table) -> Html:
    rows = [[untrusted(name), *cells] for name, *cells in each.rows]
    count = len(rows) + each.left_out
    return tag(
        "details",
        tag("summary", f"{each.caption} ({count:,})"),
        table(each.caption, each.headers, rows, label=each.caption, numbers_from=1),
        left_out(each.left_out, "rows"),
        "\n",
    )


def _assertions(report: Report) -> Html:
    decided = [each for each in report.assertions if each.outcome.status is not _NOT_CHECKABLE]
    others = [each for each in report.assertions if each.outcome.status is _NOT_CHECKABLE]
    many = len(report.traces) > 1
    counts = (
        f"{report.count(Status.PASS)} pass, {report.count(Status.FAIL)} fail, "
        f"{len(others)} cannot be checked from a trace. They are about how the run was recorded "
        "and driven, not about whether its result is right."
    )
    return section(
        "assertions",
        "Assertions",
        tag("p", counts),
        _assertion_table("Decided by the trace", decided, many),
        _assertion_table("Not checkable from a trace", others, many),
    )


def _assertion_table(caption: str, checked: Sequence[Checked], with_path: bool) -> Html:
    rows = [
        [
            assertion.id,
            assertion.title,
            tag("strong", "FAIL") if status is Status.FAIL else str(status).replace("-", " "),
            note,
            _evidence(evidence, with_path),
        ]
        for assertion, (status, evidence, note) in checked
    ]
    headers = ("id", "assertion", "status", "why", "evidence")
    return table(caption, headers, rows, label=caption, wide=(1, 3, 4))


def _evidence(events: Sequence[Event], with_path: bool) -> Html | str:
    shown = events[:_MOST_EVIDENCE]
    more = f" and {len(events) - len(shown):,} more" if len(events) > len(shown) else ""
    if not with_path:
        lines = ", ".join(str(event.line) for event in shown)
        return f"line{'s' * (len(events) > 1)} {lines}{more}" if events else ""
    named = [tag("div", f"line {event.line} of ", untrusted(event.path)) for event in shown]
    return join([*named, tag("div", more)])


def _lines(report: Report) -> Html:
    rows = []
    for trace in report.traces[:_MOST_FILES]:
        count = count_lines(trace)
        invalid, unknown = _numbers(trace.invalid_lines), _numbers(trace.unknown_lines)
        rows.append([untrusted(trace.path), f"{count.valid:,}", invalid, unknown])
    headers = ("file", "valid events", "invalid lines", "unknown event types")
    caption = "What became of the lines of each file"
    content = "Invalid lines are rejected and count nowhere; unknown event types are kept apart."
    return section(
        "lines",
        "Lines",
        tag("p", content),
        table(caption, headers, rows, label=caption, wide=(2, 3)),
        left_out(len(report.traces) - _MOST_FILES, "files"),
    )


def _numbers(lines: Sequence[int]) -> str:
    if not lines:
        return "0"
    more = len(lines) - _MOST_LINES
    named = ", ".join(map(str, lines[:_MOST_LINES])) + (f" and {more:,} more" if more > 0 else "")
    return f"{len(lines):,} (line{'s' * (len(lines) > 1)} {named})"


def _provenance() -> Html:
    items = [tag("li", each) for each in (*PROVENANCE, SCOPES)]
    return section("provenance", "Where the values come from", tag("ul", items))


_NOT_CHECKABLE = Status.NOT_CHECKABLE
