"""The engine's invariants, on random traces and random edits."""

import json
from collections import Counter, defaultdict
from random import Random

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drive_trace.analysis import Analysis, join_all
from drive_trace.features.findings import DiagnosticMaker, DiagnosticOptions
from drive_trace.linter import engine
from drive_trace.linter.settings import DEFAULTS, RuleSettings, Severity, fingerprint
from drive_trace.scorecard.card import score, to_json
from drive_trace.scorecard.scoring import summarize
from drive_trace.text.spans import PositionEncoding, is_blank
from drive_trace.trace.document import Document, Point, Position
from drive_trace.trace.reading import read_lines
from drive_trace.vocabulary import CORRECTNESS_FIELDS, COST, EVENTS, GRADE
from tests.support import client_text
from tests.support.client_text import triage
from tests.support.drawing import examples
from tests.support.fixtures import trace
from tests.support.models import (
    TEXTS,
    Edit,
    LineEdit,
    applied,
    edits,
    everything,
    point,
)
from tests.support.scored import score_of, summarize_text

_MOMENTS = (
    *(f"2026-05-28T14:0{minute}:00.000Z" for minute in range(3)),
    *("2026-05-28T15:01:00.000+01:00", "2026-05-28T14:01:00.000", "2026-05-28T14:01:00Z", "soon"),
)
_OF_A_VERDICT = (GRADE, GRADE, GRADE, COST, "dispatch-start", "round-start", "project-closed")


def hostile_files(chance: Random) -> list[list[str]]:
    """One run in up to four files: times go back, ids are shared, lines are copied and moved."""
    files: list[list[str]] = []
    for _ in range(chance.randrange(1, 5)):
        own = [chance_of_verdict(chance) for _ in range(chance.randrange(1, 6))]
        own += [line for file in files for line in file if chance.random() < 0.3]
        chance.shuffle(own)
        files.append(own)
    return files


def chance_of_verdict(chance: Random) -> str:
    values = dict(EVENTS[chance.choice(_OF_A_VERDICT)].example)
    values |= {"event_id": f"{chance.randrange(6):08}-8f0d-4c1b-9a3e-5d2f6a7b8c90"}
    values |= {"ts": chance.choice(_MOMENTS), "project_run_id": "run-1"}
    for name in values.keys() & {*CORRECTNESS_FIELDS}:
        values[name] = chance.choice(("pass", "pass", "fail", None))
    if values["event_type"] == "project-closed" and chance.random() < 0.5:
        values["event_type"] = "dispatch-paused"
    return json.dumps(values, separators=(",", ":"))


def test_rules_and_score_agree_on_the_grade_that_counts_and_on_what_is_stale() -> None:
    seen = Counter[str]()
    for seed in range(300):
        texts = ["\n".join(each) + "\n" for each in hostile_files(Random(seed))]
        files = {f"{number}.jsonl": Analysis(text) for number, text in enumerate(texts)}
        join_all([*files], [*files.values()])
        (run,) = score([summarize(each.index, path) for path, each in files.items()]).runs
        found = defaultdict[str, set[tuple[str, int]]](set)
        for path, analysis in files.items():
            for each in analysis.findings():
                found[each.rule.code].add((path, analysis.line_number(each.line)))
        differ = [each for each in run.caveats if "it differently" in each.short]
        counted = {(run.correctness.path, run.correctness.line)} if run.correctness else set()
        assert bool(found["stale-verdict"]) == (run.stale is not None)
        assert bool(found["conflicting-verdicts"]) == any(each.qualifies for each in differ)
        assert not found["superseded-feed"] & counted
        for code in ("stale-verdict", "erased-verdict"):
            assert not found[code] or counted <= found[code]
        seen.update(code for code, lines in found.items() if lines)
    assert min(map(seen.__getitem__, ("stale-verdict", "conflicting-verdicts"))) > 50


def made_on(text: str, edit: Edit | LineEdit) -> Edit:
    return edit.on(text) if isinstance(edit, LineEdit) else edit


def edited(analysis: Analysis, edit: Edit) -> None:
    text = analysis.document.text
    analysis.edit(point(text, edit.start), point(text, edit.end), edit.text)


@settings(max_examples=examples(150))
@given(TEXTS, st.lists(edits(), max_size=6), st.integers(0, 2), st.integers(1, 3))
def test_batch_equals_incremental(
    text: str, changes: list[Edit | LineEdit], known_lines: int, looks_every: int
) -> None:
    """Also where nobody looks between some of the edits."""
    rules = with_baseline(text, known_lines) if known_lines else DEFAULTS
    analysis = Analysis(text, rules)
    maker = DiagnosticMaker(analysis, options(1000))
    for number, change in enumerate(changes, 1):
        edit = made_on(text, change)
        edited(analysis, edit)
        text = applied(text, edit)
        if number % looks_every and number < len(changes):
            continue
        seen = everything(analysis)
        fresh = Analysis(text, rules)
        assert seen == everything(fresh)
        assert analysis.hidden_count == fresh.hidden_count
        assert maker.as_json() == DiagnosticMaker(fresh, options(1000)).as_json()
        assert all(seen["runs"].values())


def with_baseline(text: str, lines: int) -> RuleSettings:
    """A baseline knows all findings of a text, each on so many lines."""
    found = Analysis(text).findings()
    return RuleSettings(
        known={fingerprint(each.rule.code, each.line.text): lines for each in found}
    )


