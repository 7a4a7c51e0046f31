"""The Drive trace vocabulary: the 19 events, declared once as pydantic types.

Types, limits, prose and examples stand in the family modules and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping

from drive_trace.vocabulary import build_loop, feeds, lifecycle, planning
from drive_trace.vocabulary.envelope import ENVELOPE_EXAMPLE, Envelope
from drive_trace.vocabulary.feeds import CORRECTNESS_FIELDS, COST, GRADE, TOKEN_FIELDS
from drive_trace.vocabulary.registry import (
    ALWAYS_KEPT,
    BooleanShape,
    EventType,
    FieldType,
    IntegerShape,
    ListShape,
    ObjectShape,
    OneOfShape,
    Shape,
    StringShape,
    declared_events,
    fields_of,
)
from drive_trace.vocabulary.types import Entity, Family

FAMILY_MODULES = (build_loop, planning, lifecycle, feeds)

EVENTS: Mapping[str, EventType] = declared_events(ENVELOPE_EXAMPLE)
"""Every event by its ``event_type``, family by family."""

ENVELOPE: Mapping[str, FieldType] = fields_of(Envelope)
"""The fields that every event carries."""

SCHEMA_VERSION = "1"
"""The only value of ``schema_version`` that readers accept."""

__all__ = [
    "ALWAYS_KEPT",
    "CORRECTNESS_FIELDS",
    "COST",
    "ENVELOPE",
    "EVENTS",
    "FAMILY_MODULES",
    "GRADE",
    "SCHEMA_VERSION",
    "TOKEN_FIELDS",
    "BooleanShape",
    "Entity",
    "EventType",
    "Family",
    "FieldType",
    "IntegerShape",
    "ListShape",
    "ObjectShape",
    "OneOfShape",
    "Shape",
    "StringShape",
]
