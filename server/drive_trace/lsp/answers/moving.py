"""Answers that lead through a trace: definitions, references, its structure, links."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.features.definition import definition
from drive_trace.features.document_highlight import document_highlights
from drive_trace.features.document_link import document_links
from drive_trace.features.document_symbol import document_symbols
from drive_trace.features.folding_range import folding_ranges
from drive_trace.features.json_text import JsonText
from drive_trace.features.references import references
from drive_trace.features.selection_range import selection_range
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


def _symbols(asked: Asked, _params: types.DocumentSymbolParams) -> JsonText:
    options = asked.client.symbols
    return document_symbols(asked.analysis, asked.trace.uri, asked.encoding, options)


def _folds(asked: Asked, _params: types.FoldingRangeParams) -> JsonText:
    return folding_ranges(asked.analysis, asked.client.folding)


def _selections(asked: Asked, params: types.SelectionRangeParams) -> list[types.SelectionRange]:
    return [
        selection_range(asked.analysis, asked.point(position), asked.encoding)
        for position in params.positions
    ]


def _links(asked: Asked, _params: types.DocumentLinkParams) -> JsonText:
    return document_links(
        asked.analysis,
        asked.trace.uri,
        asked.encoding,
        asked.settings.links,
        [str(folder) for folder in asked.folders],
        with_tooltips=asked.client.reads_link_tooltips,
    )


ANSWERS = (
    Answer(types.TEXT_DOCUMENT_DEFINITION, _definition),
    Answer(types.TEXT_DOCUMENT_REFERENCES, _references),
    Answer(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, _highlights),
    Answer(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, _symbols, of_nothing=()),
    Answer(
        types.TEXT_DOCUMENT_DOCUMENT_LINK,
        _links,
        types.DocumentLinkOptions(resolve_provider=True),
        of_nothing=(),
    ),
    Answer(types.TEXT_DOCUMENT_FOLDING_RANGE, _folds, of_nothing=()),
    Answer(types.TEXT_DOCUMENT_SELECTION_RANGE, _selections, of_nothing=()),
)
