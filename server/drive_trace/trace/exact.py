"""Decides exactly, and slowly, what the reference reader thinks of a parsed value.

The number semantics are JavaScript's (a number is its value as a double), which
is why this does not ask pydantic: its strict ``int`` refuses ``5.0`` and ``5e2``.
The declarations it reads are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from drive_trace.trace.line import Concern, Path, Remark
from drive_trace.vocabulary import (
    ENVELOPE,
    EVENTS,
    SCHEMA_VERSION,
    BooleanShape,
    FieldType,
    IntegerShape,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
    StringShape,
)


def remarks_of_object(data: Mapping[str, object]) -> Iterator[Remark]:
    """Everything to say of one JSON object as an event, but for duplicate keys."""
    name = data.get("event_type")
    if isinstance(name, str) and name not in EVENTS:
        yield Remark(Concern.UNKNOWN_EVENT_TYPE, ("event_type",), found=name)
        return
    fields = EVENTS[name].fields if isinstance(name, str) else ENVELOPE
    nested = _nested_payload(fields, data)
    if nested:
        yield Remark(Concern.MISSING_FIELD, ("payload",), found=nested)
    for remark in _remarks_of_fields(fields, data, ()):
        if remark.concern is not Concern.MISSING_FIELD or remark.path[-1] not in nested:
            yield remark
    if isinstance(name, str):
        for remark in _undeclared(fields, data, ()):
            if not nested or remark.path != ("payload",):
                yield remark


def whole_number(value: object) -> int | None:
    """The integer that a JSON number is as a finite double, None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return value
    return int(value) if math.isfinite(value) and value.is_integer() else None


def _nested_payload(fields: Mapping[str, FieldType], data: Mapping[str, object]) -> tuple[str, ...]:
    """The fields that stand inside a ``payload`` object instead of beside the envelope."""
    payload = data.get("payload")
    if not isinstance(payload, dict):
        return ()
    return tuple(name for name in fields if name not in data and name in payload)


def _remarks_of_fields(
    fields: Mapping[str, FieldType], data: Mapping[str, object], path: Path
) -> Iterator[Remark]:
    for name, field in fields.items():
        if name not in data:
            yield Remark(Concern.MISSING_FIELD, (*path, name), field)
        elif not (field.nullable and data[name] is None):
            yield from _remarks_of_value(field.shape, field, data[name], (*path, name))


def _undeclared(
    fields: Mapping[str, FieldType], data: Mapping[str, object], path: Path
) -> Iterator[Remark]:
    for name, value in data.items():
        field = fields.get(name)
        if field is None:
            yield Remark(Concern.UNDECLARED_FIELD, (*path, name), found=value)
        elif isinstance(field.shape, ObjectShape) and isinstance(value, dict):
            yield from _undeclared(field.shape.fields, value, (*path, name))


def _remarks_of_value(
    shape: Shape, field: FieldType, value: object, path: Path
) -> Iterator[Remark]:
    if path == ("schema_version",):
        if value != SCHEMA_VERSION:
            yield Remark(Concern.UNSUPPORTED_SCHEMA_VERSION, path, field, value)
        return
    match shape:
        case StringShape() | OneOfShape() if not isinstance(value, str):
            yield Remark(Concern.WRONG_TYPE, path, field, value)
        case OneOfShape(meanings) if value not in meanings:
            yield Remark(Concern.UNKNOWN_VALUE, path, field, value)
        case IntegerShape(minimum):
            number = whole_number(value)
            if number is None:
                yield Remark(Concern.WRONG_TYPE, path, field, value)
            elif minimum is not None and number < minimum:
                yield Remark(Concern.OUT_OF_RANGE, path, field, value)
        case BooleanShape() if not isinstance(value, bool):
            yield Remark(Concern.WRONG_TYPE, path, field, value)
        case ListShape(item):
            if not isinstance(value, list):
                yield Remark(Concern.WRONG_TYPE, path, field, value)
                return
            of_item = FieldType("", field.prose, item)
            for index, element in enumerate(value):
                yield from _remarks_of_value(item, of_item, element, (*path, index))
        case ObjectShape(fields):
            if isinstance(value, dict):
                yield from _remarks_of_fields(fields, value, path)
            else:
                yield Remark(Concern.WRONG_TYPE, path, field, value)
        case _:
            pass
