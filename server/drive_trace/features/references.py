"""``textDocument/definition``, ``references`` and ``documentHighlight``: where a trace starts, and
where it names, the thing under the cursor.
"""

from __future__ import annotations

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import plain_range, range_of
from drive_trace.features.raw_json import JsonText, dumps
from drive_trace.json_text.lexemes import strings_named
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, event_of
from drive_trace.trace.occurrences import (
    NamedEntity,
    Role,
    declarations,
    first_of_run,
    named_at,
    occurrences,
    occurrences_near,
)
from drive_trace.trace.places import Part, Place, path_at, resolve
from drive_trace.trace.references import run_id_of
from drive_trace.vocabulary import LIFETIMES, Entity

Targets = list[types.Location] | list[types.LocationLink]

MOST_TARGETS = 100
"""The most starts of one thing that are offered. Two are a mistake already."""
MOST_HIGHLIGHTS = 500
"""An editor requests them at each move of the cursor, and shows those in its window."""


def leading(analysis: Analysis, point: Point) -> tuple[NamedEntity, Span] | None:
    """The thing that a point refers to, and the token there. The type of an event refers to what
    the event belongs to: its round, dispatch or slice, else its run.
    """
    line = analysis.document.lines[point.record]
    return named_at(line, point.offset) or _above(line, point.offset)


def definition(
    analysis: Analysis,
    named: NamedEntity,
    uri: str,
    encoding: PositionEncoding,
    origin: types.Range | None,
) -> Targets:
    """Where something starts: links from ``origin``, or locations if that is None."""
    number = analysis.document.number
    found = declarations(analysis.index, named)
    places = [(number(each.line), each) for each in found[:MOST_TARGETS]]
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


def opening(uri: str, origin: types.Range | None) -> Targets:
    """The beginning of a file: a link from ``origin``, or a location if that is None."""
    start = types.Range(types.Position(0, 0), types.Position(0, 0))
    if origin is None:
        return [types.Location(uri, start)]
    return [types.LocationLink(uri, start, start, origin_selection_range=origin)]


def begins_run(analysis: Analysis, point: Point) -> bool:
    """Whether a point is on the id of a run where the trace first names it."""
    line = analysis.document.lines[point.record]
    found = named_at(line, point.offset)
    if found is None or found[0].entity is not Entity.RUN:
        return False
    return first_of_run(analysis.index, found[0].value) is line


def _above(line: Line, offset: int) -> tuple[NamedEntity, Span] | None:
    """What an event belongs to, if its type is at the offset. An event that starts something does
    not belong to that.
    """
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


def references(
    analysis: Analysis,
    named: NamedEntity,
    uri: str,
    encoding: PositionEncoding,
    *,
    with_declarations: bool,
) -> JsonText:
    """The locations where a trace names something, in order; ``with_declarations`` also those
    where that starts.
    """
    number = analysis.document.number
    locations = [
        {"uri": uri, "range": plain_range(analysis, number(each.line), each.span, encoding)}
        for each in unless_stopped(occurrences(analysis.index, named))
        if with_declarations or each.role is not Role.DECLARES
    ]
    return JsonText(dumps(locations))


def document_highlights(
    analysis: Analysis, point: Point, encoding: PositionEncoding
) -> list[types.DocumentHighlight] | None:
    """The highlights of a thing: a write starts, ends or changes it, any other is a read. None if
    the point is on no name.
    """
    line = analysis.document.lines[point.record]
    found = named_at(line, point.offset)
    if found is None:
        return None
    kinds = types.DocumentHighlightKind
    number = analysis.document.number
    return [
        types.DocumentHighlight(
            range_of(analysis, number(each.line), each.span, encoding),
            kinds.Read if each.role is Role.READS else kinds.Write,
        )
        for each in occurrences_near(analysis.index, found[0], line, MOST_HIGHLIGHTS)
    ]
