"""Where on a line something stands: on lines with thousands of keys, and in the units of editors.

Nothing here is timed. The lines are so long that the tests take minutes, and run into their
time limit, if looking for one place takes time that grows with the number of the others.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_trace.analysis import Analysis
from drive_trace.text.spans import PositionEncoding, Span, offset_of, units_before
from drive_trace.trace.places import Part, Place, pair_at, path_at, resolve, syntax_of

EVENT = '{"event_type":"slice-started","event_id":"e"'


def located(text: str) -> list[tuple[str, str, Span, list[Span]]]:
    """Every finding of one line: its rule, its words, and where it and what it names stand."""
    analysis = Analysis(text)
    found = []
    for finding in analysis.findings():
        related = [analysis.where(each).span for each in finding.related]
        words = analysis.message(finding.message)
        found.append((finding.rule.code, words, analysis.where(finding).span, related))
        analysis.fixes(finding)
    return found


def look_around(text: str) -> None:
    """Asks what stands at twenty places of a line, and where that stands."""
    for offset in range(0, len(text), len(text) // 20):
        place = path_at(text, offset)
        if place is not None:
            start, end = resolve(text, place)
            assert 0 <= start < end <= len(text)


@pytest.mark.parametrize("value", ["1", '{"a":{}}'], ids=["flat", "nested"])
def test_thousands_of_duplicate_keys(value: str) -> None:
    pair = f',"key":{value}'
    text = f"{EVENT}{pair * 5000}}}"
    keys = [Span(at, at + 5) for at in range(len(EVENT) + 1, len(text), len(pair))][:5000]
    found = [each for each in located(text) if each[0] in {"duplicate-key", "undeclared-field"}]
    *told, undeclared, rest = found
    assert [each[2] for each in (*told, undeclared)] == [*keys[: len(told)], keys[-1]]
    codes = ["duplicate-key"] * 97 + ["undeclared-field", "duplicate-key"]
    assert [each[0] for each in found] == codes
    assert all(related == [keys[-1]] for _, _, _, related in told)
    assert rest[1] == "4,902 more findings of this rule on this line"
    look_around(text)


@pytest.mark.parametrize("value", ["1", '{"a":{}}'], ids=["flat", "nested"])
def test_thousands_of_undeclared_keys(value: str) -> None:
    names = [f"key{number}" for number in range(5000)]
    text = EVENT + "".join(f',"{name}":{value}' for name in names) + "}"
    found = [each for each in located(text) if each[0] == "undeclared-field"]
    *told, rest = found
    shown = [(text[start:end], words) for _, words, (start, end), _ in told]
    for name, (key, words) in zip(names[:98], shown, strict=True):
        assert key == f'"{name}"'
        assert f"`{name}`" in words
    assert rest[1] == "4,902 more findings of this rule on this line"
    look_around(text)


@pytest.mark.parametrize("unit", ['{"a":1,', '{"a":1,"a":', '{"a":', '{"a":[', '"a":1,'], ids=str)
def test_thousands_of_objects_that_never_end(unit: str) -> None:
    text = unit * 1500
    assert {code for code, *_ in located(text)} == {"invalid-json"}
    look_around(text)


def test_every_lookup_in_an_object_finds_the_same() -> None:
    # Trees of long lines are remembered apart.
    text = '{"a":{"b":1},"x":["a"],"\\u0061":{"b":2},"a":{"b":3},"c":'
    for line in (text + "1}", text + '"' + "x" * 20_000 + '"}', text):
        for _ in range(8):
            spans = [pair_at(line, ("a",), occurrence) for occurrence in (0, 1, 2, -1)]
            keys = [line[pair.key.start : pair.key.end] for pair in spans if pair is not None]
            assert keys == ['"a"', '"\\u0061"', '"a"', '"a"']
            assert pair_at(line, ("a",), 3) is None
            assert pair_at(line, ("d",)) is None
            start, end = resolve(line, Place(Part.VALUE, ("a", "b")))
            assert line[start:end] == "3"
        assert syntax_of(line) is syntax_of(line)


# Units of editors


def width(character: str, encoding: PositionEncoding) -> int:
    """How many units one character is, by the definitions of the encodings."""
    if encoding is PositionEncoding.UTF32:
        return 1
    if encoding is PositionEncoding.UTF16:
        return 2 if character > "\uffff" else 1
    return 1 + sum(character >= first for first in ("\x80", "\u0800", "\U00010000"))


LINES = st.text(st.sampled_from("a\xe9\u20ac\U0001f600\ud83d\ude00\x00\uffff\U00010000")) | st.text(
    st.characters(exclude_categories=())
)


@given(LINES, st.sampled_from(PositionEncoding))
def test_positions_count_as_the_encodings_say(line: str, encoding: PositionEncoding) -> None:
    before = [0]
    for character in line:
        before.append(before[-1] + width(character, encoding))
    assert [units_before(line, at, encoding) for at in range(len(line) + 1)] == before
    for units in range(-1, before[-1] + 3):
        # Inside a character is its start.
        expected = max((at for at, passed in enumerate(before) if passed <= units), default=0)
        assert offset_of(line, units, encoding) == expected


@pytest.mark.parametrize("encoding", PositionEncoding)
@pytest.mark.parametrize("character", "\xe9\u20ac\U0001f600\ud83d")
def test_positions_on_a_long_line(character: str, encoding: PositionEncoding) -> None:
    line = "a" + character * 20_000
    for at in range(1, len(line), 400):
        units = 1 + (at - 1) * width(character, encoding)
        assert units_before(line, at, encoding) == units
        assert offset_of(line, units, encoding) == at
