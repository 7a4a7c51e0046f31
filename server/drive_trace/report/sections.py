"""The parts of a report that every format shows, as documents; and the report in Markdown, for a
comment on GitHub or as a page of one run.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice

from drive_trace.report import contents
from drive_trace.report.assertions import Checked, CheckResult
from drive_trace.report.metrics import (
    GROUPS,
    Breakdown,
    Figure,
    FigureUnit,
    Measured,
    Metric,
    Value,
)
from drive_trace.scorecard import render
from drive_trace.scorecard.caveats import LineRef
from drive_trace.scorecard.dispatches import DispatchSpan, Event
from drive_trace.scorecard.render import grading, outline
from drive_trace.scorecard.run_score import QUALIFIED, RunScore, Verdict, cause
from drive_trace.text import document as doc
from drive_trace.text.quick import blake2b
from drive_trace.text.wording import LONGEST, compact, exact_duration, numbered_lines, short_time

_NUMBERED = re.compile(r"(?:(?<=\bline )|(?<=\blines )|(?<=\d, )|(?<=\d and ))(\d+)(?!\d| more)")
"""The number of a line in our own words."""
_MOST_EVIDENCE = 8
_MOST_NUMBERS = 20
"""Of so many lines of a file, the numbers are told."""
RUN_FIGURES = (
    *("halts", "work", "clock", "dispatches", "rounds a dispatch", "escalated", "rejected"),
    "tokens in / out",
)
_FOLDED = {
    CheckResult.PASS: "Passed",
    CheckResult.NOT_APPLICABLE: "Not applicable",
    CheckResult.NOT_CHECKABLE: "Not checkable from a trace",
}


class Places:
    """Names the places of lines on a page: ``l-0-12`` is line 12 of the first trace, ``b-0-12`` the
    bar of the timeline that begins there. The file of a line is named where there are several.
    """

    def __init__(self, report: contents.FullReport) -> None:
        self.is_many = len(report.traces) > 1
        self._files: dict[str, int] = {
            trace.path: n for n, trace in reversed([*enumerate(report.traces)])
        }

    def file(self, path: str) -> int:
        """The number of a trace."""
        return self._files.get(path, 0)

    def id_of(self, line: LineRef, kind: str = "l") -> str:
        """The id of an element."""
        return f"{kind}-{self.file(line.path)}-{line.line}"

    def link(self, path: str, number: int) -> doc.Words:
        """The number of a line, as a link to it."""
        return doc.link(self.id_of(LineRef(path, number)), str(number))

    def lines(self, path: str, numbers: Sequence[int], run: RunScore | None = None) -> doc.Words:
        """``lines 3, 5 of a.jsonl``; of a ``run`` in one file, that is not named."""
        linked = ", ".join(self.link(path, number) for number in numbers)
        is_many = self.is_many if run is None else len(run.parts) > 1
        of = f" of {doc.name(path, 80)}" if is_many else ""
        return f"line{'s' * (len(numbers) != 1)} {linked}{of}"

    def linked(self, said: doc.Words, path: str) -> doc.Words:
        """Words in which the numbers of lines are links, but in names: ``1 (line 33)``."""

        def linking(own: str) -> doc.Words:
            return _NUMBERED.sub(lambda found: self.link(path, int(found[1])), own)

        return doc.outside_marks(said, linking)

    def caveats(self, run: RunScore) -> Iterator[doc.Words]:
        """The caveats of a run, a sentence each, with links where their lines are of one file."""
        for each in run.caveats:
            said, paths = f"⚠ {each.sentence(doc.name)}.", {line.path for line in each.lines}
            yield self.linked(said, *paths) if len(paths) == 1 else said


# Runs


INTEREST = (Verdict.INCORRECT, QUALIFIED, Verdict.NOT_COMPUTABLE, Verdict.CORRECT)


def by_interest(runs: Iterable[RunScore]) -> list[RunScore]:
    """First what is INCORRECT, then what halted, then by caveats, rejected lines and rework."""

    def key(run: RunScore) -> tuple[object, ...]:
        facts, place = run.facts, INTEREST.index(run.standing)
        return place > 0 and not facts.halt_count, place, -len(run.rejected), -facts.reworked

    return sorted(runs, key=key)


def anchor(kind: str, text: str) -> str:
    """The id of an element that is about something with this id of its own, in every report."""
    return f"{kind}-{blake2b(text.encode('utf-8', 'surrogatepass'), digest_size=5).hexdigest()}"


def runs_table(
    runs: Sequence[RunScore],
    places: Places,
    events: Mapping[str, Sequence[Event]],
    found: Mapping[str, Sequence[contents.LineFinding] | None],
    *,
    is_page: bool,
) -> doc.Table:
    """Runs with their verdicts and what happened, given the events and findings of each. Where
    there is little room, the verdict is one line, and caveats are told in short.
    """
    rows: list[list[doc.Cell]] = []
    for run in runs:
        findings = found[run.run_id]
        because = "not graded" if run.gate.is_ungraded else cause(run.gate)
        unsaid = [each.short for each in run.caveats if each.short not in run.headline]
        notes = [*places.caveats(run)] if is_page else unsaid
        first = [doc.chip(run.word, run.standing), because] if is_page else [run.headline]
        rows.append(
            [
                doc.named_link(anchor("run", run.run_id), run.run_id, 60),
                doc.Lines([*first, *notes]),
                *run_figures(run),
                doc.Lines([contents.findings_phrase(findings)], contents.severity_order(findings)),
                run.provenance.origin or "not told",
                _last_event(events.get(run.run_id, ())),
            ]
        )
    return doc.Table(
        ("run", "verdict", *RUN_FIGURES, "findings", "written", "last event (UTC)"),
        rows,
        label="All runs",
        numbers_from=2,
        numbers_before=2 + len(RUN_FIGURES),
        wide=(1,),
        what="runs",
        is_sortable=True,
    )


def run_figures(run: RunScore) -> list[doc.Cell]:
    """What happened, under :data:`RUN_FIGURES`. Tokens are Tier 2, which is for CORRECT runs."""
    facts, efficiency = run.facts, run.efficiency
    tokens = [efficiency.tokens[f"{name}_tokens"] for name in ("input", "output") if efficiency]
    mean = run.measured.rounds.mean
    return [
        figure(facts.halt_count),
        figure(facts.work_ms, short_time(facts.work_ms)),
        figure(facts.clock_ms, short_time(facts.clock_ms)),
        figure(facts.dispatches),
        figure(mean, "n/a" if mean is None else f"{mean:.1f}"),
        figure(facts.escalations),
        figure(len(run.rejected)),
        token_figure(tokens),
    ]


def figure(value: float | None, said: str | None = None) -> doc.Cell:
    """A figure, sorted by its value; ``said`` where None is not known, which sorts last."""
    return doc.Lines([f"{value:,}" if said is None else said], math.nan if value is None else value)


def token_figure(tokens: Sequence[float | None]) -> doc.Cell:
    """Tokens in and out, sorted by their sum; hidden where there are none."""
    known = [each for each in tokens if each is not None]
    said = " / ".join("n/a" if each is None else compact(round(each)) for each in tokens)
    return figure(sum(known) if known else None, said or "hidden")


def _last_event(events: Sequence[Event]) -> doc.Cell:
    """``2026-06-08 14:19`` and ``dispatch-end``; the time is what a stranger wrote: any text."""
    last = max(events, key=lambda event: event.ts, default=None)
    return "" if last is None else doc.Lines([doc.name(last.ts[:16].replace("T", " ")), last.name])


def dispatches(
    spans: Sequence[DispatchSpan], places: Places, most: int, label: str
) -> list[doc.Block]:
    """The dispatches of a run; of many, those with the most rounds."""
    if not spans:
        return [doc.Paragraph("No dispatch was recorded.")]
    ranked = sorted(range(len(spans)), key=lambda at: (-spans[at].round_starts, at))
    rows = [_dispatch(spans[at], places) for at in sorted(ranked[:most])]
    cut = (
        f"{len(rows)} of {len(spans):,} dispatches are shown, those with the most rounds; "
        "the JSON report has them all."
    )
    notes = [doc.Paragraph(doc.soft(cut))] if len(rows) < len(spans) else []
    headers = ("dispatch", "model", "result", "rounds", "verdicts of rounds", "claimed")
    return [*notes, doc.Table((*headers, "by the clock"), rows, label=label, wide=(0, 4))]


def _dispatch(span: DispatchSpan, places: Places) -> list[doc.Words]:
    first, called = span.start or span.end, span.called
    target = places.id_of(first.place) if first else None
    return [
        doc.named_link(target, called, 80) if target else doc.name(called, 80),
        doc.name(span.model or "not recorded", 80),
        span.said or "no end recorded",
        f"{span.round_starts:,}",
        ", ".join(each.said or "no end recorded" for each in span.rounds) or "none recorded",
        short_time(span.claimed_ms)
        + " (measured)" * (span.how == "measured")
        + " (more than the clock)" * span.claims_more,
        "; ".join([short_time(span.clock_ms), *span.waiting]),
    ]


# All events together


def metrics(report: contents.FullReport, most: int) -> doc.Section:
    """Every metric, group by group, with at most so many rows of a table."""
    blocks: list[doc.Block] = [doc.Paragraph(contents.FACTS)]
    names = {each.dispatch_id: each.called for some in report.timelines.values() for each in some}
    for span in (each for some in report.timelines.values() for each in some):
        names |= {each.round_id: f"{span.called}, round {each.number}" for each in span.rounds}
    if report.warning:
        blocks.append(doc.Paragraph(f"{contents.NOTHING_RIGHT}.", is_warning=True))
    for group, title in GROUPS.items():
        measured = [each for each in report.metrics if each.metric.group == group]
        shown = _group(title, measured, most, names)
        blocks.append(doc.Section(f"{title} ({len(measured)})", shown, is_folded=True))
    return doc.Section("Metrics: facts, not a score", blocks, "metrics")


def _group(
    title: str, measured: Sequence[Measured], most: int, names: Mapping[str, str]
) -> list[doc.Block]:
    rows: list[list[doc.Cell]] = []
    breakdowns: list[doc.Section] = []
    for metric, value in measured:
        figures, tables = _figures(metric, value), _tables(metric, value, most, names)
        if value is None:
            figures = [f"value: n/a ({metric.no_signal})"]
        elif not figures:
            figures = ["see below"] if tables else ["value: none recorded"]
        reading = [str(metric.polarity), str(metric.source)]
        rows.append([metric.title, doc.Lines(figures), *reading])
        breakdowns += tables
    headers = ("metric", "value", "reading", "source")
    return [doc.Table(headers, rows, label=f"{title} metrics", wide=(1,)), *breakdowns]


def _figures(metric: Metric, value: Value) -> list[str]:
    """The single figures of a metric, each with its label."""
    shown = [each for each in metric.shows if isinstance(each, Figure)]
    return [f"{each.label}: {_quantity(_at(value, each.at), each.unit)}" for each in shown]


def _tables(metric: Metric, value: Value, most: int, names: Mapping[str, str]) -> list[doc.Section]:
    """The breakdowns of a metric that have rows, folded. Dispatches and rounds have ``names``."""
    parts = [
        (each, part)
        for each in metric.shows
        if isinstance(each, Breakdown) and (part := _at(value, each.at))
    ]
    return [
        doc.Section(
            f"{each.caption} ({len(part):,})", [_table(each, part, most, names)], is_folded=True
        )
        for each, part in parts
        if isinstance(part, Mapping | list)
    ]


def _table(
    shape: Breakdown, value: Mapping[str, Value] | list[Value], most: int, names: Mapping[str, str]
) -> doc.Table:
    columns = {shape.columns: ()} if isinstance(shape.columns, str) else shape.columns
    rows = [
        [
            doc.name(names.get(key, key), 80),
            *(_cell(_at(item, *at), shape.unit) for at in columns.values()),
        ]
        for key, item in islice(_items(value), most)
    ]
    headers = [shape.key, *columns]
    return doc.Table(headers, rows, numbers_from=1, left_out=len(value) - len(rows))


def _items(value: Value) -> Iterator[tuple[str, Value]]:
    """The rows of an object, or of a list of objects whose first value names each."""
    if isinstance(value, Mapping):
        yield from ((str(key), item) for key, item in value.items())
    elif isinstance(value, list):
        yield from ((str(next(iter(item.values()))), item) for item in value)


def _at(value: Value, *keys: str) -> Value:
    """What stands in a value under these keys; an empty key is the value itself."""
    for key in filter(None, keys):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _cell(value: Value, unit: FigureUnit) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None:
        # A count that stands in no table is of events, of which there were none.
        return "0" if unit is FigureUnit.COUNT else "n/a (a timestamp cannot be read)"
    return _quantity(value, unit)


def _quantity(value: Value, unit: FigureUnit) -> str:
    """One figure with its unit: ``67%``, ``28m (1,720,000 ms)``."""
    if value is None:
        return render.NO_SIGNAL
    if not isinstance(value, int | float):
        return str(value)
    if unit is FigureUnit.SHARE:
        return f"{value:.0%}"
    if unit is not FigureUnit.MILLISECONDS:
        return _number(value)
    if not math.isfinite(value) or abs(value) > LONGEST:
        return f"{_number(value)} ms"
    return exact_duration(round(value))


def _number(value: float) -> str:
    if abs(value) > LONGEST:
        return f"{float(value):.3g}"
    return f"{value:,}" if isinstance(value, int) else f"{value:,.2f}"


def assertions(report: contents.FullReport, places: Places) -> doc.Section:
    """What failed; folded, what passed, what does not apply and what no trace can tell."""
    by_status: dict[CheckResult, list[Checked]] = {each: [] for each in CheckResult}
    for each in report.assertions:
        by_status[each.outcome.status].append(each)
    blocks: list[doc.Block] = [doc.Paragraph(report.assertion_counts)]
    if by_status[CheckResult.FAIL]:
        failed = _assertion_table("Failed", by_status[CheckResult.FAIL], places)
        blocks += [doc.Paragraph(doc.soft("Failed:")), failed]
    blocks += [
        doc.Section(
            f"{title} ({len(found)})", [_assertion_table(title, found, places)], is_folded=True
        )
        for status, title in _FOLDED.items()
        if (found := by_status[status])
    ]
    return doc.Section("Assertions", blocks, "assertions")


def _assertion_table(label: str, checked: Sequence[Checked], places: Places) -> doc.Table:
    rows: list[list[doc.Cell]] = [
        [assertion.id, assertion.title, note, doc.Lines([*_evidence(evidence, places)])]
        for assertion, (_, evidence, note) in checked
    ]
    headers = ("id", "assertion", "why", "evidence")
    return doc.Table(headers, rows, label, wide=(1, 2, 3))


def _evidence(events: Sequence[Event], places: Places) -> Iterator[doc.Words]:
    by_path: dict[str, list[int]] = {}
    for each in events[:_MOST_EVIDENCE]:
        by_path.setdefault(each.path, []).append(each.line)
    yield from (places.lines(path, numbers) for path, numbers in by_path.items())
    if len(events) > _MOST_EVIDENCE:
        yield f"and {len(events) - _MOST_EVIDENCE:,} more"


def lines(report: contents.FullReport, places: Places, most: int) -> doc.Section:
    """What became of the lines of each of ``most`` files."""
    rows = [
        [
            doc.name(trace.path, 120),
            f"{len(trace.events):,}",
            places.linked(_count_and_numbers(trace.invalid_lines), trace.path),
            places.linked(_count_and_numbers(trace.summary.unknown_lines), trace.path),
        ]
        for trace in report.traces[:most]
    ]
    label = "What became of the lines of each file"
    said = "Invalid lines are rejected and count nowhere; unknown event types are kept apart."
    table = doc.Table(
        ("file", "valid events", "invalid lines", "unknown event types"),
        rows,
        label=label,
        wide=(2, 3),
        left_out=len(report.traces) - most,
        what="files",
    )
    return doc.Section("Lines", [doc.Paragraph(said), table], "lines")


def _count_and_numbers(numbers: Sequence[int]) -> str:
    """``0``, ``1 (line 3)``, or ``12 (lines 1, 2 and 10 more)``."""
    return f"{len(numbers):,} ({numbered_lines(numbers, _MOST_NUMBERS)})" if numbers else "0"


def provenance(*others: str) -> doc.Section:
    """Where values come from."""
    return doc.Section(
        "Where the values come from", [doc.Bullets([*contents.PROVENANCE, *others])], "provenance"
    )


# As Markdown

_MOST_RUNS = 100
_MOST_ROWS = 50
_MOST_CHARACTERS = 65_500
"""A comment on GitHub has some more: room for the mark by which the action finds its own."""
_LEAST_RUN_ROWS = 20
"""The table of runs has so many rows, however short the rest has to be."""


def report_markdown(report: contents.FullReport) -> str:
    """The whole report, as long as a comment on GitHub may be. What is cut is said."""
    places, text = Places(report), ""
    report = report._replace(card=report.card._replace(runs=tuple(by_interest(report.card.runs))))
    runs, shown = len(report.card.runs), report.card.runs[:_MOST_RUNS]
    found = report.findings_by_run()
    table = runs_table(shown, places, report.by_run(), found, is_page=False)
    for most in (_MOST_RUNS, 30, 10, 3, 1, 0):
        rows = table.rows[: max(most, _LEAST_RUN_ROWS)]
        cut = table._replace(rows=rows, left_out=runs - len(rows))
        told = [f"{doc.name(run.run_id, 60)}: {' '.join(outline(run))}" for run in shown[:most]]
        table_and_list: list[doc.Block] = [cut, doc.Bullets(told)] if runs > 1 else []
        head = [*_verdicts(report), *table_and_list]
        parts = _parts(report, places, most) if report.traces else []
        page = doc.Section("Drive Trace report", [*head, *parts])
        text = doc.as_markdown([page], folds=True)
        if len(text) <= _MOST_CHARACTERS:
            break
    return text


def _verdicts(report: contents.FullReport) -> list[doc.Block]:
    said = render.not_read_blocks(report.card)
    if len(report.card.runs) == 1:
        (run,) = report.card.runs
        said += [*render.run_card(run), *grading(run)]
        said += map(doc.Paragraph, render.beside_runs(report.card))
    else:
        said.append(doc.Paragraph(doc.strong(report.card.headline)))
    return [*said, *map(doc.Paragraph, filter(None, [report.warning, report.line_counts]))]


def _parts(report: contents.FullReport, places: Places, most: int) -> list[doc.Section]:
    """``most`` runs in full, and as many files and rows."""
    cut, is_one = doc.more(len(report.card.runs) - most, "runs in full"), len(report.card.runs) == 1
    card = [
        *render.card_document(report.card, 0 if is_one else most),
        *([doc.Paragraph(doc.soft(cut))] if cut else []),
    ]
    rows = min(_MOST_ROWS, max(most, 3))
    parts = (
        metrics(report, rows),
        _dispatch_sections(report, places, most, rows),
        assertions(report, places),
        lines(report, places, max(most, 3)),
        provenance(contents.SCOPES),
    )
    return [
        *([] if is_one else [doc.Section("Scorecard of each run", card, is_folded=True)]),
        *(each._replace(is_folded=True) for each in parts),
    ]


def _dispatch_sections(
    report: contents.FullReport, places: Places, runs: int, rows: int
) -> doc.Section:
    blocks: list[doc.Block] = [
        doc.Section(f"Dispatches of {doc.name(run_id)}", dispatches(spans, places, rows, ""))
        for run_id, spans in [*report.timelines.items()][:runs]
    ]
    cut = doc.more(len(report.timelines) - runs, "runs")
    blocks += [doc.Paragraph(doc.soft(cut))] if cut else []
    return doc.Section("Dispatches", blocks or dispatches((), places, 0, ""))


def run_report_markdown(
    headline: str, card: Sequence[doc.Block], run: RunScore, events: Sequence[Event]
) -> str:
    """A page on one run: its card, whose verdict is the heading, and the report on its events."""
    report = contents.report_on_run(run, events)
    places = Places(report)
    parts = (
        metrics(report, _MOST_ROWS),
        _dispatch_sections(report, places, 1, _MOST_ROWS),
        assertions(report, places),
        provenance(),
    )
    first = doc.Paragraph(f"Run {doc.name(run.run_id)}")
    return doc.as_markdown([doc.Section(headline, [first, *card[1:], *parts])]) + "\n"
