"""Where keys and values of a TOML document stand, held against what ``tomllib`` reads there."""

import json
import tomllib
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from drive_trace.storage.toml_text import KeyPath, excess, toml_places

DOCUMENT = '''# comment
a = 1
"b c".d = "x" # [not.a.table]
'e"' = """
many = 1
"" two quotes ""\\""""   # behind
[rules]
not-compact = "off"
x = { severity = "warn", q.r = [1, "a]", {z = '}'}] }
[rules . "long.name"]
severity="""a"b"""""
[[overrides]]
paths = [ # one a line
  "legacy/**",
  'b', # no comma in here, "really"
]
rules.when = 2020-01-01 10:00:00
[[overrides]]
paths=[]
[overrides.rules]
off = false
[[overrides.deep]]
[[overrides.deep]]
z = [[], [[1]]]
'''


def at(data: Any, steps: KeyPath) -> Any:
    for step in steps:
        data = data[step]
    return data


def check(text: str) -> None:
    """It is not too much, and where a value of it stands, the text says the same."""
    assert excess(text) is None
    data = tomllib.loads(text)
    wanted = dict(walk(data))
    places = toml_places(text, wanted)
    assert set(places) == set(wanted)
    for steps, place in places.items():
        key, value = text[slice(*place.key)], text[slice(*place.value)]
        if isinstance(steps[-1], str):
            assert (
                tomllib.loads(f"k = {key}" if key[0] in "\"'" else f"k = '{key}'")["k"] == steps[-1]
            )
        if place.key != place.value:
            assert tomllib.loads(f"k = {value}")["k"] == wanted[steps]


def walk(data: Any, steps: KeyPath = ()) -> Any:
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for step, each in pairs:
        yield (*steps, step), each
        if isinstance(each, dict | list):
            yield from walk(each, (*steps, step))


def test_a_document_with_everything() -> None:
    check(DOCUMENT)


def test_of_a_repeated_array_of_tables_each_header_is_its_own_place() -> None:
    places = toml_places(DOCUMENT, [("overrides", 0), ("overrides", 1)])
    lines = [DOCUMENT[: places["overrides", each].key.start].count("\n") for each in (0, 1)]
    assert [DOCUMENT.split("\n")[line] for line in lines] == ["[[overrides]]"] * 2
    assert lines[0] < lines[1]


def quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


TEXT = st.text(st.characters(exclude_categories=["Cc", "Cs"]), max_size=6)
NAMES = st.from_regex(r"[A-Za-z0-9_-]{1,4}", fullmatch=True) | TEXT.map(quoted)
SCALARS = (
    st.integers(-9, 9).map(str)
    | st.sampled_from(["true", "1.5e3", "nan", "1979-05-27T07:32:00Z", "07:32:00"])
    | TEXT.map(quoted)
    | TEXT.map(lambda text: "'" + text.replace("'", "") + "'")
    | TEXT.map(lambda text: '"""\n' + quoted(text)[1:-1] + '\n"""')
    | TEXT.map(lambda text: "'''" + text.replace("'", "") + "\n'''")
)
GAPS = st.sampled_from(["", " ", "\n", " # ] }\n\t"])


@st.composite
def values(draw: st.DrawFn, depth: int = 2) -> str:
    kind = draw(st.integers(0, 4)) if depth else 0
    if kind == 1:
        items = draw(st.lists(values(depth=depth - 1), max_size=3))
        return "[" + "".join(draw(GAPS) + each + draw(GAPS) + "," for each in items) + "]"
    if kind == 2:
        keys = draw(st.lists(NAMES, max_size=3, unique_by=name_of))
        pairs = [f" {key} = {draw(values(depth=depth - 1))} " for key in keys]
        return "{" + ",".join(pairs) + "}"
    return draw(SCALARS.filter(lambda text: text != "nan"))


def name_of(key: str) -> str:
    return str(json.loads(key)) if key.startswith('"') else key


@st.composite
def documents(draw: st.DrawFn) -> str:
    names = iter(draw(st.lists(NAMES, min_size=6, max_size=12, unique_by=name_of)))
    lines = [f"{next(names)} = {draw(values())}", f"{next(names)} . x = {draw(values())}"]
    for name in names:
        headers = draw(st.sampled_from([("[{}]",), ("[ {} ]",), ("[[{}]]", "[[{}]]"), ("[{}.y]",)]))
        for header in headers:
            lines.append(header.format(name) + draw(st.sampled_from(["", " # x = 1"])))
            lines += [f"{key} = {draw(values())}" for key in ("a", '"b.c"', "d.e", "d.f")]
    return "\n".join(lines)


@given(documents())
def test_any_document(text: str) -> None:
    check(text)
