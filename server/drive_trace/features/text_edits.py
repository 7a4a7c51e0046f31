"""Changes of a trace's text, as minimal text edits of the protocol."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from lsprotocol import types

from drive_trace.features.positions import plain_between
from drive_trace.features.raw_json import JsonText, dumps
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.document import Document, Point


class TextChange(NamedTuple):
    """Another text for the place between two points."""

    start: Point
    end: Point
    text: str

    @classmethod
    def within(cls, record: int, span: Span, text: str) -> TextChange:
        """The change of a span of a record."""
        return cls(Point(record, span.start), Point(record, span.end), text)


def of_record(record: int, before: str, after: str) -> TextChange:
    """The change from one record to another, from the first different character to the last."""
    start = _common_start(before, after)
    end = _common_start(before[start:][::-1], after[start:][::-1])
    return TextChange(
        Point(record, start), Point(record, len(before) - end), after[start : len(after) - end]
    )


def _common_start(one: str, other: str) -> int:
    """How many characters two texts begin with alike."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def as_edits(
    document: Document,
    replacements: Iterable[TextChange],
    encoding: PositionEncoding,
    annotation: str | None = None,
) -> JsonText:
    """A list of text edits as JSON text, as a large trace can need one for each line.
    ``annotation`` is the id of their change annotation.
    """
    more = {"annotationId": annotation} if annotation is not None else {}
    edits = [
        {"range": plain_between(document, start, end, encoding), "newText": text, **more}
        for start, end, text in unless_stopped(replacements)
    ]
    return JsonText(dumps(edits))


def workspace_edits(
    edits: Sequence[tuple[types.OptionalVersionedTextDocumentIdentifier, JsonText]],
    *,
    with_document_changes: bool,
    annotations: Mapping[str, types.ChangeAnnotation] | None = None,
) -> dict[str, Any]:
    """A ``WorkspaceEdit`` of several documents, in the form that the client reads."""
    if not with_document_changes:
        return {"changes": {document.uri: each for document, each in edits}}
    changes = [
        {"textDocument": {"uri": document.uri, "version": document.version}, "edits": each}
        for document, each in edits
    ]
    described = {
        name: {"label": each.label, "description": each.description}
        for name, each in (annotations or {}).items()
    }
    return {"documentChanges": changes, **({"changeAnnotations": described} if described else {})}


def workspace_edit(
    document: types.OptionalVersionedTextDocumentIdentifier,
    edits: JsonText,
    *,
    with_document_changes: bool,
) -> dict[str, Any]:
    """A ``WorkspaceEdit`` of one document, in the form that the client reads."""
    return workspace_edits([(document, edits)], with_document_changes=with_document_changes)
