"""JSON to lsprotocol's types, without guessing.

cattrs makes the number 0 of ``"0"``, 1 of ``1.5`` and a list of letters of a
string: a client's mistake would become an answer about some other place.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, get_args

import cattrs
from cattrs.cols import is_sequence, list_structure_factory
from lsprotocol import types
from lsprotocol.converters import get_converter

from drive_trace.lsp.rpc import own_messages


def strict_converter() -> cattrs.Converter:
    """A converter that refuses what has another type than the one declared."""
    converter = get_converter(cattrs.Converter(detailed_validation=False))
    converter.register_structure_hook(bool, _boolean)
    converter.register_structure_hook(float, _number)
    # These two are asked for the enumerations of numbers and strings as well.
    converter.register_structure_hook(int, _integer)
    converter.register_structure_hook(str, _string)
    converter.register_structure_hook_factory(is_sequence, _array)
    converter.register_structure_hook_func(_is_token, _token)
    own_messages.register(converter)
    return converter


def _is_token(declared: object) -> bool:
    return declared in (types.ProgressToken, types.ProgressToken | None)


def _token(value: object, declared: object) -> object:
    if isinstance(value, str) or (value is None and declared != types.ProgressToken):
        return value
    return _integer(value, int)


def _integer(value: object, declared: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"not an integer: {type(value).__name__}")
    number = int(value)
    if number != value:  # 1.0 is one: JSON makes no difference
        raise TypeError("not an integer")
    return number if declared is int else declared(number)


def _string(value: object, declared: Any) -> Any:
    if not isinstance(value, str):
        raise TypeError(f"not a string: {type(value).__name__}")
    return value if declared is str else declared(value)


def _number(value: object, _: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise TypeError(f"not a number: {type(value).__name__}")


def _boolean(value: object, _: object) -> bool:
    if isinstance(value, bool):
        return value
    raise TypeError(f"not a boolean: {type(value).__name__}")


def _array(declared: Any, converter: cattrs.Converter) -> Callable[[object, Any], Any]:
    each = list_structure_factory(declared, converter) if get_args(declared) else None

    def structure(value: object, kind: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise TypeError(f"not an array: {type(value).__name__}")
        return each(value, kind) if each is not None else list(value)

    return structure