def test_with_a_baseline_a_finding_that_is_mended_elsewhere_is_not_shown_any_more() -> None:
    text = trace(
        'EVENT{"event_type":"project-started"}',
        'EVENT{"event_type":"dispatch-start"}',
        'EVENT{"event_type":"dispatch-end","wall_clock_ms":0}',
    )
    rules = RuleSettings({"unknown-round": None}, known={"0" * 32: 1})
    analysis = Analysis(text, rules)
    maker = DiagnosticMaker(analysis, options(1000))
    assert [each["code"] for each in json.loads(maker.as_json())] == ["dispatch-without-brief"]
    brief = trace('EVENT{"event_type":"brief-issued"}')
    analysis.edit(Point(0, 0), Point(1, 0), brief)
    assert [*analysis.findings()] == json.loads(maker.as_json()) == []


def test_with_a_baseline_an_edit_files_only_lines_with_the_same_text(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = [f'["{number // 2}"]\n' for number in range(100)]
    analysis = Analysis("".join(lines), with_baseline("".join(lines), 1))
    assert analysis.hidden_count == 50
    asked: list[str] = []

    def counted(code: str, text: str) -> str:
        asked.append(text)
        return fingerprint(code, text)

    monkeypatch.setattr(engine, "fingerprint", counted)
    analysis.edit(Point(20, 0), Point(20, 0), " ")
    assert (analysis.hidden_count, analysis.finding_count) == (50, 50)
    assert sorted(asked) == [' ["10"]', '["10"]']


@settings(max_examples=examples(150))
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
                if text[offset - 1 : offset + 1] != "\r\n":
                    position = Position(**client_text.position(text, offset, encoding))
                    assert document.point_at(position, encoding) == point(text, offset)
                    assert document.position_of(point(text, offset), encoding) == position


@settings(max_examples=examples(200))
@given(st.text() | st.text(alphabet='{}[]",:\\\r\n\t nulltre01.e-😀\ud800\ufeff\u2028'))
def test_nothing_raises_whatever_the_text(text: str) -> None:
    analysis = Analysis(text)
    everything(analysis)
    wrong = set()
    for finding in analysis.findings():
        if finding.rule.severity is Severity.ERROR:
            first = analysis.line_number(finding.line)
            last = analysis.line_number(finding.last) if finding.last is not None else first
            wrong.update(range(first, last + 1))
    rejected = [n for n, line in enumerate(analysis.document.lines, 1) if line.is_rejected]
    # A blank line inside an object that is spread over lines is nothing to readers.
    blank = {n for n, line in enumerate(analysis.document.lines, 1) if is_blank(line.text)}
    assert sorted(wrong - blank) == rejected


@settings(max_examples=examples(100))
@given(TEXTS)
def test_scoring_alone_gives_the_score_of_the_whole_analysis(text: str) -> None:
    assert to_json(score([summarize_text(text)])) == to_json(score_of(Analysis(text)))


@settings(max_examples=examples(100))
@given(TEXTS, st.integers(1, 6), st.integers(0, 40))
def test_a_limit_takes_what_is_near_the_edit_and_then_errors(
    text: str, most: int, place: int
) -> None:
    analysis = Analysis(text.replace("\r", " "))  # so that records are the protocol's lines
    lines = analysis.document.lines
    near = lines[place % len(lines)]
    shown = json.loads(DiagnosticMaker(analysis, options(most)).as_json(near))
    everything_found = list(analysis.findings())
    left_out = len(everything_found) - most
    # Of those within the limit, what follows from others is not told.
    silent = min(most, len(everything_found)) + (left_out > 0) - len(shown)
    assert silent >= 0
    if left_out > 0:
        assert shown[-1]["message"].startswith(f"{left_out:,} more findings")
    numbers = [each["range"]["start"]["line"] for each in shown if each["code"] != "more-findings"]
    assert numbers == sorted(numbers)
    own = len(analysis.findings_of(near))
    assert min(own, most) - silent <= numbers.count(lines.index(near)) <= min(own, most)


def options(most: int) -> DiagnosticOptions:
    return DiagnosticOptions("file:///trace.jsonl", PositionEncoding.UTF32, most, lambda _: None)


def test_the_runs_that_readers_count_nothing_of_are_collected_once_a_change() -> None:
    rejected = triage(project_run_id="other", verdict="rejected")
    analysis = Analysis(triage() + rejected)
    index = analysis.index
    assert index.uncounted is index.uncounted
    for start, end, text, count in ((1, 1, rejected, 2), (0, 0, rejected, 3), (0, 3, "", 1)):
        analysis.edit(Point(start, 0), Point(end, 0), text)
        assert [len(lines) for lines in index.uncounted.values()] == [count]


def test_an_edit_of_many_lines_is_taken_in_as_a_whole() -> None:
    line = json.dumps(EVENTS["correctness-recorded"].example, separators=(",", ":")) + "\n"
    text = line * 30
    analysis = Analysis(text)
    for change in (Edit(0, 0, line * 2500), Edit(0, len(line) * 2400, ""), Edit(5, 6, "x")):
        edited(analysis, change)
        text = applied(text, change)
    fresh = Analysis(text)
    assert analysis.document.text == text
    assert to_json(score_of(analysis)) == to_json(score_of(fresh))
    assert [(each.rule.code, analysis.where(each)) for each in analysis.findings()] == [
        (each.rule.code, fresh.where(each)) for each in fresh.findings()
    ]


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
