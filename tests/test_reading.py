"""Reading: the fast path says *clean* of exactly the lines of which the exact path says nothing."""

import json
import re
from datetime import datetime

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic_core import SchemaValidator, ValidationError, core_schema

from drive_trace.analysis import Analysis
from drive_trace.json_text import compacted, space_count
from drive_trace.text.spans import Span, is_blank
from drive_trace.trace.line import REJECTING, DiagnosticKind, FlaggedLine, Line
from drive_trace.trace.reading import read_exactly, read_lines
from drive_trace.vocabulary import EVENTS, Form
from tests.support.client_text import triage
from tests.support.drawing import examples

UUID = "0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90"
SHA256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
TIME = "2026-05-28T14:00:00.000Z"

VALUES = st.sampled_from(
    [
        *(None, True, False, 0, 1, 2, 3, 6, 3.0, -1, "", "none", "low", "slice", "project"),
        *("mandatory-final", "drift-event", "pass", "1", UUID, UUID.upper(), UUID[:-1]),
        *(UUID + "\n", SHA256, "sha256:" + SHA256, TIME, TIME[:-1], TIME + " ", "\ud800"),
        *({"S": 3, "M": 3, "L": 0, "XL": 0}, {"S": 1.0, "M": 1, "L": 0, "XL": 0}, {"S": 1}),
        *("2026-02-29T14:00:00Z", [], ["é"]),
    ]
)


@st.composite
def lines(draw: st.DrawFn) -> str:
    """An event of any kind, mostly right, written in one way or another."""
    event = dict(draw(st.sampled_from(list(EVENTS.values()))).example)
    for name in draw(st.lists(st.sampled_from(sorted(event)), max_size=3)):
        event[name] = draw(VALUES)
    if draw(st.integers(0, 9)) == 9:
        event["extra"] = draw(VALUES)
    separators = draw(st.sampled_from([(",", ":")] * 4 + [(", ", ": "), (",", ": ")]))
    text = json.dumps(event, ensure_ascii=draw(st.booleans()), separators=separators)
    if draw(st.integers(0, 9)) == 9:
        text = text[:-1] + ',"ts":' + json.dumps(event["ts"]) + "}"
    space = st.sampled_from([""] * 8 + [" ", "\t", "\r", "\r\r", " \r", "\ufeff"])
    return draw(space) + text + draw(space)


def said(line: Line) -> object:
    """All that reading a line gives, by value."""
    name = line.event_name if isinstance(line, FlaggedLine) else None
    run = line.run_id if isinstance(line, FlaggedLine) else None
    event = line.event.name if line.event is not None else None
    return line.status, event, line.facts, line.diagnostics, (name, run) if event is None else None


@settings(max_examples=examples(1500))
@given(st.lists(lines(), max_size=3))
@example(["", "\r"])
def test_the_fast_path_says_what_the_exact_path_says(texts: list[str]) -> None:
    assert [*map(said, read_lines(texts))] == [said(read_exactly(each)) for each in texts]


@settings(max_examples=examples(300))
@given(lines())
def test_reading_for_the_score_alone_judges_the_same(text: str) -> None:
    (score,), (full,) = read_lines([text], only_score=True), read_lines([text])
    assert (score.status, score.event) == (full.status, full.event)
    assert score.facts[:3] == full.facts[:3]


@settings(max_examples=examples(300))
@given(lines())
def test_a_line_is_rejected_for_its_remarks_alone(text: str) -> None:
    line = read_exactly(text)
    assert line.is_rejected == any(diagnostic.kind in REJECTING for diagnostic in line.diagnostics)


