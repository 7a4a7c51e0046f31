"""The report as one HTML file that loads nothing. It reads without its script, which filters,
sorts, zooms and leads from place to place.
"""

import re
from collections.abc import Iterator, Sequence
from urllib.parse import quote

from drive_trace.report import contents, event_log, sections
from drive_trace.report.chart import Chart, chart_of
from drive_trace.report.html.charts import key, textures, timeline_chart
from drive_trace.report.sections import Places
from drive_trace.scorecard import render
from drive_trace.scorecard.caveats import LineRef
from drive_trace.scorecard.dispatches import Event
from drive_trace.scorecard.render import decided_by, grading, in_short, outline
from drive_trace.scorecard.run_score import NO_SIGNAL, RunScore, Verdict, cause
from drive_trace.text import document as doc
from drive_trace.text import html
from drive_trace.text.document import Html
from drive_trace.text.html import Attribute, Content, as_html, document, filter_of, join, tag, words
from drive_trace.text.quick import shipped
from drive_trace.text.wording import first_of, plain, plural, short_hash
from drive_trace.vocabulary import COST

STYLE = shipped(__name__, "style.css")
SCRIPT = f"{shipped(__name__, 'page.js')}\nenhance(document.documentElement, document.body);\n"
_MOST_NAMES = 3
_MOST_ROWS = 40
_MOST_FILES = 300
_MOST_RUNS = 300
_MOST_DISPATCHES = 40
_MOST_EVENTS = 20_000
"""On the whole page."""
_MOST_FINDINGS = 20
"""Of one rule in one run."""
_CHUNK = 50
"""Rows that a browser lays out together, and only where they are seen."""
_OPEN = 200
"""A list of up to so many events is unfolded where it is the page's only one."""


def report_html(report: contents.FullReport, generator: str) -> str:
    """The report as one file; its footer names ``generator``. Long tables are cut, with a note."""
    page = _Page(report, has_lines=True)
    return page_file(_title_of(report), generator, page.body(), page.raw_lines())


def page_file(title: str, generator: str, body: Html, below: Content = "\n") -> str:
    """A page with the script of a report as one file; its footer names ``generator``."""
    made_by = f"Made by {generator}. This file loads nothing, and runs its own script only."
    footer = tag("footer", tag("p", made_by), below)
    return document(STYLE, SCRIPT, title, body, footer)


def report_body(report: contents.FullReport) -> Html:
    """What the page shows, for an editor, which has :data:`STYLE` already and the lines beside."""
    return _Page(report, has_lines=False).body()


def timeline_body(report: contents.FullReport) -> Html:
    """The timeline alone of the report's only run, for the same page."""
    (run,) = report.card.runs
    verdict = doc.Paragraph(f"{doc.chip(run.word, run.standing)} {doc.name(run.run_id, 120)}")
    timeline = _Page(report, has_lines=False).timeline(run, 0)
    return join([textures(), tag("main", as_html([verdict, timeline]))])


def _title_of(report: contents.FullReport) -> str:
    """``Drive Trace: checkout-retry, search-index and 3 more``."""
    names = [plain(run.run_id, 40) for run in report.card.runs]
    return f"Drive Trace: {first_of(names, _MOST_NAMES)}" if names else "Drive Trace report"


