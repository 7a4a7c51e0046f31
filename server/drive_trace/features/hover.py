"""``textDocument/hover``: what a token means, and the scorecard of the run it belongs to."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.api import Analysis, run_of
from drive_trace.features.markup import markup
from drive_trace.features.positions import range_of
from drive_trace.rules.edits import nearest
from drive_trace.scorecard.render import card_markdown, code
from drive_trace.text import PositionEncoding
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, OddLine
from drive_trace.trace.places import Part, Place, node_at, path_at, resolve, syntax_of
from drive_trace.vocabulary import (
    ENVELOPE,
    EVENTS,
    LIFETIMES,
    Entity,
    EventType,
    FieldType,
    ListShape,
    ObjectShape,
    OneOfShape,
)

_RULE = "\n\n---\n\n"


def hover(
    analysis: Analysis,
    point: Point,
    encoding: PositionEncoding,
    kind: types.MarkupKind = types.MarkupKind.Markdown,
    elsewhere: str | None = None,
) -> types.Hover | None:
    """What stands at a point; None where there is nothing to say. ``elsewhere`` is put below the
    card of a run: what other traces say of it.
    """
    line = analysis.document.lines[point.record]
    place = path_at(line.text, point.offset)
    if place is None:
        return None
    card = _card(analysis, line, place)
    if card is not None and elsewhere is not None:
        card += f"\n\n{elsewhere}"
    parts = [part for part in (card, _about(analysis, line, place)) if part]
    if not parts:
        return None
    span = resolve(line.text, place)
    return types.Hover(
        contents=markup(_RULE.join(parts), kind),
        range=range_of(analysis, point.record, span, encoding),
    )


def _card(analysis: Analysis, line: Line, place: Place) -> str | None:
    """The run's scorecard: on every token of a feed event, and on any run id."""
    event = _event(line)
    if place.path != ("project_run_id",) and (event is None or not event.is_feed):
        return None
    run_id = _run_id(line)
    run = analysis.score_run(run_id) if run_id is not None else None
    if run is not None:
        return card_markdown(run) + _standing(analysis, line)
    if run_id is None:
        return None
    return (
        "**not computable — missing: external correctness signal**\n\n"
        f"No valid event of run {code(run_id)} stands in this trace."
    ) + _standing(analysis, line)


def _standing(analysis: Analysis, line: Line) -> str:
    """Of a feed's line that does not count: why."""
    if line.is_rejected:
        return "\n\nThis line is rejected: it counts for nothing."
    event = line.event
    if event is None or not event.is_feed:
        return ""
    following = analysis.index.runs[line.text_fact("project_run_id")].events(event.name).after(line)
    if following is None:
        return ""
    return f"\n\nThis event counts no more: line {analysis.line_number(following)} supersedes it."


def _run_id(line: Line) -> str | None:
    known = run_of(line)
    if known is not None:
        return known
    node = node_at(syntax_of(line.text).root, ("project_run_id",))
    return node.value if node is not None and isinstance(node.value, str) else None


def _about(analysis: Analysis, line: Line, place: Place) -> str | None:
    event = _event(line)
    if place.path == ("event_type",) and place.part is Part.VALUE:
        return _about_event(event) if event is not None else _unknown_event(line)
    field = _field(event, place)
    if field is None:
        name = code(str(place.path[-1]))
        return f"{name} is not declared for this event: readers ignore it." if event else None
    parts = [_about_field(field, _value(line, place))]
    value = _value_text(line, place, field)
    if value:
        parts.append(value)
    named = _about_named(analysis, line, place, field)
    if named:
        parts.append(named)
    return "\n\n".join(parts)


def _about_event(event: EventType) -> str:
    lines = [f"**{event.name}** · {event.family}", "", event.prose, ""]
    lines += [
        f"- `{field.name}` — {field.prose} *{field.describe()}*"
        for name, field in event.fields.items()
        if name not in ENVELOPE
    ]
    return "\n".join(lines)


def _unknown_event(line: Line) -> str | None:
    name = line.event_name if isinstance(line, OddLine) else None
    if name is None:
        return None
    guess = nearest(name, EVENTS)
    hint = f" Did you mean `{guess}`?" if guess else ""
    return f"{code(name)} is not an event of the vocabulary: readers keep it apart.{hint}"


def _about_field(field: FieldType, value: object) -> str:
    unit = f" Counted in {field.unit}." if field.unit else ""
    text = f"**{field.name}** — {field.prose}{unit}\n\n*{field.describe()}*"
    meanings = _meanings(field)
    if meanings:
        names = ((f"**`{each}`**" if each == value else f"`{each}`") for each in meanings)
        said = zip(names, meanings.values(), strict=True)
        text += "\n\n" + "\n".join(f"- {name} — {what}" for name, what in said)
    return text


def _meanings(field: FieldType) -> dict[str, str]:
    shape = field.shape.item if isinstance(field.shape, ListShape) else field.shape
    if isinstance(shape, OneOfShape) and len(shape.meanings) > 1:
        return dict(shape.meanings)
    return {}


def _value_text(line: Line, place: Place, field: FieldType) -> str | None:
    value = _value(line, place)
    if isinstance(value, int) and not isinstance(value, bool) and field.unit and value >= 1000:
        return f"= {value:,} {field.unit}"
    return None


def _value(line: Line, place: Place) -> object:
    """The scalar at a place that is a value."""
    node = node_at(syntax_of(line.text).root, place.path) if place.part is Part.VALUE else None
    return node.value if node is not None else None


def _about_named(analysis: Analysis, line: Line, place: Place, field: FieldType) -> str | None:
    """Where the dispatch, round or slice that a value names starts and ends."""
    named = _value(line, place)
    if field.names in (None, Entity.RUN, Entity.EVENT, Entity.PATH) or not isinstance(named, str):
        return None
    of = LIFETIMES[field.names]
    starts = analysis.index.table(of.opener, of.field).of(named)
    ends = analysis.index.table(of.closer, of.field).of(named)
    if not starts:
        return f"No event of this trace starts this {of.entity}."
    name = starts[-1].fact("dispatch_name") if of.entity is Entity.DISPATCH else None
    said = f"{code(str(name))}: started" if name else "Started"
    said += f" on line {analysis.line_number(starts[0])}"
    said += f", ended on line {analysis.line_number(ends[-1])}." if ends else ", not ended."
    return said


def _event(line: Line) -> EventType | None:
    """The event that a line records or was meant to record."""
    if line.event is not None:
        return line.event
    return EVENTS.get(line.event_name or "") if isinstance(line, OddLine) else None


def _field(event: EventType | None, place: Place) -> FieldType | None:
    fields = event.fields if event is not None else ENVELOPE
    field = fields.get(str(place.path[0]))
    for step in place.path[1:]:
        if field is not None and isinstance(step, str) and isinstance(field.shape, ObjectShape):
            field = field.shape.fields.get(step)
    return field
