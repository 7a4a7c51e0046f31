"""How one record is read: what is not JSON, where, and why."""

import pytest

from drive_trace.json_text import ProblemKind, Syntax, parse

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
{"findings_filed":count,"wall_clock_ms":milliseconds}
                  ^^^^^ missing-value: `count` is still to be filled in, with a number
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
     ^^ malformed-number: `+1` is not a JSON number: write `1`
{"a":01}
     ^^ malformed-number: `01` is not a JSON number: write `1`
{"a":.5}
     ^^ malformed-number: `.5` is not a JSON number: write `0.5`
{"a":1.}
     ^^ malformed-number: `1.` is not a JSON number: write `1`
{"a":1e}
     ^^ malformed-number: `1e` is not a JSON number: write it in decimal digits alone
{"a":240,000,"b":1}
     ^^^^^^^ malformed-number: `240,000` is not a JSON number: write `240000`
{"a":1,900,000}
     ^^^^^^^^^ malformed-number: `1,900,000` is not a JSON number: write `1900000`
{"a":1_900_000}
     ^^^^^^^^^ malformed-number: `1_900_000` is not a JSON number: write `1900000`
{"b":{"a":-1,900.5 }, "c":[1,900]}
          ^^^^^^^^ malformed-number: `-1,900.5` is not a JSON number: write `-1900.5`
{"a":240,000
     ^^^^^^^ malformed-number: `240,000` is not a JSON number: write `240000`
            | unfinished: unfinished: the line ends before `}`
{"a":240,000,"b":
     ^^^^^^^ malformed-number: `240,000` is not a JSON number: write `240000`
                 | unfinished: unfinished: the line ends before the value of `b`
{"a":[1,900],}
            ^ trailing-comma: trailing comma: nothing follows this comma before `}`
{"a":1,"b":[1,900}
                 ^ missing-bracket: missing bracket: `]` is expected before `}`
{"a":1.500.000}
     ^^^^^^^^^ malformed-number: `1.500.000` is not a JSON number: write it in decimal digits alone
{"a":1’000’000}
     ^^^^^^^^^ malformed-number: `1’000’000` is not a JSON number: write it in decimal digits alone
{"a":PT16M43S}
     ^^^^^^^^ unquoted-value: `PT16M43S` is not JSON: a text stands in double quotes
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
{"b":"cut o{"a":"y"}
           ^ two-objects: a torn record, then a whole one: each event stands on a line of its own
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
^ spread-object: unfinished, or spread over several lines: a record must stand on one line
}
^ spread-object: an object spread over several lines: a record must stand on one line
{"a":1,
      ^ spread-object: unfinished, or spread over several lines: a record must stand on one line
  "a": 1,
  ^^^ spread-object: an object spread over several lines: a record must stand on one line
"Scope",
^^^^^^^ spread-object: an object spread over several lines: a record must stand on one line
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
{"a":1,"result:"merged","b":1}
       ^^^^^^^ missing-quote: missing quote: the string `"result` is never closed
{"a":pass","b":1}
     ^^^^^ missing-quote: missing quote: the string `pass"` is never opened
{"a":"b}
     ^^^ missing-quote: missing quote: the string `"b}` is never closed
{"a":""b"","c":1}
     ^^^^^ doubled-quote: doubled quote in `""b""`: a string has one quote on each side
{"a":"b""}
     ^^^^ doubled-quote: doubled quote in `"b""`: a string has one quote on each side
{"a"":1}
 ^^^^ doubled-quote: doubled quote in `"a""`: a string has one quote on each side
{"a":1 2}
       ^ unexpected: unexpected `2`: `,` or `}` is expected here
{{"a":1}}
 ^ unexpected: unexpected `{`: a key in double quotes is expected here
undefined
^^^^^^^^^ unexpected: unexpected `undefined`: an object `{…}` is expected here
+ {"a":1}
^ unexpected: unexpected `+`: an object `{…}` is expected here
12: {"a":1}
^^ unexpected: unexpected `12`: an object `{…}` is expected here
{"a"="b","c" => 1}
    ^ wrong-colon: `=` is not JSON: a colon stands between a key and its value
{"a"：1}
    ^ full-width: `：` is not JSON: write `:`
{"a":1，"b":2}
      ^ full-width: `，` is not JSON: write `,`
{a=1}
 ^ unquoted-key: `a` is not JSON: a key stands in double quotes
  ^ wrong-colon: `=` is not JSON: a colon stands between a key and its value
{"a":1,...}
       ^^^ left-out: `...` stands for what was left out: write all of it
{"a":1,…,"b":2}
       ^ left-out: `…` stands for what was left out: write all of it
{"a":...,"b":[1,...]}
     ^^^ left-out: `...` stands for what was left out: write all of it
...
^^^ left-out: `...` stands for what was left out: write all of it
```json
^^^^^^^ fence: a Markdown fence: a trace has nothing around its records
~~~
^^^ fence: a Markdown fence: a trace has nothing around its records
[
^ array: a bracket alone on its line: a trace is no array, but a record on each line
],
^^ array: a bracket alone on its line: a trace is no array, but a record on each line
  ],
  ^ spread-object: an object spread over several lines: a record must stand on one line
<<<<<<< HEAD
^^^^^^^^^^^^ merge-conflict: a merge conflict: keep one side, or both, and remove its markers
"""


# The same where the line or its message is hard to write down.
HARD_TO_SEE = [
    ("", ProblemKind.EMPTY, "", "a blank line: no event"),
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
        "control character U+0009 in a string: write it as `\\t`",
    ),
    (
        '{"a":"\x01"}',
        ProblemKind.CONTROL_CHARACTER,
        "\x01",
        "control character U+0001 in a string: write it as `\\u0001`",
    ),
    (
        '{"a":"x"y}',
        ProblemKind.UNEXPECTED,
        "y",
        'unexpected `y`: `,`, `}`, or `\\"` for a quote inside the string is expected here',
    ),
    (
        '{"a":1}' + "\0" * 500 + "\u202e",
        ProblemKind.TEXT_AFTER,
        "\0" * 500 + "\u202e",
        "500 NUL bytes after the end of the object: a record is one object and nothing else",
    ),
    (
        '{"a":1}\0' + "\u202e" + "x" * 50,
        ProblemKind.TEXT_AFTER,
        "\0\u202e" + "x" * 50,
        f"`U+0000U+202E{'x' * 38}…` after the end of the object: "
        "a record is one object and nothing else",
    ),
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
        kind = problem.kind.name.lower().replace("_", "-")
        lines.append(f"{' ' * start}{marks} {kind}: {problem.message}")
    return lines


@pytest.mark.parametrize(("line", "expected"), broken_lines())
def test_a_broken_line_is_marked_on_the_token(line: str, expected: list[str]) -> None:
    assert marked(parse(line)) == expected


def test_of_a_long_number_the_beginning_is_told() -> None:
    (problem,) = parse(f'{{"a":+{"9" * 100_000}}}').problems
    assert len(problem.message) < 200


@pytest.mark.parametrize(("line", "kind", "at", "message"), HARD_TO_SEE)
def test_a_broken_line_names_what_is_hard_to_see(
    line: str, kind: ProblemKind, at: str, message: str
) -> None:
    [problem] = parse(line).problems
    assert problem.kind is kind
    assert line[problem.span.start : problem.span.end] == at
    assert problem.message == message


def test_many_of_a_kind_are_one_problem() -> None:
    [problem] = parse(str({f"key {n}": "value" for n in range(40)})).problems
    [repair] = problem.repairs
    assert problem.kind is ProblemKind.QUOTES
    assert len(repair.edits) == 80


@pytest.mark.parametrize("line", [line for line, _ in broken_lines()])
def test_titles_of_repairs_begin_with_a_capital(line: str) -> None:
    assert all(r.title[0].isupper() for problem in parse(line).problems for r in problem.repairs)
