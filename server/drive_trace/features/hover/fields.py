"""The meaning of events, fields and their values, from the vocabulary."""

from __future__ import annotations

from drive_trace.features.hover.pointed import Pointed
from drive_trace.text.escaping import code
from drive_trace.trace.line import name_of
from drive_trace.trace.places import Place
from drive_trace.vocabulary import (
    ENVELOPE,
    EventType,
    FieldType,
    ListShape,
    ObjectShape,
    OneOfShape,
)
from drive_trace.vocabulary.slips import event_meant


def field_at(event: EventType | None, place: Place) -> FieldType | None:
    """The declaration of a field at a place. For an item of a list, that of the list."""
    fields = event.fields if event is not None else ENVELOPE
    field = fields.get(str(place.path[0]))
    for step in place.path[1:]:
        shape = field.shape if field is not None else None
        if isinstance(step, str):
            field = shape.fields.get(step) if isinstance(shape, ObjectShape) else None
        elif not isinstance(shape, ListShape):
            field = None
    return field


def about_event(event: EventType) -> str:
    """The prose of an event, and its fields."""
    lines = [f"**{event.name}** · {event.family}", "", event.prose, ""]
    lines += [
        f"- `{field.name}` — {field.prose} *{field.describe()}*"
        for name, field in event.fields.items()
        if name not in ENVELOPE
    ]
    return "\n".join(lines)


def about_unknown_event(at: Pointed) -> str | None:
    """How readers treat an event outside the vocabulary."""
    name = name_of(at.line)
    if name is None:
        return None
    guess = event_meant(name)
    hint = f" Did you mean `{guess}`?" if guess else ""
    return f"{code(name)} is not an event of the vocabulary: readers keep it apart.{hint}"


def about_undeclared(at: Pointed) -> str | None:
    """How readers treat a key that its event does not declare."""
    if at.event is None:
        return None
    name = next(step for step in reversed(at.place.path) if isinstance(step, str))
    return f"{code(name)} is not declared for this event: readers ignore it."


def about_field(field: FieldType, value: object = None, *, is_null: bool = False) -> str:
    """The meaning of a field, and its allowed values, with ``value`` in bold."""
    unit = f" Counted in {field.unit}." if field.unit else ""
    text = f"**{field.name}** — {field.prose}{unit}\n\n"
    shape = field.shape.item if isinstance(field.shape, ListShape) else field.shape
    if not isinstance(shape, OneOfShape) or len(shape.meanings) == 1:
        return f"{text}*{field.describe()}*"
    head = "*an array, each item one of*\n\n" if isinstance(field.shape, ListShape) else ""
    bullets = [_bullet(name, what, name == value) for name, what in shape.meanings.items()]
    if field.nullable:
        bullets.append(_bullet("null", field.null_means or "", is_null))
    return text + head + "\n".join(bullets)


def _bullet(name: str, meaning: str, stands_there: bool) -> str:
    shown = f"**`{name}`**" if stands_there else f"`{name}`"
    return f"- {shown} — {meaning}"


def about_null(at: Pointed) -> str | None:
    """The meaning of a null that stands there."""
    field = at.field
    if field is None or field.null_means is None or not at.is_null:
        return None
    if isinstance(field.shape, OneOfShape):
        return None  # it stands among the other values
    return f"`null`: {field.null_means}."
