"""What the events are declared with. Read where the vocabulary is written down, checked or shown to
pydantic: see :mod:`drive_trace.vocabulary`.

The annotation of a field has every fact about it: its type and limits, whether
it may be null, its prose, its unit, its allowed values with their meanings, and
which entity it names. Validation, hover, quick fixes, JSON Schema and docs all
read it from there.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec.structs import asdict
from typing_extensions import TypedDict, is_typeddict

from drive_trace.vocabulary import registry
from drive_trace.vocabulary.registry import ALWAYS_KEPT, EventType, FieldType, Shape
from drive_trace.vocabulary.types import ENVELOPE_EXAMPLE, Entity, Family, Form, Reference


class Prose(msgspec.Struct, frozen=True):
    """What a field means, in Markdown."""

    prose: str

    def __get_pydantic_json_schema__(self, schema: Any, handler: Any) -> dict[str, Any]:
        return {**handler(schema), "description": self.prose}


class OneOf:
    """A string restricted to some, each given with what it means."""

    def __init__(self, *meanings: tuple[str, str]) -> None:
        self.meanings: Mapping[str, str] = dict(meanings)

    def __get_pydantic_core_schema__(self, *_: object) -> Any:
        return {"type": "literal", "expected": list(self.meanings)}


class Names(msgspec.Struct, frozen=True):
    """The field's value names an entity of this kind."""

    names: Entity


class Refers(msgspec.Struct, frozen=True):
    """The field's value refers to something of this kind, as people write it: ``SHOP-214``."""

    refers_to: Reference


class Written(msgspec.Struct, frozen=True):
    """The field's string is written like this by convention.

    An id has this where it is introduced: what refers to it can only repeat it.
    """

    form: Form


class IsOutcome(msgspec.Struct, frozen=True):
    """The field says how something came out. A tool that guessed one could make bad good."""

    is_outcome: bool = True


class Unit(msgspec.Struct, frozen=True):
    """What one of an integer field counts."""

    unit: str


class Null(msgspec.Struct, frozen=True):
    """What it means that a field is null, as the end of a sentence."""

    null_means: str


class AtLeast(msgspec.Struct, frozen=True):
    """The least value that an integer may have."""

    minimum: int

    def __get_pydantic_core_schema__(self, *_: object) -> Any:
        return {"type": "int", "ge": self.minimum}


Count = Annotated[int, AtLeast(0)]
"""An integer of at least 0."""

Ordinal = Annotated[int, AtLeast(1)]
"""An integer of at least 1."""

Milliseconds = Annotated[Count, Unit("milliseconds")]
Bytes = Annotated[Count, Unit("bytes")]
Tokens = Annotated[Count, Unit("tokens")]

DispatchId = Annotated[
    str, Names(Entity.DISPATCH), Prose("The dispatch this event belongs to (UUID).")
]
RoundId = Annotated[str, Names(Entity.ROUND), Prose("The round this event belongs to (UUID).")]
SliceSlug = Annotated[
    str,
    Names(Entity.SLICE),
    Prose("The slice's short name, as its folder under `slices/` is called."),
]
ArtifactPath = Annotated[str, Names(Entity.PATH), Written(Form.PATH)]


# The envelope: the six fields every event carries, flat beside its payload


class Envelope(TypedDict):
    """The fields that every event carries, in the order in which the reference emitter writes them:
    the payload follows.
    """

    event_id: Annotated[
        str,
        Names(Entity.EVENT),
        Written(Form.UUID),
        Prose("Identifies this one event; a UUID v4, unique in the trace."),
    ]
    schema_version: Annotated[
        Literal["1"], Prose('The vocabulary\'s version: exactly the string `"1"`.')
    ]
    ts: Annotated[
        str,
        Written(Form.TIMESTAMP),
        Prose(
            "The wall clock when the event was emitted: ISO 8601 in UTC, "
            "such as `2026-05-28T14:00:00.000Z`."
        ),
    ]
    project_run_id: Annotated[
        str,
        Names(Entity.RUN),
        Prose(
            "The run this event belongs to: a project's slug, `orphan-<slice>` or "
            "`direct-<ISO time>`. The scorecard is computed per run."
        ),
    ]
    orchestrator_agent_id: Annotated[
        str | None,
        Prose("The orchestrator's session, or null where it is not known."),
        Null("the session is not known"),
    ]
    event_type: Annotated[str, Prose("Which of the vocabulary's events this is.")]


# Declarations


_T = TypeVar("_T", bound=type)
DECLARED: list[tuple[type, EventType]] = []
"""Every event with the TypedDict that declares it, which pydantic reads, in their order."""


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
            **facts,
        )
        DECLARED.append((cls, declared))
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
        return registry.OneOfShape(meanings), facts
    if origin is Literal:
        return registry.OneOfShape(dict.fromkeys(get_args(hint), facts.get("prose", ""))), facts
    if origin is list:
        return registry.ListShape(_read(get_args(hint)[0], where)[0]), facts
    if is_typeddict(hint):
        return registry.ObjectShape(fields_of(hint)), facts
    shapes: dict[object, Shape] = {
        bool: registry.BooleanShape(),
        int: registry.IntegerShape(minimum),
        str: registry.StringShape(form),
    }
    if hint not in shapes:
        raise TypeError(f"{where}: the vocabulary has no shape for {hint!r}")
    return shapes[hint], facts


ENVELOPE: Mapping[str, FieldType] = fields_of(Envelope)
"""The fields that every event carries."""
