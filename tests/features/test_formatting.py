"""Formatting: compact lines; nothing but white space changes."""

import json
from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.findings import format_document
from drive_trace.features.results import View
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.reading import laid_out, read_exactly
from drive_trace.vocabulary import EVENTS
from tests.support import client_text
from tests.support.changing import check_format, formatted
from tests.support.fixtures import ENCODINGS, dumps, trace

UTF16 = PositionEncoding.UTF16


FORMATTED = {
    "white space goes and the order of the keys stays": (
        '{ "qa": "pass", "mechanical": "pass" , "intent": null, "project_run_id": "r", '
        '"ts": "2026-05-28T14:00:00.000Z", "event_type": "correctness-recorded", '
        '"orchestrator_agent_id": null, "schema_version": "1", '
        '"event_id": "0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90" }',
        '{"qa":"pass","mechanical":"pass","intent":null,"project_run_id":"r",'
        '"ts":"2026-05-28T14:00:00.000Z","event_type":"correctness-recorded",'
        '"orchestrator_agent_id":null,"schema_version":"1",'
        '"event_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90"}',
    ),
    "of an unknown event only white space goes": (
        '{"b": 1, "event_type" : "made-up",  "a": [1, 2]}',
        '{"b":1,"event_type":"made-up","a":[1,2]}',
    ),
    "values stay as they are written": (
        r'EVENT{"event_type":"dispatch-end", "wall_clock_ms": 1.68e6,"result":"\u0063ompleted"}',
        r'EVENT{"event_type":"dispatch-end","result":"\u0063ompleted","wall_clock_ms":1.68e6}',
    ),
    "a rejected event is laid out too and stays rejected": (
        'EVENT{"event_type":"correctness-recorded","qa":"passed","x": {"b": 1, "a": [ ] }}',
        'EVENT{"event_type":"correctness-recorded","qa":"passed","x":{"b":1,"a":[]}}',
    ),
    "text beyond the bmp and what looks like json in it": (
        r'EVENT{"event_type":"dispatch-start", "dispatch_name":"🚀 {\"a\" : 1, \"b\"}, 日本 "}',
        r'EVENT{"event_type":"dispatch-start","dispatch_name":"🚀 {\"a\" : 1, \"b\"}, 日本 "}',
    ),
}


@pytest.mark.parametrize("case", FORMATTED)
def test_lines_are_laid_out(case: str) -> None:
    check_format(*FORMATTED[case])


def test_a_clean_trace_stays() -> None:
    check_format("\n".join(f'EVENT{{"event_type":"{name}"}}' for name in EVENTS))


@pytest.mark.parametrize(
    "line",
    [
        "",
        "  ",
        '{"event_type": "dispatch-end", "result": ',
        '{"event_type": "dispatch-end",}',
        "\ufeff" + '{"event_type": "dispatch-end"}',
        '[1, {"event_type": 2}]',
        ' "text" ',
        "// a comment",
    ],
)
def test_what_is_no_json_object_is_not_touched(line: str) -> None:
    check_format(f'{line}\nEVENT{{"event_type":"project-closed"}}')


RECORD = trace('EVENT{"event_type":"project-closed"}')[:-1]
SPREAD = json.dumps(json.loads(RECORD), indent=2)
GRADE = json.dumps(EVENTS["correctness-recorded"].example, indent=2)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("before", "after"),
    [
        (SPREAD, RECORD),
        (f"{RECORD} ,{RECORD}", f"{RECORD}\n{RECORD}"),
        (f"{SPREAD},\n{SPREAD}\n{RECORD}", f"{RECORD}\n{RECORD}\n{RECORD}"),
        (f"- {RECORD}", f"- {RECORD}"),
        (GRADE, GRADE),
    ],
)
def test_each_record_gets_a_line_of_its_own(before: str, after: str, end: str) -> None:
    before, after = (f"{text}\n".replace("\n", end) for text in (before, after))
    assert formatted(before, UTF16) == after


