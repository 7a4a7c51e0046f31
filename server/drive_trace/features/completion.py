"""``textDocument/completion`` and ``completionItem/resolve``: what can be written at the cursor."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lsprotocol import types

from drive_trace import vocabulary
from drive_trace.authoring import drafts, events
from drive_trace.authoring import values as field_values
from drive_trace.authoring.values import Carried, Certainty, Choice, Slot, choices_of, open_slot
from drive_trace.features.hover import about_event, about_field, field_at
from drive_trace.features.new_events import END, Piece, pair, pairs, render, value
from drive_trace.features.results import View, markup, range_of, without_markup
from drive_trace.features.runs import Joined, carried_at, nothing_joined
from drive_trace.json_text import as_json
from drive_trace.text import spans, wording
from drive_trace.trace import document, line
from drive_trace.trace.cursor import Cursor, Where, cursor_at
from drive_trace.trace.scope import Scope, scope_at
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, EventType, FieldType, ListShape, slips

_Kind = types.CompletionItemKind
_OLD_KINDS = {_Kind.Event: _Kind.Snippet, _Kind.Struct: _Kind.Snippet, _Kind.EnumMember: _Kind.Enum}
"""The replacement of a kind that a client does not know."""
_LONGEST = 200
"""The most characters of a label."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a client can do with completion items."""

    snippets: bool = False
    replaces_rest: bool = False
    """Whether its edits can replace text after the cursor. Neovim's cannot; clients that can
    distinguish inserting from replacing.
    """
    label_details: bool = False
    kinds: frozenset[types.CompletionItemKind] = frozenset(list(_Kind)[:18])
    documentation: types.MarkupKind | None = None
    """The format of documentation; None for without_markup strings."""


class Candidate(NamedTuple):
    """Something that can be written at the cursor."""

    label: str
    pieces: tuple[Piece, ...]
    kind: types.CompletionItemKind
    note: str = ""
    """A description in without_markup words."""
    about: Mapping[str, object] | None = None
    """The data that its documentation is made of later."""
    word: str | None = None
    """The text by which it is found; None for its label."""


@dataclass(frozen=True, slots=True)
class _Request:
    """The place of a completion, and all that its candidates depend on."""

    view: View
    point: document.Point
    client: Abilities
    cursor: Cursor
    scope: Scope
    stamp: drafts.Stamp
    event: EventType | None
    """The event that the record is or seems to be; None if unknown."""
    context: field_values.EventContext
    """What the values of fields follow from."""
    joined: Joined

    def carried(self, event: EventType) -> Carried | None:
        """The values that the next event of a feed repeats; None for others, or if unknown."""
        return carried_at(self.scope, event, self.stamp.ts, self.joined)

    @property
    def fields(self) -> Mapping[str, FieldType]:
        """The fields of the object that the cursor is in, or whose value it is."""
        cursor = self.cursor
        path = cursor.path if cursor.where is Where.KEY else cursor.path[:-1]
        if not path:
            return self.event.fields if self.event is not None else vocabulary.ENVELOPE
        field = field_at(self.event, path)
        shape = field.shape if field is not None else None
        return shape.fields if isinstance(shape, vocabulary.ObjectShape) else {}


def completion(
    view: View,
    point: document.Point,
    *,
    client: Abilities,
    stamp: drafts.Stamp,
    joined: Joined = nothing_joined,
) -> types.CompletionList:
    """What can be written at a point, the likeliest first."""
    lines = view.lines
    cursor = cursor_at(lines[point.record].text, point.offset)
    if cursor is None:
        return types.CompletionList(is_incomplete=False, items=[])
    run_id = cursor.given.get("project_run_id")
    scope = scope_at(view.index, lines, point.record, run_id if isinstance(run_id, str) else None)
    event = _event(cursor)
    likely = event or events.next_events(scope)[0][0]
    carried = carried_at(scope, likely, stamp.ts, joined)
    context = events.context_of(likely, scope, stamp, cursor.given, carried)
    request = _Request(view, point, client, cursor, scope, stamp, event, context, joined)
    candidates = {Where.EVENT: _events, Where.KEY: _keys, Where.VALUE: _values}[cursor.where]
    return types.CompletionList(is_incomplete=False, items=_items(request, candidates(request)))


def _event(cursor: Cursor) -> EventType | None:
    name = cursor.given.get("event_type")
    if not isinstance(name, str):
        return None
    return EVENTS.get(name) or EVENTS.get(slips.event_meant(name) or "")


# Whole events


def _events(request: _Request) -> Iterator[Candidate]:
    for event, given in _in_order(request.scope):
        carried = request.carried(event)
        if event.is_feed and carried is None:  # a person gives it whole, key by key
            continue
        composed = events.compose(event, request.scope, request.stamp, given, carried)
        kind = events.variant_name(event, given, request.scope)
        yield Candidate(
            f"{event.name} ({wording.printable(kind)})" if kind else event.name,
            _record(composed.slots, request),
            _Kind.Event,
            _about_event(composed, carried),
            {"event": event.name},
        )


