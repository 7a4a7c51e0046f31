"""``textDocument/codeAction`` and ``codeAction/resolve``: what an event says of a file, its length
and hash, filled in from the file. Reading it is up to who calls.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.features.code_actions.offers import (
    FILL_KIND,
    CannotMake,
    Offer,
    asks_for,
    other_by_now,
)
from drive_trace.features.code_actions.record_edits import Replacement
from drive_trace.linter.edits import as_json, insert_fields, replace_value, values_of
from drive_trace.text.escaping import printable
from drive_trace.trace.document import Point
from drive_trace.trace.line import Line, event_of
from drive_trace.trace.places import pair_at
from drive_trace.vocabulary.files import FILES, FileFacts

FILL = "fill"


class Contents(NamedTuple):
    """What is in a file."""

    length: int
    """In bytes."""
    sha256: str
    """In hexadecimal."""


def fill_offers(
    analysis: Analysis, at: Point, only: object, is_file: Callable[[str], bool]
) -> list[Offer]:
    """One where the line says where its file lies, and it does."""
    if not asks_for(only, FILL_KIND):
        return []
    facts = _facts(analysis.document.lines[at.record])
    path = _path(analysis.document.lines[at.record], facts) if facts is not None else None
    if facts is None or path is None or not is_file(path):
        return []
    data = {"make": FILL, "record": at.record, "path": path}
    return [Offer(_called(facts, path), FILL_KIND, data)]


def filled(
    analysis: Analysis, data: Mapping[str, Any], contents: Contents
) -> list[Replacement] | CannotMake:
    """What changes on the line of an offer. Raises KeyError or TypeError for other data."""
    record, lines = data["record"], analysis.document.lines
    if not isinstance(record, int):
        raise TypeError("a line has a number")
    line = lines[record] if 0 <= record < len(lines) else None
    facts = _facts(line) if line is not None else None
    if line is None or facts is None or _path(line, facts) != data["path"]:
        return CannotMake("The line has changed meanwhile: ask again.")
    refused = other_by_now(data, _called(facts, data["path"]))
    if refused is not None:
        return refused
    wanted = {facts.length: as_json(contents.length)}
    if facts.sha256 is not None:
        wanted[facts.sha256] = as_json(contents.sha256)
    there = {name: text for name, text in wanted.items() if pair_at(line.text, (name,))}
    edits = [replace_value(line, (name,), text) for name, text in there.items()]
    missing = [(name, text) for name, text in wanted.items() if name not in there]
    added = insert_fields(line, (), missing) if missing else None
    return [
        Replacement(Point(record, edit.span.start), Point(record, edit.span.end), edit.text)
        for edit in (*edits, *((added,) if added is not None else ()))
    ]


def _called(facts: FileFacts, path: str) -> str:
    what = "hash and length" if facts.sha256 else "length"
    return f"Fill in {what} from {printable(path)}"


def _facts(line: Line) -> FileFacts | None:
    """What the event of a line says of a file."""
    event = event_of(line)
    if event is None:
        return None
    return next(
        (
            each
            for each in FILES
            if each.length in event.fields
            and (each.path in event.fields or each.sha256 in event.fields)
        ),
        None,
    )


def _path(line: Line, facts: FileFacts) -> str | None:
    path = values_of(line).get(facts.path)
    return path if isinstance(path, str) and path else None
