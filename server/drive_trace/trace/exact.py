"""Judges a parsed value exactly, and slowly, as the reference reader does. Beyond that it checks
how strings are written, and how an event's fields agree.

The number semantics are JavaScript's (a number is its value as a double), which
is why this does not ask msgspec: its strict ``int`` refuses ``5.0`` and ``5e2``.
The declarations it reads are the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from drive_trace.trace.line import Diagnostic, DiagnosticKind, Path
from drive_trace.vocabulary import (
    AGREEMENTS,
    ENVELOPE,
    EVENTS,
    BooleanShape,
    FieldType,
    Form,
    IntegerShape,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
    StringShape,
)

_MALFORMED = {
    Form.UUID: DiagnosticKind.MALFORMED_UUID,
    Form.TIMESTAMP: DiagnosticKind.MALFORMED_TIMESTAMP,
    Form.SHA256: DiagnosticKind.MALFORMED_HASH,
}


def diagnostics_of_object(data: Mapping[str, object]) -> Iterator[Diagnostic]:
    """Every diagnostic of one JSON object as an event, but for duplicate keys."""
    name = data.get("event_type")
    if isinstance(name, str) and name not in EVENTS:
        yield Diagnostic(DiagnosticKind.UNKNOWN_EVENT_TYPE, ("event_type",), found=name)
        return
    fields = EVENTS[name].fields if isinstance(name, str) else ENVELOPE
    nested = _nested(fields, data)
    for key, names in nested.items():
        yield Diagnostic(DiagnosticKind.MISSING_FIELD, (key,), found=names)
    elsewhere = {each for names in nested.values() for each in names}
    wrong = set()
    for diagnostic in _diagnostics_of_fields(fields, data, ()):
        wrong.add(diagnostic.path[0])
        if (
            diagnostic.kind is not DiagnosticKind.MISSING_FIELD
            or diagnostic.path[-1] not in elsewhere
        ):
            yield diagnostic
    if not isinstance(name, str):
        return
    for agreement in AGREEMENTS[name]:
        if wrong.isdisjoint(agreement.fields) and not agreement.holds(data):
            at = agreement.at
            yield Diagnostic(DiagnosticKind(agreement.code), (at,), fields[at], data[at])
    if _may_have_more(fields, data):
        for diagnostic in _undeclared(fields, data, ()):
            if diagnostic.path[0] not in nested:
                yield diagnostic


def whole_number(value: object) -> int | None:
    """The integer that a JSON number is as a finite double; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if isinstance(value, int):
        return value
    return int(value) if math.isfinite(value) and value.is_integer() else None


def _may_have_more(fields: Mapping[str, FieldType], data: Mapping[str, object]) -> bool:
    """Whether a key may be undeclared, here or in an object within."""
    return not data.keys() <= fields.keys() or dict in map(type, data.values())


def _nested(
    fields: Mapping[str, FieldType], data: Mapping[str, object]
) -> dict[str, tuple[str, ...]]:
    """The fields that stand inside an undeclared object, such as ``payload``, instead of beside the
    envelope, by that object's key.
    """
    missing = {name: field for name, field in fields.items() if name not in data}
    nested: dict[str, tuple[str, ...]] = {}
    for key, value in data.items():
        if missing and key not in fields and isinstance(value, dict):
            inside = tuple(name for name in missing if name in value)
            if any(missing[name].is_required for name in inside):
                nested[key] = inside
                for name in inside:
                    del missing[name]
    return nested


def _diagnostics_of_fields(
    fields: Mapping[str, FieldType], data: Mapping[str, object], path: Path
) -> Iterator[Diagnostic]:
    for name, field in fields.items():
        if name not in data:
            if field.is_required:
                yield Diagnostic(DiagnosticKind.MISSING_FIELD, (*path, name), field)
            continue
        value = data[name]
        if value.__class__ is field.plain_class and (
            field.plain_values is None or value in field.plain_values
        ):
            continue
        if not (field.nullable and value is None):
            yield from _diagnostics_of_value(field.shape, field, value, (*path, name))


def _undeclared(
    fields: Mapping[str, FieldType], data: Mapping[str, object], path: Path
) -> Iterator[Diagnostic]:
    for name, value in data.items():
        field = fields.get(name)
        if field is None:
            yield Diagnostic(DiagnosticKind.UNDECLARED_FIELD, (*path, name), found=value)
        elif isinstance(field.shape, ObjectShape) and isinstance(value, dict):
            yield from _undeclared(field.shape.fields, value, (*path, name))


def _diagnostics_of_value(
    shape: Shape, field: FieldType, value: object, path: Path
) -> Iterator[Diagnostic]:
    if isinstance(shape, ObjectShape) and isinstance(value, dict):
        yield from _diagnostics_of_fields(shape.fields, value, path)
    elif isinstance(shape, ListShape) and isinstance(value, list):
        of_item = FieldType("", field.prose, shape.item)
        for index, element in enumerate(value):
            yield from _diagnostics_of_value(shape.item, of_item, element, (*path, index))
    else:
        kind = _kind_of(shape, value)
        if path == ("schema_version",):
            kind = kind and DiagnosticKind.UNSUPPORTED_SCHEMA_VERSION
        if kind is not None:
            yield Diagnostic(kind, path, field, value)


def _kind_of(shape: Shape, value: object) -> DiagnosticKind | None:
    """What is wrong with a value that has no parts of its own, or should have some."""
    if isinstance(shape, IntegerShape):
        number = whole_number(value)
        if number is None:
            return DiagnosticKind.WRONG_TYPE
        is_small = shape.minimum is not None and number < shape.minimum
        return DiagnosticKind.OUT_OF_RANGE if is_small else None
    if isinstance(shape, BooleanShape):
        return None if isinstance(value, bool) else DiagnosticKind.WRONG_TYPE
    if not isinstance(shape, StringShape | OneOfShape) or not isinstance(value, str):
        return DiagnosticKind.WRONG_TYPE
    if isinstance(shape, OneOfShape):
        return None if value in shape.meanings else DiagnosticKind.UNKNOWN_VALUE
    return None if shape.form is None or value in shape.form else _MALFORMED[shape.form]
