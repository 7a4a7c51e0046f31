"""``textDocument/definition``: where a dispatch, round or slice starts, a run begins, a file was
authored.
"""

from __future__ import annotations

from lsprotocol import types

from drive_trace.api import Analysis
from drive_trace.features.positions import range_of
from drive_trace.text import PositionEncoding, Span
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, event_of
from drive_trace.trace.mentions import strings_named
from drive_trace.trace.occurrences import Named, declarations, named_at, run_id_of
from drive_trace.trace.places import Part, Place, path_at, resolve
from drive_trace.vocabulary import LIFETIMES, Entity

MOST = 100
"""Starts of one thing that are offered: two are a mistake already."""


def definition(
    analysis: Analysis, point: Point, uri: str, encoding: PositionEncoding, *, with_origin: bool
) -> list[types.Location] | list[types.LocationLink] | None:
    """Where what is named at a point starts. An event's type leads to what the event belongs to:
    the start of its round, dispatch or slice, else of its run. ``with_origin`` gives links, which
    name the token that they lead from and the whole line that they lead to.
    """
    line = analysis.document.lines[point.record]
    found = named_at(line, point.offset) or _above(line, point.offset)
    if found is None:
        return None
    named, origin = found
    number = analysis.document.number
    places = [(number(each.line), each) for each in declarations(analysis.index, named)[:MOST]]
    if not with_origin:
        return [
            types.Location(uri, range_of(analysis, record, each.span, encoding))
            for record, each in places
        ]
    here = range_of(analysis, point.record, origin, encoding)
    return [
        types.LocationLink(
            uri,
            range_of(analysis, record, resolve(each.line.text, Place(Part.WHOLE)), encoding),
            range_of(analysis, record, each.span, encoding),
            origin_selection_range=here,
        )
        for record, each in places
    ]


def _above(line: Line, offset: int) -> tuple[Named, Span] | None:
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
                return Named(entity, run_id, value), origin
    return Named(Entity.RUN, run_id, run_id), origin
