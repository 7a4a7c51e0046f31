"""The report as one HTML file that needs nothing else: no script, no network."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drive_trace.report.assertions import Checked, CheckResult
from drive_trace.report.contents import FACTS, FILE_HEADERS, PROVENANCE, SCOPES, FullReport
from drive_trace.report.event_log import Event
from drive_trace.report.figures import FigureTable, view
from drive_trace.report.html import runs
from drive_trace.report.html.markup import (
    Content,
    Html,
    document,
    join,
    left_out,
    section,
    table,
    tag,
    untrusted,
)
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


def report_html(report: FullReport, generator: str) -> str:
    """The report as one file; its footer names ``generator``. Long tables are cut, with a note."""
    made_by = f"Made by {generator}. This file loads nothing and runs nothing."
    return document(
        STYLE,
        "Drive Trace report",
        report_body(report),
        tag("footer", tag("p", made_by)),
    )


def report_body(report: FullReport) -> Html:
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


def _metrics(report: FullReport) -> Html:
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


def _breakdown(each: FigureTable) -> Html:
    rows = [[untrusted(name), *cells] for name, *cells in each.rows]
    count = len(rows) + each.left_out
    return tag(
        "details",
        tag("summary", f"{each.caption} ({count:,})"),
        table(each.caption, each.headers, rows, label=each.caption, numbers_from=1),
        left_out(each.left_out, "rows"),
        "\n",
    )


def _assertions(report: FullReport) -> Html:
    decided = [each for each in report.assertions if each.outcome.status is not _NOT_CHECKABLE]
    others = [each for each in report.assertions if each.outcome.status is _NOT_CHECKABLE]
    many = len(report.traces) > 1
    return section(
        "assertions",
        "Assertions",
        tag("p", report.assertion_counts),
        _assertion_table("Decided by the trace", decided, many),
        _assertion_table("Not checkable from a trace", others, many),
    )


def _assertion_table(caption: str, checked: Sequence[Checked], with_path: bool) -> Html:
    rows = [
        [
            assertion.id,
            assertion.title,
            tag("strong", "FAIL") if status is CheckResult.FAIL else str(status).replace("-", " "),
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


def _lines(report: FullReport) -> Html:
    rows = [
        [untrusted(path), *cells] for path, *cells in report.file_rows(_MOST_FILES, _MOST_LINES)
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


def _provenance() -> Html:
    items = [tag("li", each) for each in (*PROVENANCE, SCOPES)]
    return section("provenance", "Where the values come from", tag("ul", items))


_NOT_CHECKABLE = CheckResult.NOT_CHECKABLE


STYLE = """
:root{color-scheme:light dark;--bg:#fff;--ink:#1b1f24;--soft:#57606a;--line:#d0d7de;--panel:#f6f8fa;
--correct:#116329;--correct-bg:#dafbe1;--incorrect:#a40e26;--incorrect-bg:#ffebe9;
--unknown:#424a53;--unknown-bg:#eaeef2;--warn:#7a4d00;--warn-bg:#fff8c5;
--clock:#3f6fb5;--clock-2:#7ea2d6;--claimed:#8a5a9e;--focus:#0550ae}
@media (prefers-color-scheme:dark){:root{--bg:#0f1318;--ink:#e6edf3;--soft:#9da7b3;--line:#3a424c;
--panel:#171c23;--correct:#6fdd8b;--correct-bg:#0f2f1b;--incorrect:#ff9a94;--incorrect-bg:#3d1418;
--unknown:#c5ced8;--unknown-bg:#262d36;--warn:#f0c75e;--warn-bg:#332600;
--clock:#6f9fe0;--clock-2:#45699c;--claimed:#c698d8;--focus:#79b8ff}}
*{box-sizing:border-box}
body{margin:0;background:var(--bg);color:var(--ink);font:1rem/1.5 system-ui,sans-serif}
header,main,footer,nav{max-width:62rem;margin:0 auto;padding:0 1.25rem}
h1{font-size:1rem;font-weight:600;color:var(--soft);margin:1.5rem 0 .25rem}
h2{font-size:1.4rem;margin:2.5rem 0 .5rem;padding-top:.75rem;border-top:1px solid var(--line)}
h3{font-size:1.1rem;margin:1.5rem 0 .5rem;overflow-wrap:anywhere}
h4{font-size:1rem;margin:1rem 0 .25rem}
p,ul,dl{margin:.4rem 0}
a{color:var(--focus)}
:focus-visible{outline:3px solid var(--focus);outline-offset:2px}
.skip{position:absolute;left:-99rem}
.skip:focus{left:1rem;top:.5rem;background:var(--bg);padding:.5rem}
nav ul{display:flex;flex-wrap:wrap;gap:.25rem 1.25rem;list-style:none;padding:0}
.headline{border-left:.5rem solid var(--unknown);background:var(--unknown-bg);padding:.75rem 1rem;
border-radius:.25rem;overflow-wrap:anywhere}
.headline strong{display:block;font-size:2rem;line-height:1.2;color:var(--unknown)}
.headline.correct{border-color:var(--correct);background:var(--correct-bg)}
.headline.correct strong{color:var(--correct)}
.headline.qualified{border-color:var(--warn);background:var(--warn-bg)}
.headline.qualified strong{color:var(--warn)}
.headline.incorrect{border-color:var(--incorrect);background:var(--incorrect-bg)}
.headline.incorrect strong{color:var(--incorrect)}
.chip{display:inline-block;padding:0 .5rem;border-radius:.75rem;font-weight:600;white-space:nowrap;
color:var(--unknown);background:var(--unknown-bg)}
.chip.correct{color:var(--correct);background:var(--correct-bg)}
.chip.qualified{color:var(--warn);background:var(--warn-bg);white-space:normal}
.chip.incorrect{color:var(--incorrect);background:var(--incorrect-bg)}
.warn{color:var(--warn);background:var(--warn-bg);padding:.4rem .75rem;border-radius:.25rem}
.soft{color:var(--soft)}
.scroll{overflow-x:auto;margin:.5rem 0 1rem}
table{border-collapse:collapse;font-size:.9rem}
caption{text-align:left;font-weight:600;padding:.25rem 0}
th,td{text-align:left;vertical-align:top;padding:.25rem .75rem .25rem 0;
border-bottom:1px solid var(--line);min-width:3.5rem}
td.wide,bdi{overflow-wrap:anywhere}
table bdi{display:inline-block;min-width:9rem}
thead th{color:var(--soft);font-weight:600;white-space:nowrap}
tbody th{font-weight:500}
td.n,th.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
td.wide{min-width:14rem}
details{margin:.25rem 0}
details caption{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
summary{cursor:pointer;color:var(--soft)}
svg{display:block;width:100%;min-width:40rem;height:auto;background:var(--panel);
border-radius:.25rem}
svg text{fill:var(--ink);font:11px system-ui,sans-serif}
svg text.soft{fill:var(--soft)}
.grid{stroke:var(--line)}
.clock{fill:var(--clock)}
.clock.even{fill:var(--clock-2)}
.open{fill:none;stroke:var(--clock);stroke-dasharray:3 2}
.claimed{fill:var(--claimed)}
footer{color:var(--soft);font-size:.9rem;margin-top:2.5rem;padding-bottom:2rem}
@page{margin:15mm}
@media print{
:root{color-scheme:light;--bg:#fff;--ink:#000;--soft:#444;--line:#bbb;--panel:#fff;
--correct:#116329;--correct-bg:#fff;--incorrect:#a40e26;--incorrect-bg:#fff;
--unknown:#333;--unknown-bg:#fff;--warn:#5c3a00;--warn-bg:#fff;
--clock:#3f6fb5;--clock-2:#7ea2d6;--claimed:#8a5a9e;--focus:#000}
body{font-size:10pt;-webkit-print-color-adjust:exact;print-color-adjust:exact}
header,main,footer{max-width:none;padding:0}
nav,.skip{display:none}
.scroll{overflow:visible}
svg{min-width:0}
tr,svg,.headline,h2,h3{break-inside:avoid}
h2,h3,h4,caption{break-after:avoid}
details::details-content{content-visibility:visible;block-size:auto}
}
"""
