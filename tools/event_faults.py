"""Finds the mistakes in the declarations of events. Names the class of each, and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import get_args

from drive_trace.vocabulary import (
    CORRECTNESS_FIELDS,
    COST,
    ENVELOPE,
    GRADE,
    KINDS,
    TOKEN_FIELDS,
    WRITERS,
)
from drive_trace.vocabulary.declared import AnyEvent
from drive_trace.vocabulary.declaring import DECLARED
from drive_trace.vocabulary.registry import (
    EventType,
    FieldType,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
)
from drive_trace.vocabulary.types import Entity

_ENDING = (Entity.RUN, Entity.SLICE, Entity.DISPATCH, Entity.ROUND)


def event_faults(
    declared: Sequence[tuple[type, EventType]] = DECLARED, union: object = AnyEvent
) -> Iterator[str]:
    """Every fault of some events, in a sentence; ``union`` is the type of any event."""
    named = Counter(event.name for _, event in declared)
    for cls, event in declared:
        whose = cls.__name__
        if cls not in get_args(union):
            yield f"{whose} is declared, but not in its family's union"
        if named[event.name] > 1:
            yield f"{whose} has the event_type of another event, `{event.name}`"
        if not event.prose:
            yield f"{whose} has no docstring: say there what the event records"
        for name in event.leads_to:
            if name not in named:
                yield f"{whose} leads to `{name}`, which is no event"
        yield from (f"{whose} {fault}" for fault in _faults_of_facts(event))
        yield from _faults_of_fields(event.fields, whose)
    for cls in get_args(union):
        if not any(each is cls for each, _ in declared):
            yield f"{cls.__name__} is in its family's union, but has no @event(...)"
    yield from _faults_of_entities(declared)
    yield from _faults_of_tables({event.name: event.fields for _, event in declared})


def _faults_of_facts(event: EventType) -> Iterator[str]:
    shown = event.example.keys() - ENVELOPE.keys()
    for name in sorted({*event.keeps, *shown} - event.fields.keys()):
        yield f"keeps or shows `{name}`, which is no field of it"
    for name, field in event.fields.items():
        if field.is_required and name not in event.example:
            yield f"shows no `{name}`: add it to the example"
        if not field.is_required and name in event.example:
            yield f"shows `{name}`, which is optional: leave it out"


def _faults_of_fields(fields: Mapping[str, FieldType], whose: str) -> Iterator[str]:
    for name, field in fields.items():
        if not field.prose:
            yield f"{whose}.{name} has no prose: say below it what the field means"
        if field.nullable and not field.null_means:
            yield f"{whose}.{name} may be null: add Null(...) with what that means"
        if field.null_means and not field.nullable:
            yield f"{whose}.{name} says what null means, and cannot be null: add | None"
        shape = field.shape.item if isinstance(field.shape, ListShape) else field.shape
        meanings = shape.meanings if isinstance(shape, OneOfShape) else {}
        for value in (each for each in meanings if len(meanings) > 1 and not meanings[each]):
            yield f"{whose}.{name} does not say what `{value}` means: add - `{value}`: … below it"
        for inner in _objects(field.shape):
            yield from _faults_of_fields(inner.fields, f"{whose}.{name}")


def _objects(shape: Shape) -> Iterator[ObjectShape]:
    if isinstance(shape, ListShape):
        yield from _objects(shape.item)
    elif isinstance(shape, ObjectShape):
        yield shape


def _faults_of_entities(declared: Iterable[tuple[type, EventType]]) -> Iterator[str]:
    for entity in _ENDING:
        for what in ("opens", "closes"):
            found = [cls for cls, event in declared if getattr(event, what) is entity]
            if len(found) != 1:
                names = ", ".join(each.__name__ for each in found) or "none"
                yield f"one event {what} a {entity.value}; found {names}"


def _faults_of_tables(fields: Mapping[str, Mapping[str, FieldType]]) -> Iterator[str]:
    """What ``vocabulary/__init__.py`` says otherwise than the declarations."""
    for event, listed in ((COST, TOKEN_FIELDS), (GRADE, CORRECTNESS_FIELDS)):
        own = tuple(name for name in fields.get(event, ()) if name not in ENVELOPE)
        if own != listed:
            names = ", ".join(own) or "nothing"
            yield f"`{event}` has {names}: list these fields in vocabulary/__init__.py, too"
    for path, events in WRITERS.items():
        for event in events:
            if path not in fields.get(event, ()):
                yield f"`{event}` has no `{path}`, which WRITERS in vocabulary/__init__.py names"
    known = {name for each in fields.values() for name in each}
    for kind, names in KINDS.items():
        for name in sorted({kind, *names} - known):
            yield f"no event has `{name}`, which KINDS in vocabulary/__init__.py names"