def _record(slots: Iterable[Slot], request: _Request) -> tuple[Piece, ...]:
    """A whole record; the last one of a file is followed by a newline and the cursor."""
    is_last = request.point.record == len(request.view.lines) - 1
    return ("{", *pairs(slots), "}", *((END, "\n") if is_last else ()))


def _in_order(scope: Scope) -> Iterator[tuple[EventType, Mapping[str, object]]]:
    """Each event with its given values. Events that can come next are first, each with its
    likeliest kind, or for all that it could belong to. All others follow.
    """
    others: list[tuple[EventType, Mapping[str, object]]] = []
    for event, is_next in events.next_events(scope):
        kinds = [(event, given) for given in events.variants(event, scope)]
        first = 1 if vocabulary.KINDS.keys() & event.fields.keys() else len(kinds)
        yield from kinds[: first if is_next else 0]
        others += kinds[first if is_next else 0 :]
    yield from others


def _about_event(composed: events.Composed, carried: Carried | None) -> str:
    """The thing that the event would belong to, or what it would repeat, else its prose."""
    event = composed.event
    if carried is not None and carried.note:
        values = (as_json(value).strip('"') for value in carried.values.values())
        return ", ".join((*values, carried.note))
    by_name = {slot.field.name: slot for slot in composed.slots}
    for entity in (Entity.ROUND, Entity.DISPATCH, Entity.SLICE):
        of = LIFETIMES[entity]
        slot = by_name.get(of.field)
        if slot is None or event.opens is entity or slot.certainty is Certainty.OPEN:
            continue
        if note := slot.choices[0].note:
            return note
    return event.prose.partition(".")[0]


# Keys


def _keys(request: _Request) -> Iterator[Candidate]:
    cursor = request.cursor
    absent = [field for name, field in request.fields.items() if name not in cursor.siblings]
    missing = sorted(absent, key=lambda field: not field.is_required)
    if cursor.has_colon:
        for field in missing:
            yield _key(request, field, _note_of(open_slot(field)), (as_json(field.name),))
        return
    slots = [_slot(field, request) for field in missing]
    candidates = [_key(request, slot.field, _note_of(slot), tuple(pair(slot))) for slot in slots]
    yield from candidates[:1]
    required = [slot for slot in slots if slot.field.is_required]
    if len(required) > 1:
        yield Candidate(
            f"all {len(required)} missing fields",
            tuple(pairs(required)),
            _Kind.Snippet,
            ", ".join(slot.field.name for slot in required),
        )
    yield from candidates[1:]


def _key(request: _Request, field: FieldType, note: str, pieces: tuple[Piece, ...]) -> Candidate:
    about = _about(request, (*request.cursor.path, field.name))
    return Candidate(field.name, pieces, _Kind.Field, note, about)


def _note_of(slot: Slot) -> str:
    """The value that the field would have, or the values that it can have."""
    if slot.certainty is Certainty.OPEN:
        is_text = isinstance(slot.field.shape, vocabulary.StringShape)
        return slot.field.prose.partition(".")[0] if is_text else slot.field.describe()
    note = slot.choices[0].note
    if (
        note
        and isinstance(slot.field.shape, vocabulary.StringShape)
        and slot.field.name != "project_run_id"
    ):
        return note  # of an id or a time
    return as_json(slot.value) + (f", {note}" if note else "")


def _slot(field: FieldType, request: _Request) -> Slot:
    if request.cursor.path:
        return open_slot(field)
    if field.name == "event_type":
        return open_slot(_EVENT_FIELD, _event_names(request))
    return field_values.slot_of(field, request.context)


_EVENT_FIELD = FieldType(
    "event_type",
    vocabulary.ENVELOPE["event_type"].prose,
    vocabulary.OneOfShape(dict.fromkeys(EVENTS, "")),
)
"""The event's type as a field with all types as choices."""


def _event_names(request: _Request) -> tuple[Choice, ...]:
    return tuple(Choice(each.name, each.family) for each, _ in events.next_events(request.scope))


# Values


def _values(request: _Request) -> Iterator[Candidate]:
    cursor = request.cursor
    *above, step = cursor.path
    if isinstance(step, int):
        yield from _list_items(request, tuple(above))
        return
    field = request.fields.get(step)
    if field is None:
        return
    if not above and step == "event_type":
        for choice in _event_names(request):
            about = {"event": choice.value}
            yield _value(choice, (as_json(choice.value),), _Kind.Event, about)
        return
    choices = choices_of(field, request.context) if not above else ()
    if isinstance(field.shape, ListShape | vocabulary.ObjectShape):
        yield from _composite(request, field, choices)
        return
    about = _about(request, cursor.path)
    for choice in choices:
        kind = _kind(field, choice)
        candidate = _value(choice, (as_json(choice.value),), kind, about)
        is_named = field.names in LIFETIMES and choice.value is not None
        # People find an id by the name of its thing, and do not type the id.
        yield candidate._replace(word=f"{candidate.label} {choice.note}") if is_named else candidate


