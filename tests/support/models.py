"""Random traces and edits, and plain models to hold the engine against."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

from drive_trace.analysis import Analysis
from drive_trace.scorecard.card import to_json
from drive_trace.scorecard.scoring import score_in
from drive_trace.trace.document import Point
from drive_trace.vocabulary import EVENTS
from tests.support.scored import score_of

LINE_END = re.compile("\r\n|\r|\n")
_NAMES = [
    name
    for name in EVENTS
    for _ in range({"correctness-recorded": 6, "triage-verdict": 0, "retro-landed": 0}.get(name, 2))
]
_RUNS = (*("alpha",) * 12, *("🚀",) * 4, "alphq")
_OUTCOMES = ("pass", "fail", "pass", None, None, "passed")
_DISPATCHES = ("d1", "d1", "d2", "é😀", "1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01")
_PATHS = ("spec.md", "slices/x/spec.md", "plan.md", "/plan.md")
_VALUES: dict[str, Sequence[object]] = {
    "event_id": [f"{number:08}-8f0d-4c1b-9a3e-5d2f6a7b8c90" for number in range(12)],
    "ts": (
        "2026-05-28T14:00:00.000Z",
        "2026-05-28T14:00:00.000Z",
        "2026-05-28T14:30:00.000Z",
        "2026-05-28T14:29:59.999999Z",
        "2026-05-28T16:30:00+02:00",
        "2026-05-28 14:31",
        "1970-01-01T00:00:00Z",
        "soon",
    ),
    "dispatch_id": _DISPATCHES,
    "parent_dispatch_id": (None, "d1", "d2", "d3"),
    "round_id": ("r1", "r2", "é😀", "00000000-0000-4000-8000-000000000001"),
    "round_number": (1, 1, 2, 3, 0),
    "verdict": ("satisfied", "satisfied", "another-round-needed", "another-round"),
    "findings_filed": (0, 1),
    "wall_clock_ms": (0, 1_800_000, 1_801_999, 1_900_000),
    "brief_content_hash": ("a" * 64, "b" * 64, "B" * 64, "pending"),
    "brief_disposition": ("initial", "amended", "reissue"),
    "spec_path": _PATHS,
    "plan_path": _PATHS,
    "byte_length": (100, 120),
    "bytes_delta": (0, 20, 130),
    "brief_byte_length": (0, 900),
    "slice_slug": ("x", "y"),
    "result": ("merged", "merged", "abandoned", "completed", "done"),
    "pr_ref": ("#1", None),
    "project_slug": ("alpha", "beta"),
    "model": ("composer-2", None, "none"),
    "slices_completed": (0, 1, 2),
    "final_retro_done": (True, False),
    "trigger_class": ("mandatory-final", "drift-event", "final"),
    "mechanical": _OUTCOMES,
    "qa": _OUTCOMES,
    "intent": _OUTCOMES,
}
"""Few values of each field, so that lines have to do with each other."""


@st.composite
def event_lines(draw: st.DrawFn) -> str:
    """An event of few runs and ids, so that lines have to do with each other; some are broken."""
    name = draw(st.sampled_from(_NAMES))
    event = dict(EVENTS[name].example, project_run_id=draw(st.sampled_from(_RUNS)))
    for key, values in _VALUES.items():
        if key in event:
            event[key] = draw(st.sampled_from(values))
    if draw(st.integers(0, 14)) == 14:
        event.pop(draw(st.sampled_from(sorted(event))))
    if draw(st.integers(0, 14)) == 14:
        event["extra"] = draw(st.text(max_size=4))
    separators = draw(st.sampled_from([(",", ":"), (", ", ": ")]))
    text = json.dumps(event, ensure_ascii=draw(st.booleans()), separators=separators)
    if draw(st.integers(0, 14)) == 14:
        text = text[: draw(st.integers(0, len(text)))]
    return text


FAMILIES = (
    ("dispatch-start", "dispatch-end", "round-start", "round-end", "brief-issued"),
    ("round-start", "round-end"),
    ("spec-authored", "spec-amended"),
    ("slice-started", "slice-completed", "project-closed", "dispatch-start"),
    ("project-closed", "retro-landed", "dispatch-start", "dispatch-end", "round-end"),
    ("correctness-recorded", "tokens-recorded", "dispatch-end"),
    tuple(EVENTS),
)
"""Events that have much to do with each other."""


def chance_line(chance: Random, names: Sequence[str]) -> str:
    """An event of one of these names, with few values of each field; some lack a field."""
    run = chance.choice(_RUNS)
    event = dict(EVENTS[chance.choice(names)].example, project_run_id=run)
    for key, values in _VALUES.items():
        if key in event and key != "event_id":
            event[key] = chance.choice(values)
    event["event_id"] = f"{chance.randrange(40):08}-8f0d-4c1b-9a3e-5d2f6a7b8c90"
    if chance.random() < 0.08:
        event.pop(chance.choice(sorted(event)))
    if chance.random() < 0.05:
        event["event_type"] = "dispatch-statr"
    return json.dumps(event, ensure_ascii=False, separators=(",", ":"))


PIECES = st.sampled_from(
    ["\r", "\n", "\r\n", "\u2028", "\x85", "\x0b", "😀", "é", '"', "{", "}", ",", "null", "\ud800"]
)
TEXTS = st.lists(event_lines(), max_size=14).map("\n".join) | st.lists(
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


def everything(analysis: Analysis) -> dict[str, Any]:
    """All that can be seen of an analysis, by value."""
    return {
        "text": analysis.document.text,
        "findings": [
            (
                finding.rule.code,
                analysis.severity_of(finding),
                analysis.where(finding),
                analysis.message(finding.message),
                [
                    (analysis.where(each), analysis.message(each.message))
                    for each in finding.related
                ],
                [
                    (fix.title, fix.safe, [(each.span, each.text) for each in fix.edits])
                    for fix in analysis.fixes(finding)
                ],
            )
            for finding in analysis.findings()
        ],
        "selected": [
            (analysis.line_number(line), len(analysis.findings_of(line)))
            for line, _ in analysis.found.select(1000)
        ],
        "score": to_json(score_of(analysis)),
        "runs": {
            run.run_id: score_in(analysis.index, run.run_id) == run
            for run in score_of(analysis).runs
            if run.run_id in analysis.index.runs
        },
        "named": {
            (name, field, value): [analysis.line_number(line) for line in lines]
            for name, event in EVENTS.items()
            for field in ("dispatch_id", "parent_dispatch_id", "round_id", "spec_path")
            if field in event.keeps
            for value in _VALUES[field]
            if (lines := analysis.index.having(name, field, value))
        },
        "counts": (analysis.finding_count, analysis.hidden_count),
        "rejected": {
            run_id: [analysis.line_number(line) for line in lines]
            for run_id, lines in analysis.index.rejected.items()
        },
        "unknown": [analysis.line_number(line) for line in analysis.index.unknown],
        "runs_in_order": [run.run_id for run in analysis.index.runs_in_order],
    }
