"""How one record is read: what holds of any text, however odd, deep or long."""

import json
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_trace.json_text import Node, parse
from drive_trace.json_text.salvage import salvage
from tests.support.growth import assert_linear
from tests.syntax.support import repaired


def assert_spans_nest(root: Node, length: int) -> None:
    waiting = [(root, 0, length)]
    while waiting:
        node, low, high = waiting.pop()
        assert low <= node.span.start <= node.span.end <= high
        at, end = node.span
        for member in node.members:
            assert at <= member.key_span.start <= member.key_span.end <= end
            at = member.key_span.end
            if member.value is not None:
                waiting.append((member.value, at, end))
                at = member.value.span.end
        for item in node.items:
            waiting.append((item, at, end))
            at = item.span.end


@pytest.mark.parametrize(
    "text",
    ["[" * 50_000, '{"a":' * 50_000, "[" * 50_000 + "]" * 50_000],
    ids=["open", "open objects", "closed"],
)
def test_nesting_has_no_limit(text: str) -> None:
    syntax = parse(text)
    assert (not syntax.problems) is (text[-1] == "]")
    assert syntax.root is not None
    syntax.to_python()


@pytest.mark.parametrize(
    "unit",
    [
        '"b":1,',
        '"b":[1],',
        '"b":[[]],',
        '"b":{"a":{}},',
        '"b" 1,',
        '"\\n',
        "[[}}",
        "'a ",
        '{"a',
        '"a,"b":',
        "“a",
        "/*",
        "{a:b c ",
        '"\\x",',
        ",",
        " ",
        "a: ",
        "a=",
        "...",
        "...,",
        '"a"=b ',
    ],
)
def test_time_grows_with_the_length(unit: str) -> None:
    assert_linear(lambda size: partial(parse, '{"a":' + unit * (size // len(unit))), 60_000)


def test_the_search_for_records_grows_with_the_length() -> None:
    def search(size: int) -> partial[object]:
        text = '{"a":[' * (size // 100) + "1," * size
        return partial(salvage, text, lambda _: True)

    assert_linear(search, 40_000)


SHORT = list("{}[],:\"'\\#-<1“😀 \t\r\n\0\xa0\ufeff\ud800\udc00")
LONG = ["\\u00", '"a"', '"b":', "'c'", "01", "NaN", "true", "None", "//", "/*", "*/", "1.5e3"]
TOKENS = st.sampled_from([*SHORT, *LONG, '{"a":1}', '"x,"y":', ",}", "x y", "=", "...", "\uff1a"])
VALID = '{"event_id":"ab","n":[1,{"m":null}],"ok":true,"t":"\\u00e9\\n","x":-1.5e3}'


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = VALID
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(text)))
        text = text[:start] + draw(TOKENS) + text[start + draw(st.integers(0, 4)) :]
    return text


TEXTS = (
    st.text(st.characters(exclude_categories=())) | st.lists(TOKENS).map("".join) | mutated()
)  # fmt: skip


def json_value(text: str) -> object:
    """What Python's reader says: exact but for NaN, nesting, and what no double holds."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    def whole(word: str) -> int | float:
        double = float(word)
        return int(double) if double.is_integer() else double

    return json.loads(text, parse_constant=refuse, parse_int=whole)


@given(TEXTS)
def test_json_is_what_a_json_reader_accepts(text: str) -> None:
    syntax = parse(text)
    try:
        expected = json_value(text)
    except ValueError:
        assert syntax.problems
    else:
        assert not syntax.problems
        # Python leaves a raw and an escaped half of a pair apart.
        if not any("\ud800" <= c <= "\udfff" for c in text):
            assert syntax.to_python() == expected


@given(TEXTS)
def test_every_span_lies_in_the_text(text: str) -> None:
    syntax = parse(text)
    if syntax.root is not None:
        assert_spans_nest(syntax.root, len(text))
        syntax.to_python()
    for problem in syntax.problems:
        assert 0 <= problem.span.start <= problem.span.end <= len(text)
        assert problem.message.isprintable()
        for repair in problem.repairs:
            at = 0
            for span, _ in repair.edits:
                assert at <= span.start <= span.end <= len(text)
                at = span.end


@given(TEXTS)
def test_a_safe_repair_makes_json_that_says_the_same(text: str) -> None:
    syntax = parse(text)
    safe = [p for p in syntax.problems if any(r.safe for r in p.repairs)]
    assert len(safe) in {0, len(syntax.problems)}
    for problem in safe if "\n" not in text else ():
        once = text
        for span, new in reversed(problem.repairs[0].edits):
            once = once[: span.start] + new + once[span.end :]
        assert all(len(parse(each).problems) < len(safe) for each in once.split("\n"))
    if safe and "\n" not in text:
        records = [parse(each) for each in repaired(text).split("\n")]
        assert not any(record.problems for record in records)
        assert records[0].to_python() == syntax.to_python()