def _composite(
    request: _Request, field: FieldType, choices: tuple[Choice, ...]
) -> Iterator[Candidate]:
    """An array or object as a whole, to fill in."""
    about = _about(request, request.cursor.path)
    values = [choice for choice in choices if choice.value is not None]
    is_null = not request.cursor.path[1:] and field_values.is_null_here(field, request.context)
    if isinstance(field.shape, ListShape):
        for choice in values:
            wrapped = Choice([choice.value], choice.note)
            yield _value(wrapped, (as_json(wrapped.value),), _Kind.EnumMember, about)
    if not values and not is_null:
        pieces = tuple(value(Slot(field, (), Certainty.OPEN)))
        candidate = _value(Choice(None, field.describe()), pieces, _Kind.Struct, about)
        yield candidate._replace(label="[…]" if isinstance(field.shape, ListShape) else "{…}")
    for choice in choices:
        if choice.value is None:
            yield _value(choice, ("null",), _Kind.Keyword, about)


def _list_items(request: _Request, path: line.Path) -> Iterator[Candidate]:
    """The items that an array can have and does not have yet."""
    is_field = request.event is not None and len(path) == 1
    field = field_at(request.event, path) if is_field else None
    if field is None or not isinstance(field.shape, ListShape):
        return
    about = _about(request, path)
    for choice in choices_of(field, request.context):
        if choice.value is not None and choice.value not in request.cursor.items:
            yield _value(choice, (as_json(choice.value),), _Kind.EnumMember, about)


def _value(
    choice: Choice,
    pieces: tuple[Piece, ...],
    kind: types.CompletionItemKind,
    about: Mapping[str, object],
) -> Candidate:
    label = choice.value if isinstance(choice.value, str) else as_json(choice.value)
    of_value = {**about, "value": choice.value} if isinstance(choice.value, str) else about
    return Candidate(label, pieces, kind, choice.note, of_value)


def _kind(field: FieldType, choice: Choice) -> types.CompletionItemKind:
    if choice.value is None or isinstance(choice.value, bool):
        return _Kind.Keyword
    if isinstance(field.shape, vocabulary.OneOfShape):
        return _Kind.EnumMember
    if field.names is Entity.PATH:
        return _Kind.File
    return _Kind.Reference if field.names in LIFETIMES else _Kind.Value


def _about(request: _Request, path: line.Path) -> dict[str, object]:
    """The data by which ``completionItem/resolve`` finds the documentation of a field."""
    name = request.event.name if request.event is not None else ""
    return {"event": name, "field": list(path)}


# Items as the client reads them


def _items(request: _Request, found: Iterable[Candidate]) -> list[types.CompletionItem]:
    """The candidates as items, in their order. The nearest one to a misspelt word comes first."""
    cursor, client = request.cursor, request.client
    candidates = list(found)
    meant = _meant(candidates, cursor.word)
    if meant is not None:
        candidates.sort(key=lambda candidate: candidate is not meant)
    typed = _text(request)[cursor.span.start : request.point.offset]
    before = "" if cursor.has_colon else cursor.before
    made = []
    for place, candidate in enumerate(candidates):
        pieces = (before, *candidate.pieces, cursor.after)
        text, is_snippet = render(pieces, snippets=client.snippets)
        note = wording.printable(candidate.note, _LONGEST) or None
        item = types.CompletionItem(
            label=wording.printable(candidate.label, _LONGEST),
            kind=candidate.kind
            if candidate.kind in client.kinds
            else _OLD_KINDS.get(candidate.kind),
            sort_text=f"{place:04}",
            filter_text=cursor.lead + (candidate.word or candidate.label),
            insert_text_format=types.InsertTextFormat.Snippet if is_snippet else None,
            text_edit=_edit(text, request),
            data=dict(candidate.about) if candidate.about else None,
        )
        if candidate is meant:
            item.filter_text = typed
        if not client.label_details:
            item.detail = note
        elif note:
            item.label_details = types.CompletionItemLabelDetails(description=note)
        made.append(item)
    return made


def _meant(candidates: Iterable[Candidate], word: str) -> Candidate | None:
    """The candidate that is nearest to a misspelt word."""
    by_label = {candidate.label: candidate for candidate in candidates}
    if not word or any(each.startswith(word) for each in by_label):
        return None
    found = slips.nearest(word, by_label)
    return by_label[found] if found is not None else None


def _text(request: _Request) -> str:
    """The text of the record."""
    return request.view.lines[request.point.record].text


def _edit(text: str, request: _Request) -> types.TextEdit:
    """Replaces the whole token, also its part after the cursor: inserting before the rest of a
    string or number would break it. If that rest is the same, only the part before is replaced.
    """
    span = request.cursor.span
    record, offset = request.point
    rest = _text(request)[offset : span.end]
    if not request.client.replaces_rest and rest and text.endswith(rest):
        span, text = spans.Span(span.start, offset), text.removesuffix(rest)
    return types.TextEdit(range_of(request.view, record, span), text)


# ``completionItem/resolve``


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
        field = field_at(event, tuple(path))
        text = about_field(field, data.get("value")) if field is not None else None
    elif event is not None:
        text = about_event(event)
    if text is not None:
        item.documentation = markup(text, kind) if kind is not None else without_markup(text)
    return item
