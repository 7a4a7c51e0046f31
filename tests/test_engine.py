"""The engine's invariants, on random traces and random edits."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drive_trace.api import Analysis, summarize_text
from drive_trace.rules.base import Severity
from drive_trace.scorecard.card import score, to_json
from drive_trace.text import PositionEncoding
from drive_trace.trace.document import Document
from drive_trace.trace.reading import read_exactly, read_lines
from tests.support.models import (
    TEXTS,
    Edit,
    LineEdit,
    applied,
    edits,
    event_lines,
    everything,
    point,
    protocol_position,
)


def made_on(text: str, edit: Edit | LineEdit) -> Edit:
    return edit.on(text) if isinstance(edit, LineEdit) else edit


def edited(analysis: Analysis, edit: Edit) -> None:
    text = analysis.document.text
    analysis.edit(point(text, edit.start), point(text, edit.end), edit.text)


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(edits(), max_size=6))
def test_batch_equals_incremental(text: str, changes: list[Edit | LineEdit]) -> None:
    analysis = Analysis(text)
    for change in changes:
        edit = made_on(text, change)
        edited(analysis, edit)
        text = applied(text, edit)
        assert everything(analysis) == everything(Analysis(text))


@settings(max_examples=150, deadline=None)
@given(TEXTS, st.lists(edits(), max_size=8))
@example("a\rb\n", [Edit(2, 2, "\n")])
@example("a\r", [Edit(2, 2, "\n")])
@example("\r\n\r\n", [Edit(1, 1, "x")])
def test_edits_keep_the_text_and_its_positions(text: str, changes: list[Edit | LineEdit]) -> None:
    document = Document(text.split("\n"), read_lines)
    for change in changes:
        edit = made_on(text, change)
        document.apply(document.splice(point(text, edit.start), point(text, edit.end), edit.text))
        text = applied(text, edit)
        assert document.text == text
        assert [document.number(line) for line in document.lines] == list(
            range(text.count("\n") + 1)
        )
        for encoding in PositionEncoding:
            for offset in range(0, len(text) + 1, max(1, len(text) // 40)):
                position = protocol_position(text, offset, encoding)
                if position is not None:
                    assert document.point_at(position, encoding) == point(text, offset)
                    assert document.position_of(point(text, offset), encoding) == position


@settings(max_examples=200, deadline=None)
@given(st.text() | st.text(alphabet='{}[]",:\\\r\n\t nulltre01.e-😀\ud800\ufeff\u2028'))
def test_nothing_raises_whatever_the_text(text: str) -> None:
    analysis = Analysis(text)
    everything(analysis)
    for record, line in enumerate(analysis.document.lines):
        has_error = any(
            finding.rule.severity is Severity.ERROR for finding in analysis.findings_of(line)
        )
        assert has_error == line.is_rejected, record


@settings(max_examples=300, deadline=None)
@given(event_lines())
def test_the_fast_path_says_what_the_exact_path_says(text: str) -> None:
    (fast,) = read_lines([text])
    exact = read_exactly(text)
    assert (fast.status, fast.event, fast.facts) == (exact.status, exact.event, exact.facts)
    assert [remark[:5] for remark in fast.remarks] == [remark[:5] for remark in exact.remarks]


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_scoring_alone_gives_the_score_of_the_whole_analysis(text: str) -> None:
    assert to_json(score([summarize_text(text)])) == to_json(Analysis(text).score())


@settings(max_examples=100, deadline=None)
@given(TEXTS, st.integers(1, 6), st.integers(0, 40))
def test_a_limit_takes_lines_near_the_edit_and_then_errors(text: str, most: int, near: int) -> None:
    analysis = Analysis(text)
    lines = analysis.document.lines
    chosen = analysis.select_lines(most, lines[near % len(lines)])
    numbers = [analysis.line_number(line) for line in chosen]
    assert numbers == sorted(set(numbers))
    found = sum(len(analysis.findings_of(line)) for line in chosen)
    assert found >= min(most, analysis.finding_count)
    assert analysis.finding_count == len(list(analysis.findings()))


@pytest.mark.parametrize("before", [True, False])
def test_lines_typed_at_one_place_keep_their_order(before: bool) -> None:
    """More insertions than there is room for between two order labels."""
    text = "a\nb\n"
    analysis = Analysis(text)
    for step in range(200):
        at = 2 if before else len(text) - 2
        edit = Edit(at, at, f"{step}\n")
        edited(analysis, edit)
        text = applied(text, edit)
    assert analysis.document.text == text
    assert everything(analysis) == everything(Analysis(text))
