"""The Drive trace vocabulary: its events, declared once as types that pydantic reads.

Types, limits, prose and examples stand in the family modules and nowhere else. Types of msgspec's
(``trace/typed.py``), the exact validator (``trace/exact.py``), JSON Schemas and docs are made of
them.
"""

from __future__ import annotations

from collections.abc import Mapping

from drive_trace.vocabulary import build_loop, feeds, lifecycle, planning
from drive_trace.vocabulary.agreements import (
    KINDS,
    SIZES,
    Agreement,
    agreements_among,
    looks_invented,
)
from drive_trace.vocabulary.feeds import CORRECTNESS_FIELDS, COST, GRADE, TOKEN_FIELDS
from drive_trace.vocabulary.planning import WRITERS
from drive_trace.vocabulary.registry import (
    ALWAYS_KEPT,
    ENVELOPE,
    NULL_TEXTS,
    BooleanShape,
    EventType,
    FieldType,
    IntegerShape,
    Lifetime,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
    StringShape,
    declared_events,
    is_nullable_text,
    lifetime_of,
)
from drive_trace.vocabulary.types import Entity, Family, Form, Reference

FAMILY_MODULES = (build_loop, planning, lifecycle, feeds)

TraceEvent = (
    build_loop.BuildLoopEvent | planning.PlanningEvent | lifecycle.LifecycleEvent | feeds.FeedEvent
)
"""Any event, as the dictionary that a line of a trace is read as."""

EVENTS: Mapping[str, EventType] = declared_events(TraceEvent)
"""Every event by its ``event_type``, family by family."""

AGREEMENTS: Mapping[str, tuple[Agreement, ...]] = {
    name: agreements_among(event.fields) for name, event in EVENTS.items()
}
"""How the fields of each event have to agree, by its ``event_type``."""

LIFETIMES: Mapping[Entity, Lifetime] = {
    entity: lifetime_of(entity, EVENTS) for entity in (Entity.DISPATCH, Entity.ROUND, Entity.SLICE)
}
"""The entities that start and end within a run."""

DISPATCH, ROUND, SLICE = LIFETIMES.values()

NAMING: Mapping[str, Entity] = {
    field.name: field.names
    for event in EVENTS.values()
    for field in event.fields.values()
    if field.names is not None
}
"""What each field names that names something: a field name means the same in every event."""

SCHEMA_VERSION = "1"
"""The only value of ``schema_version`` that readers accept."""

__all__ = [
    "AGREEMENTS",
    "ALWAYS_KEPT",
    "CORRECTNESS_FIELDS",
    "COST",
    "DISPATCH",
    "ENVELOPE",
    "EVENTS",
    "FAMILY_MODULES",
    "GRADE",
    "KINDS",
    "LIFETIMES",
    "NAMING",
    "NULL_TEXTS",
    "ROUND",
    "SCHEMA_VERSION",
    "SIZES",
    "SLICE",
    "TOKEN_FIELDS",
    "WRITERS",
    "Agreement",
    "BooleanShape",
    "Entity",
    "EventType",
    "Family",
    "FieldType",
    "Form",
    "IntegerShape",
    "Lifetime",
    "ListShape",
    "ObjectShape",
    "OneOfShape",
    "Reference",
    "Shape",
    "StringShape",
    "TraceEvent",
    "is_nullable_text",
    "looks_invented",
]
