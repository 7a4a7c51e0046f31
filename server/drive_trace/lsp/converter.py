"""JSON to lsprotocol's types, without guessing.

cattrs makes the number 0 of ``"0"``, 1 of ``1.5`` and a list of letters of a
string: a client's mistake would become an answer about some other place.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from operator import is_
from typing import Any, get_args

import cattrs
from cattrs.cols import is_sequence, list_structure_factory
from lsprotocol.converters import get_converter


def strict_converter() -> cattrs.Converter:
    """A converter that refuses what has another type than the one declared."""
    converter = get_converter(cattrs.Converter(detailed_validation=False))
    hooks = {int: _integer, bool: _exactly(bool), str: _exactly(str), float: _number}
    for kind, hook in hooks.items():
        # Not for the kind's subclasses, as the protocol's enumerations are.
        converter.register_structure_hook_func(partial(is_, kind), hook)
    converter.register_structure_hook_factory(is_sequence, _array)
    return converter


def _integer(value: object, _: object) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, float) and value.is_integer():  # JSON makes no difference
        return int(value)
    raise TypeError(f"not an integer: {type(value).__name__}")


def _number(value: object, _: object) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return value
    raise TypeError(f"not a number: {type(value).__name__}")


def _exactly(kind: type) -> Callable[[object, object], Any]:
    def structure(value: object, _: object) -> Any:
        if type(value) is kind:
            return value
        raise TypeError(f"not a {kind.__name__}: {type(value).__name__}")

    return structure


def _array(declared: Any, converter: cattrs.Converter) -> Callable[[object, Any], Any]:
    each = list_structure_factory(declared, converter) if get_args(declared) else None

    def structure(value: object, kind: Any) -> Any:
        if not isinstance(value, list | tuple):
            raise TypeError(f"not an array: {type(value).__name__}")
        return each(value, kind) if each is not None else list(value)

    return structure
