"""How one record is read: what is JSON, what is not, why, and what can still be made out."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_trace.trace.syntax import Kind, Node, ProblemKind, Syntax, find_member, parse

# A record, its marks (`^^^` is the span, `|` an empty one), and what is found there.
BROKEN_LINES = r"""
{"a":1,}
      ^ trailing-comma: trailing comma: nothing follows this comma before `}`
{"a":[1,2,],"b":1}
         ^ trailing-comma: trailing comma: nothing follows this comma before `]`
{"a":1},
       ^ trailing-comma: trailing comma: no comma stands behind a record
{,"a":1}
 ^ extra-comma: extra comma: nothing stands before this comma
{"a":1,,"b":2}
       ^ extra-comma: extra comma: nothing stands before this comma
{"a":1 "b":2}
       ^^^ missing-comma: missing comma: `,` is expected before `"b"`
{"a":1 b:2}
       ^ missing-comma: missing comma: `,` is expected before `b`
       ^ unquoted-key: `b` is not JSON: a key stands in double quotes
[1 2 3]
   ^ missing-comma: missing comma: `,` is expected before `2`
{"a" 1}
     ^ missing-colon: missing colon: `:` is expected before `1`
{"a" {"b":1}}
     ^ missing-colon: missing colon: `:` is expected before `{`
{"qa":}
 ^^^^^ missing-value: missing value: `qa` has none
{"qa":,"intent":"pass"}
 ^^^^^ missing-value: missing value: `qa` has none
{"qa": "intent":"pass"}
 ^^^^^ missing-value: missing value: `qa` has none
{"qa","intent":"pass"}
 ^^^^ missing-value: missing value: `qa` has none
{'a':'b','c':"d"}
 ^^^ quotes: single quotes: JSON strings take double quotes
{"a":`b`}
     ^^^ quotes: back quotes: JSON strings take double quotes
{"a":“b”}
     ^^^ quotes: curly quotes: JSON strings take double quotes
{"qa":pass,"intent":"pass"}
      ^^^^ unquoted-value: `pass` is not JSON: a text stands in double quotes
{"a":some words here,"b":1}
     ^^^^^^^^^^^^^^^ unquoted-value: `some words here` is not JSON: a text stands in double quotes
{"t":20:38:27.9Z,"b":1}
     ^^^^^^^^^^^ unquoted-value: `20:38:27.9Z` is not JSON: a text stands in double quotes
{qa:"pass"}
 ^^ unquoted-key: `qa` is not JSON: a key stands in double quotes
{"a":NaN}
     ^^^ not-finite: `NaN` is not JSON: use null where there is no finite number
{"a":-Infinity}
     ^^^^^^^^^ not-finite: `-Infinity` is not JSON: use null where there is no finite number
{"a":True}
     ^^^^ misspelt-literal: `True` is not JSON: write `true`
{"a":None}
     ^^^^ misspelt-literal: `None` is not JSON: write `null`
{"a":undefined}
     ^^^^^^^^^ misspelt-literal: `undefined` is not JSON: write `null`
{"a":+1}
     ^^ malformed-number: `+1` is not JSON: a number takes no plus sign
{"a":01}
     ^^ malformed-number: `01` is not JSON: a number takes no leading zero
{"a":.5}
     ^^ malformed-number: `.5` is not JSON: a number needs a digit before its point
{"a":1.}
     ^^ malformed-number: `1.` is not JSON: a number needs a digit after its point
{"a":1e}
     ^^ malformed-number: `1e` is not JSON: a number needs a digit in its exponent
{"a":0x1F}
     ^^^^ malformed-number: `0x1F` is not a JSON number: write it in decimal digits alone
{"a":"C:\Users"}
        ^^ bad-escape: bad escape `\U`: after a backslash stands one of " \ / b f n r t u
{"a":"\u12"}
      ^^^^ bad-escape: bad escape `\u12`: four hex digits follow \u
{"a":1 /* one */}
       ^^^^^^^^^ comment: a comment: JSON has none
{"a":1} // done
        ^^^^^^^ comment: a comment: JSON has none
{"a":1} # done
        ^^^^^^ comment: a comment: JSON has none
{"a":1}{"b":2}
       ^ two-objects: two objects on one line: each event stands on a line of its own
{"a":1} , {"b":2}
          ^ two-objects: two objects on one line: each event stands on a line of its own
{"a":"x","b":"cut o{"a":"y"}
                   ^ two-objects: two objects on one line: each event stands on a line of its own
{"a":1} done
        ^^^^ text-after: `done` after the end of the object: a record is one object and nothing else
{"a":1}}
       ^ text-after: `}` after the end of the object: a record is one object and nothing else
{"a":"x","b":"y
             ^^ unfinished: unfinished: the line ends inside a string
{"a":"x","b
         ^^ unfinished: unfinished: the line ends inside a string
{"a":"x","b"
            | unfinished: unfinished: the line ends before the colon after `b`
{"a":"x","b":
             | unfinished: unfinished: the line ends before the value of `b`
{"a":"x","b":[1
               | unfinished: unfinished: the line ends before `]`
{"a":"x"
        | unfinished: unfinished: the line ends before `}`
{
^ spread-object: an object spread over several lines: a record must stand on one line
}
^ spread-object: an object spread over several lines: a record must stand on one line
{"a":1,
      ^ spread-object: an object spread over several lines: a record must stand on one line
  "a": 1,
  ^^^ spread-object: an object spread over several lines: a record must stand on one line
"a": {
     ^ spread-object: an object spread over several lines: a record must stand on one line
"a":1}
| missing-bracket: missing brace: `{` is expected before the first key
{"a":[1,2}
         ^ missing-bracket: missing bracket: `]` is expected before `}`
{"a":{"b":1]}
           ^ missing-bracket: `]` closes nothing: no bracket of its kind is open
{"a":"open,"b":"c"}
     ^^^^^ missing-quote: missing quote: the string `"open` is never closed
{"a:1,"b":2}
 ^^ missing-quote: missing quote: the string `"a` is never closed
{"a":pass","b":1}
     ^^^^^ missing-quote: missing quote: the string `pass"` is never opened
{"a":"b}
     ^^^ missing-quote: missing quote: the string `"b}` is never closed
{"a":1 2}
       ^ unexpected: unexpected `2`: `,` or `}` is expected here
{{"a":1}}
 ^ unexpected: unexpected `{`: a key in double quotes is expected here
undefined
^^^^^^^^^ unexpected: unexpected `undefined`: an object `{…}` is expected here
<<<<<<< HEAD
^^^^^^^^^^^^ merge-conflict: a merge conflict: choose one side and remove its markers
"""

# The same where the line or its message is hard to write down.
HARD_TO_SEE = [
    ("", ProblemKind.EMPTY, "", "a blank line holds no event"),
    (
        '\ufeff{"a":1}',
        ProblemKind.BYTE_ORDER_MARK,
        "\ufeff",
        "byte-order mark (U+FEFF) before the object: a record begins with `{`",
    ),
    (
        '{"a"\xa0:1}',
        ProblemKind.ODD_WHITESPACE,
        "\xa0",
        "U+00A0 (no-break space) is no white space in JSON: use plain spaces",
    ),
    (
        '{"a":"x\ty"}',
        ProblemKind.CONTROL_CHARACTER,
        "\t",
        "a raw tab (U+0009) in a string: write it as `\\t`",
    ),
    (
        '{"a":"\x01"}',
        ProblemKind.CONTROL_CHARACTER,
        "\x01",
        "a raw control character (U+0001) in a string: write it as `\\u0001`",
    ),
    (
        '{"a":"x"y}',
        ProblemKind.UNEXPECTED,
        "y",
        'unexpected `y`: `,`, `}`, or `\\"` for a quote inside the string is expected here',
    ),
    (
        '{"a":1}\0' + "\u202e" + "x" * 50,
        ProblemKind.TEXT_AFTER,
        "\0\u202e" + "x" * 50,
        f"`U+0000U+202E{'x' * 38}…` after the end of the object: "
        "a record is one object and nothing else",
    ),
]

SAFE_REPAIRS = [
    ('{"a":[1,],},', '{"a":[1]}'),
    ("{'a':'it\\'s \"b\"','c':'\t'}", '{"a":"it\'s \\"b\\"","c":"\\t"}'),
    ("{“a”:‘b’}", '{"a":"b"}'),
    ('{"a"/* */:1} // "', '{"a":1} '),
    ('{"a":1} {"b":2},{"c":3}', '{"a":1} \n{"b":2}\n{"c":3}'),
    ('\ufeff{"a":1}', '{"a":1}'),
    ('{"a"\xa0:\u30001}\u2028', '{"a":1}'),
    ('{"a":"\t\x1f\r"}', '{"a":"\\t\\u001f\\r"}'),
    ("{'a':True,\xa0'b':[None,],}", '{"a":true,"b":[null]}'),
    ("{a:1}", '{"a":1}'),
    ("{'a':1}{'b':2,}", '{"a":1}\n{"b":2}'),
]

ONLY_SUGGESTED = [
    "{'a':'it's'}",
    '{"a":1, // "b":2}',
    '// {"a":1}',
    '{"a":NaN}',
    '{"a":01}',
    '{"a":undefined}',
    '{"a":pass,}',
    '{"a":1 "b":2}',
    '{"a":1}{"b":',
    '{"a":1,,"b":2}',
    '{"a":"\\x41"}',
    '{"a":1',
]


def broken_lines() -> list[tuple[str, list[str]]]:
    cases: list[tuple[str, list[str]]] = []
    for line in BROKEN_LINES.strip("\n").splitlines():
        if line.lstrip().startswith(("^", "| ")):
            cases[-1][1].append(line)
        else:
            cases.append((line, []))
    return cases


def marked(syntax: Syntax) -> list[str]:
    """The problems as marks under the line."""
    lines = []
    for problem in syntax.problems:
        start, end = problem.span
        marks = "^" * (end - start) or "|"
        lines.append(f"{' ' * start}{marks} {problem.kind}: {problem.message}")
    return lines


def repaired(text: str) -> str:
    """The text after every safe repair, one after the other."""
    for _ in range(20):
        repairs = [r for p in parse(text).problems for r in p.repairs if r.safe]
        if not repairs:
            break
        for span, new in reversed(repairs[0].edits):
            text = text[: span.start] + new + text[span.end :]
        if any("\n" in new for _, new in repairs[0].edits):
            return "\n".join(map(repaired, text.split("\n")))
    return text


def fields(text: str) -> dict[str, tuple[str, object] | None]:
    """The members that could be made out: the text and the value of each."""
    root = parse(text).root
    assert root is not None
    assert all(text[m.key_span.start : m.key_span.end].strip("\"'") == m.key for m in root.members)
    return {
        m.key: m.value and (text[m.value.span.start : m.value.span.end], m.value.value)
        for m in root.members
    }


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


@pytest.mark.parametrize(("line", "expected"), broken_lines())
def test_a_broken_line_is_marked_on_the_token(line: str, expected: list[str]) -> None:
    assert marked(parse(line)) == expected


@pytest.mark.parametrize(("line", "kind", "at", "message"), HARD_TO_SEE)
def test_a_broken_line_names_what_is_hard_to_see(
    line: str, kind: ProblemKind, at: str, message: str
) -> None:
    [problem] = parse(line).problems
    assert problem.kind is kind
    assert line[problem.span.start : problem.span.end] == at
    assert problem.message == message


@pytest.mark.parametrize(("line", "expected"), SAFE_REPAIRS)
def test_safe_repairs_end_in_json(line: str, expected: str) -> None:
    assert repaired(line) == expected
    assert all(parse(record).is_json for record in expected.split("\n"))


@pytest.mark.parametrize("line", ONLY_SUGGESTED)
def test_a_guess_is_never_safe(line: str) -> None:
    problems = parse(line).problems
    assert problems
    assert not any(repair.safe for problem in problems for repair in problem.repairs)


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


def test_many_of_a_kind_are_one_problem() -> None:
    [problem] = parse(str({f"key {n}": "value" for n in range(40)})).problems
    [repair] = problem.repairs
    assert problem.kind is ProblemKind.QUOTES
    assert len(repair.edits) == 80


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


def test_a_lazy_reader_sees_what_a_full_one_sees() -> None:
    flat, nested = parse('{"a\u00e9":"x", "b" : -1.5e1}'), parse('{"a\\u00e9":"x", "b" : -1.5e1}')
    assert flat.to_python() == nested.to_python() == {"a\u00e9": "x", "b": -15}
    assert flat.root is not None
    named = find_member(flat.root, "b")
    assert named is not None
    assert named.key_span == flat.root.members[1].key_span == (11, 14)
    assert named.value is not None
    assert named.value.span == (17, 23)


@pytest.mark.parametrize(
    "text",
    ["[" * 50_000, '{"a":' * 50_000, "[" * 50_000 + "]" * 50_000],
    ids=["open", "open objects", "closed"],
)
def test_nesting_has_no_limit(text: str) -> None:
    syntax = parse(text)
    assert syntax.is_json is (text[-1] == "]")
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
    ],
)
def test_time_grows_with_the_length(unit: str) -> None:
    text = '{"a":' + unit * (60_000 // len(unit))
    started = perf_counter()
    parse(text)
    assert perf_counter() - started < 10


def test_conformance() -> None:
    path = Path(__file__).parent / "conformance" / "lines.jsonl"
    for line in path.read_text("utf-8").split("\n"):
        if line:
            case = json.loads(line)
            if case["verdict"] in {"valid", "unknown"}:
                assert parse(case["raw"]).is_json, case["raw"]


SHORT = list("{}[],:\"'\\#-<1“😀 \t\r\n\0\xa0\ufeff\ud800\udc00")
LONG = ["\\u00", '"a"', '"b":', "'c'", "01", "NaN", "true", "None", "//", "/*", "*/", "1.5e3"]
TOKENS = st.sampled_from([*SHORT, *LONG, '{"a":1}', '"x,"y":', ",}", "x y"])
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
    """What Python's reader says: exact but for NaN, and for nesting."""

    def refuse(name: str) -> None:
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


@given(TEXTS)
def test_json_is_what_a_json_reader_accepts(text: str) -> None:
    syntax = parse(text)
    try:
        expected = json_value(text)
    except ValueError:
        assert not syntax.is_json
    else:
        assert syntax.is_json
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
        assert all(record.is_json for record in records)
        assert records[0].to_python() == syntax.to_python()


@given(TEXTS)
def test_members_are_found_by_name_without_reading_all(text: str) -> None:
    full, lazy = parse(text).root, parse(text).root
    assert (full is None) is (lazy is None)
    for key in ("event_type", *(m.key for m in full.members)) if full else ():
        assert full is not None
        expected = [(m.key_span, m.value and m.value.span) for m in full.members if m.key == key]
        found = [find_member(lazy, key, n) for n in range(len(expected))]
        assert [m and (m.key_span, m.value and m.value.span) for m in found] == expected
        assert find_member(lazy, key, len(expected)) is None


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ('{"x":"a","a":1}', [1]),
        ('{"x":["a",{"a":2}],"a":1}', [1]),
        ('{"x":{"a":2},"a":1,"b":"\\"a","a" : 3 }', [1, 3]),
        ('{"x":"\\"a","y":{"a":{"a":2}},"a":1,}', [1]),
        ('{"a":1,"\\u0061":2,"a":3,"c" "a","a":4', [1, 2, 3, 4]),
        ('{"a":{"a":2},"a":1', [None, 1]),
        (f"{{{','.join(f'{chr(34)}a{chr(34)}:{n}' for n in range(2500))}}}", list(range(2500))),
    ],
)
def test_a_name_in_a_value_is_no_key(line: str, values: list[object]) -> None:
    found = [find_member(parse(line).root, "a", n) for n in range(min(len(values), 9))]
    assert [member and member.value and member.value.value for member in found] == values[:9]
    last = find_member(parse(line).root, "a")
    assert find_member(parse(line).root, 'a":1,"a') is None
    assert last is not None
    assert last.value is not None
    assert last.value.value == values[-1]


@pytest.mark.parametrize("line", [line for line, _ in broken_lines()])
def test_titles_of_repairs_begin_with_a_capital(line: str) -> None:
    assert all(r.title[0].isupper() for problem in parse(line).problems for r in problem.repairs)


def test_kinds_of_values() -> None:
    root = parse('{"a":{},"b":[],"c":"","d":0,"e":false,"f":null,"g":x}').root
    assert root is not None
    kinds = [member.value.kind for member in root.members if member.value is not None]
    assert kinds == [
        Kind.OBJECT,
        Kind.ARRAY,
        Kind.STRING,
        Kind.NUMBER,
        Kind.BOOLEAN,
        Kind.NULL,
        Kind.BROKEN,
    ]
