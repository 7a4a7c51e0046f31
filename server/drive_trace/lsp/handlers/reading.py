"""Requests that change nothing: hover, lenses, hints and tokens, definitions and references,
symbols, folds and links.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features import tokens
from drive_trace.features.code_lens import code_lenses, resolve_lens
from drive_trace.features.definition import Targets, begins_run, definition, leading
from drive_trace.features.document_link import document_links, find_links, paths_in
from drive_trace.features.document_symbol import document_symbols
from drive_trace.features.folding_range import folding_ranges
from drive_trace.features.hover import hover
from drive_trace.features.hover.pointed import HoverOptions
from drive_trace.features.inlay_hints import inlay_hints, resolve_hint
from drive_trace.features.positions import range_of
from drive_trace.features.raw_json import JsonText, joined
from drive_trace.features.references import document_highlights, references
from drive_trace.features.selection_range import selection_range
from drive_trace.lsp.handlers.base import Answer, Asked, Resolve
from drive_trace.lsp.rpc.capabilities import Client, path_of
from drive_trace.lsp.rpc.tasks import check_unchanged, in_slices, in_thread
from drive_trace.storage.linked_files import linked_files
from drive_trace.tasks import Task
from drive_trace.trace.mentions import run_id_of
from drive_trace.trace.occurrences import named_at
from drive_trace.vocabulary import Entity


def _hover(asked: Asked, params: types.HoverParams) -> types.Hover | None:
    point = asked.point(params.position)
    run_id = run_id_of(asked.analysis.document.lines[point.record])
    options = HoverOptions(
        uri=asked.trace.uri,
        now=datetime.now(UTC),
        url_of=asked.trace.options.url_of,
        joined=asked.joined(run_id) if run_id is not None else None,
    )
    return hover(asked.analysis, point, asked.encoding, asked.client.hover_format, options)


def _code_lens(asked: Asked, _params: types.CodeLensParams) -> list[types.CodeLens]:
    return code_lenses(asked.analysis, asked.trace.uri, asked.encoding, asked.settings.lens)


def _resolve_lens(_client: Client, asked: Asked | None, lens: types.CodeLens) -> types.CodeLens:
    if asked is None:
        return resolve_lens(None, lens)
    return resolve_lens(asked.analysis, lens, asked.joined)


def _inlay_hint(asked: Asked, params: types.InlayHintParams) -> list[types.InlayHint]:
    return inlay_hints(
        asked.analysis,
        params.range,
        asked.encoding,
        asked.settings.inlay_hints,
        explained_later_of=asked.trace.uri if asked.client.resolves_hint_tooltips else None,
    )


def _resolve_hint(_client: Client, asked: Asked | None, hint: types.InlayHint) -> types.InlayHint:
    return resolve_hint(asked.analysis if asked is not None else None, hint)


def _look(asked: Asked) -> tokens.TokenLook:
    client = asked.client
    return tokens.TokenLook(client.encoding, client.token_types, client.token_modifiers)


def _tokens(asked: Asked, _params: types.SemanticTokensParams) -> object:
    answer, asked.trace.tokens = tokens.tokens(asked.analysis, _look(asked))
    return answer


def _changed_tokens(asked: Asked, params: types.SemanticTokensDeltaParams) -> object:
    answer, asked.trace.tokens = tokens.changed_tokens(
        asked.analysis, _look(asked), asked.trace.tokens, params.previous_result_id
    )
    return answer


def _tokens_in(asked: Asked, params: types.SemanticTokensRangeParams) -> object:
    return tokens.tokens_in(asked.analysis, params.range, _look(asked))


def _definition(asked: Asked, params: types.DefinitionParams) -> object:
    analysis, point = asked.analysis, asked.point(params.position)
    found = leading(analysis, point)
    if found is None:
        return None
    named, span = found
    with_origin = asked.client.reads_location_links
    origin = range_of(analysis, point.record, span, asked.encoding) if with_origin else None

    def work(analysis: Analysis, uri: str) -> Task[Targets]:
        return definition(analysis, named, uri, asked.encoding, origin)

    own = work(analysis, asked.trace.uri)
    if not begins_run(analysis, point):
        return own
    return _where_else(asked, asked.trace.edits, named.value, work, own)


async def _where_else(
    asked: Asked,
    edits: int,
    run_id: str,
    work: Callable[[Analysis, str], Task[Targets]],
    own: Task[Targets],
) -> Sequence[object]:
    """From where a run begins, its beginnings in other traces; that one if there are none."""
    await asked.settled()
    others = await asked.runs.ask_others(run_id, asked.trace.uri, work)
    check_unchanged(asked.trace, edits)
    found = [each for part in others for each in part]
    return found or await in_slices(asked.trace, own)


def _references(asked: Asked, params: types.ReferenceParams) -> object:
    point, with_declarations = asked.point(params.position), params.context.include_declaration
    found = named_at(asked.analysis.document.lines[point.record], point.offset)
    if found is None:
        return None
    named, encoding = found[0], asked.encoding

    def work(analysis: Analysis, uri: str) -> Task[JsonText]:
        return references(analysis, named, uri, encoding, with_declarations=with_declarations)

    if named.entity is Entity.RUN:
        return _in_all_traces(asked, asked.trace.edits, named.value, work)
    return work(asked.analysis, asked.trace.uri)


async def _in_all_traces(
    asked: Asked, edits: int, run_id: str, work: Callable[[Analysis, str], Task[JsonText]]
) -> JsonText:
    """The references to a run: those of this trace first."""
    await asked.settled()
    others = await asked.runs.ask_others(run_id, asked.trace.uri, work)
    check_unchanged(asked.trace, edits)
    own = await in_slices(asked.trace, work(asked.analysis, asked.trace.uri))
    return joined([own, *others])


def _highlights(
    asked: Asked, params: types.DocumentHighlightParams
) -> list[types.DocumentHighlight] | None:
    return document_highlights(asked.analysis, asked.point(params.position), asked.encoding)


def _symbols(asked: Asked, _params: types.DocumentSymbolParams) -> Task[JsonText]:
    trace, options = asked.trace, asked.client.symbols._replace(joined=asked.joined)
    roots = yield from trace.outline()
    return (yield from document_symbols(asked.analysis, roots, trace.uri, asked.encoding, options))


def _folds(asked: Asked, _params: types.FoldingRangeParams) -> Task[JsonText]:
    options = asked.client.folding._replace(joined=asked.joined)
    roots = yield from asked.trace.outline()
    return (yield from folding_ranges(asked.analysis, roots, options))


def _selections(asked: Asked, params: types.SelectionRangeParams) -> list[types.SelectionRange]:
    return [
        selection_range(asked.analysis, asked.point(position), asked.encoding)
        for position in params.positions
    ]


def _links(asked: Asked, _params: types.DocumentLinkParams) -> object:
    return _links_that_lead_somewhere(asked, asked.trace.edits)


async def _links_that_lead_somewhere(asked: Asked, edits: int) -> JsonText:
    trace, folders = asked.trace, asked.folders
    options = asked.settings.links
    steps = find_links(asked.analysis, options, [str(folder) for folder in folders])
    links = await in_slices(trace, steps)
    paths = paths_in(links)
    files = await in_thread(_files, paths, path_of(trace.uri), folders) if paths else {}
    check_unchanged(trace, edits)
    with_tooltips = asked.client.reads_link_tooltips
    answer = document_links(
        asked.analysis, links, files, asked.encoding, with_tooltips=with_tooltips
    )
    return await in_slices(trace, answer)


def _files(paths: Sequence[str], trace: Path | None, folders: Sequence[Path]) -> dict[str, str]:
    found = linked_files(paths, trace, folders)
    return {path: file.as_uri() for path, file in found.items()}


ANSWERS = (
    Answer(types.TEXT_DOCUMENT_HOVER, _hover, looks_elsewhere=True),
    Answer(
        types.TEXT_DOCUMENT_CODE_LENS,
        _code_lens,
        types.CodeLensOptions(resolve_provider=True),
        of_nothing=(),
    ),
    Answer(types.TEXT_DOCUMENT_INLAY_HINT, _inlay_hint, of_nothing=()),
    Answer(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, _tokens, tokens.LEGEND),
    Answer(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL_DELTA, _changed_tokens),
    Answer(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE, _tokens_in),
    Answer(types.TEXT_DOCUMENT_DEFINITION, _definition),
    Answer(types.TEXT_DOCUMENT_REFERENCES, _references),
    Answer(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT, _highlights),
    Answer(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, _symbols, of_nothing=()),
    Answer(types.TEXT_DOCUMENT_DOCUMENT_LINK, _links, of_nothing=()),
    Answer(types.TEXT_DOCUMENT_FOLDING_RANGE, _folds, of_nothing=()),
    Answer(types.TEXT_DOCUMENT_SELECTION_RANGE, _selections, of_nothing=()),
)

RESOLVES = (
    Resolve(types.CODE_LENS_RESOLVE, _resolve_lens, looks_elsewhere=True),
    Resolve(types.INLAY_HINT_RESOLVE, _resolve_hint),
)
