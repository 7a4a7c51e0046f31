"""JSON that is nearly right: values with a mistake in them, and texts in which one was made."""

import json
import math
import re
from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from random import Random
from typing import Any

from hypothesis import strategies as st

from drive_trace.vocabulary import EVENTS

_NAMES = sorted({name for event in EVENTS.values() for name in event.fields})
ODD: st.SearchStrategy[Any] = st.sampled_from(
    [
        *(None, True, False, 0, -1, 1, 2, 3, 0.5, 5.0, -0.0, 1e3, 2**53, 2**53 + 1, 2**63, 10**30),
        *(1e300, "", " ", "0", "1", "null", "none", "true", "pass", "Pass", "\0", "\ud800"),
        *("é", "🚀", "\ufeff", "[]", "{}", "a" * 64, "A" * 64, "2026-05-28T14:00:00.000Z"),
        *("2026-02-30T14:00:00Z", "0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90", [], {}, [None], [[1]]),
        *({"S": 1, "M": 0, "L": 0, "XL": 0}, {"": 0}, {"usage": {}}, ["pass"], "toString"),
    ]
)
KEYS = st.sampled_from([*_NAMES, "", "extra", "__proto__", "é", "Ts", "event-type", "\ud800"])
TOKENS = st.sampled_from(
    [
        *'{}[],:"\\ \t\r\0\x1f\x85\u2028\xa0\ufeff\ud800😀',
        *("null", "NaN", "-Infinity", "1e999", "-0", "01", "1.", ".5", "+1", "'", "//", "/**/"),
        *('"ts":null,', '"a":1,', "\\u0000", "\\ud83d", "\\x", "9" * 400, "[[[[", "truE", "True"),
    ]
)


def slots(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place of a value: what it is in, and the key or index there."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield value, key
            yield from slots(inner)


_CHANGES = st.sampled_from(["nearly", "replace", "copy", "wrap", "remove", "rename", "add"])
_WAYS = st.integers(0, 5)


def _nearly(value: Any, way: int) -> Any:
    """What somebody may have written for a text or a number."""
    if isinstance(value, str):
        return (value + "\n", value[:-1], value.swapcase(), " " + value, None, [value])[way]
    return (-value, value - 1, value + 1, value + 0.5, bool(value), str(value))[way]


@st.composite
def changed(draw: st.DrawFn, values: st.SearchStrategy[Any], most: int = 3) -> Any:
    """One of some values, with up to so many changes anywhere in it."""
    value = [deepcopy(draw(values))]
    for _ in range(draw(st.integers(0, most))):
        places = list(slots(value))
        inside, key = places[draw(st.integers(0, len(places) - 1))]
        what = draw(_CHANGES)
        if what == "copy":
            other, there = places[draw(st.integers(0, len(places) - 1))]
            inside[key] = deepcopy(other[there])
        elif what == "wrap":
            inside[key] = draw(st.sampled_from([[inside[key]], {"payload": inside[key]}]))
        elif what == "remove" and inside is not value:
            del inside[key]
        elif what == "rename" and isinstance(inside, dict):
            near = st.integers(0, 3).map(lambda way, key=key: _nearly(key, way))
            inside[draw(KEYS | near)] = inside.pop(key)
        elif what == "nearly" and isinstance(inside[key], int | str):
            inside[key] = _nearly(inside[key], draw(_WAYS))
        elif what == "add" and isinstance(inside[key], dict):
            inside[key][draw(KEYS)] = deepcopy(draw(ODD))
        else:
            inside[key] = deepcopy(draw(ODD))
    return value[0]


@dataclass(frozen=True)
class Spelling:
    """How a JSON value is written; every way says the same."""

    seed: int = 0
    spaces: bool = False
    escapes: bool = False
    numbers: bool = False
    order: bool = False

    def of(self, value: Any) -> str:
        return _Writer(self).text(value)


SPELLINGS = st.builds(
    Spelling, st.integers(0, 2**16), st.booleans(), st.booleans(), st.booleans(), st.booleans()
)


class _Writer:
    def __init__(self, how: Spelling) -> None:
        self._how, self._chance = how, Random(how.seed)

    def text(self, value: Any) -> str:
        if isinstance(value, dict):
            pairs = list(value.items())
            if self._how.order:
                self._chance.shuffle(pairs)
            inner = [f"{self._string(k)}{self._space()}:{self.text(v)}" for k, v in pairs]
            return self._around("{" + (",".join(inner) or self._space()) + "}")
        if isinstance(value, list):
            inner = list(map(self.text, value))
            return self._around("[" + (",".join(inner) or self._space()) + "]")
        if isinstance(value, str):
            return self._around(self._string(value))
        return self._around(self._number(value))

    def _around(self, text: str) -> str:
        return self._space() + text + self._space()

    def _space(self) -> str:
        return self._chance.choice(["", "", " ", "\t", "\r", "  "]) if self._how.spaces else ""

    def _string(self, text: str) -> str:
        if not self._how.escapes:
            return json.dumps(text, ensure_ascii=False)
        return '"' + "".join(map(self._character, text)) + '"'

    def _character(self, character: str) -> str:
        plain = json.dumps(character, ensure_ascii=False)[1:-1]
        escaped = json.dumps(character)[1:-1]
        full = "".join(f"\\u{unit:04{self._chance.choice('xX')}}" for unit in utf16(character))
        slash = "\\/" if character == "/" else plain
        return self._chance.choice([plain, plain, slash, escaped, full])

    def _number(self, value: Any) -> str:
        text = json.dumps(value)
        if isinstance(value, bool | None) or not self._how.numbers or not math.isfinite(value):
            return text
        if value == 0:
            return self._chance.choice(["0", "0.0", "-0", "0e5"])
        whole = isinstance(value, int) and abs(value) < 2**53
        return self._chance.choice(
            [text, f"{text}.0", f"{text}.00e0", f"{text}0e-1", f"{text}E+0"] if whole else [text]
        )


def utf16(text: str) -> Sequence[int]:
    """The code units of a text."""
    data = text.encode("utf-16-le", "surrogatepass")
    return [int.from_bytes(data[at : at + 2], "little") for at in range(0, len(data), 2)]


_KEY = re.compile(r'"(?:[^"\\]|\\.)*"\s*:')
_VALUES = st.sampled_from(["null,", '"pass",', "{},", "1,", '"1",'])


@st.composite
def garbled(draw: st.DrawFn, texts: st.SearchStrategy[str], most: int = 3) -> str:
    """One of some texts, with up to so many tokens put in, written over or taken out, or keys twice
    in an object.
    """
    text = draw(texts)
    for _ in range(draw(st.integers(0, most))):
        keys = list(_KEY.finditer(text))
        if keys and draw(st.integers(0, 3)) == 0:
            key = keys[draw(st.integers(0, len(keys) - 1))]
            text = text[: key.start()] + key[0] + draw(_VALUES) + text[key.start() :]
            continue
        start = draw(st.integers(0, len(text)))
        stop = start + draw(st.sampled_from([0, 0, 1, 2, 9, 60]))
        text = text[:start] + draw(TOKENS | st.just("")) + text[stop:]
    return text


def spelt(values: st.SearchStrategy[Any]) -> st.SearchStrategy[str]:
    """Some values, written in any way."""
    return st.builds(Spelling.of, SPELLINGS, values)


def is_toml(value: Any) -> bool:
    """Whether TOML has a way to say a value."""
    if isinstance(value, dict):
        return all(map(is_toml, (*value, *value.values())))
    if isinstance(value, list):
        return all(map(is_toml, value))
    return value is not None and value != "\ud800"
