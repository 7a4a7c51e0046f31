"""What results are made of: JSON text, the protocol's positions and text edits, and markup."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple, TypeAlias

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.stopping import unless_stopped
from drive_trace.text import codec, spans
from drive_trace.trace.document import Document, Point, Position
from drive_trace.trace.index import Index
from drive_trace.trace.line import Line


class JsonText:
    """A part of a value that is JSON text already."""

    __slots__ = ("text",)

    def __init__(self, text: bytes) -> None:
        self.text = text


def joined(lists: Iterable[JsonText]) -> JsonText:
    """One list of all their items."""
    items = (each.text[1:-1] for each in lists)
    return JsonText(b"[%b]" % b",".join(filter(None, items)))


_PART = 500


def json_list(items: Iterable[object]) -> JsonText:
    """A list of all these as JSON text, made in parts: to encode and free many at once holds up
    every other thread.
    """
    rest = unless_stopped(items)
    return joined(JsonText(dumps(part)) for part in iter(lambda: [*islice(rest, _PART)], []))


def dumps(value: object) -> bytes:
    """JSON text of a value; a lone surrogate becomes its escape."""
    try:
        return codec.dumps(value, default=_as_it_stands)
    except TypeError:
        return json.dumps(value, separators=(",", ":"), default=_parsed).encode()


def _as_it_stands(part: object) -> object:
    if isinstance(part, JsonText):
        return codec.Fragment(part.text)
    raise TypeError(f"{type(part).__name__} is no JSON")


def _parsed(part: object) -> object:
    if isinstance(part, JsonText):
        return json.loads(part.text)
    raise TypeError(f"{type(part).__name__} is no JSON")


class CannotMake(NamedTuple):
    """Why there is no result."""

    reason: str


@dataclass(frozen=True, slots=True)
class View:
    """A trace as a client sees it."""

    analysis: Analysis
    encoding: spans.PositionEncoding
    """How it counts characters."""

    @property
    def document(self) -> Document:
        """Its records."""
        return self.analysis.document

    @property
    def lines(self) -> Sequence[Line]:
        """Its lines as they are now."""
        return self.analysis.document.lines

    @property
    def index(self) -> Index:
        """Its runs."""
        return self.analysis.index


# Positions and ranges

PlainRange: TypeAlias = dict[str, dict[str, int]]
"""A range as JSON."""


def range_of(view: View, record: int, span: spans.Span) -> types.Range:
    """The protocol's range of a span of a record."""
    start, end = Point(record, span.start), Point(record, span.end)
    return range_between(view, start, end)


def range_between(view: View, start: Point, end: Point) -> types.Range:
    """The protocol's range between two points."""
    ends = (view.document.position_of(each, view.encoding) for each in (start, end))
    return types.Range(*(types.Position(*each) for each in ends))


def point_at(view: View, position: types.Position) -> Point:
    """The point at a position of the protocol. A position past the end is the end."""
    return view.document.point_at(Position(position.line, position.character), view.encoding)


def plain_range(view: View, record: int, span: spans.Span) -> PlainRange:
    """A range of a record as JSON, for results with a range for each line of a long trace."""
    start, end = Point(record, span.start), Point(record, span.end)
    return plain_between(view, start, end)


def plain_between(view: View, start: Point, end: Point) -> PlainRange:
    """The range between two points as JSON."""
    ends = (view.document.position_of(each, view.encoding)._asdict() for each in (start, end))
    return dict(zip(("start", "end"), ends, strict=True))


# Text edits


class TextChange(NamedTuple):
    """Another text for the place between two points."""

    start: Point
    end: Point
    text: str

    @classmethod
    def within(cls, record: int, span: spans.Span, text: str) -> TextChange:
        """The change of a span of a record."""
        return cls(Point(record, span.start), Point(record, span.end), text)


def of_record(record: int, before: str, after: str) -> TextChange:
    """The change from one record to another, from the first different character to the last."""
    start = spans.common_start(before, after)
    end = spans.common_start(before[start:][::-1], after[start:][::-1])
    return TextChange(
        Point(record, start), Point(record, len(before) - end), after[start : len(after) - end]
    )


def as_edits(view: View, replacements: Iterable[TextChange]) -> JsonText:
    """A list of text edits as JSON text, as a large trace can need one for each line."""
    return json_list(
        {"range": plain_between(view, start, end), "newText": text}
        for start, end, text in replacements
    )


def workspace_edits(
    edits: Sequence[tuple[types.OptionalVersionedTextDocumentIdentifier, JsonText]],
    *,
    with_document_changes: bool,
) -> dict[str, Any]:
    """A ``WorkspaceEdit`` of several documents, in the form that the client reads."""
    if not with_document_changes:
        return {"changes": {document.uri: each for document, each in edits}}
    changes = [
        {"textDocument": {"uri": document.uri, "version": document.version}, "edits": each}
        for document, each in edits
    ]
    return {"documentChanges": changes}


# Markup


_CODE = re.compile(r"(?<!`)(`+)(?!`)( ?)(.*?)\2(?<!`)\1(?!`)")
_STRESS = re.compile(r"(\*\*?)(?=\S)(.*?\S)\1")
_LINK = re.compile(r"\[([^\[\]]+)\]\([^()\s]+\)")
_SEPARATOR = re.compile(r"\|(?: *:?-+:? *\|)+")


def markup(text: str, kind: types.MarkupKind) -> types.MarkupContent:
    """Markdown of the server in the client's format."""
    return types.MarkupContent(
        kind, text if kind is types.MarkupKind.Markdown else without_markup(text)
    )


def without_markup(text: str) -> str:
    """The text of Markdown as :mod:`drive_trace.scorecard.render` and the hovers write it."""
    lines = [
        ": ".join(_inline(cell.strip()) for cell in line.strip("| ").split(" | "))
        if line.startswith("| ")
        else _inline(line)
        for line in text.split("\n")
        if not _SEPARATOR.fullmatch(line)
    ]
    return "\n".join("" if line == "---" else line for line in lines)


def _inline(line: str) -> str:
    """A line without its marks. The text of code spans stays as it is."""
    parts: list[str] = []
    done = 0
    for match in _CODE.finditer(line):
        parts += [line[done : match.start()], match[3]]
        done = match.end()
    parts.append(line[done:])
    # Emphasis may reach over a code span: ``**`pass`**``.
    held = _LINK.sub(r"\1", "\0".join(parts[0::2]))
    outside = _STRESS.sub(r"\2", _STRESS.sub(r"\2", held)).split("\0")
    codes = [*parts[1::2], ""]
    return "".join(text + code for text, code in zip(outside, codes, strict=True))
