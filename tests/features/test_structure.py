"""The structure of a trace: symbols, folds, and what a selection grows to."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_trace.analysis import Analysis
from drive_trace.features.results import View
from drive_trace.features.structure import SymbolOptions, document_symbols, outline
from drive_trace.text.spans import PositionEncoding
from drive_trace.vocabulary import EVENTS
from tests.support.fixtures import URI, read, trace
from tests.support.moving import check_symbols, folds_of, selections_of, symbols_of

CLEAN = """
    EVENT{"event_type":"triage-verdict","verdict":"in-project-slice","input_ref":"SHOP-214"}
    EVENT{"event_type":"slice-started","slice_slug":"retry","ts":"2026-05-28T14:00:00.000Z"}
    EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"implementer D1 R1"}
    EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-1"}
    EVENT{"event_type":"brief-issued","dispatch_id":"d-1","round_id":"r-1"}
    EVENT{"event_type":"plan-amended","plan_path":"a/b/plan.md"}
    EVENT{"event_type":"round-end","dispatch_id":"d-1","round_id":"r-1","findings_filed":1}
    EVENT{"event_type":"dispatch-end","dispatch_id":"d-1"}
    EVENT{"event_type":"slice-completed","slice_slug":"retry","ts":"2026-05-28T15:05:00.000Z"}
    EVENT{"event_type":"health-check-fired"}
    EVENT{"event_type":"correctness-recorded","intent":null}
    EVENT{"event_type":"correctness-recorded"}
