"""Turns the declared event classes into :class:`EventType` values, the form the engine reads."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from functools import cached_property
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec
from msgspec.structs import asdict
from typing_extensions import is_typeddict

from drive_trace.text.wording import listed
from drive_trace.vocabulary.types import ENVELOPE_EXAMPLE, Entity, Envelope, Family, Form, Reference

ALWAYS_KEPT = ("ts", "event_id", "project_run_id")
"""The first of every event's ``keeps``, at the same positions for all events."""


NULL_TEXTS = frozenset({""}).union(
    each
    for word in ("null", "none", "nil", "n/a", "undefined", "-")
    for each in (word, word.capitalize(), word.upper())
)
"""What people and programs write who mean null."""


class StringShape(msgspec.Struct, frozen=True):
    """Any string; ``form`` says how it is written by convention."""

    form: Form | None = None

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return "a string"


class IntegerShape(msgspec.Struct, frozen=True):
    """A number whose value as a finite double is whole, of at least ``minimum`` (None: any)."""

    minimum: int | None = None

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return "an integer" if self.minimum is None else f"an integer of at least {self.minimum}"


class BooleanShape(msgspec.Struct, frozen=True):
    """``true`` or ``false``."""

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return "true or false"


class OneOfShape(msgspec.Struct, frozen=True):
    """One of the strings in ``meanings``, which says what each means."""

    meanings: Mapping[str, str]

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return listed((f'"{each}"' for each in self.meanings), "or")


class ListShape(msgspec.Struct, frozen=True):
    """An array whose items all have one shape."""

    item: Shape

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return f"an array, each item {self.item.describe()}"


class ObjectShape(msgspec.Struct, frozen=True):
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


class FieldType(msgspec.Struct, frozen=True, dict=True):
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


class EventType(msgspec.Struct, frozen=True, kw_only=True):
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
    declared: type
    """The pydantic-readable TypedDict that declares it."""


_T = TypeVar("_T", bound=type)
DECLARED: list[EventType] = []
"""Every event, in the order in which they are declared."""


def event(
    family: Family, *, example: Mapping[str, object], keeps: tuple[str, ...] = (), **facts: Any
) -> Callable[[_T], _T]:
    """Declare the decorated TypedDict as an event, with further facts of :class:`EventType`; its
    docstring is the event's prose.

    ``example`` gives the payload only: the envelope is the same for every event. The index keeps
    what ``keeps`` names, every field that names an entity, and all fields of a feed. What else a
    declaration needs, ``tools/event_faults.py`` says.
    """
    is_feed = family is Family.FEEDS

    def declare(cls: _T) -> _T:
        fields = fields_of(cls, ENVELOPE)
        hint = cls.__annotations__.get("event_type")
        if not ENVELOPE.keys() <= fields.keys() or get_origin(hint) is not Literal:
            raise TypeError(f'{cls.__name__} must be an Envelope, with event_type: Literal["…"]')
        (name,) = get_args(hint)
        named = (each for each in fields if fields[each].names)
        recorded = (each for each in fields if is_feed and each not in ENVELOPE)
        kept = tuple(dict.fromkeys((*ALWAYS_KEPT, *named, *recorded, *keeps)))
        declared = EventType(
            name=name,
            family=family,
            prose=" ".join((cls.__doc__ or "").split()),
            fields=fields,
            example={**ENVELOPE_EXAMPLE, "event_type": name, **example},
            keeps=kept,
            positions={each: position for position, each in enumerate(kept)},
            is_feed=is_feed,
            declared=cls,
            **facts,
        )
        DECLARED.append(declared)
        cls.__pydantic_config__ = {"title": name, "strict": True}  # type: ignore[attr-defined]
        return cls

    return declare


def fields_of(
    cls: type, narrowed: Mapping[str, FieldType] = MappingProxyType({})
) -> dict[str, FieldType]:
    """The fields of a TypedDict, inherited ones first; what only narrows one of ``narrowed`` has
    its prose. Raises TypeError for a type that is none of a field.
    """
    inherited = Envelope.__annotations__ if narrowed else {}
    fields: dict[str, FieldType] = {}
    for name, hint in cls.__annotations__.items():
        if inherited.get(name) is hint:
            fields[name] = narrowed[name]
        else:
            shape, facts = _read(hint, f"{cls.__name__}.{name}")
            prose = narrowed[name].prose if name in narrowed else ""
            fields[name] = FieldType(name, shape=shape, **{"prose": prose, **facts})
    return fields


def _read(hint: Any, where: str) -> tuple[Shape, dict[str, Any]]:
    """A shape, and what the layers around it say: what an outer one says holds."""
    facts: dict[str, Any] = {}
    while (origin := get_origin(hint)) in (Annotated, NotRequired, Union, UnionType):
        if origin is Annotated:
            hint, *notes = get_args(hint)
            for note in reversed(notes):
                said = asdict(note) if isinstance(note, msgspec.Struct) else vars(note)
                facts = {**said, **facts}
        elif origin is NotRequired:
            (hint,) = get_args(hint)
            facts["is_required"] = False
        else:
            (hint,) = (part for part in get_args(hint) if part is not NoneType)
            facts["nullable"] = True
    minimum, form, meanings = (facts.pop(each, None) for each in ("minimum", "form", "meanings"))
    if meanings is not None:
        return OneOfShape(meanings), facts
    if origin is Literal:
        return OneOfShape(dict.fromkeys(get_args(hint), facts.get("prose", ""))), facts
    if origin is list:
        return ListShape(_read(get_args(hint)[0], where)[0]), facts
    if is_typeddict(hint):
        return ObjectShape(fields_of(hint)), facts
    shapes: dict[object, Shape] = {
        bool: BooleanShape(),
        int: IntegerShape(minimum),
        str: StringShape(form),
    }
    if hint not in shapes:
        raise TypeError(f"{where}: the vocabulary has no shape for {hint!r}")
    return shapes[hint], facts


ENVELOPE: Mapping[str, FieldType] = fields_of(Envelope)
"""The fields that every event carries."""


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