def test_of_a_crowded_line_the_first_are_told_and_errors_before_the_others(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = {"S": 1, "M": 1, "L": 0, "XL": 0} | {f"size {n}": 1 for n in range(300)}
    event = EVENTS["plan-authored"].example | {"dispatch_size_distribution": sizes}
    text = json.dumps(event | {"plan_path": 1, "schema_version": 1}).replace(
        "{", "{" + '"x":1,' * 9
    )
    told = read_exactly(text)
    monkeypatch.setattr("drive_trace.trace.line.MOST_DIAGNOSTICS", 10_000)
    every = read_exactly(text)
    assert len(told.diagnostics) == 100 + len({each.kind for each in told.diagnostics if each.more})
    assert (told.is_crowded, every.is_crowded) == (True, False)
    assert told.is_rejected
    for kind in {each.kind for each in every.diagnostics}:
        count = sum(each.kind is kind for each in every.diagnostics)
        assert sum(each.more or 1 for each in told.diagnostics if each.kind is kind) == count
        if kind in REJECTING:
            assert not any(each.more for each in told.diagnostics if each.kind is kind)


@pytest.mark.parametrize("name", EVENTS)
def test_clean_events_take_the_fast_path(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(text: str) -> Line:
        raise AssertionError(text)

    monkeypatch.setattr("drive_trace.trace.reading.read_exactly", refuse)
    text = json.dumps(EVENTS[name].example, separators=(",", ":"))
    for end in ("", "\r"):
        (line,) = read_lines([text + end])
        assert (line.event, line.diagnostics) == (EVENTS[name], ())


# How strings are written


WRITTEN = {
    Form.UUID: (
        *(UUID, UUID.upper(), "00000000-0000-0000-0000-000000000000"),
        "018f3d5e-8f0d-7c1b-9a3e-5d2f6a7b8c90",
    ),
    Form.HASH: (SHA256, SHA256.upper()),
    Form.TIMESTAMP: (
        *(TIME, "2026-05-28T14:00:00Z", "2026-05-28T14:00:00.123456789Z"),
        *("2026-05-28T14:00:00+00:00", "2028-02-29T23:59:59.999Z", "2000-02-29T00:00:00Z"),
    ),
}
WRITTEN_OTHERWISE = {
    Form.UUID: (
        *("", "d1", UUID + "\n", " " + UUID, UUID.replace("-", ""), UUID.replace("0", "٠")),
        UUID.replace("0", "g"),
    ),
    Form.HASH: (SHA256[1:], SHA256 + "0", "sha256:" + SHA256, "pending"),
    Form.TIMESTAMP: (
        *("", TIME + "\n", "2026-05-28", "2026-05-28 14:00:00Z", "2026-05-28T14:00Z"),
        *("2026-05-28T14:00:00", "2026-05-28T14:00:00+02:00", "2026-05-28T24:00:00Z"),
        *("2026-13-28T14:00:00Z", "2026-02-29T14:00:00Z", "2100-02-29T14:00:00Z"),
        *("2026-04-31T14:00:00Z", "1780000000000"),
    ),
}


@pytest.mark.parametrize("is_in", [True, False])
def test_a_string_is_in_its_form_or_not(is_in: bool) -> None:
    for form, texts in (WRITTEN if is_in else WRITTEN_OTHERWISE).items():
        for text in texts:
            assert (text in form) == rust_accepts(form, text) == is_in, (form, text)


def rust_accepts(form: Form, text: str) -> bool:
    pattern = f"^(?:{form.expression})$"
    try:
        SchemaValidator(core_schema.str_schema(pattern=pattern)).validate_python(text)
    except ValidationError:
        return False
    return True


@settings(max_examples=examples(1000))
@given(
    st.integers(1, 9999),
    st.integers(0, 13),
    st.integers(0, 32),
    st.sampled_from(["00", "23", "24"]),
)
@example(1900, 2, 29, "00")
@example(2000, 2, 29, "00")
def test_a_timestamp_is_a_day_of_the_calendar(year: int, month: int, day: int, hour: str) -> None:
    text = f"{year:04}-{month:02}-{day:02}T{hour}:00:00Z"
    try:
        datetime.fromisoformat(text)
    except ValueError:
        exists = False
    else:
        exists = hour != "24"
    assert (text in Form.TIMESTAMP) == exists == rust_accepts(Form.TIMESTAMP, text)


# White space between tokens


@pytest.mark.parametrize(
    ("text", "compact"),
    [
        ("{}", "{}"),
        ('{"a b":"c , : d"}', '{"a b":"c , : d"}'),
        ('{"a":"\\" , \\\\"}', '{"a":"\\" , \\\\"}'),
        (' {"a" : 1,\t"b c":[ ]}\r', '{"a":1,"b c":[]}'),
        ('{"a":"\\\\" \t,"b":1}', '{"a":"\\\\","b":1}'),
    ],
)
def test_white_space_between_tokens(text: str, compact: str) -> None:
    assert compacted(text) == compact
    assert space_count(text) == len(text) - len(compact)


@pytest.mark.parametrize(
    ("before", "space", "after"),
    [
        ("{EVENT", "", "}"),
        ("{EVENT", "", ',"a b":"c , : d"}'),
        ("{EVENT", "", ',"a":"\\" , \\\\"}'),
        ("", " ", '{EVENT,"a" : 1,\t"b c":[ ]}\r'),
        ('{EVENT,"a":"\\\\"', " \t", ',"b":1}'),
        ("{EVENT", "  ", "}"),
        ("{EVENT}", " ", "\r"),
    ],
)
def test_the_first_white_space_is_marked(before: str, space: str, after: str) -> None:
    before, after = (each.replace("EVENT", triage()[1:-2]) for each in (before, after))
    found = Analysis(f"{before}{space}{after}\n").findings()
    marked = [each.place for each in found if each.rule.code == "not-compact"]
    assert marked == [Span(len(before), len(before + space))] * bool(space)


@settings(max_examples=examples(300))
@given(lines())
def test_without_the_white_space_a_line_says_the_same(text: str) -> None:
    line = read_exactly(text)
    if any(
        diagnostic.kind in (DiagnosticKind.INVALID_JSON, DiagnosticKind.BYTE_ORDER_MARK)
        for diagnostic in line.diagnostics
    ):
        return
    text = compacted(text)
    assert space_count(text) == 0
    assert not re.search(r"[ \t\r\n]", re.sub(r'"(?:[^"\\]|\\.)*"', "", text))
    compact = read_exactly(text)
    left = tuple(each for each in line.diagnostics if each.kind is not DiagnosticKind.NOT_COMPACT)
    assert (compact.status, compact.facts, compact.diagnostics) == (line.status, line.facts, left)


@pytest.mark.parametrize("unit", ["\n", "a\n\n", "a long line\n", "\r", " "])
def test_a_long_text_is_looked_at_in_pieces(unit: str) -> None:
    text = unit * 600_000 + "x"
    assert not is_blank(text)
    assert is_blank(text[:-1]) is ("a" not in unit)