"""
BROKEN = """
    EVENT{"event_type":"slice-started","slice_slug":"retry","slice_index":0}
    EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"implementer D1"}
    EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-1","round_number":"1"}
    {"event_type":"brief-issued",
    EVENT{"event_type":"round-end","dispatch_id":"d-1","round_id":"r-1","verdict":"done"}
    EVENT{"event_type":"round-start","dispatch_id":"d-1","round_id":"r-2","round_number":2}
    EVENT{"event_type":"health-check"}
    nonsense
    EVENT{"event_type":"dispatch-end","dispatch_id":"d-1",}
"""
OVERLAPPING = """
    EVENT{"event_type":"dispatch-start","dispatch_id":"d-1","dispatch_name":"one"}
    EVENT{"event_type":"dispatch-start","dispatch_id":"d-2","dispatch_name":"two"}
    EVENT{"event_type":"spec-amended","spec_path":"a/spec.md"}
    EVENT{"event_type":"dispatch-end","dispatch_id":"d-1"}
    EVENT{"event_type":"spec-amended","spec_path":"b/spec.md"}
    EVENT{"event_type":"dispatch-end","dispatch_id":"d-2"}
    EVENT{"event_type":"spec-amended","spec_path":"c/spec.md"}
"""
RUNS = """
    EVENT{"event_type":"project-started","project_run_id":"one"}
    EVENT{"event_type":"dispatch-start","project_run_id":"two","dispatch_id":"d-1"}
    EVENT{"event_type":"dispatch-start","project_run_id":"one","dispatch_id":"d-1"}
    EVENT{"event_type":"dispatch-end","project_run_id":"two","dispatch_id":"d-1"}
    EVENT{"event_type":"dispatch-end","project_run_id":"one","dispatch_id":"d-1"}
    EVENT{"event_type":"project-closed","project_run_id":"one"}
    EVENT{"event_type":"correctness-recorded","project_run_id":"two","qa":"fail"}
"""


# Symbols


OUTLINES = {
    "an outline reads like the run": (
        CLEAN,
        """
        1-12 CORRECT · checkout-retry
          1-1 triage-verdict · in-project-slice | SHOP-214
          2-9 retry · 1h 05m · merged
            3-8 implementer D1 R1 · 28m · completed | composer-2
              4-7 Round 1 · 21m · satisfied | 1 finding
                5-5 brief-issued · initial
                6-6 plan-amended · b/plan.md | slice · dispatch-added
                7-7 round-end · satisfied
              8-8 dispatch-end · completed
            9-9 slice-completed · merged
          10-10 health-check-fired · per-slice-merge | low
          11-11 correctness-recorded · mechanical pass · qa pass · intent — (struck out)
          12-12 correctness-recorded · mechanical pass · qa pass · intent pass
        """,
    ),
    "broken lines stand where they belong": (
        BROKEN,
        """
        1-9 not computable · checkout-retry | not graded · 4 lines rejected
          1-9 retry · not ended | its start is rejected
            2-9 implementer D1 · its end is rejected | composer-2
              3-5 Round 1 · its end is rejected | its start is rejected
                4-4 ⚠ brief-issued · rejected | invalid-json
                5-5 ⚠ round-end · rejected | unknown-value
              6-6 Round 2 · not ended
              7-7 health-check | not in the vocabulary
              8-8 ⚠ line · rejected | invalid-json
              9-9 ⚠ dispatch-end · rejected | invalid-json
        """,
    ),
    # What names no dispatch is in the one that was started last and goes on.
    "dispatches that overlap": (
        OVERLAPPING,
        """
        1-7 not computable · checkout-retry | not graded
          1-4 one · 28m · completed | composer-2
            4-4 dispatch-end · completed
          2-6 two · 28m · completed | composer-2
            3-3 spec-amended · a/spec.md | slice · new-edge-case
            5-5 spec-amended · b/spec.md | slice · new-edge-case
            6-6 dispatch-end · completed
          7-7 spec-amended · c/spec.md | slice · new-edge-case
        """,
    ),
    "runs that overlap": (
        RUNS,
        """
        1-6 not computable · one | not graded
          1-1 project-started · new-project
          3-5 implementer D1 R1 · 28m · completed | composer-2
            5-5 dispatch-end · completed
          6-6 project-closed · all-met
        2-7 INCORRECT · two | qa failed
          2-4 implementer D1 R1 · 28m · completed | composer-2
            4-4 dispatch-end · completed
          7-7 correctness-recorded · mechanical pass · qa fail · intent pass
        """,
    ),
    "a slice without an end ends where the next one starts": (
        """
        EVENT{"event_type":"slice-started","slice_slug":"one"}
        EVENT{"event_type":"retro-landed"}
        EVENT{"event_type":"slice-started","slice_slug":"two"}
        EVENT{"event_type":"retro-landed"}
        EVENT{"event_type":"project-closed"}
        EVENT{"event_type":"retro-landed"}
        """,
        """
        1-6 not computable · checkout-retry | not graded
          1-2 one · not ended
            2-2 retro-landed · mandatory-final
          3-4 two · not ended
            4-4 retro-landed · mandatory-final
          5-5 project-closed · all-met
          6-6 retro-landed · mandatory-final
        """,
    ),
    "what is named but never started": (
        """
        EVENT{"event_type":"round-end","dispatch_id":"d-1","round_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90"}
        EVENT{"event_type":"correctness-recorded","project_run_id":"lost","qa":"passed"}
        EVENT{"event_type":"nothing","project_run_id":<absent>}
        """,
        """
        1-1 not computable · checkout-retry | not graded
          1-1 Dispatch d-1 · not ended | never started
            1-1 Round 0b6f2c5e… · 21m · satisfied | never started · 0 findings
              1-1 round-end · satisfied
        2-3 not computable · lost | its only line is rejected
          2-2 ⚠ correctness-recorded · rejected | unknown-value
          3-3 nothing | not in the vocabulary
        """,
    ),
    "text beyond the bmp and what cannot be seen": (
        """
        EVENT{"event_type":"dispatch-start","dispatch_name":"🚀 日本"}
        EVENT{"event_type":"slice-completed","slice_slug":"a\\u202eb","project_run_id":"🚀"}
        EVENT{"event_type":"slice-started","slice_slug":"","project_run_id":"🚀"}
        """,
        """
        1-1 not computable · checkout-retry | not graded
          1-1 🚀 日本 · not ended | composer-2
        2-3 not computable · 🚀 | not graded
          2-2 a<U+202E>b · merged | never started
            2-2 slice-completed · merged
          3-3 (no name) · not ended
        """,
    ),
}


@pytest.mark.parametrize("case", OUTLINES)
def test_an_outline_has_what_is_in_the_trace(case: str) -> None:
    check_symbols(*OUTLINES[case])


@pytest.mark.parametrize("text", ["", "\n\n", "  \r\n"])
def test_nothing_has_no_structure(text: str) -> None:
    assert symbols_of(Analysis(text)) == []
    assert folds_of(text or "<eof>") == []


def test_lines_that_end_with_a_carriage_return() -> None:
    text = read(CLEAN).text
    assert symbols_of(Analysis(text.replace("\n", "\r\n"))) == symbols_of(Analysis(text))


def test_a_client_that_knows_few_kinds_gets_those() -> None:
    analysis = Analysis(trace('EVENT{"event_type":"retro-landed"}', "{"))
    roots = outline(analysis)
    answer = document_symbols(View(analysis, PositionEncoding.UTF8), roots, URI, SymbolOptions())
    assert [each["kind"] for each in json.loads(answer.text)] == [2, 7, 15]
    assert [each.get("containerName") for each in json.loads(answer.text)] == [
        None,
        *["not computable · checkout-retry"] * 2,
    ]


# Folds


def test_slices_dispatches_and_rounds_are_folded() -> None:
    assert folds_of(CLEAN) == [
        "2-9 retry · 1h 05m · merged",
        "3-8 implementer D1 R1 · 28m · completed",
        "4-7 Round 1 · 21m · satisfied",
    ]
    assert folds_of(BROKEN) == [
        "1-9 retry · not ended",
        "2-9 implementer D1 · its end is rejected",
        "3-5 Round 1 · its end is rejected",
    ]


def test_of_too_many_folds_the_largest_are_kept() -> None:
    assert folds_of(CLEAN, most=2) == folds_of(CLEAN)[:2]
    assert folds_of(CLEAN, most=0) == []


def test_where_things_overlap_the_first_is_folded() -> None:
    assert folds_of(OVERLAPPING) == ["1-4 one · 28m · completed"]


def test_runs_are_folded_where_there_are_several() -> None:
    assert folds_of(RUNS) == ["1-6 not computable · one", "2-4 implementer D1 R1 · 28m · completed"]


# Selections


def test_a_selection_grows_from_the_string_to_the_trace() -> None:
    cursor = '"round_id":"r-1","brief_disposition":"ini$0tial"'
    line = CLEAN.replace(
        '"brief-issued","dispatch_id":"d-1","round_id":"r-1"', f'"brief-issued",{cursor}'
    )
    line = line.replace('"brief-issued",', '"brief-issued","dispatch_id":"d-1",')
    assert selections_of(line) == [
        "initial",
        '"initial"',
        '"brief_disposition":"initial"',
        read(line).lines[4],
        "4-7",
        "3-8",
        "2-9",
        "1-12",
        "1-13",
    ]


def test_a_selection_within_nested_values() -> None:
    assert selections_of(
        'EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":$023,"L":0,"XL":0}}'
    )[:5] == [
        "23",
        '"M":23',
        '{"S":1,"M":23,"L":0,"XL":0}',
        '"dispatch_size_distribution":{"S":1,"M":23,"L":0,"XL":0}',
        read(
            'EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":23,"L":0,"XL":0}}'
        ).lines[0],
    ]


def test_a_selection_of_a_key_and_beyond_the_bmp() -> None:
    assert selections_of('{"a":"🚀","b🚀$0":"🚀"}<eof>') == [
        "b🚀",
        '"b🚀"',
        '"b🚀":"🚀"',
        '{"a":"🚀","b🚀":"🚀"}',
    ]


def test_selections_on_broken_lines_and_in_nothing() -> None:
    assert selections_of('EVENT{"event_type":"retro-landed"}\n{"a":"unfi$0nished')[:2] == [
        '"unfinished',
        '"a":"unfinished',
    ]
    assert selections_of("$0<eof>") == [""]
    deep = "[" * 5000 + "$0" + "]" * 5000
    assert len(selections_of(f'{{"a":{deep}}}<eof>')) < 40


# Anything


_LINES = st.builds(
    'EVENT{{"event_type":"{}","project_run_id":"{}","dispatch_id":"d-{}","round_id":"r-{}"{}}}'.format,
    st.sampled_from([*EVENTS, "made-up"]),
    st.sampled_from(["one", "one", "two"]),
    st.integers(0, 5),
    st.integers(0, 5),
    st.sampled_from(["", "", "", ',"schema_version":1', ","]),
)


@given(st.lists(_LINES | st.sampled_from(["{", ""]), max_size=60))
def test_events_in_no_sensible_order_have_symbols_and_folds(lines: list[str]) -> None:
    text = trace(*lines)
    symbols_of(Analysis(text))
    folds_of(text)
