"""Requests about the text of an open trace, but for its code actions."""

import os
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified

from drive_trace.analysis import Analysis
from drive_trace.features import findings, hover, navigation, referents, results, runs, structure
from drive_trace.features import semantic_tokens as tokens
from drive_trace.features.completion import completion, resolve_completion
from drive_trace.features.results import CannotMake, JsonText, View, joined, range_of
from drive_trace.lsp.handlers import TraceRequest, done, handles, refusal, resolves
from drive_trace.lsp.rpc.capabilities import Client, path_of
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace.runs import EditedTrace, FolderTrace
from drive_trace.stopping import unless_stopped
from drive_trace.storage.linked_files import linked_files
from drive_trace.storage.recording import new_stamp
from drive_trace.text.wording import shown
from drive_trace.trace.line import run_id_of
from drive_trace.trace.occurrences import NamedEntity, named_at
from drive_trace.vocabulary import Entity


@handles(types.TEXT_DOCUMENT_HOVER, shows_other_traces=True)
def _hover(request: TraceRequest, params: types.HoverParams) -> types.Hover | None:
    point = request.point(params.position)
    run_id = run_id_of(request.analysis.document.lines[point.record])
    options = referents.HoverOptions(
        uri=request.trace.uri,
        now=datetime.now(UTC),
        url_of=request.trace.options.url_of,
        messages=request.settings.hover.messages,
        joined=request.joined(run_id) if run_id is not None else None,
    )
    return hover.hover(request.view, point, request.client.hover_format, options)


@handles(
    types.TEXT_DOCUMENT_CODE_LENS,
    types.CodeLensOptions(resolve_provider=True),
    if_closed=(),
    shows_other_traces=True,
)
def _code_lens(request: TraceRequest, _params: types.CodeLensParams) -> list[types.CodeLens]:
    return runs.code_lenses(request.analysis, request.trace.uri, request.settings.lens)


@resolves(types.CODE_LENS_RESOLVE)
def _resolve_lens(_client: Client, request: TraceRequest | None, lens: types.CodeLens) -> object:
    if request is None:
        return runs.resolve_lens(None, lens)
    return runs.resolve_lens(request.analysis, lens, request.joined)


@handles(types.TEXT_DOCUMENT_INLAY_HINT, if_closed=())
def _inlay_hint(request: TraceRequest, params: types.InlayHintParams) -> list[types.InlayHint]:
    return hover.inlay_hints(
        request.view,
        params.range,
        request.settings.inlay_hints,
        explained_later_of=request.trace.uri if request.client.resolves_hint_tooltips else None,
    )


@resolves(types.INLAY_HINT_RESOLVE)
def _resolve_hint(_client: Client, request: TraceRequest | None, hint: types.InlayHint) -> object:
    return hover.resolve_hint(request.analysis if request is not None else None, hint)


@handles(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL, tokens.LEGEND)
def _tokens(request: TraceRequest, _params: types.SemanticTokensParams) -> JsonText:
    return tokens.tokens(request.analysis, request.client.tokens)


@handles(types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE)
def _tokens_in(request: TraceRequest, params: types.SemanticTokensRangeParams) -> JsonText:
    return tokens.tokens_in(request.analysis, params.range, request.client.tokens)


@handles(types.TEXT_DOCUMENT_DEFINITION)
def _definition(request: TraceRequest, params: types.DefinitionParams) -> object:
    analysis, point = request.analysis, request.point(params.position)
    found = navigation.leading(analysis, point)
    if found is None:
        return None
    named, span = found
    with_origin = request.client.reads_location_links
    origin = range_of(request.view, point.record, span) if with_origin else None

    def work(analysis: Analysis, uri: str) -> navigation.Targets:
        return navigation.definition(View(analysis, request.client.encoding), named, uri, origin)

    own = partial(work, analysis, request.trace.uri)

    async def file_or_start() -> navigation.Targets:
        """The file of the workspace that a path means; without one, the event that wrote it."""
        trace, path = request.trace, named.value
        files = await in_thread(_files, [path], path_of(trace.uri), request.folders)
        request.check_unchanged()
        return navigation.opening(files[path], origin) if files else await request.result_of(own)

    async def where_else() -> object:
        """The beginnings of a run in other traces; if there are none, the one in this trace."""
        others = await request.on_others(named.value, work)
        return [each for found in others for each in found] or await request.result_of(own)

    if named.entity is Entity.PATH:
        return file_or_start()
    return where_else() if navigation.begins_run(analysis, point) else own()


