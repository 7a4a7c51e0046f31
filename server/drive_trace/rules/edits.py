"""Edits that several rules' fixes are made of."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable

from drive_trace.rules.base import Edit
from drive_trace.text import Span
from drive_trace.trace.line import Line, Path
from drive_trace.trace.places import Part, Place, member_at, node_at, resolve, syntax_of
from drive_trace.vocabulary import FieldType, ObjectShape, OneOfShape


def replace_value(line: Line, path: Path, text: str) -> Edit:
    """Put JSON text in place of the value at ``path``."""
    return Edit(line, resolve(line.text, Place(Part.VALUE, path)), text)


def replace_key(line: Line, path: Path, key: str) -> Edit:
    """Give the pair at ``path`` another key."""
    return Edit(line, resolve(line.text, Place(Part.KEY, path)), as_json(key))


def delete_member(line: Line, path: Path, occurrence: int = -1) -> Edit | None:
    """Take a whole pair out, with one of the commas beside it."""
    root = syntax_of(line.text).root
    owner = node_at(root, path[:-1])
    member = member_at(root, path, occurrence)
    if owner is None or member is None or member.value is None:
        return None
    members = owner.members
    place = next(at for at, each in enumerate(members) if each.key_span == member.key_span)
    if place + 1 < len(members):
        span = Span(member.key_span.start, members[place + 1].key_span.start)
    else:
        before = members[place - 1].value if place else None
        start = before.span.end if before is not None else member.key_span.start
        span = Span(start, member.value.span.end)
    return Edit(line, span, "")


def insert_fields(line: Line, path: Path, fields: Iterable[tuple[str, str]]) -> Edit | None:
    """Add pairs, given as key and JSON text, at the end of the object at ``path``."""
    node = node_at(syntax_of(line.text).root, path)
    pairs = ",".join(f"{as_json(key)}:{value}" for key, value in fields)
    if node is None or not pairs:
        return None
    last = node.members[-1].value if node.members else None
    at = last.span.end if last is not None else node.span.end - 1
    return Edit(line, Span(at, at), f",{pairs}" if node.members else pairs)


def placeholder(field: FieldType) -> str:
    """JSON text for a field still to be filled in: null where that is a value, else a gap
    that stays an error, so that no fix can make up a fact. An empty string or array is no gap:
    readers accept it.
    """
    if field.nullable:
        return "null"
    if isinstance(field.shape, ObjectShape):
        inner = (f"{as_json(key)}:{placeholder(each)}" for key, each in field.shape.fields.items())
        return "{" + ",".join(inner) + "}"
    if isinstance(field.shape, OneOfShape) and len(field.shape.meanings) == 1:
        return as_json(next(iter(field.shape.meanings)))
    return '""' if isinstance(field.shape, OneOfShape) else "null"


def as_json(value: object) -> str:
    """Compact JSON text of a value; a lone surrogate is written as its escape."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))
    return text


def nearest(word: str, choices: Iterable[str]) -> str | None:
    """The choice that ``word`` is most likely a slip of, if any is near enough."""
    by_lower = {choice.lower(): choice for choice in choices}
    found = difflib.get_close_matches(word[:80].lower(), by_lower, n=1, cutoff=0.7)
    return by_lower[found[0]] if found else None
