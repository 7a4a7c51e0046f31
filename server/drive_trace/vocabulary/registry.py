"""Turns the declared event classes into :class:`EventType` values, the form the engine reads."""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass, field, replace
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from typing_extensions import get_type_hints, is_typeddict

from drive_trace.vocabulary.forms import Form
from drive_trace.vocabulary.types import (
    AtLeast,
    Entity,
    Family,
    IsOutcome,
    Names,
    Null,
    OneOf,
    Prose,
    Reference,
    Refers,
    Unit,
    Written,
)

_EVENT_TYPE_PROSE = "Which of the 19 events this is."

ALWAYS_KEPT = ("ts", "event_id", "project_run_id")
"""The first of every event's ``keeps``, at the same positions for all events."""


@dataclass(frozen=True, slots=True)
class StringShape:
    """Any string; ``form`` says how it is written by convention."""

    form: Form | None = None

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return "a string"


@dataclass(frozen=True, slots=True)
class IntegerShape:
    """A number whose value as a finite double is whole, of at least ``minimum`` (None: any)."""

    minimum: int | None = None

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return "an integer" if self.minimum is None else f"an integer of at least {self.minimum}"


@dataclass(frozen=True, slots=True)
class BooleanShape:
    """``true`` or ``false``."""

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return "true or false"


@dataclass(frozen=True, slots=True)
class OneOfShape:
    """One of the strings in ``meanings``, which says what each means."""

    meanings: Mapping[str, str]

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return one_of(list(self.meanings))


@dataclass(frozen=True, slots=True)
class ListShape:
    """An array whose items all have one shape."""

    item: Shape

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        return f"an array, each item {self.item.describe()}"


@dataclass(frozen=True, slots=True)
class ObjectShape:
    """An object with exactly these required fields."""

    fields: Mapping[str, FieldType]

    def describe(self) -> str:
        """The shape in words, for messages and hovers."""
        kinds = {known.describe() for known in self.fields.values()}
        if len(kinds) == 1:
            *names, last = self.fields
            return f"an object with {', '.join(names)} and {last}, each {kinds.pop()}"
        inner = ", ".join(f"{name}: {known.describe()}" for name, known in self.fields.items())
        return f"an object {{{inner}}}"


Shape = StringShape | IntegerShape | BooleanShape | OneOfShape | ListShape | ObjectShape


@dataclass(frozen=True, slots=True)
class FieldType:
    """One field of an event: everything that is known of it."""

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
    """What it says where it is null; every field that may be null has this."""
    plain_class: type | None = field(init=False, compare=False)
    """The class that nearly all right values are of, as Python reads JSON; None: see the shape."""
    plain_values: Container[object] | None = field(init=False, compare=False)
    """Which values of that class are right, and written as they should be; None: all of them."""

    def __post_init__(self) -> None:
        plain_class, plain_values = _plain(self.shape)
        object.__setattr__(self, "plain_class", plain_class)
        object.__setattr__(self, "plain_values", plain_values)

    @property
    def gap(self) -> str | None:
        """What stands for a number that is still to be filled in: no JSON, so that it cannot be
        left standing unseen.
        """
        if not isinstance(self.shape, IntegerShape):
            return None
        return self.unit or ("number" if self.shape.minimum != 0 else "count")

    def describe(self) -> str:
        """The allowed values in words: ``an integer of at least 0, or null``."""
        return self.shape.describe() + (", or null" if self.nullable else "")


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


@dataclass(frozen=True, slots=True)
class EventType:
    """One event of the vocabulary."""

    name: str
    family: Family
    prose: str
    """What it records and when it is emitted, in Markdown."""
    fields: Mapping[str, FieldType]
    """Every field, the envelope's first, in the order they are written."""
    example: Mapping[str, object]
    keeps: tuple[str, ...]
    """Fields whose values the index remembers: what lines are compared by."""
    is_work: bool
    """Whether the event shows that the run went on (a verdict recorded before it is stale)."""
    is_feed: bool
    """Whether the event is recorded about the run from outside, the last one counting."""
    opens: Entity | None
    """The kind of entity that this event starts, named by the field of that kind."""
    closes: Entity | None
    """The kind of entity that this event ends."""
    leads_to: tuple[str, ...]
    """Events that most often come right after it, the likeliest first; not what its kind of entity
    leads to anyway.
    """
    declared: type = field(compare=False)
    """The pydantic-readable TypedDict that declares it."""


@dataclass(frozen=True, slots=True)
class Declaration:
    """What ``@event`` notes on a class; the class's annotations say the rest."""

    family: Family
    example: Mapping[str, object]
    keeps: tuple[str, ...]
    is_work: bool
    opens: Entity | None
    closes: Entity | None
    leads_to: tuple[str, ...]


_T = TypeVar("_T", bound=type)
_declarations: dict[type, Declaration] = {}