@handles(types.TEXT_DOCUMENT_REFERENCES)
def _references(request: TraceRequest, params: types.ReferenceParams) -> object:
    point, with_declarations = request.point(params.position), params.context.include_declaration
    found = named_at(request.analysis.document.lines[point.record], point.offset)
    if found is None:
        return None
    named, encoding = found[0], request.client.encoding

    def work(analysis: Analysis, uri: str) -> JsonText:
        return navigation.references(
            View(analysis, encoding), named, uri, with_declarations=with_declarations
        )

    async def in_all_traces() -> JsonText:
        """The references to a run: those of this trace first."""
        others = await request.on_others(named.value, work)
        return joined([await request.result_of(own), *others])

    own = partial(work, request.analysis, request.trace.uri)
    return in_all_traces() if named.entity is Entity.RUN else own()


@handles(types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT)
def _highlights(request: TraceRequest, params: types.DocumentHighlightParams) -> object:
    return navigation.document_highlights(request.view, request.point(params.position))


@handles(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL, if_closed=())
def _symbols(request: TraceRequest, _params: types.DocumentSymbolParams) -> JsonText:
    trace, options = request.trace, request.client.symbols._replace(joined=request.joined)
    roots = trace.outline()
    return structure.document_symbols(request.view, roots, trace.uri, options)


@handles(types.TEXT_DOCUMENT_FOLDING_RANGE, if_closed=())
def _folds(request: TraceRequest, _params: types.FoldingRangeParams) -> JsonText:
    options = request.client.folding._replace(joined=request.joined)
    roots = request.trace.outline()
    return structure.folding_ranges(request.analysis, roots, options)


@handles(types.TEXT_DOCUMENT_SELECTION_RANGE, if_closed=())
def _selections(request: TraceRequest, params: types.SelectionRangeParams) -> object:
    roots = request.trace.outline()
    return [
        structure.selection_range(request.view, roots, request.point(position))
        for position in unless_stopped(params.positions)
    ]


@handles(types.TEXT_DOCUMENT_DOCUMENT_LINK, if_closed=())
async def _links(request: TraceRequest, _params: types.DocumentLinkParams) -> JsonText:
    trace, folders = request.trace, request.folders
    names = [str(folder) for folder in folders]
    request.check_unchanged()
    links = await request.result_of(
        lambda: navigation.find_links(request.analysis, request.settings.links, names)
    )
    paths = navigation.paths_in(links)
    files = await in_thread(_files, paths, path_of(trace.uri), folders) if paths else {}
    request.check_unchanged()
    with_tooltips = request.client.reads_link_tooltips
    return await request.result_of(
        lambda: navigation.document_links(request.view, links, files, with_tooltips=with_tooltips)
    )


def _files(paths: Sequence[str], trace: Path | None, folders: Sequence[Path]) -> dict[str, str]:
    found = linked_files(paths, trace, folders)
    return {path: file.as_uri() for path, file in found.items()}


@handles(
    types.TEXT_DOCUMENT_COMPLETION,
    types.CompletionOptions(trigger_characters=['"', "{", ":", ","], resolve_provider=True),
)
def _completion(request: TraceRequest, params: types.CompletionParams) -> object:
    return request.merging(
        lambda joined: completion(
            request.view,
            request.point(params.position),
            client=request.client.completion,
            stamp=new_stamp(),
            joined=joined,
        )
    )


@resolves(types.COMPLETION_ITEM_RESOLVE)
def _resolve_completion(
    client: Client, _request: TraceRequest | None, item: types.CompletionItem
) -> types.CompletionItem:
    return resolve_completion(item, client.completion.documentation)


