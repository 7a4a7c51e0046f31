"""The whole event of a valid line, for who needs more of it than the index keeps."""

from __future__ import annotations

from collections.abc import Mapping

import orjson

from drive_trace.json_text import parse
from drive_trace.trace.exact import whole_number
from drive_trace.trace.line import Line
from drive_trace.vocabulary import FieldType, IntegerShape, ObjectShape, Shape

Values = Mapping[str, object]


def values_of(line: Line) -> Values:
    """The declared fields that a valid line's event has; integers as ``int``, however written."""
    assert line.event is not None
    try:
        data = orjson.loads(line.text)
    except ValueError:  # what only the exact path reads, as a lone surrogate
        data = parse(line.text).to_python()
    return _declared(line.event.fields, data)


def _declared(fields: Mapping[str, FieldType], data: Values) -> Values:
    return {name: _exact(field.shape, data[name]) for name, field in fields.items() if name in data}


def _exact(shape: Shape, value: object) -> object:
    if isinstance(shape, IntegerShape) and isinstance(value, float):
        return whole_number(value)
    if isinstance(shape, ObjectShape) and isinstance(value, dict):
        return _declared(shape.fields, value)
    return value
