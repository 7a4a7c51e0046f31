"""Validates a parsed value exactly, and slowly, as the reference reader does. Beyond that it checks
how strings are written, and how an event's fields agree.

The number semantics are JavaScript's (a number is its value as a double), which
is why this does not ask msgspec: its strict ``int`` refuses ``5.0`` and ``5e2``.
The declarations it reads are the same.
"""

import sys
from collections.abc import Container, Iterator, Mapping

from drive_trace import vocabulary
from drive_trace.trace.line import Diagnostic, DiagnosticKind, Path
from drive_trace.vocabulary import AGREEMENTS, ENVELOPE, EVENTS, FieldType, OneOfShape, Shape
from drive_trace.vocabulary.slips import event_of_value, event_under_alias, field_meant

_MOST_SLIPS = 500
"""An object with more undeclared keys was not written by hand: none of them is a slip."""
_OF_PAYLOADS = {name for event in EVENTS.values() for name in event.fields} - ENVELOPE.keys()
"""Fields of some event: of an object without a type, each may be one of its own."""


def diagnostics_of_object(data: Mapping[str, object]) -> Iterator[Diagnostic]:
    """Every diagnostic of one JSON object as an event, but for duplicate keys."""
    name = data.get("event_type")
    if isinstance(name, str) and name not in EVENTS:
        yield Diagnostic(DiagnosticKind.UNKNOWN_EVENT_TYPE, ("event_type",), found=name)
        return
    event = EVENTS.get(name if isinstance(name, str) else event_under_alias(data) or "")
    fields = event.fields if event is not None else ENVELOPE
    nested = _nested(fields, data)
    for key, names in nested.items():
        yield Diagnostic(DiagnosticKind.MISSING_FIELD, (key,), found=names)
    elsewhere = {*nested, *(each for names in nested.values() for each in names)}
    wrong = set(elsewhere)
    if event is None:
        elsewhere |= _OF_PAYLOADS
    for diagnostic in _diagnostics_of_fields(fields, data, (), elsewhere):
        if diagnostic.kind is not DiagnosticKind.NULL_AS_TEXT:
            wrong.update((*map(str, diagnostic.path[:1]), *diagnostic.names))
        if event is not None or diagnostic.kind is not DiagnosticKind.UNDECLARED_FIELD:
            yield diagnostic
    if isinstance(name, str):
        yield from _breaches(fields, data, wrong)


def _breaches(
    fields: Mapping[str, FieldType], data: Mapping[str, object], wrong: Container[str]
) -> Iterator[Diagnostic]:
    """How fields of an event disagree: one diagnostic a rule."""
    at: dict[str, list[str]] = {}
    for agreement in AGREEMENTS[str(data["event_type"])]:
        if any(name in wrong for name in agreement.fields):
            continue
        if not agreement.holds(*map(data.get, agreement.fields)):
            at.setdefault(agreement.code, []).append(agreement.fields[-1])
    for code, (first, *more) in at.items():
        names = (first, *more)
        yield Diagnostic(code, (first,), fields[first], data[first], names)


def whole_number(value: object) -> int | None:
    """The integer that a JSON number is as a finite double; None for everything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if abs(value) > sys.float_info.max:
        return None
    return int(value) if isinstance(value, int) or value.is_integer() else None


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
    fields: Mapping[str, FieldType],
    data: Mapping[str, object],
    path: Path,
    elsewhere: Container[str] = (),
) -> Iterator[Diagnostic]:
    """What is wrong with the fields of an object, but for those that are said ``elsewhere``."""
    absent = {
        name: field for name, field in fields.items() if name not in data and name not in elsewhere
    }
    extra = [] if data.keys() <= fields.keys() else [each for each in data if each not in fields]
    undeclared = []
    for key in extra:
        if key in elsewhere:
            continue
        meant = _meant(key, data[key], absent) if len(extra) <= _MOST_SLIPS else None
        if meant is not None:
            del absent[meant.name]
        if meant is not None and meant.is_required:
            found, names = data[key], (meant.name,)
            yield Diagnostic(DiagnosticKind.MISSING_FIELD, (*path, key), meant, found, names)
        else:
            undeclared.append((key, meant))
    missing = tuple(name for name, field in absent.items() if field.is_required)
    if missing:
        yield Diagnostic(DiagnosticKind.MISSING_FIELD, path, names=missing)
    for name, field in fields.items():
        if name not in data:
            continue
        value = data[name]
        plain_class, plain_values = field.plain
        if value.__class__ is plain_class and (plain_values is None or value in plain_values):
            continue
        if isinstance(value, str) and vocabulary.says_nothing(field, value):
            yield Diagnostic(DiagnosticKind.NULL_AS_TEXT, (*path, name), field, value)
        elif not (field.nullable and value is None):
            yield from _diagnostics_of_value(field.shape, field, value, (*path, name))
    for key, meant in undeclared:
        yield Diagnostic(DiagnosticKind.UNDECLARED_FIELD, (*path, key), meant, data[key])


def _meant(key: str, value: object, absent: Mapping[str, FieldType]) -> FieldType | None:
    """The field that an undeclared key is most likely a slip of."""
    meant = field_meant(key, value, absent.values()) if absent else None
    if meant is not None and meant.name == "event_type":
        return meant if event_of_value(value) is not None else None
    return meant


def _diagnostics_of_value(
    shape: Shape, field: FieldType, value: object, path: Path
) -> Iterator[Diagnostic]:
    if isinstance(shape, vocabulary.ObjectShape) and isinstance(value, dict):
        yield from _diagnostics_of_fields(shape.fields, value, path)
    elif isinstance(shape, vocabulary.ListShape) and isinstance(value, list):
        of_item = FieldType("", field.prose, shape.item)
        for index, element in enumerate(value):
            yield from _diagnostics_of_value(shape.item, of_item, element, (*path, index))
    else:
        kind = _kind_of(shape, value)
        if path == ("schema_version",):
            kind = kind and DiagnosticKind.UNSUPPORTED_SCHEMA_VERSION
        if kind is not None:
            yield Diagnostic(kind, path, field, value)


def _kind_of(shape: Shape, value: object) -> str | None:
    """What is wrong with a value that has no parts of its own, or should have some."""
    if isinstance(shape, vocabulary.IntegerShape):
        number = whole_number(value)
        if number is None:
            return DiagnosticKind.WRONG_TYPE
        is_small = shape.minimum is not None and number < shape.minimum
        return DiagnosticKind.OUT_OF_RANGE if is_small else None
    if isinstance(shape, vocabulary.BooleanShape):
        return None if isinstance(value, bool) else DiagnosticKind.WRONG_TYPE
    if not isinstance(shape, vocabulary.StringShape | OneOfShape) or not isinstance(value, str):
        return DiagnosticKind.WRONG_TYPE
    if isinstance(shape, OneOfShape):
        return None if value in shape.meanings else DiagnosticKind.UNKNOWN_VALUE
    return None if shape.form is None or value in shape.form else shape.form.code
