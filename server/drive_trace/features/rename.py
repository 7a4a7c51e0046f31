"""``textDocument/rename`` and ``textDocument/prepareRename``: another id for a run, a slice, a
dispatch or a round, wherever the trace names it.
"""

from __future__ import annotations

from typing import NamedTuple

from lsprotocol import types

from drive_trace.api import Analysis
from drive_trace.features.json_text import JsonText
from drive_trace.features.positions import range_of
from drive_trace.features.replacing import Replacement, as_edits
from drive_trace.rules.base import shown
from drive_trace.rules.edits import as_json
from drive_trace.text import PositionEncoding
from drive_trace.trace.document import Point
from drive_trace.trace.naming import Mention, Named, mention_at, mentions_of, named_by
from drive_trace.vocabulary import Entity

NOT_HERE = "Only the ids of runs, slices, dispatches and rounds can be renamed."


class CannotRename(NamedTuple):
    """Why a rename is refused."""

    reason: str


def prepare_rename(
    analysis: Analysis, point: Point, encoding: PositionEncoding
) -> types.PrepareRenamePlaceholder | None:
    """The id at a point, without its quotes; None where nothing can be renamed."""
    mention = _mention(analysis, point)
    if mention is None or not mention.value:
        return None
    where = range_of(analysis, point.record, mention.span, encoding)
    return types.PrepareRenamePlaceholder(where, mention.value)


def rename(
    analysis: Analysis, point: Point, new_name: str, encoding: PositionEncoding
) -> JsonText | CannotRename:
    """The text edits that give what is named at a point another id. Refused where something of
    the same kind has that id already: the two could not be told apart any more.
    """
    mention = _mention(analysis, point)
    if mention is None or not mention.value:
        return CannotRename(NOT_HERE)
    lines = analysis.document.lines
    named = named_by(lines, mention)
    if not new_name.strip():
        return CannotRename(f"A {named.entity.value} needs an id of at least one character.")
    replacements: list[Replacement] = []
    if new_name != named.value:
        others = mentions_of(lines, _called(named, new_name))
        if others:
            return CannotRename(_merges(others[0], named, new_name))
        text = as_json(new_name)[1:-1]
        replacements = [_replacement(each, text) for each in mentions_of(lines, named)]
    return as_edits(analysis.document, replacements, encoding)


def _mention(analysis: Analysis, point: Point) -> Mention | None:
    return mention_at(analysis.document.lines, point.record, point.offset)


def _called(named: Named, new_name: str) -> Named:
    is_run = named.entity is Entity.RUN
    return Named(named.entity, new_name if is_run else named.run_id, new_name)


def _merges(other: Mention, named: Named, new_name: str) -> str:
    what, number = named.entity.value, other.record + 1
    return (
        f"Line {number} names a {what} {shown(new_name)} already: "
        f"renaming this {what} would make the two one."
    )


def _replacement(mention: Mention, text: str) -> Replacement:
    start, end = (Point(mention.record, offset) for offset in mention.span)
    return Replacement(start, end, text)
