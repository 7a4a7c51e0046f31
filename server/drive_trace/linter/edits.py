"""Edits that several rules' fixes are made of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

import orjson

from drive_trace.json_text import ProblemKind
from drive_trace.linter.rule import Edit, Finding, Fix, Level
from drive_trace.text.spans import Span, replace_spans
from drive_trace.text.wording import shown
from drive_trace.trace.line import Diagnostic, DiagnosticKind, Line, Path
from drive_trace.trace.places import Part, Place, pair_at, resolve, syntax_of
from drive_trace.trace.reading import read_exactly
from drive_trace.trace.run import Run
from drive_trace.vocabulary import EVENTS, FieldType, Lifetime, ObjectShape, OneOfShape
from drive_trace.vocabulary.slips import nearest

_SPACE = " \t\r\n"
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_DELETING = {ProblemKind.COMMENT, ProblemKind.TEXT_AFTER}
"""Mistakes whose repair deletes what somebody wrote."""
_DATA = re.compile(r"[\d\"'{:]|pass|fail")
"""What no repair deletes: a number, a string, an object, a field, a grade."""
_LATEST = 24
"""So many of the latest starts are searched for the id that was meant."""
_END = 4
"""A slip leaves at least so many characters at the start or the end of an id as they were."""
_COMMA = re.compile(r"[ \t\r\n]*,[ \t\r\n]*")


def replace_value(line: Line, path: Path, text: str) -> Edit:
    """Put JSON text in place of the value at ``path``."""
    return Edit(line, resolve(line.text, Place(Part.VALUE, path)), text)


def replacing(
    finding: Finding, text: str, level: Level, title: str = "", place: Place | None = None
) -> Fix:
    """The fix that puts JSON text in place of the token that a finding marks, or of another
    ``place`` of its line.
    """
    edit = Edit(finding.line, resolve(finding.line.text, place or finding.place), text)
    return Fix(title or f"Replace with {text}", level, (edit,))


def replace_with_expected(finding: Finding, why: str = "") -> Iterable[Fix]:
    """Suggests what should stand in place of the token that a finding marks."""
    title = f"Replace with {shown(finding.expected)}{why}"
    yield replacing(finding, as_json(finding.expected), Level.BY_HAND, title)


def delete_member(line: Line, path: Path, occurrence: int = -1) -> Edit | None:
    """Take a whole pair out, with one of the commas beside it."""
    text = line.text
    pair = pair_at(text, path, occurrence)
    if pair is None or pair.value is None:
        return None
    after = _COMMA.match(text, pair.value.end)
    if after is not None:
        return Edit(line, Span(pair.key.start, after.end()), "")
    before = text[: pair.key.start].rstrip(_SPACE)
    start = len(before[:-1].rstrip(_SPACE)) if before.endswith(",") else pair.key.start
    return Edit(line, Span(start, pair.value.end), "")


def insert_fields(line: Line, path: Path, fields: Iterable[tuple[str, str]]) -> Edit | None:
    """Add pairs, given as key and JSON text, at the end of the object at ``path``."""
    pairs = ",".join(f"{as_json(key)}:{value}" for key, value in fields)
    end = resolve(line.text, Place(Part.END, path))
    if not pairs or line.text[end.start : end.end] != "}":
        return None
    before = line.text[: end.start].rstrip(_SPACE)
    comma = "" if before.endswith("{") else ","
    return Edit(line, Span(len(before), len(before)), comma + pairs)


def nearest_started(run: Run, of: Lifetime, line: Line, name: str) -> str | None:
    """The id that a wrong one is most likely a slip of: of what was started last before a line."""
    starts = run.events(of.opener)
    place = starts.position(line)
    ids = [start.text_fact(of.field) for start in starts[max(0, place - _LATEST) : place]]
    ids = [each for each in ids if each != name]
    likely = [each for each in ids if each[:_END] == name[:_END] or each[-_END:] == name[-_END:]]
    return nearest(name, reversed(likely)) if likely else None


def replace_id(finding: Finding, of: Lifetime) -> Iterable[Fix]:
    """Suggests the nearest id for one that was never started."""
    line, place = finding.line, finding.place
    assert finding.run is not None
    assert isinstance(place, Place)
    found = nearest_started(finding.run, of, line, line.text_fact(str(place.path[0])))
    if found is not None:
        yield replacing(finding, as_json(found), Level.BY_HAND, f"Replace with {shown(found)}")


def values_of(line: Line, path: Path = ()) -> Mapping[str, Any]:
    """The keys and values of the object at ``path``; none where there is no object."""
    return _values_of(line.text, path)


@lru_cache(maxsize=2)
def _values_of(text: str, path: Path) -> Mapping[str, Any]:
    # Asked for each undeclared key of a line in turn.
    try:
        data = orjson.loads(text)
    except ValueError:
        data = syntax_of(text).to_python()
    for step in path:
        data = data[step] if isinstance(data, dict) and step in data else None
    return data if isinstance(data, dict) else {}


def undeclared(line: Line) -> list[Diagnostic]:
    """The keys of a line that no event declares: each may be what a rejected line lacks."""
    return [each for each in line.diagnostics if each.kind is DiagnosticKind.UNDECLARED_FIELD]


def repairs(finding: Finding) -> Iterable[Fix]:
    """What can be done about a line that is not JSON. Nothing of it is safe on a line that names
    a feed: there it can change a verdict or a figure.
    """
    problem, text = finding.noted.problem, finding.line.text
    assert problem is not None
    for repair in problem.repairs:
        if problem.kind in _DELETING and any(_DATA.search(text, *span) for span, _ in repair.edits):
            continue
        # A torn line that lacks a field has lost values: closed, it would ask for nulls instead.
        mended = replace_spans(text, repair.edits)
        if problem.kind is ProblemKind.UNFINISHED and read_exactly(mended).event is None:
            continue
        edits = tuple(Edit(finding.line, *edit) for edit in repair.edits)
        level = Level.SAFE if repair.safe else Level.IN_BULK
        if problem.kind in _DELETING or names_a_feed(text):
            level = Level.BY_HAND
        yield Fix(repair.title, level, edits)


def capped(fix: Fix) -> Fix:
    """The fix as it may be made: in bulk, nothing is changed that says something of a feed, nor of
    a line with more findings than are told, which nobody wrote by hand.
    """
    lines = dict.fromkeys(edit.line for edit in fix.edits)
    if not any(line.is_crowded for line in lines):
        if fix.level is not Level.IN_BULK:
            return fix
        if not names_a_feed("".join(line.text for line in lines)):
            return fix
    return fix._replace(level=Level.BY_HAND)


def names_a_feed(text: str) -> bool:
    """Whether the name of a feed stands anywhere on a line, be it in escapes: of a broken line
    nobody knows for sure which event it was meant to be.
    """
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
    return any(event.name in plain for event in EVENTS.values() if event.is_feed)


def placeholder(field: FieldType) -> str:
    """JSON text for a field still to be filled in: null where that is a value, else a gap
    that stays an error, so that no fix can make up a fact. An empty string or array is no gap:
    readers accept it.
    """
    if field.nullable:
        return "null"
    if isinstance(field.shape, ObjectShape):
        inner = (
            f"{as_json(key)}:{placeholder(each)}"
            for key, each in field.shape.fields.items()
            if each.is_required
        )
        return "{" + ",".join(inner) + "}"
    if isinstance(field.shape, OneOfShape) and len(field.shape.meanings) == 1:
        return as_json(next(iter(field.shape.meanings)))
    return '""' if isinstance(field.shape, OneOfShape) else "null"


def is_gap(field: FieldType) -> bool:
    """Whether what :func:`placeholder` puts in still has to be filled in."""
    return not field.nullable and not (
        isinstance(field.shape, OneOfShape) and len(field.shape.meanings) == 1
    )


def as_json(value: object) -> str:
    """Compact JSON text of a value; a lone surrogate is written as its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text
