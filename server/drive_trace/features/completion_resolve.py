"""``completionItem/resolve``: the documentation of what was offered, when somebody looks at it."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.features.hovering.fields import about_field
from drive_trace.features.markup import markup, plain
from drive_trace.vocabulary import (
    ENVELOPE,
    EVENTS,
    EventType,
    FieldType,
    ObjectShape,
)


def resolve_completion(
    item: types.CompletionItem, kind: types.MarkupKind | None
) -> types.CompletionItem:
    """An item with its documentation, if the vocabulary has any for it; as bare text for clients
    that read no markup.
    """
    data = item.data if isinstance(item.data, dict) else {}
    event = EVENTS.get(str(data.get("event", "")))
    path = data.get("field")
    if isinstance(path, list):
        field = _field(event, path)
        text = about_field(field, data.get("value")) if field is not None else None
    else:
        text = _about_event(event) if event is not None else None
    if text is not None:
        item.documentation = markup(text, kind) if kind is not None else plain(text)
    return item


def _field(event: EventType | None, path: list[object]) -> FieldType | None:
    fields = event.fields if event is not None else ENVELOPE
    field = None
    for step in path:
        field = fields.get(str(step))
        if field is None:
            return None
        fields = field.shape.fields if isinstance(field.shape, ObjectShape) else {}
    return field


def _about_event(event: EventType) -> str:
    lines = [f"**{event.name}** · {event.family}", "", event.prose, ""]
    lines += [
        f"- `{name}` — {field.prose}"
        for name, field in event.fields.items()
        if name not in ENVELOPE
    ]
    return "\n".join(lines)
