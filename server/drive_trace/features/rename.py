"""``textDocument/rename`` and ``textDocument/prepareRename``: a new id for a run, a slice, a
dispatch or a round, wherever the trace names it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import TextChange, as_edits, range_of
from drive_trace.features.raw_json import JsonText
from drive_trace.linter.edits import as_json
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.text.wording import shown
from drive_trace.trace.document import Point
from drive_trace.trace.occurrences import NamedEntity, named_at, occurrences, taken
from drive_trace.trace.places import inside
from drive_trace.vocabulary import LIFETIMES, Entity

NOT_HERE = "Only the ids of runs, slices, dispatches and rounds can be renamed."
_CAN_RENAME = (Entity.RUN, *LIFETIMES)


class CannotRename(NamedTuple):
    """Why a rename is refused."""

    reason: str


def prepare_rename(
    analysis: Analysis, point: Point, encoding: PositionEncoding
) -> types.PrepareRenamePlaceholder | None:
    """The id at a point, without its quotes; None if nothing can be renamed there."""
    found = _named(analysis, point)
    if found is None:
        return None
    named, span = found
    where = range_of(analysis, point.record, inside(span), encoding)
    return types.PrepareRenamePlaceholder(where, named.value)


def rename(
    analysis: Analysis, point: Point, new_name: str, encoding: PositionEncoding
) -> JsonText | CannotRename:
    """The text edits that give the thing at a point another id. Refused if another thing of its
    type has that id already: nobody could tell the two apart any more.
    """
    found = _named(analysis, point)
    if found is None:
        return CannotRename(NOT_HERE)
    return rename_named(analysis, found[0], new_name, encoding)


def run_to_rename(analysis: Analysis, point: Point) -> NamedEntity | None:
    """The run whose id is at a point. Other files may name it, too."""
    found = _named(analysis, point)
    return found[0] if found is not None and found[0].entity is Entity.RUN else None


def rename_named(
    analysis: Analysis,
    named: NamedEntity,
    new_name: str,
    encoding: PositionEncoding,
    annotation: str | None = None,
) -> JsonText | CannotRename:
    """See :func:`rename`, for a thing whatever point it was found at."""
    if not new_name.strip():
        return CannotRename(f"A {named.entity.value} needs an id of at least one character.")
    replacements: Iterable[TextChange] = ()
    if new_name != named.value:
        other = taken(analysis.index, named, new_name)
        if other is not None:
            return CannotRename(_merges(analysis.line_number(other.line), named, new_name))
        text = as_json(new_name)[1:-1]
        number = analysis.document.number
        places = occurrences(analysis.index, named)
        replacements = (
            TextChange.within(number(each.line), inside(each.span), text) for each in places
        )
    return as_edits(analysis.document, replacements, encoding, annotation)


def _named(analysis: Analysis, point: Point) -> tuple[NamedEntity, Span] | None:
    found = named_at(analysis.document.lines[point.record], point.offset)
    can_rename = found is not None and found[0].entity in _CAN_RENAME and found[0].value
    return found if can_rename else None


def _merges(number: int, named: NamedEntity, new_name: str) -> str:
    what = named.entity.value
    return (
        f"Line {number} names a {what} {shown(new_name)} already: "
        f"renaming this {what} would make the two one."
    )
