"""Without orjson, as in WebAssembly, the same is read and written."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drive_trace.text import codec
from tests.wasm.everything_said import write

ROOT = Path(__file__).parents[1]
_WITHOUT = """
import sys
sys.modules["orjson"] = None
from tests.wasm.everything_said import write
write(sys.argv[1])
"""


def without_orjson() -> ModuleType:
    spec = importlib.util.spec_from_file_location("codec_without_orjson", codec.__file__)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "orjson", None)
        spec.loader.exec_module(module)
    return module


OTHER = without_orjson()


def read(by: ModuleType, text: str | bytes) -> object:
    try:
        return repr(by.loads(text))  # 1 and 1.0 are not the same
    except ValueError:
        return "refused"


def test_the_package_says_the_same_without_orjson(tmp_path: Path) -> None:
    ours, other = tmp_path / "ours", tmp_path / "other"
    count = write(str(ours))
    subprocess.run([sys.executable, "-c", _WITHOUT, other], cwd=ROOT, check=True)
    assert count > 1800
    assert other.read_bytes() == ours.read_bytes()


@pytest.mark.parametrize(
    "text",
    [
        *("-0", "-0.0", "1e400", "1.", "01", "NaN", "", " 1 ", "1 2", "\ufeff1", '"\t"', "[1,]"),
        *(str(2**64), str(2**64 - 1), str(-(2**63) - 1), "9" * 400, '{"a":[18446744073709551616]}'),
        *('"\\ud800"', '"\\ud83d\\ude00"', '"\ud800"', '{"a":1,"b":2,"a":3}', b'"\xff"', b"\xef"),
        '["' + "[" * 2000 + '\\""]',
    ],
    ids=lambda text: str(text[:12]),
)
def test_a_text_is_read_or_refused_as_by_orjson(text: str | bytes) -> None:
    assert read(OTHER, text) == read(codec, text)


@pytest.mark.parametrize("depth", [1000, 1024, 1025, 100_000])
def test_a_text_is_nested_too_deep_for_both_or_for_neither(depth: int) -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(5000)  # msgspec goes by it, on CPython

    def is_read(by: ModuleType) -> bool:
        try:
            by.loads("[" * depth + "]" * depth)
        except ValueError:
            return False
        return True

    try:
        assert is_read(OTHER) == is_read(codec) == (depth <= 1024)
    finally:
        sys.setrecursionlimit(limit)


JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers(-(2**63), 2**64 - 1) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSON)
def test_any_value_is_written_and_read_as_by_orjson(value: object) -> None:
    def written(by: ModuleType) -> object:
        try:
            data = by.dumps(value)
        except TypeError:
            return "refused"
        assert read(by, data) == read(codec, data)
        return data, by.dumps_sorted(value)

    assert written(OTHER) == written(codec)
    assert read(OTHER, json.dumps(value)) == read(codec, json.dumps(value))


def test_parts_that_are_json_already_are_taken_over() -> None:
    class Part:
        pass

    for by in (codec, OTHER):
        part = by.Fragment(b'{"x":1}')
        data = by.dumps(["1e5", 1e20, Part()], default=lambda _, part=part: part)
        assert data == b'["1e5",1e+20,{"x":1}]'
        with pytest.raises(TypeError):
            by.dumps([Part()])


def test_a_string_that_nothing_closes_is_looked_at_once() -> None:
    text = '{"a":' + "[]," * 1100 + '"' + '\\"' * 20_000
    found = list(OTHER._BRACKET.finditer(text))
    assert len(found) == 1 + 1 + 2 * 1100 + 1  # quotes in it begin nothing
    assert found[-1].end() == len(text)
    assert read(OTHER, text) == read(codec, text) == "refused"