@handles(types.TEXT_DOCUMENT_FORMATTING, if_closed=())
def _formatting(request: TraceRequest, _params: types.DocumentFormattingParams) -> JsonText:
    return findings.format_document(request.view)


@handles(types.TEXT_DOCUMENT_RANGE_FORMATTING, if_closed=())
def _range_formatting(request: TraceRequest, params: types.DocumentRangeFormattingParams) -> object:
    return findings.format_range(request.view, params.range)


@handles(types.TEXT_DOCUMENT_PREPARE_RENAME)
def _prepare_rename(request: TraceRequest, params: types.PrepareRenameParams) -> object:
    return navigation.prepare_rename(request.view, request.point(params.position))


@handles(types.TEXT_DOCUMENT_RENAME)
def _rename(request: TraceRequest, params: types.RenameParams) -> object:
    point = request.point(params.position)
    found = navigation.renamable(request.analysis, point)
    run = found[0] if found is not None and found[0].entity is Entity.RUN else None
    if run is not None and request.runs.folder_of(request.trace.uri) is not None:
        return _rename_run(request, run, params.new_name)
    edits = done(navigation.rename(request.view, point, params.new_name))
    made, has_versions = [(request.document, edits)], request.client.reads_document_changes
    return results.workspace_edits(made, with_document_changes=has_versions)


async def _rename_run(request: TraceRequest, run: NamedEntity, new_name: str) -> dict[str, Any]:
    """The edits of all files of the workspace folder that name a run, or why there are none."""
    await request.following.settled()
    client, uri = request.client, request.trace.uri

    def work(analysis: Analysis, each: str) -> tuple[str, JsonText | CannotMake]:
        view = View(analysis, client.encoding)
        return each, navigation.rename_named(view, run, new_name)

    request.check_unchanged()
    others = request.runs.neighbours(uri, [run.value])
    before = _versions(others)
    uris = [uri, *(each.place.uri for each in others)]
    reason = _why_not(request, run.value, new_name) or await in_thread(_not_writable, uris)
    if reason is not None:
        raise refusal(reason)
    found = await request.runs.run_on_others(run.value, uri, work)
    found.insert(0, await request.result_of(partial(work, request.analysis, uri)))
    request.check_unchanged()
    if _versions(request.runs.neighbours(uri, [run.value])) != before:
        raise JsonRpcContentModified("a trace of the run has changed meanwhile")
    edited = (each for each in others if isinstance(each, EditedTrace))
    versions = {each.place.uri: each.trace.version for each in edited}
    versions[uri] = request.trace.version
    made = [
        (types.OptionalVersionedTextDocumentIdentifier(each, versions.get(each)), done(text))
        for each, text in found
    ]
    if len(made) <= len(others):
        raise refusal("A file that names the run cannot be read any more: nothing was renamed.")
    return results.workspace_edits(made, with_document_changes=client.reads_document_changes)


def _versions(traces: Iterable[FolderTrace]) -> list[object]:
    return [(each.place.uri, each.version) for each in traces]


def _why_not(request: TraceRequest, run_id: str, new_name: str) -> str | None:
    """Why a run cannot be renamed, by what other files hold."""
    uri = request.trace.uri
    taken = request.runs.neighbours(uri, [new_name]) if new_name != run_id else ()
    if taken:
        return (
            f"{taken[0].place.name} names a run {shown(new_name)} already: "
            "renaming this run would make the two one."
        )
    joined = request.joined(run_id)
    lack = joined.lack if joined is not None else None
    return f"Which other files name the run is not known; {lack}." if lack is not None else None


def _not_writable(uris: Sequence[str]) -> str | None:
    """Why a run cannot be renamed, by the permissions of its files. Call it from a thread."""
    for path in filter(None, map(path_of, uris)):
        if os.path.exists(path) and not os.access(path, os.W_OK):  # noqa: PTH110 - Path.exists raises
            return f"{path} cannot be written: nothing was renamed."
    return None
