"""``textDocument/selectionRange``: from the inside of a string to its pair, its line, the round,
the dispatch, the slice, the run and the whole trace.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import range_between
from drive_trace.json_text import Node, NodeKind
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, earliest, latest
from drive_trace.trace.places import Part, Place, resolve, syntax_of
from drive_trace.trace.structure import Nesting, lines_naming, nesting_of, slice_around
from drive_trace.vocabulary import LIFETIMES, Entity

_MOST_WITHIN = 32
"""The most selections within a line. An undeclared field may be nested a million deep."""


class _Extent(NamedTuple):
    """The lines of something."""

    first: Line | None
    last: Line | None


def selection_range(
    analysis: Analysis, point: Point, encoding: PositionEncoding
) -> types.SelectionRange:
    """The ranges that a selection grows to, from the innermost on."""
    document = analysis.document
    line = document.lines[point.record]
    whole = resolve(line.text, Place(Part.WHOLE))
    within = list(_within(line.text, point.offset))[:_MOST_WITHIN]
    spots = [
        (Point(point.record, span.start), Point(point.record, span.end))
        for span in (whole, *within)
        if span.start <= point.offset <= span.end
    ]
    last = len(document.lines) - 1
    found = types.SelectionRange(
        range_between(analysis, Point(0, 0), Point(last, len(document.lines[last].text)), encoding)
    )
    for start, end in (*_around(analysis, point.record), *spots):
        wider, here = found.range, range_between(analysis, start, end, encoding)
        if here != wider:
            found = types.SelectionRange(here, found)
    return found


def _around(analysis: Analysis, record: int) -> list[tuple[Point, Point]]:
    """The run, slice, dispatch and round of a line, each as wide as all its lines."""
    document = analysis.document
    line = document.lines[record]
    nesting = nesting_of(analysis.index, document.lines, record)
    found: list[tuple[Point, Point]] = []
    inner = _Extent(line, line)
    for extent in _extents(analysis, nesting, line):
        first = earliest((inner.first, extent.first)) or line
        last = latest((inner.last, extent.last)) or line
        inner = _Extent(first, last)
        end = document.number(last)
        found.append((Point(document.number(first), 0), Point(end, len(last.text))))
    return found[::-1]


def _extents(analysis: Analysis, nesting: Nesting, line: Line) -> Iterator[_Extent]:
    """The lines of the round, dispatch, slice and run of a line, innermost first."""
    index, run_id = analysis.index, nesting.run
    if run_id is None:
        return
    for entity, value in ((Entity.ROUND, nesting.round), (Entity.DISPATCH, nesting.dispatch)):
        if value is not None:
            yield _extent(lines_naming(index, run_id, LIFETIMES[entity], value))
    if nesting.slice is not None:
        yield _Extent(*slice_around(index, run_id, nesting.slice, line))
    run, rejected = index.runs.get(run_id), index.rejected.get(run_id)
    valid = run.by_event.values() if run is not None else ()
    yield _extent((*valid, *filter(None, (rejected,))))


def _extent(sets: Iterable[Sequence[Line]]) -> _Extent:
    """The first and the last of some lines; no sequence is empty."""
    ends = [(lines[0], lines[-1]) for lines in sets]
    return _Extent(earliest(first for first, _ in ends), latest(last for _, last in ends))


def _within(text: str, offset: int) -> Iterator[Span]:
    """The values and pairs of a record around a code point, outermost first. A string is followed
    by its inside.
    """
    node = syntax_of(text).root
    while node is not None:
        yield node.span
        if node.kind is NodeKind.STRING and node.span.end - node.span.start > 1:
            inner = Span(node.span.start + 1, node.span.end - 1)
            if inner.start <= offset <= inner.end:
                yield inner
        node, spans = _step(node, offset)
        yield from spans


def _step(node: Node, offset: int) -> tuple[Node | None, tuple[Span, ...]]:
    """The inner value at a code point, and the selections on the way there."""
    for member in node.members:
        key, value = member.key_span, member.value
        pair = Span(key.start, value.span.end if value is not None else key.end)
        if not pair.start <= offset <= pair.end:
            continue
        if key.start <= offset <= key.end:
            inner = Span(key.start + 1, key.end - 1)
            is_inside = inner.start <= offset <= inner.end
            return None, (pair, key, inner) if is_inside else (pair, key)
        is_at_value = value is not None and value.span.start <= offset
        return value if is_at_value else None, (pair,)
    inside = (item for item in node.items if item.span.start <= offset <= item.span.end)
    return next(inside, None), ()