def event(  # noqa: PLR0913 - keywords, each a fact
    family: Family,
    *,
    example: Mapping[str, object],
    keeps: tuple[str, ...] = (),
    is_work: bool = False,
    opens: Entity | None = None,
    closes: Entity | None = None,
    leads_to: tuple[str, ...] = (),
) -> Callable[[_T], _T]:
    """Declare the decorated TypedDict as an event; its docstring is the event's prose.

    ``example`` gives the payload only: the envelope is the same for every event.
    """

    def declare(cls: _T) -> _T:
        _declarations[cls] = Declaration(family, example, keeps, is_work, opens, closes, leads_to)
        cls.__pydantic_config__ = {"title": event_name(cls), "strict": True}  # type: ignore[attr-defined]
        return cls

    return declare


def event_name(cls: type) -> str:
    """The ``event_type`` string that a declared class stands for."""
    return str(get_args(cls.__annotations__["event_type"])[0])


def declared_events(envelope_example: Mapping[str, object]) -> dict[str, EventType]:
    """Every declared event by name: family by family, in the order of declaration."""
    events = map(_build(envelope_example), _declarations.items())
    families = list(Family)
    return {kind.name: kind for kind in sorted(events, key=lambda e: families.index(e.family))}


def _build(
    envelope_example: Mapping[str, object],
) -> Callable[[tuple[type, Declaration]], EventType]:
    def build(declared: tuple[type, Declaration]) -> EventType:
        cls, note = declared
        name = event_name(cls)
        fields = fields_of(cls)
        fields["event_type"] = replace(fields["event_type"], prose=_EVENT_TYPE_PROSE)
        named = tuple(known.name for known in fields.values() if known.names)
        return EventType(
            name=name,
            family=note.family,
            prose=" ".join((cls.__doc__ or "").split()),
            fields=fields,
            example={**envelope_example, "event_type": name, **note.example},
            keeps=tuple(dict.fromkeys((*ALWAYS_KEPT, *named, *note.keeps))),
            is_work=note.is_work,
            is_feed=note.family is Family.FEEDS,
            opens=note.opens,
            closes=note.closes,
            leads_to=note.leads_to,
            declared=cls,
        )

    return build


def fields_of(cls: type) -> dict[str, FieldType]:
    """The fields of a TypedDict, inherited ones first."""
    hints = get_type_hints(cls, include_extras=True)
    return {name: _field(name, hint) for name, hint in hints.items()}


def _field(name: str, hint: object) -> FieldType:
    read = _Annotations()
    shape = read.shape(hint)
    return FieldType(
        name,
        read.prose,
        shape,
        read.nullable,
        read.unit,
        read.names,
        read.refers_to,
        read.is_outcome,
        read.null_means,
    )


class _Annotations:
    """Collects what the nested ``Annotated`` layers of one field say; outer layers win."""

    def __init__(self) -> None:
        self.prose = ""
        self.unit: str | None = None
        self.names: Entity | None = None
        self.refers_to: Reference | None = None
        self.is_outcome = False
        self.null_means: str | None = None
        self.nullable = False
        self._minimum: int | None = None
        self._one_of: OneOf | None = None
        self._form: Form | None = None

    def shape(self, hint: object) -> Shape:
        origin = get_origin(hint)
        if origin is Annotated:
            inner, *notes = get_args(hint)
            for note in reversed(notes):
                self._note(note)
            return self.shape(inner)
        if origin in (Union, UnionType):
            self.nullable = True
            (inner,) = (part for part in get_args(hint) if part is not NoneType)
            return self.shape(inner)
        if origin is Literal:
            return OneOfShape(dict.fromkeys(get_args(hint), self.prose))
        if origin is list:
            return ListShape(_field("", get_args(hint)[0]).shape)
        if is_typeddict(hint):
            return ObjectShape(fields_of(hint))  # type: ignore[arg-type]
        return self._plain(hint)

    def _plain(self, hint: object) -> Shape:
        if self._one_of is not None:
            return OneOfShape(self._one_of.meanings)
        if hint is bool:
            return BooleanShape()
        if hint is int:
            return IntegerShape(self._minimum)
        if hint is str:
            return StringShape(self._form)
        raise TypeError(f"the vocabulary has no shape for {hint!r}")

    def _note(self, note: Any) -> None:
        if isinstance(note, Prose):
            self.prose = self.prose or note.text
        elif isinstance(note, AtLeast):
            self._minimum = note.minimum
        elif isinstance(note, OneOf):
            self._one_of = note
        elif isinstance(note, IsOutcome):
            self.is_outcome = True
        elif isinstance(note, Unit):
            self.unit = note.name
        elif isinstance(note, Names):
            self.names = note.entity
        elif isinstance(note, Refers):
            self.refers_to = note.reference
        elif isinstance(note, Null):
            self.null_means = note.means
        elif isinstance(note, Written):
            self._form = note.form


def one_of(choices: list[str]) -> str:
    """``"a"``, ``"a" or "b"``, ``"a", "b" or "c"``."""
    quoted = [f'"{choice}"' for choice in choices]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} or {quoted[-1]}"