def test_a_part_of_a_spread_record_is_not_laid_out() -> None:
    where = types.Range(types.Position(1, 0), types.Position(3, 0))
    assert formatted(f"{SPREAD}\n", UTF16, where) == f"{SPREAD}\n"


def test_an_empty_file_stays() -> None:
    assert formatted("", UTF16) == ""


@pytest.mark.parametrize("first", ["event_type", "mechanical", "x"])
def test_a_compact_line_stays_in_whatever_order_its_keys_are(first: str) -> None:
    event = EVENTS["correctness-recorded"].example | {"x": {"b": 1, "a": 2}}
    check_format(dumps({first: event[first], **event}))


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_line_breaks_stay(encoding: PositionEncoding) -> None:
    line = trace('EVENT{"event_type":"dispatch-start","dispatch_name":"🚀 D1"}')[:-1]
    loose = line.replace(",", ", ")
    assert formatted(f"{loose}\r\n{line}\r\n", encoding) == f"{line}\r\n{line}\r\n"
    # A carriage return alone is white space of the record, and the end of an editor's line.
    broken = f"{line.replace(',', chr(13) + ',', 2)}\n{loose}\r"
    edits = json.loads(format_document(View(Analysis(broken), encoding)).text)
    assert client_text.apply_edits(broken, edits, encoding.value) == f"{line}\n{line}\r"


def test_a_range_is_laid_out_and_no_more() -> None:
    line = trace('EVENT{"event_type":"project-closed"}')
    loose = line.replace(",", ", ")
    text = loose * 4

    def changed(first: tuple[int, int], last: tuple[int, int]) -> list[bool]:
        where = types.Range(types.Position(*first), types.Position(*last))
        return [each == line[:-1] for each in formatted(text, UTF16, where).split("\n")[:-1]]

    assert changed((1, 5), (1, 5)) == [False, True, False, False]
    assert changed((1, 0), (3, 0)) == [False, True, True, False], "whole lines are selected"
    assert changed((0, 3), (3, 1)) == [True] * 4
    assert changed((3, 0), (99, 0)) == [False, False, False, True]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=5,
)


@st.composite
def records(draw: st.DrawFn) -> str:
    """An event as somebody might write it: in any order, with keys twice and values of any kind."""
    event = draw(st.sampled_from([*EVENTS.values()]))
    pairs: list[tuple[str, Any]] = [*event.example.items()]
    extra = st.sampled_from([*event.fields, "x", "\\", '"', ',"x":', "é", "🚀"])
    pairs += draw(st.lists(st.tuples(extra, JSON), max_size=3))
    pairs = draw(st.permutations(pairs))[: draw(st.sampled_from([99, 99, 5]))]
    space = st.sampled_from(["", "", " ", "\t ", "\r"])
    ascii_only = draw(st.booleans())
    body = ",".join(
        f"{draw(space)}{json.dumps(key, ensure_ascii=ascii_only)}{draw(space)}:{draw(space)}"
        f"{json.dumps(value, ensure_ascii=ascii_only, separators=(', ', ':'))}{draw(space)}"
        for key, value in pairs
    )
    return f"{draw(space)}{{{body}}}"


@given(records())
def test_nothing_but_white_space_changes(record: str) -> None:
    after = _laid_out(record)
    assert without_space(after) == without_space(record)
    assert _pairs(after) == _pairs(record)
    assert _said(after) == _said(record)
    assert _laid_out(after) == after


def without_space(text: str) -> str:
    return "".join(text.split())


def _laid_out(record: str) -> str:
    return laid_out(read_exactly(record))


def _said(text: str) -> Counter[tuple[str, str]]:
    analysis = Analysis(f"{text}\n")
    return Counter(
        (each.rule.code, analysis.message(each.message))
        for each in analysis.findings()
        if each.rule.code != "not-compact"
    )


def _pairs(text: str) -> list[str]:
    """Every key with its value, as a reader has them."""
    return [
        f"{dumps(key)}:{json.dumps(value, sort_keys=True)}"
        for key, value in json.loads(text, object_pairs_hook=_Pairs)
    ]


class _Pairs(list[Any]):
    """An object's pairs, keys that stand twice too."""
