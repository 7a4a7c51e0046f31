"""``textDocument/definition``: where a dispatch, round or slice starts, a run begins, a file was
authored.
"""

from __future__ import annotations

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import range_of
from drive_trace.json_text.lexemes import strings_named
from drive_trace.tasks import Task
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, event_of
from drive_trace.trace.mentions import run_id_of
from drive_trace.trace.occurrences import NamedEntity, declarations, first_of_run, named_at
from drive_trace.trace.places import Part, Place, path_at, resolve
from drive_trace.vocabulary import LIFETIMES, Entity

Targets = list[types.Location] | list[types.LocationLink]

MOST = 100
"""Starts of one thing that are offered: two are a mistake already."""


def leading(analysis: Analysis, point: Point) -> tuple[NamedEntity, Span] | None:
    """What a point leads to, and the token there. An event's type leads to what the event belongs
    to: the start of its round, dispatch or slice, else of its run.
    """
    line = analysis.document.lines[point.record]
    return named_at(line, point.offset) or _above(line, point.offset)


def definition(
    analysis: Analysis,
    named: NamedEntity,
    uri: str,
    encoding: PositionEncoding,
    origin: types.Range | None,
) -> Task[Targets]:
    """Where something starts, as links from ``origin``, or as locations where that is None."""
    number = analysis.document.number
    found = yield from declarations(analysis.index, named)
    places = [(number(each.line), each) for each in found[:MOST]]
    if origin is None:
        return [
            types.Location(uri, range_of(analysis, record, each.span, encoding))
            for record, each in places
        ]
    return [
        types.LocationLink(
            uri,
            range_of(analysis, record, resolve(each.line.text, Place(Part.WHOLE)), encoding),
            range_of(analysis, record, each.span, encoding),
            origin_selection_range=origin,
        )
        for record, each in places
    ]


def begins_run(analysis: Analysis, point: Point) -> bool:
    """Whether a point is on the id of a run where the trace first names it."""
    line = analysis.document.lines[point.record]
    found = named_at(line, point.offset)
    if found is None or found[0].entity is not Entity.RUN:
        return False
    return first_of_run(analysis.index, found[0].value) is line


def _above(line: Line, offset: int) -> tuple[NamedEntity, Span] | None:
    """What the event whose type stands at an offset belongs to, itself apart."""
    place = path_at(line.text, offset)
    if place != Place(Part.VALUE, ("event_type",)):
        return None
    event, run_id = event_of(line), run_id_of(line)
    origin = resolve(line.text, place)
    if event is None or run_id is None:
        return None
    for entity in (Entity.ROUND, Entity.DISPATCH, Entity.SLICE):
        field = LIFETIMES[entity].field
        if event.opens is not entity and field in event.fields:
            for value, _ in strings_named(line.text, field):
                return NamedEntity(entity, run_id, value), origin
    return NamedEntity(Entity.RUN, run_id, run_id), origin
