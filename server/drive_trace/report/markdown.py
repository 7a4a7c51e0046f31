"""The report as a Markdown document. Everything that comes from a trace is escaped here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from drive_trace.report.assertions import Checked, CheckResult
from drive_trace.report.contents import (
    FACTS,
    FILE_HEADERS,
    PROVENANCE,
    RUN_FACTS,
    SCOPES,
    FullReport,
    findings_phrase,
    report_on_run,
)
from drive_trace.report.event_log import Event
from drive_trace.report.figures import (
    DISPATCH_HEADERS,
    FigureTable,
    chosen,
    cut_dispatches,
    dispatch_rows,
    last_event,
    run_figures,
    view,
)
from drive_trace.report.metrics import GROUPS, Measured
from drive_trace.scorecard.card import RunScore
from drive_trace.scorecard.render import caveats, markdown, not_read_markdown, run_page
from drive_trace.text.escaping import code, code_in_cell
from drive_trace.text.wording import first_of

MOST_RUNS = 100
MOST_ROWS = 50
MOST_CHARACTERS = 65_536
"""Of a comment on GitHub."""
_LEAST_RUN_ROWS = 20
"""The table of runs has so many rows, however short the rest has to be."""
_MOST_EVIDENCE = 5
_MOST_LINES = 10
_HEADERS = (
    "run",
    "verdict",
    "caveats",
    "tokens in / out",
    "wall-clock",
    "rounds a dispatch",
    "findings",
    "last event (UTC)",
)
_MARKS = {
    CheckResult.PASS: "pass",
    CheckResult.FAIL: "**FAIL**",
    CheckResult.NOT_APPLICABLE: "not applicable",
    CheckResult.NOT_CHECKABLE: "not checkable",
}


def report_markdown(report: FullReport) -> str:
    """The whole report, as long as a comment on GitHub may be. What is cut is said."""
    text = ""
    rows = _run_rows(report) if len(report.card.runs) > 1 else []
    for most in (MOST_RUNS, 30, 10, 3, 1, 0):
        text = "\n".join(_sections(report, rows, most)).rstrip("\n")
        if len(text) <= MOST_CHARACTERS:
            break
    return text


def _run_rows(report: FullReport) -> list[str]:
    """The rows of the table of runs, as far as it ever shows them."""
    by_run: dict[str, list[Event]] = {}
    for event in report.events:
        by_run.setdefault(event.run_id, []).append(event)
    found = report.findings_by_run()
    rows = []
    for run in report.card.runs[: max(MOST_RUNS, _LEAST_RUN_ROWS)]:
        notes = "; ".join(each.short for each in run.caveats) or "none"
        figures = [words for _, words in run_figures(run)]
        counts = findings_phrase(found[run.run_id])
        when, what = last_event(by_run.get(run.run_id, ()))
        last = f"{_name(when)} {what}" if what else ""
        cells = [_name(run.run_id), run.headline, notes, *figures, counts, last]
        rows.append(f"| {' | '.join(cells)} |")
    return rows


def _sections(report: FullReport, run_rows: Sequence[str], most: int) -> Iterator[str]:
    """``most`` runs in full, and as many files and rows."""
    runs = report.card.runs
    yield from ("# Drive Trace report", "", *_verdicts(report), "", *_runs(report, run_rows, most))
    if not report.traces:
        return
    card = [markdown(report.card, level=2, most=most), ""]
    card += _left_out(len(runs) - most, "runs in full")
    yield from card if len(runs) == 1 else _folded("Scorecard of each run", card)
    rows = min(MOST_ROWS, max(most, 3))
    yield from _folded("Metrics", _metrics(report, FACTS, rows))
    yield from _folded("Dispatches", _timelines(report, most, rows))
    yield from _folded("Assertions", _assertions(report))
    yield from _folded("Lines", _lines(report, max(most, 3)))
    yield from _folded("Where the values come from", _provenance(*PROVENANCE, SCOPES))


def _folded(title: str, lines: Iterable[str]) -> Iterator[str]:
    """GitHub reads Markdown in an element only behind an empty line."""
    yield from (f"<details><summary>{title}</summary>", "", *lines, "", "</details>", "")


def _runs(report: FullReport, rows: Sequence[str], most: int) -> Iterator[str]:
    if not rows:
        return
    yield f"| {' | '.join(_HEADERS)} |"
    yield f"|{' --- |' * len(_HEADERS)}"
    shown = rows[: max(most, _LEAST_RUN_ROWS)]
    yield from shown
    yield ""
    yield from _left_out(len(report.card.runs) - len(shown), "runs")


def run_report_markdown(run: RunScore, events: Sequence[Event], verdict: str | None = None) -> str:
    """A page on one run: its card, and below it the report on its events. ``verdict`` replaces the
    run's headline.
    """
    report = report_on_run(run, events)
    lines = [run_page(run, verdict), *_metrics(report, RUN_FACTS), *_timelines(report)]
    return "\n".join([*lines, *_assertions(report), *_provenance(*PROVENANCE)])


def _verdicts(report: FullReport) -> Iterator[str]:
    runs = report.card.runs
    yield from not_read_markdown(report.card)
    if len(runs) == 1:
        (run,) = runs
        yield f"**{run.headline}** · run {code(run.run_id)}"
        for caveat in caveats(run, code):
            yield from ("", f"⚠ {caveat}.")
    else:
        yield f"**{report.card.headline}**"
    if report.warning:
        yield ""
        yield report.warning
    yield from ("", report.line_counts)


def _provenance(*phrase: str) -> Iterator[str]:
    yield from ("## Where the values come from", "", *(f"- {each}" for each in phrase), "")


def _metrics(report: FullReport, facts: str, most: int = MOST_ROWS) -> Iterator[str]:
    yield from ("## Metrics: facts, not a score", "", facts, "")
    for group, title in GROUPS.items():
        yield from (f"### {title}", "")
        for measured in report.metrics:
            if measured.metric.group == group:
                yield from _metric(measured, most)


def _metric(measured: Measured, most: int) -> Iterator[str]:
    metric = measured.metric
    shown = view(measured, most)
    yield from (f"**{metric.title}** ({metric.polarity}, {metric.source})", "")
    yield from (f"- {label}: {value}" for label, value in shown.figures)
    yield from [""] * bool(shown.figures)
    for table in shown.tables:
        yield from _table(table)


def _table(table: FigureTable) -> Iterator[str]:
    yield from (f"{table.caption}:", "")
    yield f"| {' | '.join(table.headers)} |"
    yield f"| --- |{' ---: |' * (len(table.headers) - 1)}"
    for name, *cells in table.rows:
        yield f"| {' | '.join([_name(name), *cells])} |"
    yield ""
    yield from _left_out(table.left_out, "rows")


def _timelines(report: FullReport, runs: int = MOST_RUNS, rows: int = MOST_ROWS) -> Iterator[str]:
    yield from ("## Dispatches", "")
    if not report.timelines:
        yield from ("No dispatch was recorded.", "")
    for run_id, dispatches in list(report.timelines.items())[:runs]:
        yield from (f"### Dispatches of {code(run_id)}", "")
        shown = chosen(dispatches, rows)
        phrase = cut_dispatches(dispatches, shown)
        yield from (f"*{phrase}*", "") if phrase else ()
        yield f"| {' | '.join(DISPATCH_HEADERS)} |"
        yield f"|{' --- |' * len(DISPATCH_HEADERS)}"
        for name, model, *cells in dispatch_rows(shown):
            yield f"| {' | '.join([_name(name), _name(model), *cells])} |"
        yield ""
    yield from _left_out(len(report.timelines) - runs, "runs")


def _assertions(report: FullReport) -> Iterator[str]:
    yield from ("## Assertions", "")
    yield report.assertion_counts
    yield from (
        "",
        "| id | assertion | status | why | evidence |",
        "| --- | --- | --- | --- | --- |",
    )
    for checked in report.assertions:
        yield _assertion(checked, len(report.traces) > 1)
    yield ""


def _assertion(checked: Checked, with_path: bool) -> str:
    assertion, (status, evidence, note) = checked
    cells = [assertion.id, assertion.title, _MARKS[status], note, _evidence(evidence, with_path)]
    return f"| {' | '.join(cells)} |"


def _evidence(events: Sequence[Event], with_path: bool) -> str:
    named = [
        f"line {event.line}{f' of {_name(event.path)}' if with_path else ''}" for event in events
    ]
    return first_of(named, _MOST_EVIDENCE)


def _lines(report: FullReport, most: int) -> Iterator[str]:
    yield from ("## Lines", "", f"| {' | '.join(FILE_HEADERS)} |", "| --- | ---: | --- | --- |")
    for path, *cells in report.file_rows(most, _MOST_LINES):
        yield f"| {' | '.join([_name(path), *cells])} |"
    yield ""
    yield from _left_out(len(report.traces) - most, "files")


def _left_out(count: int, what: str) -> Iterator[str]:
    if count > 0:
        yield from (f"*… and {count:,} more {what}: the JSON report has them all.*", "")


def _name(text: str) -> str:
    return code_in_cell(text, 80)
