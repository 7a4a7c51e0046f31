"""Lines of traces as places of a page, and what stands in them: events and findings."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterator, Sequence
from gzip import compress

from drive_trace.report.chart import Bar, Chart, LineId, Piece
from drive_trace.report.contents import SEVERITIES, FullReport, LineFinding, findings_phrase
from drive_trace.report.event_log import Event
from drive_trace.report.event_words import EventWords
from drive_trace.report.html.old import folded
from drive_trace.scorecard.card import RunScore
from drive_trace.scorecard.render import hidden_because
from drive_trace.text.document import Html
from drive_trace.text.escaping import plain
from drive_trace.text.html import Content, filter_of, scrolling, tag, untrusted
from drive_trace.text.wording import plural
from drive_trace.vocabulary import COST

_NUMBERED = re.compile(r"(?:(?<=\bline )|(?<=\blines )|(?<=\d, )|(?<=\d and ))(\d+)(?!\d| more)")
"""The number of a line in our own words."""
_MOST_EVENTS = 20_000
"""On the whole page."""
_MOST_FINDINGS = 20
"""Of one rule in one run."""
_CHUNK = 50
"""Rows that a browser lays out together, and only where they are seen."""
_OPEN = 200
"""A list of up to so many events is unfolded where it is the page's only one."""


class Places:
    """Names the places of lines: ``l-0-12`` is line 12 of the first trace, ``b-0-12`` the bar of
    the timeline that begins there. Whether the page itself lists lines is ``lists``; an editor
    shows them beside it.
    """

    def __init__(self, report: FullReport, *, lists: bool) -> None:
        self.lists = lists
        self._many = len(report.traces) > 1
        self._files = {trace.path: n for n, trace in reversed([*enumerate(report.traces)])}

    def id_of(self, line: LineId, kind: str = "l") -> str:
        """The id of an element."""
        return f"{kind}-{self._files.get(line.path, 0)}-{line.number}"

    def links(self, path: str, numbers: Sequence[int]) -> Html:
        """``lines 3, 5 of a.jsonl``, each a link; the file is named where there are several."""
        parts: list[Content] = [f"line{'s' * (len(numbers) != 1)} "]
        for at, number in enumerate(numbers):
            parts += [", " * (at > 0), self.link(LineId(path, number), str(number))]
        if self._many:
            parts += [" of ", untrusted(path, 80)]
        return tag("span", *parts)

    def link(self, line: LineId, content: Content) -> Html:
        """A link to a line."""
        return tag("a", content, href=f"#{self.id_of(line)}")

    def linked(self, text: str, path: str) -> Html:
        """Our own words, in which the numbers of lines are links: ``1 (line 33)``."""
        parts: list[Content] = [*_NUMBERED.split(text)]
        for at in range(1, len(parts), 2):
            number = str(parts[at])
            parts[at] = self.link(LineId(path, int(number)), number)
        return tag("span", *parts)

    def caveats(self, run: RunScore) -> Iterator[Html]:
        """The caveats of a run, a sentence each, with links where their lines are of one file."""
        for each in run.caveats:
            said, paths = f"⚠ {each.sentence(plain)}.", {line.path for line in each.lines}
            yield self.linked(said, *paths) if len(paths) == 1 else tag("span", said)

    def actions(self, **titles: str) -> list[Html]:
        """What an editor can do about a run: buttons, with their titles."""
        return [
            tag("button", title, type="button", data_do=action, class_="action")
            for action, title in titles.items()
            if not self.lists
        ]

    def fixes(self, same: Sequence[LineFinding]) -> list[Html]:
        """In an editor, a button for each file in which a rule's findings have safe fixes."""
        paths = dict.fromkeys(each.path for each in same if each.is_fixable and not self.lists)
        return [
            tag(
                "button",
                "Fix all",
                [tag("span", " in ", untrusted(path, 80))] if self._many else None,
                type="button",
                data_do="fix",
                data_rule=same[0].rule,
                data_file=self._files.get(path, 0),
                class_="action",
            )
            for path in paths
        ]


class EventLists:
    """The lists of events of a page, and the raw lines of all of them."""

    def __init__(self, report: FullReport, places: Places) -> None:
        self._report = report
        self._places = places
        self._words = EventWords(report.events)
        self._by_run: dict[str, list[Event]] = {}
        for event in report.events:
            self._by_run.setdefault(event.run_id, []).append(event)
        self._records = {trace.path: trace.records for trace in report.traces}
        self._listed: list[LineId] = []

    def of(self, run: RunScore) -> Sequence[Event]:
        """The events of a run."""
        return self._by_run.get(run.run_id, ())

    def listed(self, run: RunScore, number: int, chart: Chart | None) -> Html:
        """Every event of a run in words, with its rejected lines where they stand."""
        events = [(LineId(event.path, event.line), event) for event in self.of(run)]
        rejected = [LineId(part.path, each.line) for part in run.parts for each in part.rejected]
        order = {part.path: n for n, part in enumerate(run.parts)}
        every: list[tuple[LineId, Event | None]] = [*events, *((line, None) for line in rejected)]
        every.sort(key=lambda row: (order.get(row[0].path, 0), row[0].number))
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
        title = plural(len(self.of(run)), "event")
        title += f" and {plural(len(rejected), 'rejected line')}" if rejected else ""
        cut = len(every) - len(shown)
        note = tag("p", f"… and {cut:,} more lines, which the trace has.") if cut else None
        content = tag("div", filter_of(label), table, note, class_="filtered")
        is_open = len(every) <= _OPEN and len(self._report.card.runs) == 1
        return tag("details", tag("summary", title), content, open="" if is_open else None)

    def _row(self, line: LineId, event: Event | None, bars: dict[str, str], run: RunScore) -> Html:
        key = self._places.id_of(line)
        where = tag("td", str(line.number))
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


def findings_list(found: Sequence[LineFinding] | None, places: Places) -> Iterator[Content]:
    """The findings by rule, each with its line."""
    if found is None:
        yield tag("p", "Not checked: drive-trace check says why.", class_="warn")
        return
    yield tag("p", f"{findings_phrase(found)}.".capitalize())
    by_rule: dict[str, list[LineFinding]] = {}
    for each in found:
        by_rule.setdefault(each.rule, []).append(each)
    ranked = sorted(by_rule.items(), key=lambda item: SEVERITIES.index(item[1][0].severity))
    for rule, same in ranked:
        items = [
            tag("li", places.links(each.path, [each.line]), f": {each.message}")
            for each in same[:_MOST_FINDINGS]
        ]
        more = len(same) - len(items)
        cut = tag("li", f"and {more:,} more") if more else None
        unfolds = folded(f"{same[0].severity}: {rule} ({len(same):,})", tag("ul", items, cut))
        fixes = places.fixes(same)
        yield tag("div", unfolds, fixes, class_="fixable") if fixes else unfolds
