"""The sections of a page that are about runs: verdicts, the table of all, and each in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drive_trace.report.chart import Chart, chart_of
from drive_trace.report.contents import FullReport
from drive_trace.report.event_log import DispatchSpan
from drive_trace.report.html.charts import key, timeline_chart
from drive_trace.report.html.lines import EventLists, button, findings_list
from drive_trace.report.sections import (
    RUN_FIGURES,
    Places,
    dispatches,
    moment,
    run_figures,
    runs_table,
)
from drive_trace.scorecard.render import (
    beside_runs,
    hidden_because,
    judging,
    not_read,
    tier_2,
    totals,
)
from drive_trace.scorecard.run_score import (
    NO_SIGNAL,
    RunScore,
    Verdict,
    cause,
    what_would_change_it,
)
from drive_trace.text import document as doc
from drive_trace.text.document import Html
from drive_trace.text.escaping import plain
from drive_trace.text.html import as_html, tag, words
from drive_trace.vocabulary import CORRECTNESS_FIELDS

MOST_RUNS = 300
_MOST_DISPATCHES = 40


class Runs:
    """The sections on the runs of a report."""

    def __init__(self, report: FullReport, *, lists: bool) -> None:
        """Whether the page itself lists lines is ``lists``; an editor shows them beside it."""
        self.places = Places(report)
        self.events = EventLists(report, self.places)
        self._lists = lists
        self._report = report
        self._runs = report.card.runs
        self._findings = report.findings_by_run()
        self._charts: dict[str, Chart | None] = {}

    def headline(self) -> Html:
        """The verdict with its cause; of several runs, how many are CORRECT."""
        card = self._report.card
        if len(self._runs) == 1:
            (run,) = self._runs
            kind = run.standing
            said = [cause(run.gate), f"Run {doc.name(run.run_id, 120)}", *self.places.caveats(run)]
            said.append(f"{self.places.decided_by(run)}{what_would_change_it(run.gate)}")
            parts = [tag("strong", run.word), *_paragraphs(said), *self._actions(run)]
        else:
            kind = str(Verdict.CORRECT if card.all_earned else Verdict.NOT_COMPUTABLE)
            parts = [tag("strong", card.headline)]
        if not card.complete:
            kind = str(Verdict.NOT_COMPUTABLE)
            parts = [*_paragraphs([f"⚠ {each}" for each in not_read(card)], "warn"), *parts]
        warning = self._report.warning if len(self._runs) != 1 else None
        parts += _paragraphs([*filter(None, [warning]), self._report.line_counts])
        return tag("div", parts, class_=f"headline {kind}")

    def _actions(self, run: RunScore) -> list[Html]:
        """What an editor can do about a grade that is missing."""
        missing = run.gate.missing
        if self._lists or not missing:
            return []
        judge = [button("judge", "Judge this run…")] * bool({"intent", NO_SIGNAL} & {*missing})
        return [button("record", "Record…"), *judge]

    def sections(self) -> Iterator[doc.Section]:
        """The scorecard, then the run in full, or each of several folded."""
        card = self._report.card
        if len(self._runs) == 1:
            (run,) = self._runs
            notes = [doc.Paragraph(each, is_warning=True) for each in beside_runs(card)]
            yield self.timeline(run, 0)
            yield doc.Section("Scorecard", [*notes, self._tiers(run, 0)], "scorecard")
            yield from self._listed(run, 0, "")
            return
        said = [each for each in totals(card) if each.rstrip(".") != card.headline]
        blocks: list[doc.Block] = [*map(doc.Paragraph, said)]
        if self._runs:
            shown, by_run = self._runs[:MOST_RUNS], self.events.by_run
            table = runs_table(shown, self.places, by_run, self._findings, is_page=True)
            blocks.append(table._replace(left_out=len(self._runs) - len(shown)))
        yield doc.Section("Scorecard", [*blocks, *self._over_time()], "scorecard")
        every = [self._folded(run, number) for number, run in enumerate(self._runs[:MOST_RUNS])]
        if every:
            legend = key(filter(None, self._charts.values()))
            yield doc.Section("Each run", [legend, *every], "runs")

    def _over_time(self) -> Iterator[doc.Block]:
        """The runs of one project over time, where it has several."""
        by_slug: dict[str, list[tuple[str, int, doc.Words]]] = {}
        for number, run in enumerate(self._runs[:MOST_RUNS]):
            events = self.events.by_run.get(run.run_id, ())
            slugs = (each.values.get("project_slug") for each in events)
            slug = next((each for each in slugs if isinstance(each, str) and each), None)
            if slug is not None:
                first = min(events, key=lambda event: event.ts)
                by_slug.setdefault(slug, []).append((first.ts, number, moment(first)))
        rows: list[list[doc.Cell]] = [
            [
                doc.name(slug, 60),
                began,
                doc.named_link(f"run-{number}", self._runs[number].run_id, 60),
                doc.chip(self._runs[number].word, self._runs[number].standing),
                *run_figures(self._runs[number]),
            ]
            for slug, same in by_slug.items()
            for _, number, began in (sorted(same) if len(same) > 1 else ())
        ]
        if rows:
            headers = ("project", "first event (UTC)", "run", "verdict", *RUN_FIGURES)
            yield doc.Table(headers, rows, "The same project over time")

    # One run

    def _folded(self, run: RunScore, number: int) -> Html:
        heading = f"{doc.chip(run.word, run.standing)} {doc.name(run.run_id, 120)}"
        decided = self.places.decided_by(run)
        parts: list[doc.Block] = [
            doc.Paragraph(f"{cause(run.gate)}. {what_would_change_it(run.gate)}"),
            *(doc.Paragraph(each, is_warning=True) for each in self.places.caveats(run)),
            *([doc.Paragraph(decided)] if decided else []),
            self.timeline(run, number, f"-{number}"),
            self._tiers(run, number),
            *self._listed(run, number, f"-{number}"),
        ]
        title = tag("summary", tag("h3", words(heading), id=f"title-{number}"))
        return tag("details", title, as_html(parts, 4), "\n", id=f"run-{number}", class_="run")

    def _tiers(self, run: RunScore, number: int) -> Html:
        recorded = run.correctness.values if run.correctness is not None else {}
        components = [
            [name, str(value), "recorded from outside the run"]
            if (value := recorded.get(name)) is not None
            else [name, "not recorded", "no signal"]
            for name in CORRECTNESS_FIELDS
        ]
        caption, of = "Tier 1, correctness", f" of run {number + 1}"
        headers = ("component", "result", "source")
        notes = map(doc.Paragraph, [*judging(run), *filter(None, [run.provenance.sentence])])
        tier_1: list[doc.Block] = [
            doc.Table(headers, components, caption, f"{caption}{of}"),
            *notes,
        ]
        if run.efficiency is None:
            below = tag("p", f"Tier 2, efficiency: hidden: {hidden_because(run)}.")
        else:
            below = tag("div", as_html(tier_2(run.efficiency, f"Tier 2, efficiency{of}")))
        return tag("div", tag("div", as_html(tier_1)), below, class_="tiers")

    def _listed(self, run: RunScore, number: int, suffix: str) -> Iterator[doc.Section]:
        if self._report.findings is not None:
            found = findings_list(
                self._findings.get(run.run_id), self.places, has_buttons=not self._lists
            )
            yield doc.Section("Findings of check", [*found], f"findings{suffix}")
        if self._lists:
            events = self.events.listed(run, number, self._chart(run))
            yield doc.Section("Events", [events], f"events{suffix}")

    def timeline(self, run: RunScore, number: int, suffix: str = "") -> doc.Section:
        """The timeline of a run, and its dispatches as a table."""
        chart = self._chart(run)
        blocks: list[doc.Block] = []
        if chart is None:
            blocks.append(doc.Paragraph("No timestamp can be read, so there is no timeline."))
        else:
            blocks.append(timeline_chart(chart, plain(run.run_id, 60), number, self.places))
            blocks += [] if suffix else [key([chart])]
            if chart.untimed:
                untimed = f"Without a time that can be read: {chart.untimed:,}."
                blocks.append(doc.Paragraph(untimed))
        spans = self._spans(run)
        label = f"Dispatches of run {number + 1}"
        shown = dispatches(spans, self.places, _MOST_DISPATCHES, label)
        if spans:
            title = f"The same as a table ({len(spans):,})"
            shown = [doc.Section(title, shown, is_folded=True)]
        return doc.Section("Timeline", [*blocks, *shown], f"timeline{suffix}")

    def _spans(self, run: RunScore) -> Sequence[DispatchSpan]:
        return self._report.timelines.get(run.run_id, ())

    def _chart(self, run: RunScore) -> Chart | None:
        if run.run_id not in self._charts:
            events = self.events.by_run.get(run.run_id, ())
            self._charts[run.run_id] = chart_of(run, events, self._spans(run))
        return self._charts[run.run_id]


def _paragraphs(said: Sequence[doc.Words], kind: str | None = None) -> list[Html]:
    return [tag("p", words(each), class_=kind) for each in said]
