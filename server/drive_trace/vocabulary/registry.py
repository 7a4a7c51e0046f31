"""Events and their fields in the form that the engine reads: :class:`EventType`."""

from __future__ import annotations

from collections.abc import Container, Mapping
from functools import cached_property

import msgspec

from drive_trace.text.wording import listed
from drive_trace.vocabulary.types import Entity, Family, Form, Reference

ALWAYS_KEPT = ("ts", "event_id", "project_run_id")
"""The first of every event's ``keeps``, at the same positions for all events."""


NULL_TEXTS = frozenset({""}).union(
    each
    for word in ("null", "none", "nil", "n/a", "undefined", "-")
    for each in (word, word.capitalize(), word.upper())
)
"""What people and programs write who mean null."""


class StringShape(msgspec.Struct, frozen=True, tag="string", omit_defaults=True):
    """Any string; ``form`` says how it is written by convention."""

    form: Form | None = None

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return "a string"


class IntegerShape(msgspec.Struct, frozen=True, tag="integer", omit_defaults=True):
    """A number whose value as a finite double is whole, of at least ``minimum`` (None: any)."""

    minimum: int | None = None

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return "an integer" if self.minimum is None else f"an integer of at least {self.minimum}"


class BooleanShape(msgspec.Struct, frozen=True, tag="boolean", omit_defaults=True):
    """``true`` or ``false``."""

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return "true or false"


class OneOfShape(msgspec.Struct, frozen=True, tag="one of", omit_defaults=True):
    """One of the strings in ``meanings``, which says what each means."""

    meanings: Mapping[str, str]

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return listed((f'"{each}"' for each in self.meanings), "or")


class ListShape(msgspec.Struct, frozen=True, tag="list", omit_defaults=True):
    """An array whose items all have one shape."""

    item: Shape

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return f"an array, each item {self.item.describe()}"


class ObjectShape(msgspec.Struct, frozen=True, tag="object", omit_defaults=True):
    """An object with these fields and no other."""

    fields: Mapping[str, FieldType]

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        kinds = {known.describe() for known in self.fields.values()}
        if len(kinds) == 1:
            return f"an object with {listed(self.fields)}, each {kinds.pop()}"
        inner = ", ".join(f"{name}: {known.describe()}" for name, known in self.fields.items())
        return f"an object {{{inner}}}"


Shape = StringShape | IntegerShape | BooleanShape | OneOfShape | ListShape | ObjectShape


class FieldType(msgspec.Struct, frozen=True, dict=True, omit_defaults=True):
    """One field of an event, with every fact about it."""

    name: str
    prose: str
    shape: Shape
    nullable: bool = False
    unit: str | None = None
    names: Entity | None = None
    refers_to: Reference | None = None
    is_outcome: bool = False
    """Whether it says how something came out."""
    null_means: str | None = None
    """What null means; every field that may be null has this."""
    is_required: bool = True
    """Whether readers reject an event without it."""

    @cached_property
    def plain(self) -> tuple[type | None, Container[object] | None]:
        """The class that nearly all right values are of, as Python reads JSON, and which of these
        are right, and written as they should be. No class: see the shape; no values: all of them.
        """
        plain_class, plain_values = _plain(self.shape)
        return plain_class, _TEXTS if self.shape == StringShape() else plain_values

    @property
    def gap(self) -> str | None:
        """A placeholder for a number that somebody still has to fill in. It is no JSON, so that
        nobody leaves it by accident.
        """
        if not isinstance(self.shape, IntegerShape):
            return None
        return self.unit or ("number" if self.shape.minimum != 0 else "count")

    def describe(self) -> str:
        """The allowed values in words: ``an integer of at least 0, or null``."""
        null = ", or null" if self.nullable else ""
        return self.shape.describe() + null + ("" if self.is_required else ", or left out")


def says_nothing(field: FieldType, text: str) -> bool:
    """Whether a text says null or nothing, in a field that takes any text."""
    return field.shape == StringShape() and (text in NULL_TEXTS if field.nullable else not text)


class _Texts:
    """All texts but those that mean null."""

    def __contains__(self, value: object) -> bool:
        return value not in NULL_TEXTS


_TEXTS = _Texts()


def _plain(shape: Shape) -> tuple[type | None, Container[object] | None]:
    match shape:
        case StringShape(form):
            return str, form
        case BooleanShape():
            return bool, None
        case OneOfShape(meanings):
            return str, frozenset(meanings)
        case IntegerShape(minimum):
            return int, None if minimum is None else range(minimum, 2**53)
        case _:
            return None, None


class EventType(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One event of the vocabulary."""

    name: str
    family: Family
    prose: str
    """What it records and when it is emitted, in Markdown."""
    fields: Mapping[str, FieldType]
    """Every field, the envelope's first, in the order they are written."""
    example: Mapping[str, object]
    keeps: tuple[str, ...]
    """Fields whose values the index keeps: lines are compared by them."""
    positions: Mapping[str, int]
    """The place of each of these."""
    is_work: bool = False
    """Whether the event shows that the run went on, so that an earlier verdict is stale."""
    is_feed: bool
    """Whether the event is recorded about the run from outside, the last one counting."""
    opens: Entity | None = None
    """The kind of entity that this event starts, named by the field of that kind."""
    closes: Entity | None = None
    """The kind of entity that this event ends."""
    leads_to: tuple[str, ...] = ()
    """Events that most often come right after it, the likeliest first; not what its kind of entity
    leads to anyway.
    """
    glyph: str = "○"
    """The sign that stands for it in a timeline, if it is no start or end of a bar."""


class Vocabulary(msgspec.Struct, frozen=True):
    """All events, as they are declared."""

    envelope: Mapping[str, FieldType]
    """The fields that every event carries."""
    events: tuple[EventType, ...]
    """Family by family; the fields are those that are not as in the envelope."""


class Lifetime(msgspec.Struct, frozen=True):
    """Which events and which field belong to the entities of one kind."""

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
    """The lifetime of one kind of entity, from the declarations of the events."""
    opener = next(each for each in events.values() if each.opens is entity)
    closer = next(each for each in events.values() if each.closes is entity)
    field = next(name for name, known in opener.fields.items() if known.names is entity)
    members = tuple(event.name for event in events.values() if field in event.fields)
    return Lifetime(entity, field, opener.name, closer.name, members)
