"""The lists of a page: events, and findings."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator, Sequence
from gzip import compress

from drive_trace.report.chart import Bar, Chart, Piece
from drive_trace.report.contents import SEVERITIES, FullReport, LineFinding, findings_phrase
from drive_trace.report.event_log import Event, EventWords
from drive_trace.report.sections import Places
from drive_trace.scorecard.caveats import LineRef
from drive_trace.scorecard.render import hidden_because
from drive_trace.scorecard.run_score import RunScore
from drive_trace.text import document as doc
from drive_trace.text.document import Html
from drive_trace.text.escaping import plain
from drive_trace.text.html import Attribute, Content, as_html, filter_of, scrolling, tag, words
from drive_trace.text.wording import plural
from drive_trace.vocabulary import COST

_MOST_EVENTS = 20_000
"""On the whole page."""
_MOST_FINDINGS = 20
"""Of one rule in one run."""
_CHUNK = 50
"""Rows that a browser lays out together, and only where they are seen."""
_OPEN = 200
"""A list of up to so many events is unfolded where it is the page's only one."""


class EventLists:
    """The lists of events of a page, and the raw lines of all of them."""

    def __init__(self, report: FullReport, places: Places) -> None:
        self._report = report
        self._places = places
        self._words = EventWords(report.events)
        self.by_run = report.by_run()
        self._records = {trace.path: trace.records for trace in report.traces}
        self._listed: list[LineRef] = []

    def listed(self, run: RunScore, number: int, chart: Chart | None) -> Html:
        """Every event of a run in words, with its rejected lines where they stand."""
        own = self.by_run.get(run.run_id, ())
        events = [(event.place, event) for event in own]
        rejected = [LineRef(part.path, each.line) for part in run.parts for each in part.rejected]
        order = {part.path: n for n, part in enumerate(run.parts)}
        every: list[tuple[LineRef, Event | None]] = [*events, *((line, None) for line in rejected)]
        every.sort(key=lambda row: (order.get(row[0].path, 0), row[0].line))
        shown = every[: max(0, _MOST_EVENTS - len(self._listed))]
        bars = _bars_of(chart, self._places) if chart is not None else {}
        headers = ("time as written", "event", "what it says", "line")
        head = tag("tr", [tag("th", each, scope="col") for each in headers])
        rows = [self._row(line, event, bars, run) for line, event in shown]
        chunks = [tag("tbody", rows[at : at + _CHUNK]) for at in range(0, len(rows), _CHUNK)]
        self._listed += [line for line, _ in shown]
        label = f"Events of run {number + 1}"
        parts = (tag("caption", label), tag("thead", head), *chunks)
        table = scrolling(label, tag("table", *parts, class_="events"))
        title = plural(len(own), "event")
        title += f" and {plural(len(rejected), 'rejected line')}" if rejected else ""
        cut = len(every) - len(shown)
        note = tag("p", f"… and {cut:,} more lines, which the trace has.") if cut else None
        content = tag("div", filter_of(label), table, note, class_="filtered")
        is_open = len(every) <= _OPEN and len(self._report.card.runs) == 1
        return tag("details", tag("summary", title), content, open="" if is_open else None)

    def _row(self, line: LineRef, event: Event | None, bars: dict[str, str], run: RunScore) -> Html:
        key = self._places.id_of(line)
        where = tag("td", str(line.line))
        if event is None:
            words = "readers reject this line; it counts nowhere"
            cells = tag("td"), tag("td", "rejected"), tag("td", words), where
            return tag("tr", *cells, "\n", id=key, class_="rejected")
        time: Content = event.ts[:19].replace("T", " ")
        if key in bars:
            time = tag("a", time, href=f"#{bars[key]}")
        is_hidden = event.name == COST and run.efficiency is None
        words = f"hidden: {hidden_because(run)}" if is_hidden else self._words.of(event)
        cells = tag("td", time), tag("td", event.name), tag("td", plain(words, 240)), where
        return tag("tr", *cells, "\n", id=key)

    def raw(self) -> Html:
        """All listed lines as they stand in their traces, packed, for the page's script."""
        records = (
            self._records.get(path, ())[number - 1 : number] for path, number in self._listed
        )
        text = "\n".join(record[0] if record else "" for record in records)
        # An editor may have half of a surrogate pair, which the page shows as U+FFFD.
        packed = b64encode(compress(text.encode("utf-8", "surrogatepass"), mtime=0)).decode()
        return tag("data", value=packed, id="raw", hidden="")


def _bars_of(chart: Chart, places: Places) -> dict[str, str]:
    """The id of the bar or mark that a line's event is drawn by, by that line's id."""
    drawn: list[Bar | Piece] = [*chart.bars]
    drawn += (piece for bar in chart.bars for piece in bar.rounds)
    found = {
        places.id_of(line): places.id_of(each.lines[0], "b")
        for each in drawn
        for line in each.lines
    }
    marks = {places.id_of(each.line): places.id_of(each.line, "b") for each in chart.marks}
    return {**marks, **found}


def findings_list(
    found: Sequence[LineFinding] | None, places: Places, *, has_buttons: bool
) -> Iterator[doc.Block]:
    """The findings by rule, each with its line; in an editor with buttons that fix them."""
    if found is None:
        yield doc.Paragraph("Not checked: drive-trace check says why.", is_warning=True)
        return
    yield doc.Paragraph(f"{findings_phrase(found)}.".capitalize())
    by_rule: dict[str, list[LineFinding]] = {}
    for each in found:
        by_rule.setdefault(each.rule, []).append(each)
    ranked = sorted(by_rule.items(), key=lambda item: SEVERITIES.index(item[1][0].severity))
    for rule, same in ranked:
        items = [
            f"{places.lines(each.path, [each.line])}: {each.message}"
            for each in same[:_MOST_FINDINGS]
        ]
        if len(same) > _MOST_FINDINGS:
            items.append(f"and {len(same) - _MOST_FINDINGS:,} more")
        title = f"{same[0].severity}: {rule} ({len(same):,})"
        folded = doc.Section(title, [doc.Bullets(items)], is_folded=True)
        fixes = _fixes(same, places) if has_buttons else []
        yield tag("div", as_html([folded]), fixes, class_="fixable") if fixes else folded


def _fixes(same: Sequence[LineFinding], places: Places) -> list[Html]:
    """A button for each file in which a rule's findings have safe fixes."""
    paths = dict.fromkeys(each.path for each in same if each.is_fixable)
    named = {path: words(f" in {doc.name(path, 80)}") if places.is_many else "" for path in paths}
    return [
        button("fix", "Fix all", named[path], data_rule=same[0].rule, data_file=places.file(path))
        for path in paths
    ]


def button(action: str, *content: Content, **attributes: Attribute) -> Html:
    """What an editor can do."""
    parts = {"type": "button", "data_do": action, **attributes, "class_": "action"}
    return tag("button", *content, **parts)
