"""How one record is read: members and values, and what can still be made out of a broken line."""

import json

import pytest

from drive_trace.json_text import NodeKind, find_member, parse


def fields(text: str) -> dict[str, tuple[str, object] | None]:
    """The members that could be made out: the text and the value of each."""
    root = parse(text).root
    assert root is not None
    assert all(text[m.key_span.start : m.key_span.end].strip("\"'") == m.key for m in root.members)
    return {
        m.key: m.value and (text[m.value.span.start : m.value.span.end], m.value.value)
        for m in root.members
    }


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            '{"event_type":"x","qa":pass,"intent":"y"}',
            {"event_type": ('"x"', "x"), "qa": ("pass", "pass"), "intent": ('"y"', "y")},
        ),
        ('{"a":1 "b":2}', {"a": ("1", 1), "b": ("2", 2)}),
        ('{"a" 1,"b":2}', {"a": ("1", 1), "b": ("2", 2)}),
        ('{"qa":,"b":2}', {"qa": None, "b": ("2", 2)}),
        ('{"qa":}', {"qa": None}),
        ('{"a":"b","c', {"a": ('"b"', "b"), "c": None}),
        ('{"a":"b","c":"d', {"a": ('"b"', "b"), "c": ('"d', "d")}),
        ("{'a':'b',}", {"a": ("'b'", "b")}),
        ("{a:b}", {"a": ("b", "b")}),
        ('{"a":/* 1 */2}', {"a": ("2", 2)}),
        ('{"a":+1,"b":.5,"c":01}', {"a": ("+1", 1), "b": (".5", 0.5), "c": ("01", 1)}),
        ('{"a":NaN,"b":True}', {"a": ("NaN", "NaN"), "b": ("True", True)}),
        ('{"a":1}{"a":2}', {"a": ("1", 1)}),
        ('{"a":"1","b":"cut{"a":"2"}', {"a": ('"1"', "1"), "b": ('"cut', "cut")}),
        ('{"a":1} x', {"a": ("1", 1)}),
        ('  "a": 1,', {"a": ("1", 1)}),
        ('{"a":"b,"c":"d"}', {"a": ('"b', "b"), "c": ('"d"', "d")}),
        ('{"a":"b","c":{"d":[1', {"a": ('"b"', "b"), "c": ('{"d":[1', None)}),
    ],
)  # fmt: skip
def test_members_of_broken_lines(line: str, expected: dict[str, object]) -> None:
    assert fields(line) == expected


@pytest.mark.parametrize(
    ("number", "value"),
    [
        ("5", 5),
        ("5.0", 5),
        ("5e2", 500),
        ("-0", 0),
        ("5.0000000000000000001", 5),
        ("9007199254740991", 2**53 - 1),
        ("9223372036854775808", 2**63),
        ("9" * 300, int(float("9" * 300))),
        ("1.5", 1.5),
        ("1e400", float("inf")),
        ("9" * 309, float("inf")),
        ("9" * 1_000_000, float("inf")),
    ],
)
def test_numbers_are_what_a_double_says(number: str, value: float) -> None:
    found = find_member(parse(f'{{"n":{number}}}').root, "n")
    assert found is not None
    assert found.value is not None
    assert found.value.value == value
    assert type(found.value.value) is type(value)


@pytest.mark.parametrize("nested", ["", ',"x":{}'])
def test_the_last_of_duplicate_keys_counts(nested: str) -> None:
    syntax = parse(f'{{"a":1,"b":2,"a":3{nested}}}')
    assert syntax.root is not None
    assert [m.key for m in syntax.root.members][:3] == ["a", "b", "a"]
    values = [find_member(syntax.root, "a", n) for n in (-1, 0, 1, 2)]
    assert [v and v.value and v.value.value for v in values] == [3, 1, 3, None]
    assert find_member(syntax.root, "c") is None
    plain = syntax.to_python()
    assert isinstance(plain, dict)
    assert list(plain.items())[:2] == [("a", 3), ("b", 2)]


def test_strings_are_unescaped() -> None:
    [string] = json.loads(line := r'["\ud83d\ude00 \ud83d \u0041\/\n\"\\"]')
    assert parse(line).to_python() == [string]


def test_kinds_of_values() -> None:
    root = parse('{"a":{},"b":[],"c":"","d":0,"e":false,"f":null,"g":x}').root
    assert root is not None
    kinds = [member.value.kind for member in root.members if member.value is not None]
    assert kinds == [
        NodeKind.OBJECT,
        NodeKind.ARRAY,
        NodeKind.STRING,
        NodeKind.NUMBER,
        NodeKind.BOOLEAN,
        NodeKind.NULL,
        NodeKind.BROKEN,
    ]
