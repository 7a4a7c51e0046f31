"""What the events are declared with. Read where the vocabulary is written down, checked or shown to
pydantic: see :mod:`drive_trace.vocabulary`.

The annotation of a field has every fact about it: its type and limits, whether
it may be null, its unit, its allowed values, and which entity it names. The
text below it says what it means, in Markdown, and then what each allowed value
means. Validation, hover, quick fixes, JSON Schema and docs all read it from there.
"""

import ast
import inspect
import json
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from itertools import pairwise
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, Literal, NotRequired, TypeVar, Union, get_args, get_origin

import msgspec
from msgspec.structs import asdict
from typing_extensions import TypedDict, is_typeddict

from drive_trace.vocabulary import registry
from drive_trace.vocabulary.registry import ALWAYS_KEPT, EventType, FieldType, Shape
from drive_trace.vocabulary.types import Entity, Family, Form, Reference


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

ArtifactPath = Annotated[str, Names(Entity.PATH), Written(Form.PATH)]


# The envelope: the six fields every event carries, flat beside its payload


class Envelope(TypedDict):
    """The fields that every event carries, in the order in which the reference emitter writes them:
    the payload follows.

    Example: {"event_id": "0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90", "schema_version": "1",
    "ts": "2026-05-28T14:00:00.000Z", "project_run_id": "checkout-retry",
    "orchestrator_agent_id": null, "event_type": ""}
    """

    event_id: Annotated[str, Names(Entity.EVENT), Written(Form.UUID)]
    """Identifies this one event; a UUID v4, unique in the trace."""
    schema_version: Literal["1"]
    """The vocabulary's version: exactly the string `"1"`."""
    ts: Annotated[str, Written(Form.TIMESTAMP)]
    """The wall clock when the event was emitted: ISO 8601 in UTC, such as
    `2026-05-28T14:00:00.000Z`.
    """
    project_run_id: Annotated[str, Names(Entity.RUN)]
    """The run this event belongs to: a project's slug, `orphan-<slice>` or `direct-<ISO time>`. The
    scorecard is computed per run.
    """
    orchestrator_agent_id: Annotated[str | None, Null("the session is not known")]
    """The orchestrator's session, or null where it is not known."""
    event_type: str
    """Which of the vocabulary's events this is."""


# Declarations


_T = TypeVar("_T", bound=type)
_MEANING = re.compile(r"^- `(.*?)`: (.*)$", re.MULTILINE)
DECLARED: list[tuple[type, EventType]] = []
"""Every event with the TypedDict that declares it, which pydantic reads, in their order."""


def event(family: Family, *, keeps: tuple[str, ...] = (), **facts: Any) -> Callable[[_T], _T]:
    """Declare the decorated TypedDict as an event, with further facts of :class:`EventType`. Its
    docstring is the event's prose, and then an example as JSON: of the payload only, as the
    envelope is the same for every event.

    The index keeps what ``keeps`` names, every field that names an entity, and all fields of a
    feed. What else a declaration needs, ``tools/event_faults.py`` says.
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
        prose, example = _documented(cls)
        kept = tuple(dict.fromkeys((*ALWAYS_KEPT, *named, *recorded, *keeps)))
        declared = EventType(
            name=name,
            family=family,
            prose=prose,
            fields=fields,
            example={**_documented(Envelope)[1], "event_type": name, **example},
            keeps=kept,
            positions={each: position for position, each in enumerate(kept)},
            is_feed=is_feed,
            **facts,
        )
        DECLARED.append((cls, declared))
        in_schema(cls, fields, title=name)
        return cls

    return declare


def _documented(cls: type) -> tuple[str, Mapping[str, object]]:
    prose, _, example = " ".join((cls.__doc__ or "").split()).partition("Example: ")
    try:
        return prose.strip(), json.loads(example or "{}")
    except json.JSONDecodeError as error:
        raise TypeError(f"{cls.__name__} has an example that is no JSON: {error}") from error


def in_schema(cls: Any, fields: Mapping[str, FieldType], **config: Any) -> None:
    """Have pydantic read a TypedDict strictly, and its JSON Schema say what each field means."""

    def describe(schema: dict[str, Any]) -> None:
        schema["description"], _ = _documented(cls)
        for name, each in schema["properties"].items():
            if name != "event_type":
                each["description"] = fields[name].prose

    cls.__pydantic_config__ = {"strict": True, "json_schema_extra": describe, **config}


def fields_of(
    cls: type, narrowed: Mapping[str, FieldType] = MappingProxyType({})
) -> dict[str, FieldType]:
    """The fields of a TypedDict, inherited ones first; what only narrows one of ``narrowed`` has
    its prose. Raises TypeError for a type that is none of a field.
    """
    inherited = Envelope.__annotations__ if narrowed else {}
    fields, texts = dict[str, FieldType](), texts_below(cls)
    for name, hint in cls.__annotations__.items():
        if inherited.get(name) is hint:
            fields[name] = narrowed[name]
        else:
            text = texts.get(name, "")
            shape, facts = _read(hint, f"{cls.__name__}.{name}", "" if name in narrowed else text)
            fields[name] = FieldType(name, shape=shape, prose=_prose(text), **facts)
    return fields


def texts_below(cls: type) -> dict[str, str]:
    """What stands in the code below each field of a class, and of TypedDicts that it extends."""
    found: dict[str, str] = {}
    for base in filter(is_typeddict, getattr(cls, "__orig_bases__", ())):
        found |= texts_below(base)
    return {**found, **_texts_in(cls.__module__).get(cls.__name__, {})}


@cache
def _texts_in(module: str) -> Mapping[str, Mapping[str, str]]:
    code = ""
    with suppress(OSError):  # as where only bytecode is installed
        code = inspect.getsource(sys.modules[module])
    classes = (each for each in ast.parse(code).body if isinstance(each, ast.ClassDef))
    return {
        each.name: {
            field.target.id: inspect.cleandoc(str(below.value.value))
            for field, below in pairwise(each.body)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name)
            if isinstance(below, ast.Expr) and isinstance(below.value, ast.Constant)
        }
        for each in classes
    }


def _prose(text: str) -> str:
    return " ".join(text.partition("\n\n- ")[0].split())


def _read(hint: Any, where: str, text: str = "") -> tuple[Shape, dict[str, Any]]:
    """A shape, and what the layers around it say: what an outer one says holds."""
    facts: dict[str, Any] = {}
    while (origin := get_origin(hint)) in (Annotated, NotRequired, Union, UnionType):
        if origin is Annotated:
            hint, *notes = get_args(hint)
            for note in reversed(notes):
                facts = {**asdict(note), **facts}
        elif origin is NotRequired:
            (hint,) = get_args(hint)
            facts["is_required"] = False
        else:
            (hint,) = (part for part in get_args(hint) if part is not NoneType)
            facts["nullable"] = True
    minimum, form = (facts.pop(each, None) for each in ("minimum", "form"))
    if origin is Literal:
        known, of_one = dict(_MEANING.findall(text)), _prose(text) * (len(get_args(hint)) == 1)
        return registry.OneOfShape(
            {each: known.get(each, of_one) for each in get_args(hint)}
        ), facts
    if origin is list:
        return registry.ListShape(_read(get_args(hint)[0], where, text)[0]), facts
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