class _Page:
    """What is shown of a report."""

    def __init__(self, report: contents.FullReport, *, has_lines: bool) -> None:
        """Whether the page itself lists lines is ``has_lines``; an editor shows them beside it."""
        self.report, self.places, self.has_lines = report, Places(report), has_lines
        self.runs = sections.by_interest(report.card.runs)
        self.by_run = report.by_run()
        self.findings = report.findings_by_run()
        self.words = event_log.EventWords(report.events)
        self.charts: dict[str, Chart | None] = {}
        self.listed: list[LineRef] = []
        """The lines of all lists of events, in their order."""

    def body(self) -> Html:
        """All of it."""
        report = self.report
        blocks = [
            *self._about_runs(),
            sections.metrics(report, _MOST_ROWS),
            sections.assertions(report, self.places),
            sections.lines(report, self.places, _MOST_FILES),
            sections.provenance(contents.SCOPES),
        ]
        runs = [
            tag("li", words(doc.named_link(sections.anchor("run", run.run_id), run.run_id, 40)))
            for run in self.runs[:_MOST_RUNS]
        ]
        parts = (
            tag("a", "Skip to the scorecard", href="#scorecard", class_="skip"),
            textures(),
            tag("header", tag("h1", _title_of(report)), self._headline()),
            html.navigation("report", blocks, {"runs": tag("ul", runs)}),
            tag("main", as_html(blocks)),
        )
        return join(parts)

    def _headline(self) -> Html:
        """The verdict with its cause; of several runs, how many are CORRECT."""
        card, warning = self.report.card, self.report.warning
        if len(self.runs) == 1:
            (run,) = self.runs
            kind, warning = run.standing, None
            said = [doc.Paragraph(f"Run {doc.name(run.run_id, 120)}"), *self._about(run)]
            parts = [tag("strong", run.word), as_html(said), *self._actions(run)]
        else:
            kind = str(Verdict.CORRECT if card.all_earned else Verdict.NOT_COMPUTABLE)
            parts = [tag("strong", card.headline)]
            for run in filter(_is_problem, self.runs[:1]):
                link = doc.named_link(sections.anchor("run", run.run_id), run.run_id, 60)
                parts += _paragraphs([f"Look first at {link}: {run.headline} · {in_short(run)}"])
        if not card.complete:
            kind = str(Verdict.NOT_COMPUTABLE)
            parts = [*_paragraphs([f"⚠ {each}" for each in render.not_read(card)], "warn"), *parts]
        parts += _paragraphs([*filter(None, [warning]), self.report.line_counts])
        return tag("div", parts, class_=f"headline {kind}")

    def _about(self, run: RunScore) -> list[doc.Block]:
        """What happened in a run, what its verdict rests on, and how to grade it."""

        def line(at: LineRef) -> doc.Words:
            return self.places.lines(at.path, [at.line], run)

        told, caveats = outline(run, line), self.places.caveats(run)
        said = [cause(run.gate), *told, *caveats, decided_by(run, line)]
        return [*map(doc.Paragraph, filter(None, said)), *grading(run)]

    def _actions(self, run: RunScore) -> list[Html]:
        """What an editor can do about a grade that is missing."""
        missing = run.gate.missing
        if self.has_lines or not missing:
            return []
        judge = [_button("judge", "Judge this run…")] * bool({"intent", NO_SIGNAL} & {*missing})
        return [_button("record", "Record…"), *judge]

    # The runs

    def _about_runs(self) -> Iterator[doc.Section]:
        """The scorecard, then the run in full, or each of several folded."""
        card = self.report.card
        if len(self.runs) == 1:
            (run,) = self.runs
            notes = [doc.Paragraph(each, is_warning=True) for each in render.beside_runs(card)]
            yield self.timeline(run, 0)
            yield doc.Section("Scorecard", [*notes, *render.tiers(run)], "scorecard")
            yield from self._lists(run, 0, "")
            return
        said = [each for each in render.totals(card) if each.rstrip(".") != card.headline]
        blocks: list[doc.Block] = [*map(doc.Paragraph, said)]
        shown = self.runs[:_MOST_RUNS]
        if shown:
            table = sections.runs_table(
                shown, self.places, self.by_run, self.findings, is_page=True
            )
            blocks.append(table._replace(left_out=len(self.runs) - len(shown)))
        yield doc.Section("Scorecard", blocks, "scorecard")
        every = [self._folded(run, number) for number, run in enumerate(shown)]
        if every:
            legend = key(filter(None, self.charts.values()))
            yield doc.Section("Each run", [legend, *every], "runs")

    def _folded(self, run: RunScore, number: int) -> Html:
        heading = f"{doc.chip(run.word, run.standing)} {doc.name(run.run_id, 120)}"
        parts: list[doc.Block] = [
            *self._about(run),
            self.timeline(run, number, f"-{number}"),
            *render.tiers(run),
            *self._lists(run, number, f"-{number}"),
        ]
        is_open = "" if number == 0 and _is_problem(run) else None
        title = tag("summary", tag("h3", words(heading), id=f"title-{number}"))
        id_ = sections.anchor("run", run.run_id)
        content = as_html(parts, 4), "\n"
        return tag("details", title, content, id=id_, class_="run", open=is_open)

    def timeline(self, run: RunScore, number: int, suffix: str = "") -> doc.Section:
        """The timeline of a run, and its dispatches as a table."""
        spans = self.report.timelines.get(run.run_id, ())
        chart = chart_of(run, self.by_run.get(run.run_id, ()), spans)
        self.charts[run.run_id] = chart
        blocks: list[doc.Block] = []
        if chart is None:
            blocks.append(doc.Paragraph("No timestamp can be read, so there is no timeline."))
        else:
            said = {each.line: each.summary or "" for each in run.facts.halts}
            name = plain(run.run_id, 60)
            blocks.append(timeline_chart(chart, name, number, self.places, said))
            blocks += [] if suffix else [key([chart])]
            if chart.untimed:
                untimed = f"Without a time that can be read: {chart.untimed:,}."
                blocks.append(doc.Paragraph(untimed))
        label = f"Dispatches of run {number + 1}"
        shown = sections.dispatches(spans, self.places, _MOST_DISPATCHES, label)
        if spans:
            title = f"The same as a table ({len(spans):,})"
            shown = [doc.Section(title, shown, is_folded=True)]
        return doc.Section("Timeline", [*blocks, *shown], f"timeline{suffix}")

    # Lists of lines

    def _lists(self, run: RunScore, number: int, suffix: str) -> Iterator[doc.Section]:
        if self.report.findings is not None:
            found = [*self._findings(self.findings.get(run.run_id))]
            yield doc.Section("Findings of check", found, f"findings{suffix}")
        if self.has_lines:
            yield doc.Section("Events", [self._events(run, number)], f"events{suffix}")

    def _findings(self, found: Sequence[contents.LineFinding] | None) -> Iterator[doc.Block]:
        """The findings by rule, each with its line; in an editor with buttons that fix them."""
        if found is None:
            yield doc.Paragraph("Not checked: drive-trace check says why.", is_warning=True)
            return
        yield doc.Paragraph(f"{contents.findings_phrase(found)}.".capitalize())
        by_rule: dict[str, list[contents.LineFinding]] = {}
        for each in found:
            by_rule.setdefault(each.rule, []).append(each)
        ranked = sorted(
            by_rule.items(), key=lambda item: contents.SEVERITIES.index(item[1][0].severity)
        )
        for rule, same in ranked:
            items = [
                f"{self.places.lines(each.path, [each.line])}: {each.message}"
                for each in same[:_MOST_FINDINGS]
            ]
            if len(same) > _MOST_FINDINGS:
                items.append(f"and {len(same) - _MOST_FINDINGS:,} more")
            title = f"{same[0].severity}: {rule} ({len(same):,})"
            folded = doc.Section(title, [doc.Bullets(items)], is_folded=True)
            fixes = [] if self.has_lines else self._fixes(same)
            yield tag("div", as_html([folded]), fixes, class_="fixable") if fixes else folded

    def _fixes(self, same: Sequence[contents.LineFinding]) -> list[Html]:
        """A button for each file in which a rule's findings have safe fixes."""
        return [
            _button(
                "fix",
                "Fix all",
                words(f" in {doc.name(path, 80)}") if self.places.is_many else "",
                data_rule=same[0].rule,
                data_file=self.places.file(path),
            )
            for path in dict.fromkeys(each.path for each in same if each.is_fixable)
        ]

    def _events(self, run: RunScore, number: int) -> Html:
        """Every event of a run in words, with its rejected lines where they stand."""
        own = self.by_run.get(run.run_id, ())
        rejected = [LineRef(part.path, each.line) for part in run.parts for each in part.rejected]
        order = {part.path: n for n, part in enumerate(run.parts)}
        every: list[tuple[LineRef, Event | None]] = [(event.place, event) for event in own]
        every += ((line, None) for line in rejected)
        every.sort(key=lambda row: (order.get(row[0].path, 0), row[0].line))
        shown = every[: max(0, _MOST_EVENTS - len(self.listed))]
        self.listed += [line for line, _ in shown]
        bars = self._bars(run)
        headers = ("time as written", "event", "what it says", "line")
        head = tag("tr", [tag("th", each, scope="col") for each in headers])
        rows = [self._row(line, event, bars, run) for line, event in shown]
        chunks = [tag("tbody", rows[at : at + _CHUNK]) for at in range(0, len(rows), _CHUNK)]
        label = f"Events of run {number + 1}"
        parts = (tag("caption", label), tag("thead", head), *chunks)
        table = html.scrolling(label, tag("table", *parts, class_="events"))
        title = plural(len(own), "event")
        title += f" and {plural(len(rejected), 'rejected line')}" if rejected else ""
        cut = len(every) - len(shown)
        note = tag("p", f"… and {cut:,} more lines, which the trace has.") if cut else None
        content = tag("div", filter_of(label), table, note, class_="filtered")
        is_open = len(every) <= _OPEN and len(self.runs) == 1
        return tag("details", tag("summary", title), content, open="" if is_open else None)

    def _row(self, line: LineRef, event: Event | None, bars: dict[str, str], run: RunScore) -> Html:
        id_, where = self.places.id_of(line), tag("td", str(line.line))
        if event is None:
            said = "readers reject this line; it counts nowhere"
            cells = tag("td"), tag("td", "rejected", "\n"), tag("td", said, "\n"), where
            return tag("tr", *cells, "\n", id=id_, class_="rejected")
        time: Content = event.ts[:19].replace("T", " ")
        if id_ in bars:
            time = tag("a", time, href=f"#{bars[id_]}")
        is_hidden = event.name == COST and run.efficiency is None
        said = f"hidden: {render.hidden_because(run)}" if is_hidden else self.words.of(event)
        told = [plain(said, 240), *map(words, self._links(event))]
        cells = tag("td", time, "\n"), tag("td", event.name, "\n"), tag("td", told, "\n"), where
        return tag("tr", *cells, "\n", id=id_, data_e=sections.anchor("e", event.event_id))

    def _links(self, event: Event) -> Iterator[doc.Words]:
        """Where an event leads out of the page: to a pull request, to the log of the session that
        it was measured from, and to the spec or plan that it is about, in VS Code, and on the web
        as the commit has it.
        """
        if (url := html.web_address(event.values.get("pr_ref"))) is not None:
            yield doc.link(url, " pull request")
        if (log := self.report.transcripts.get(event.event_id)) is not None:
            yield doc.link(log, " transcript")
        address = self.report.addresses.get(event.path, "")
        about = [event.values.get(f"{name}_path") for name in ("spec", "plan", "artifact")]
        web, committed = self.report.pages.get(event.path, ("", ()))
        for path in (each for each in about if isinstance(each, str) and each in committed):
            yield doc.link(f"{web}/{quote(path)}", f" at {short_hash(web.rpartition('/')[2])}")
        if (beside := re.match(r"(.*)/(?:projects|wip/drive-trace)/", address)) is not None:
            for path in filter(None, about):
                if (target := html.file_address(path)) is not None:
                    yield doc.link(
                        f"{beside[1]}{target.removeprefix('vscode://file')}", " open file"
                    )

    def _bars(self, run: RunScore) -> dict[str, str]:
        """The id of the bar or mark that a line's event is drawn by, by that line's id."""
        chart = self.charts[run.run_id]
        if chart is None:
            return {}
        last = (each for each in chart.marks if each.until is None)
        return {
            self.places.id_of(line): self.places.id_of(each.lines[0], "b")
            for each in (*last, *chart.drawn())
            for line in each.lines
        }

    def raw_lines(self) -> Html:
        """All listed lines as they stand in their traces, packed, for the page's script."""
        records = {trace.path: trace.records for trace in self.report.traces}
        texts = (records.get(path, ())[number - 1 : number] for path, number in self.listed)
        lines = html.packed(record[0] if record else "" for record in texts)
        files = " ".join(self.report.addresses.get(each.path, "") for each in self.report.traces)
        return tag("data", value=lines, id="raw", hidden="", data_files=files)


def _is_problem(run: RunScore) -> bool:
    return run.verdict is Verdict.INCORRECT or run.facts.halt_count > 0


def _paragraphs(said: Sequence[doc.Words], kind: str | None = None) -> list[Html]:
    return [tag("p", words(each), class_=kind) for each in said]


def _button(action: str, *content: Content, **attributes: Attribute) -> Html:
    """What an editor can do."""
    parts = {"type": "button", "data_do": action, **attributes, "class_": "action"}
    return tag("button", *content, **parts)
