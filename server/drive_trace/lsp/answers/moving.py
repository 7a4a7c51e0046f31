"""Answers that lead through a trace: definitions, references, its structure, links."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.features.definition import definition
from drive_trace.features.document_highlight import document_highlights
from drive_trace.features.json_text import JsonText
from drive_trace.features.references import references
from drive_trace.lsp.answers.base import Answer, Asked


def _definition(
    asked: Asked, params: types.DefinitionParams
) -> list[types.Location] | list[types.LocationLink] | None:
    return definition(
        asked.analysis,
        asked.point(params.position),
        asked.trace.uri,
        asked.encoding,
        with_origin=asked.client.reads_location_links,
    )


def _references(asked: Asked, params: types.ReferenceParams) -> JsonText | None:
    return references(
        asked.analysis,
        asked.point(params.position),
        asked.trace.uri,
        asked.encoding,
        with_declarations=params.context.include_declaration,
    )


def _highlights(
    asked: Asked, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight] | None:
    return document_highlights(asked.analysis, asked.point(params.position), asked.encoding)


ANSWERS = (
    Answer(types.TEXT_DOCUMENT_DEFINITION, _definition),
    Answer(types.TEXT_DOCUMENT_REFERENCES, _references),
    Answer(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, _highlights),
)
