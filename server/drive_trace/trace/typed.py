"""The declared events as msgspec types: msgspec parses and validates a record in one go.

What it accepts, the reference reader accepts: it is strict about undeclared keys, numbers that
are not written as integers, integers that a double may not hold exactly, and lone surrogates.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, reduce
from operator import attrgetter, or_
from typing import Annotated, Any, Literal, NamedTuple

import msgspec

from drive_trace.trace.line import Facts
from drive_trace.vocabulary import (
    AGREEMENTS,
    ALWAYS_KEPT,
    ENVELOPE,
    EVENTS,
    NULL_TEXTS,
    Agreement,
    BooleanShape,
    EventType,
    FieldType,
    Form,
    IntegerShape,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
    StringShape,
    is_nullable_text,
)

_MOST = 2**53
"""The largest integer of which a double holds all smaller ones exactly."""


class EventDecoder(NamedTuple):
    """Decodes records as typed events."""

    decode: Callable[[str], Any]
    """The typed event of a record; ValueError or RecursionError if it is not surely valid."""
    conversions: dict[type, Conversion]
    """By the class of a typed event."""


class Conversion(NamedTuple):
    """How typed events of one class become lines."""

    event: EventType
    facts: Callable[[Any], Facts]
    agrees: Callable[[Any], bool] | None
    """Whether the fields of an event agree, and no text of its payload means null; None if there is
    nothing to ask.
    """


@cache
def event_decoder(*, only_score: bool) -> EventDecoder:
    """A decoder of events. ``only_score`` leaves out what the scorecard does not need: how strings
    are written, how fields agree, and most facts of events that it does not use.
    """
    types = {_typed(event, forms=not only_score): event for event in EVENTS.values()}
    conversions = {typed: _conversion(event, only_score) for typed, event in types.items()}
    union = reduce(or_, types)
    return EventDecoder(msgspec.json.Decoder(union).decode, conversions)


def _conversion(event: EventType, only_score: bool) -> Conversion:
    counts = event.is_feed or event.opens or event.closes
    keeps = ALWAYS_KEPT if only_score and not counts else event.keeps
    return Conversion(event, _facts(event, keeps), None if only_score else _agreement(event))


def _facts(event: EventType, keeps: tuple[str, ...]) -> Callable[[Any], Facts]:
    read = attrgetter(*keeps)
    if all(event.fields[name].is_required for name in keeps):
        return read
    return lambda typed: tuple([None if each is msgspec.UNSET else each for each in read(typed)])


def _agreement(event: EventType) -> Callable[[Any], bool] | None:
    checks = [_check(event, each) for each in AGREEMENTS[event.name]]
    texts = _of_all(
        name
        for name, field in event.fields.items()
        if name not in ENVELOPE and is_nullable_text(field)
    )
    if texts is not None and not checks:
        return lambda typed: NULL_TEXTS.isdisjoint(texts(typed))

    def agrees(typed: Any) -> bool:
        if texts is not None and not NULL_TEXTS.isdisjoint(texts(typed)):
            return False
        for holds in checks:  # noqa: SIM110  a generator takes longer
            if not holds(typed):
                return False
        return True

    return agrees if checks else None


def _check(event: EventType, agreement: Agreement) -> Callable[[Any], bool]:
    """Whether a typed event's fields agree."""
    read, holds = attrgetter(*agreement.fields), agreement.holds
    if len(agreement.fields) == 1:
        return lambda typed: holds(read(typed))
    if any(isinstance(event.fields[name].shape, ObjectShape) for name in agreement.fields):
        return lambda typed: holds(*msgspec.to_builtins(read(typed)))
    return lambda typed: holds(*read(typed))


def _of_all(names: Iterable[str]) -> Callable[[Any], tuple[Any, ...]] | None:
    """Reads some fields; None where there are none."""
    every = list(names)
    if not every:
        return None
    # One of them twice: the value of a single name would come bare.
    return attrgetter(*every, *(every if len(every) == 1 else ()))


def _typed(event: EventType, *, forms: bool) -> type[msgspec.Struct]:
    payload = {name: field for name, field in event.fields.items() if name != "event_type"}
    return _struct(event.name, payload, forms, tag_field="event_type")


def _type_of(shape: Shape, forms: bool) -> Any:
    """The type of a shape's values; with ``forms``, of those that are written as they should be."""
    match shape:
        case StringShape(Form() as form) if forms:
            return Annotated[str, msgspec.Meta(pattern=rf"\A(?:{form.expression})\Z")]
        case StringShape():
            return str
        case IntegerShape(minimum):
            least = -_MOST if minimum is None else minimum
            return Annotated[int, msgspec.Meta(ge=least, le=_MOST)]
        case BooleanShape():
            return bool
        case OneOfShape(meanings):
            return Literal[tuple(meanings)]
        case ListShape(item):
            return list[_type_of(item, forms)]  # type: ignore[misc]
        case ObjectShape(fields):
            return _struct("Object", fields, forms)


def _struct(
    name: str, fields: Mapping[str, FieldType], forms: bool, tag_field: str | None = None
) -> type[msgspec.Struct]:
    typed: list[Any] = []
    for each in fields.values():
        # Forms of the envelope are looked at many at a time, see all_written.
        type_ = _type_of(each.shape, forms and each.name not in ENVELOPE)
        type_ = type_ | None if each.nullable else type_
        absent = (msgspec.UNSET,) if not each.is_required else ()
        typed.append((each.name, type_ | msgspec.UnsetType if absent else type_, *absent))
    return msgspec.defstruct(
        name,
        typed,
        tag_field=tag_field,
        tag=name if tag_field else None,
        forbid_unknown_fields=True,
        kw_only=True,
        gc=False,
    )


def all_written(form: Form, column: Sequence[str]) -> bool:
    """Whether all strings are written in a form."""
    texts = "\n".join(column) + "\n"
    return texts.count("\n") == len(column) and _repeated(form).fullmatch(texts) is not None


def written_length(*events: Any) -> int:
    """How many bytes typed events take as compact JSON, without anything between them."""
    brackets_and_commas = len(events) + 1 if events else 2
    return len(msgspec.json.encode(events)) - brackets_and_commas


@cache
def _repeated(form: Form) -> re.Pattern[str]:
    return re.compile(f"(?:{form.expression}\n)*")
