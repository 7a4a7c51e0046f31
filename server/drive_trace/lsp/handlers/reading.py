"""Requests that change nothing: hover, lenses, hints and tokens, definitions and references,
symbols, folds and links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features import semantic_tokens as tokens
from drive_trace.features.code_lens import code_lenses, resolve_lens
from drive_trace.features.document_link import document_links, find_links, paths_in
from drive_trace.features.document_symbol import document_symbols
from drive_trace.features.folding_range import folding_ranges
from drive_trace.features.hover import hover
from drive_trace.features.inlay_hints import inlay_hints, resolve_hint
from drive_trace.features.positions import range_of
from drive_trace.features.raw_json import JsonText, joined
from drive_trace.features.references import (
    Targets,
    begins_run,
    definition,
    document_highlights,
    leading,
    opening,
    references,
)
from drive_trace.features.referents import HoverOptions
from drive_trace.features.selection_range import selection_range
from drive_trace.lsp.handlers.base import RequestHandler, ResolveHandler, TraceRequest
from drive_trace.lsp.rpc.capabilities import Client, path_of
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace.open_traces import check_unchanged
from drive_trace.stopping import unless_stopped
from drive_trace.storage.linked_files import linked_files
from drive_trace.trace.occurrences import named_at
from drive_trace.trace.references import run_id_of
from drive_trace.vocabulary import Entity


def _hover(request: TraceRequest, params: types.HoverParams) -> types.Hover | None:
    point = request.point(params.position)
    run_id = run_id_of(request.analysis.document.lines[point.record])
    options = HoverOptions(
        uri=request.trace.uri,
        now=datetime.now(UTC),
        url_of=request.trace.options.url_of,
        messages=request.settings.hover.messages,
        joined=request.joined(run_id) if run_id is not None else None,
    )
    return hover(request.analysis, point, request.encoding, request.client.hover_format, options)


def _code_lens(request: TraceRequest, _params: types.CodeLensParams) -> list[types.CodeLens]:
    return code_lenses(request.analysis, request.trace.uri, request.settings.lens)


def _resolve_lens(
    _client: Client, request: TraceRequest | None, lens: types.CodeLens
) -> types.CodeLens:
    if request is None:
        return resolve_lens(None, lens)
    return resolve_lens(request.analysis, lens, request.joined)


def _inlay_hint(request: TraceRequest, params: types.InlayHintParams) -> list[types.InlayHint]:
    return inlay_hints(
        request.analysis,
        params.range,
        request.encoding,
        request.settings.inlay_hints,
        explained_later_of=request.trace.uri if request.client.resolves_hint_tooltips else None,
    )


def _resolve_hint(
    _client: Client, request: TraceRequest | None, hint: types.InlayHint
) -> types.InlayHint:
    return resolve_hint(request.analysis if request is not None else None, hint)


def _look(request: TraceRequest) -> tokens.TokenLook:
    client = request.client
    return tokens.TokenLook(client.encoding, client.token_types, client.token_modifiers)


def _tokens(request: TraceRequest, _params: types.SemanticTokensParams) -> JsonText:
    return tokens.tokens(request.analysis, _look(request))


def _tokens_in(request: TraceRequest, params: types.SemanticTokensRangeParams) -> JsonText:
    return tokens.tokens_in(request.analysis, params.range, _look(request))


def _definition(request: TraceRequest, params: types.DefinitionParams) -> object:
    analysis, point = request.analysis, request.point(params.position)
    found = leading(analysis, point)
    if found is None:
        return None
    named, span = found
    with_origin = request.client.reads_location_links
    origin = range_of(analysis, point.record, span, request.encoding) if with_origin else None

    def work(analysis: Analysis, uri: str) -> Targets:
        return definition(analysis, named, uri, request.encoding, origin)

    own = partial(work, analysis, request.trace.uri)
    if named.entity is Entity.PATH:
        return _file_or_start(request, request.trace.edits, named.value, origin, own)
    if not begins_run(analysis, point):
        return own()
    return _where_else(request, request.trace.edits, named.value, work, own)


async def _file_or_start(
    request: TraceRequest,
    edits: int,
    path: str,
    origin: types.Range | None,
    own: Callable[[], Targets],
) -> Targets:
    """The file of the workspace that a path means; if there is none, the event that wrote it."""
    trace = request.trace
    files = await in_thread(_files, [path], path_of(trace.uri), request.folders)
    check_unchanged(trace, edits)
    return opening(files[path], origin) if files else await request.result_of(own)


async def _where_else(
    request: TraceRequest,
    edits: int,
    run_id: str,
    work: Callable[[Analysis, str], Targets],
    own: Callable[[], Targets],
) -> Sequence[object]:
    """The beginnings of a run in other traces; if there are none, the one in this trace."""
    await request.following.settled()
    others = await request.runs.run_on_others(run_id, request.trace.uri, work)
    check_unchanged(request.trace, edits)
    found = [each for part in others for each in part]
    return found or await request.result_of(own)


def _references(request: TraceRequest, params: types.ReferenceParams) -> object:
    point, with_declarations = request.point(params.position), params.context.include_declaration
    found = named_at(request.analysis.document.lines[point.record], point.offset)
    if found is None:
        return None
    named, encoding = found[0], request.encoding

    def work(analysis: Analysis, uri: str) -> JsonText:
        return references(analysis, named, uri, encoding, with_declarations=with_declarations)

    if named.entity is Entity.RUN:
        return _in_all_traces(request, request.trace.edits, named.value, work)
    return work(request.analysis, request.trace.uri)


async def _in_all_traces(
    request: TraceRequest, edits: int, run_id: str, work: Callable[[Analysis, str], JsonText]
) -> JsonText:
    """The references to a run: those of this trace first."""
    await request.following.settled()
    others = await request.runs.run_on_others(run_id, request.trace.uri, work)
    check_unchanged(request.trace, edits)
    own = await request.result_of(partial(work, request.analysis, request.trace.uri))
    return joined([own, *others])


def _highlights(
    request: TraceRequest, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight] | None:
    return document_highlights(request.analysis, request.point(params.position), request.encoding)


def _symbols(request: TraceRequest, _params: types.DocumentSymbolParams) -> JsonText:
    trace, options = request.trace, request.client.symbols._replace(joined=request.joined)
    roots = trace.outline()
    return document_symbols(request.analysis, roots, trace.uri, request.encoding, options)


def _folds(request: TraceRequest, _params: types.FoldingRangeParams) -> JsonText:
    options = request.client.folding._replace(joined=request.joined)
    roots = request.trace.outline()
    return folding_ranges(request.analysis, roots, options)


def _selections(
    request: TraceRequest, params: types.SelectionRangeParams
) -> list[types.SelectionRange]:
    return [
        selection_range(request.analysis, request.point(position), request.encoding)
        for position in unless_stopped(params.positions)
    ]


def _links(request: TraceRequest, _params: types.DocumentLinkParams) -> object:
    return _links_that_lead_somewhere(request, request.trace.edits)


async def _links_that_lead_somewhere(request: TraceRequest, edits: int) -> JsonText:
    trace, folders = request.trace, request.folders
    names = [str(folder) for folder in folders]
    links = await request.result_of(
        lambda: find_links(request.analysis, request.settings.links, names)
    )
    paths = paths_in(links)
    files = await in_thread(_files, paths, path_of(trace.uri), folders) if paths else {}
    check_unchanged(trace, edits)
    with_tooltips = request.client.reads_link_tooltips
    return await request.result_of(
        lambda: document_links(
            request.analysis, links, files, request.encoding, with_tooltips=with_tooltips
        )
    )


def _files(paths: Sequence[str], trace: Path | None, folders: Sequence[Path]) -> dict[str, str]:
    found = linked_files(paths, trace, folders)
    return {path: file.as_uri() for path, file in found.items()}


HANDLERS = (
    RequestHandler(types.TEXT_DOCUMENT_HOVER, _hover, shows_other_traces=True),
    RequestHandler(
        types.TEXT_DOCUMENT_CODE_LENS,
        _code_lens,
        types.CodeLensOptions(resolve_provider=True),
        if_closed=(),
        shows_other_traces=True,
    ),
    RequestHandler(types.TEXT_DOCUMENT_INLAY_HINT, _inlay_hint, if_closed=()),
    RequestHandler(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _tokens, tokens.LEGEND),
    RequestHandler(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, _tokens_in),
    RequestHandler(types.TEXT_DOCUMENT_DEFINITION, _definition),
    RequestHandler(types.TEXT_DOCUMENT_REFERENCES, _references),
    RequestHandler(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, _highlights),
    RequestHandler(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, _symbols, if_closed=()),
    RequestHandler(types.TEXT_DOCUMENT_DOCUMENT_LINK, _links, if_closed=()),
    RequestHandler(types.TEXT_DOCUMENT_FOLDING_RANGE, _folds, if_closed=()),
    RequestHandler(types.TEXT_DOCUMENT_SELECTION_RANGE, _selections, if_closed=()),
)

RESOLVE_HANDLERS = (
    ResolveHandler(types.CODE_LENS_RESOLVE, _resolve_lens),
    ResolveHandler(types.INLAY_HINT_RESOLVE, _resolve_hint),
)
