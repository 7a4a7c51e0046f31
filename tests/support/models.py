"""Random traces and edits, and plain models to hold the engine against."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

from hypothesis import strategies as st

from drive_trace.api import Analysis
from drive_trace.scorecard.card import to_json
from drive_trace.text import PositionEncoding
from drive_trace.trace.document import Point, Position
from drive_trace.vocabulary import EVENTS

LINE_END = re.compile("\r\n|\r|\n")
_IDS = ("d1", "d2", "r1", "é😀")
_RUNS = ("alpha", "alpha", "alpha", "🚀")
_OUTCOMES = ("pass", "fail", "pass", None, None, "passed")


@st.composite
def event_lines(draw: st.DrawFn) -> str:
    """An event of few runs and ids, so that lines have to do with each other; some are broken."""
    name = draw(
        st.sampled_from(
            ["correctness-recorded"] * 6
            + ["tokens-recorded", "dispatch-start", "dispatch-end", "round-start", "project-closed"]
        )
    )
    event = dict(EVENTS[name].example, project_run_id=draw(st.sampled_from(_RUNS)))
    for key in ("dispatch_id", "round_id", "parent_dispatch_id", "event_id"):
        if key in event:
            event[key] = draw(st.sampled_from(_IDS))
    for key in ("mechanical", "qa", "intent"):
        if key in event:
            event[key] = draw(st.sampled_from(_OUTCOMES))
    if draw(st.integers(0, 14)) == 14:
        event.pop(draw(st.sampled_from(sorted(event))))
    if draw(st.integers(0, 14)) == 14:
        event["extra"] = draw(st.text(max_size=4))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    text = json.dumps(event, ensure_ascii=draw(st.booleans()), separators=separators)
    if draw(st.integers(0, 14)) == 14:
        text = text[: draw(st.integers(0, len(text)))]
    return text


PIECES = st.sampled_from(
    ["\r", "\n", "\r\n", "\u2028", "\x85", "\x0b", "😀", "é", '"', "{", "}", ",", "null", "\ud800"]
)
TEXTS = st.lists(event_lines(), max_size=8).map("\n".join) | st.lists(
    event_lines() | PIECES | st.just("\n"), max_size=8
).map("\n".join)
SMALL = st.lists(PIECES | st.text(max_size=3), max_size=4).map("".join)


@dataclass(frozen=True)
class Edit:
    """Put ``text`` in place of the code points from ``start`` to ``end``."""

    start: int
    end: int
    text: str


@dataclass(frozen=True)
class LineEdit:
    """Put ``text`` in place of ``count`` whole lines from line ``first`` on, modulo the text's."""

    first: int
    count: int
    text: str

    def on(self, text: str) -> Edit:
        starts = [0, *(at + 1 for at, character in enumerate(text) if character == "\n")]
        first = self.first % len(starts)
        stop = first + self.count
        return Edit(starts[first], starts[stop] if stop < len(starts) else len(text), self.text)


@st.composite
def edits(draw: st.DrawFn) -> Edit | LineEdit:
    """An edit inside a line or of whole lines; what lies past the text's end is cut."""
    if draw(st.booleans()):
        lines = draw(st.lists(event_lines(), max_size=2))
        return LineEdit(
            draw(st.integers(0, 20)), draw(st.integers(0, 2)), "".join(f"{x}\n" for x in lines)
        )
    start = draw(st.integers(0, 3000))
    length = draw(st.sampled_from([0, 0, 1, 1, 2, 40, 2000]))
    return Edit(start, start + length, draw(SMALL | event_lines() | TEXTS))


def applied(text: str, edit: Edit) -> str:
    return text[: edit.start] + edit.text + text[edit.end :]


def point(text: str, offset: int) -> Point:
    """The record and the code point in it of an offset into a text."""
    before = text[:offset]
    return Point(before.count("\n"), len(before) - (before.rfind("\n") + 1))


def protocol_position(text: str, offset: int, encoding: PositionEncoding) -> Position | None:
    """By the protocol's rules on the plain text; None inside a ``\\r\\n``."""
    line, start = 0, 0
    for end in LINE_END.finditer(text):
        if end.start() < offset < end.end():
            return None
        if end.end() <= offset:
            line, start = line + 1, end.end()
    part = text[start:offset]
    codec = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}[encoding.value]
    width = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[encoding.value]
    return Position(line, len(part.encode(codec, "surrogatepass")) // width)


def everything(analysis: Analysis) -> dict[str, object]:
    """All that can be seen of an analysis, by value."""
    return {
        "text": analysis.document.text,
        "findings": [
            (
                finding.rule.code,
                analysis.where(finding),
                analysis.words(finding.words),
                [(analysis.where(each), analysis.words(each.words)) for each in finding.related],
                [
                    (fix.title, fix.safe, [(each.span, each.text) for each in fix.edits])
                    for fix in analysis.fixes(finding)
                ],
            )
            for finding in analysis.findings()
        ],
        "selected": [
            (analysis.line_number(line), len(analysis.findings_of(line)))
            for line in analysis.select_findings(1000).lines
        ],
        "score": to_json(analysis.score()),
        "named": {
            entity: {
                name: [analysis.line_number(line) for line in lines]
                for name, lines in sorted(groups.items())
            }
            for entity, groups in analysis.index.named.items()
        },
        "rejected": {
            run_id: [analysis.line_number(line) for line in lines]
            for run_id, lines in analysis.index.rejected.items()
        },
        "unknown": [analysis.line_number(line) for line in analysis.index.unknown],
    }
