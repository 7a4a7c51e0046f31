"""``completionItem/resolve``: the documentation of what was offered, when somebody looks at it."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.features.hover.fields import about_event, about_field, field_at
from drive_trace.features.markup import markup, plain
from drive_trace.trace.places import Part, Place
from drive_trace.vocabulary import EVENTS


def resolve_completion(
    item: types.CompletionItem, kind: types.MarkupKind | None
) -> types.CompletionItem:
    """An item with its documentation, if the vocabulary has any for it; as bare text for clients
    that read no markup.
    """
    data = item.data if isinstance(item.data, dict) else {}
    event = EVENTS.get(str(data.get("event", "")))
    path = data.get("field")
    text = None
    if isinstance(path, list) and path:
        field = field_at(event, Place(Part.VALUE, tuple(path)))
        text = about_field(field, data.get("value")) if field is not None else None
    elif event is not None:
        text = about_event(event)
    if text is not None:
        item.documentation = markup(text, kind) if kind is not None else plain(text)
    return item
