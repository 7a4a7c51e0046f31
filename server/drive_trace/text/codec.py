"""JSON to and from Python values, by the fastest library that is there: orjson, or msgspec where it
has no wheel, as in WebAssembly. Both give the same values and bytes.
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

Result = TypeVar("Result")

try:
    import orjson
except ImportError:
    import msgspec

    # A text that is nested too deep overflows the stack of a WebAssembly engine, which ends Python.
    _DEEPEST = 1024
    """Nothing deeper is read, as by orjson."""
    # A string that nothing closes reaches to the end, so that no quote in it is tried anew.
    _BRACKET = re.compile(r'"(?>[^"\\]*(?:\\.[^"\\]*)*)"?|([][{}])', re.DOTALL)
    _LONG_NUMBER = re.compile(r"\d{19}")
    _EXPONENT = re.compile(rb'("(?:[^"\\]|\\.)*")|(?<=\d)e(?=\d)')
    _NEEDS_PLUS = re.compile(rb"\de\d")

    Fragment: Callable[[bytes], object] = msgspec.Raw

    def bounded(decode: Callable[..., Result]) -> Callable[[Any], Result]:
        """``decode``, but with a RecursionError for a text that is nested too deep for it."""

        def checked(text: Any) -> Result:
            if text.__class__ not in (str, bytes):
                raise TypeError(f"{type(text).__name__} is no text")
            if _is_deep(text):
                raise RecursionError
            return decode(text)

        return checked

    def _is_deep(text: str | bytes) -> bool:
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        if text.count("[") + text.count("{") <= _DEEPEST:
            return False
        depth = 0
        for found in _BRACKET.finditer(text):
            depth += (found[1] in ("[", "{")) - (found[1] in ("]", "}"))
            if depth > _DEEPEST:
                return True
        return False

    _decode = bounded(msgspec.json.decode)

    def loads(text: str | bytes, /) -> Any:
        """The value of a JSON text; ValueError for all else, and for a lone surrogate."""
        try:
            value = _decode(text)
        except (RecursionError, TypeError) as error:
            raise ValueError(str(error)) from error
        if _LONG_NUMBER.search(text if isinstance(text, str) else text.decode()) is None:
            return value
        return _with_doubles(value)

    def _with_doubles(value: Any) -> Any:
        """A value with a double for each whole number of more than 64 bits."""
        if isinstance(value, dict):
            return {key: _with_doubles(each) for key, each in value.items()}
        if isinstance(value, list):
            return [_with_doubles(each) for each in value]
        if type(value) is int and not -(1 << 63) <= value < 1 << 64:
            try:
                return float(value)
            except OverflowError as error:
                raise ValueError("a number that no double holds") from error
        return value

    def dumps(value: object, /, default: Callable[[Any], object] | None = None) -> bytes:
        """JSON of a value, compact; TypeError for what is none, and for a lone surrogate."""
        try:
            return _with_plus(msgspec.json.encode(value, enc_hook=_or_str(default)))
        except UnicodeEncodeError as error:
            raise TypeError(str(error)) from error

    def dumps_sorted(value: object) -> bytes:
        """The same with the keys of all objects in order."""
        return _with_plus(msgspec.json.encode(value, order="sorted"))

    def _or_str(default: Callable[[Any], object] | None) -> Callable[[Any], object]:
        def encode(value: Any) -> object:
            if isinstance(value, str):
                return str.__str__(value)
            if default is None:
                raise TypeError(f"{type(value).__name__} is no JSON")
            return default(value)

        return encode

    def _with_plus(data: bytes) -> bytes:
        """With ``e+20`` for ``e20`` outside of strings, as orjson writes a double."""
        if _NEEDS_PLUS.search(data) is None:
            return data
        return _EXPONENT.sub(lambda found: found[1] or b"e+", data)

else:
    Fragment = orjson.Fragment
    loads = orjson.loads
    dumps = orjson.dumps

    def dumps_sorted(value: object) -> bytes:
        """JSON of a value, compact, with the keys of all objects in order."""
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS)

    def bounded(decode: Callable[..., Result]) -> Callable[[Any], Result]:
        """``decode`` itself, which raises RecursionError for a text that is nested too deep."""
        return decode
