"""The sections of a report that are about runs: verdicts, the table of all, and each in full."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from drive_trace.report.chart import Chart, LineId, chart_of
from drive_trace.report.contents import FullReport, findings_phrase
from drive_trace.report.figures import (
    DISPATCH_HEADERS,
    chosen,
    cut_dispatches,
    dispatch_rows,
    last_event,
    run_figures,
)
from drive_trace.report.html.charts import key, timeline_chart
from drive_trace.report.html.lines import (
    EventLists,
    Places,
    findings_list,
)
from drive_trace.report.html.old import folded, left_out, sorted_by, table
from drive_trace.report.timeline import DispatchSpan
from drive_trace.scorecard.card import RunScore
from drive_trace.scorecard.render import (
    hidden_because,
    judging,
    measures,
    not_read,
    totals,
    unowned,
)
from drive_trace.scorecard.render import left_out as traces_left_out
from drive_trace.scorecard.verdict import NO_SIGNAL, Verdict, cause, what_would_change_it
from drive_trace.text.document import Html
from drive_trace.text.escaping import plain
from drive_trace.text.html import Content, section, tag, untrusted
from drive_trace.vocabulary import CORRECTNESS_FIELDS

MOST_RUNS = 300
_MOST_DISPATCHES = 40
_FIGURES = ("tokens in / out", "wall-clock", "rounds a dispatch")
"""Shown where some run is CORRECT."""


class Runs:
    """The sections on the runs of a report."""

    def __init__(self, report: FullReport, *, lists: bool) -> None:
        self.places = Places(report, lists=lists)
        self.events = EventLists(report, self.places)
        self._report = report
        self._runs = report.card.runs
        self._findings = report.findings_by_run()
        self._has_figures = any(run.efficiency is not None for run in self._runs)
        self._charts: dict[str, Chart | None] = {}

    def headline(self) -> Html:
        """The verdict with its cause; of several runs, how many are CORRECT."""
        card = self._report.card
        if len(self._runs) == 1:
            (run,) = self._runs
            kind = run.standing
            parts = [tag("strong", run.word)]
            parts += [tag("p", cause(run.gate)), tag("p", "Run ", untrusted(run.run_id))]
            parts += [tag("p", each) for each in self.places.caveats(run)]
            parts.append(tag("p", *self._decided_by(run), what_would_change_it(run.gate)))
            parts += self._actions(run)
        else:
            kind = str(Verdict.CORRECT if card.all_earned else Verdict.NOT_COMPUTABLE)
            parts = [tag("strong", card.headline)]
        if not card.complete:
            kind = str(Verdict.NOT_COMPUTABLE)
            warnings = [tag("p", f"⚠ {each}", class_="warn") for each in not_read(card, plain)]
            parts = [*warnings, *parts]
        if self._report.warning and len(self._runs) != 1:
            parts.append(tag("p", self._report.warning))
        parts.append(tag("p", self._report.line_counts))
        return tag("div", parts, class_=f"headline {kind}")

    def sections(self) -> Iterator[Html]:
        """The scorecard, then the run in full, or each of several folded."""
        card = self._report.card
        if len(self._runs) == 1:
            (run,) = self._runs
            phrases = [*unowned(card, plain), *traces_left_out(card, plain)]
            notes = [tag("p", each, class_="warn") for each in phrases]
            yield self.timeline(run, 0)
            yield section("scorecard", "Scorecard", *notes, self._tiers(run, 0))
            yield from self._lists(run, 0, level=2)
            return
        shown = self._runs[:MOST_RUNS]
        rows = [self._row(run, number) for number, run in enumerate(shown)]
        label = "All runs"
        said = (each for each in totals(card, plain) if each.rstrip(".") != card.headline)
        content: list[Content] = [tag("p", each) for each in said]
        if rows:
            figures = _FIGURES * self._has_figures
            headers = (
                "run",
                "verdict",
                "caveats",
                *figures,
                "findings",
                "written",
                "last event (UTC)",
            )
            content.append(table(label, headers, rows, label=label, wide=(1, 2), sortable=True))
        content.append(left_out(len(self._runs) - MOST_RUNS, "runs"))
        content += self._comparisons(shown)
        yield section("scorecard", "Scorecard", *content)
        every = [self._folded(run, number) for number, run in enumerate(shown)]
        if every:
            yield section("runs", "Each run", key(filter(None, self._charts.values())), *every)

    # The table of all runs

    def _row(self, run: RunScore, number: int) -> list[Content]:
        link = tag("a", untrusted(run.run_id, 60), href=f"#run-{number}")
        found = self._findings.get(run.run_id)
        notes = [tag("div", each) for each in self.places.caveats(run)]
        when, what = last_event(self.events.of(run))
        return [
            link,
            [chip(run), tag("div", cause(run.gate)), tag("div", *self._decided_by(run))],
            sorted_by(len(notes), notes or "none"),
            *(sorted_by(*each) for each in run_figures(run) if self._has_figures),
            sorted_by(-1 if found is None else len(found), findings_phrase(found)),
            run.provenance.origin or "not told",
            [tag("span", when, class_="whole"), tag("div", what)],
        ]

    def _comparisons(self, runs: Sequence[RunScore]) -> Iterator[Content]:
        """The runs of one project over time, where it has several."""
        by_slug: dict[str, list[tuple[str, int]]] = {}
        for number, run in enumerate(runs):
            slug = next((_slug(event) for event in self.events.of(run) if _slug(event)), None)
            if slug is not None:
                first = min(event.ts for event in self.events.of(run))
                by_slug.setdefault(slug, []).append((first, number))
        rows: list[list[Content]] = []
        for slug, same in by_slug.items():
            for began, number in sorted(same) if len(same) > 1 else ():
                run = runs[number]
                link = tag("a", untrusted(run.run_id, 60), href=f"#run-{number}")
                when = began[:16].replace("T", " ")
                rows.append(
                    [
                        untrusted(slug, 60),
                        when,
                        link,
                        chip(run),
                        *(sorted_by(*each) for each in run_figures(run)),
                    ]
                )
        if rows:
            headers = ("project", "first event (UTC)", "run", "verdict", *_FIGURES)
            caption = "The same project over time"
            yield table(caption, headers, rows, label=caption)

    # One run

    def _folded(self, run: RunScore, number: int) -> Html:
        summary = [chip(run), tag("span", " "), untrusted(run.run_id)]
        heading = tag("h3", summary, id=f"title-{number}")
        timeline = self.timeline(run, number, level=4)
        parts = [timeline, self._tiers(run, number), *self._lists(run, number, level=4)]
        return tag(
            "details",
            tag("summary", heading),
            tag("p", cause(run.gate), ". ", what_would_change_it(run.gate)),
            [tag("p", each, class_="warn") for each in self.places.caveats(run)],
            tag("p", *self._decided_by(run)),
            *parts,
            "\n",
            id=f"run-{number}",
            class_="run",
        )

    def _tiers(self, run: RunScore, number: int) -> Html:
        recorded = run.correctness.values if run.correctness is not None else {}
        components = [
            [name, str(value), "recorded from outside the run"]
            if (value := recorded.get(name)) is not None
            else [name, "not recorded", "no signal"]
            for name in CORRECTNESS_FIELDS
        ]
        caption = "Tier 1, correctness"
        headers = ("component", "result", "source")
        notes = [*judging(run, plain), *filter(None, [run.provenance.sentence])]
        tier_1 = tag(
            "div",
            table(caption, headers, components, label=f"{caption} of run {number + 1}"),
            [tag("p", each) for each in notes],
        )
        if run.efficiency is None:
            hidden = tag("p", f"Tier 2, efficiency: hidden: {hidden_because(run)}.")
            return tag("div", tier_1, hidden, class_="tiers")
        caption = "Tier 2, efficiency"
        label = f"{caption} of run {number + 1}"
        values = measures(run.efficiency)
        tier_2 = table(caption, ("measure", "value"), values, label=label, numbers_from=1)
        note = tag("p", "For every measure lower is better. Time and rework are this run's alone.")
        return tag("div", tier_1, tag("div", tier_2, note), class_="tiers")

    def _lists(self, run: RunScore, number: int, level: int) -> Iterator[Html]:
        suffix = f"-{number}" if level > 2 else ""
        if self._report.findings is not None:
            found = self._findings.get(run.run_id)
            items = findings_list(found, self.places)
            yield section(f"findings{suffix}", "Findings of check", *items, level=level)
        if self.places.lists:
            events = self.events.listed(run, number, self._chart(run))
            yield section(f"events{suffix}", "Events", events, level=level)

    def timeline(self, run: RunScore, number: int, level: int = 2) -> Html:
        """The timeline of a run, and its dispatches as a table."""
        spans = self._report.timelines.get(run.run_id, ())
        chart = self._chart(run)
        if chart is None:
            content: list[Content] = [
                tag("p", "No timestamp can be read, so there is no timeline.")
            ]
        else:
            name = plain(run.run_id, 60)
            content = [timeline_chart(chart, name, number, self.places)]
            content += [key([chart])] if level == 2 else []
            if chart.untimed:
                content.append(tag("p", f"Without a time that can be read: {chart.untimed:,}."))
        content.append(self._dispatches(spans, number))
        suffix = f"-{number}" if level > 2 else ""
        return section(f"timeline{suffix}", "Timeline", *content, level=level)

    def _chart(self, run: RunScore) -> Chart | None:
        if run.run_id not in self._charts:
            spans = self._report.timelines.get(run.run_id, ())
            self._charts[run.run_id] = chart_of(run, self.events.of(run), spans)
        return self._charts[run.run_id]

    def _decided_by(self, run: RunScore) -> Iterator[Html]:
        grade = run.correctness
        if grade is not None:
            yield tag("span", "Decided by ", self.places.links(grade.path, [grade.line]), ". ")

    def _actions(self, run: RunScore) -> list[Html]:
        """What an editor can do about a grade that is missing."""
        missing = run.gate.missing
        judge = {"judge": "Judge this run…"} if {"intent", NO_SIGNAL} & {*missing} else {}
        return self.places.actions(record="Record…", **judge) if missing else []

    def _dispatches(self, spans: Sequence[DispatchSpan], number: int) -> Html:
        if not spans:
            return tag("p", "No dispatch was recorded.")
        shown = chosen(spans, _MOST_DISPATCHES)
        rows = [
            [self._begun(span, first), untrusted(model), *cells]
            for span, (first, model, *cells) in zip(shown, dispatch_rows(shown), strict=True)
        ]
        label = f"Dispatches of run {number + 1}"
        phrase = cut_dispatches(spans, shown)
        cut = tag("p", phrase, class_="soft") if phrase else None
        as_table = table("Dispatches", DISPATCH_HEADERS, rows, label=label, wide=(0, 4))
        return folded(f"The same as a table ({len(spans):,})", cut, as_table)

    def _begun(self, span: DispatchSpan, name: str) -> Html:
        """The name of a dispatch, as a link to its first line."""
        first, shown = span.start or span.end, untrusted(name)
        return self.places.link(LineId(first.path, first.line), [shown]) if first else shown


def chip(run: RunScore) -> Html:
    """The verdict in the colour of the run's standing."""
    return tag("span", run.word, class_=f"chip {run.standing}")


def _slug(event: object) -> str | None:
    slug = getattr(event, "values", {}).get("project_slug")
    return slug if isinstance(slug, str) else None
