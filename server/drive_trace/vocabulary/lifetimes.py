"""What starts and ends: the entities that one event opens and another closes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from drive_trace.vocabulary.registry import EventType
from drive_trace.vocabulary.types import Entity


class Lifetime(NamedTuple):
    """How the events of a trace tell of the entities of one kind."""

    entity: Entity
    field: str
    """The field that names such an entity on each of its events."""
    opener: str
    """The event that starts it."""
    closer: str
    """The event that ends it."""
    members: tuple[str, ...]
    """Every event that belongs to one, opener and closer too."""


def lifetime_of(entity: Entity, events: Mapping[str, EventType]) -> Lifetime:
    """The declarations of one kind of entity, put together."""
    (opener,) = (event for event in events.values() if event.opens is entity)
    (closer,) = (event for event in events.values() if event.closes is entity)
    field = next(name for name, known in opener.fields.items() if known.names is entity)
    members = tuple(event.name for event in events.values() if field in event.fields)
    return Lifetime(entity, field, opener.name, closer.name, members)
