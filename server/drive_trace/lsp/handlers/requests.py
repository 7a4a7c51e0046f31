"""Requests about the text of an open trace, but for its code actions; and about all traces of the
workspace, open or closed: symbols, and pulled diagnostics.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
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
from drive_trace.lsp.handlers import Handlers, TraceRequest, done, handles, refusal, resolves
from drive_trace.lsp.rpc.capabilities import Client, key_of, path_of
from drive_trace.lsp.rpc.messages import DiagnosticReport
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace import linting
from drive_trace.lsp.workspace.runs import EditedTrace, FolderTrace, beside_of
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


# All traces of the workspace, open or closed

log = logging.getLogger(__name__)

_AT_ONCE = 50
"""Closed traces that a thread looks at in one go. A cancellation is noticed between two."""
_BATCH_SECONDS = 0.1
"""A partial result waits so long for more before it is sent."""


class Symbols(Handlers):
    """Handles ``workspace/symbol``."""

    async def find(self, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        """The runs, slices and dispatches whose names match best."""
        reals = await self._following.everything()
        looks = not self._protocol.client.registers_watchers
        closed: list[navigation.SymbolName] = []
        for start in range(0, len(reals), _AT_ONCE):
            some = reals[start : start + _AT_ONCE]
            closed += await in_thread(partial(self._runs.closed.names, some, looks=looks))
        opened = [
            named
            for trace in self._runs.open_traces()
            for named in navigation.names_in(trace.analysis, trace.uri, params.query)
        ]
        best = navigation.best_matches([*opened, *closed], params.query)
        return await in_thread(navigation.workspace_symbols, best, self._protocol.client.encoding)


class PulledDiagnostics(Handlers):
    """Handles ``textDocument/diagnostic`` and ``workspace/diagnostic``."""

    async def document(self, params: types.DocumentDiagnosticParams) -> dict[str, Any]:
        """The diagnostics of one document; of one that is not open, as it is on disk."""
        uri, previous = params.text_document.uri, params.previous_result_id
        report = await self._of_open(uri, previous)
        if refused := self._runs.open.refused.get(key_of(uri)):
            report = DiagnosticReport.of(uri, linting.refusal(refused[1])).unless(previous)
        if report is None:
            path = path_of(uri)
            if path is not None and await in_thread(self._runs.closed.has, path):
                (options,) = await self._linting.options_now([uri])
                report = await self._of_closed(path, uri, previous, options, self._parts())
                if self._runs.open.get(uri) is not None:  # since a moment ago
                    report = await self._of_open(uri, previous)
        return (report or DiagnosticReport.of(uri, b"[]").unless(previous)).as_document_report()

    async def workspace(self, params: types.WorkspaceDiagnosticParams) -> dict[str, Any]:
        """The diagnostics of all open traces, and of closed ones where a setting covers them; in
        parts where the client takes parts.
        """
        token = params.partial_result_token
        loop = asyncio.get_running_loop()
        ready: list[dict[str, Any]] = []
        sent = loop.time()
        async for report in self._reports(params.previous_result_ids):
            ready.append(report)
            if token is not None and loop.time() - sent > _BATCH_SECONDS:
                self._progress(token, ready)
                ready, sent = [], loop.time()
        if token is not None:
            self._progress(token, ready)
            ready = []
        return {"items": ready}

    def _progress(self, token: int | str, items: list[dict[str, Any]]) -> None:
        self._protocol.notify(types.PROGRESS, {"token": token, "value": {"items": items}})

    async def _reports(
        self, previous_ids: Sequence[types.PreviousResultId]
    ) -> AsyncIterator[dict[str, Any]]:
        previous = {each.uri: each.value for each in previous_ids}
        done: set[str] = set()
        for trace in self._runs.open:
            done.add(trace.uri)
            report = await self._of_open(trace.uri, previous.get(trace.uri))
            now = self._runs.open.get(trace.uri)
            if report is not None and now is not None:
                yield report.as_workspace_report(now.version)
        covers_closed = self._settings.now.diagnostics.covers_closed
        spelled = self._runs.closed.folders.spelled
        rest = await in_thread(spelled, list(previous)) if covers_closed else ()
        options, parts = await self._linting.options_now([uri for *_, uri in rest]), self._parts()
        for (real, path, uri), given in zip(rest, options, strict=True):
            if real in self._runs.open_reals():
                continue
            report = await self._of_closed(path, uri, previous.get(uri), given, parts)
            # If it has been opened meanwhile, the file on disk does not count.
            if report is not None and self._runs.open.get(uri) is None:
                done.add(uri)
                yield report.as_workspace_report(None)
        for uri, items in self._linting.configuration_diagnostics().items():
            done.add(uri)
            yield _workspace_report(uri, items, previous.get(uri))
        for uri, value in previous.items():
            # Gone, or out of the workspace.
            if uri not in done and self._runs.open.get(uri) is None:
                yield _workspace_report(uri, b"[]", value)

    async def _of_open(self, uri: str, previous: str | None) -> DiagnosticReport | None:
        trace = self._runs.open.get(uri)
        if trace is None:
            return None
        # A client that cannot be made to ask again gets no result that may soon be wrong.
        for_long = not self._protocol.client.refreshes_diagnostics
        await self._linting.settled(trace, for_long=for_long)
        trace = self._runs.open.get(uri)  # as it is now: typing goes on
        if trace is None:
            return None
        diagnostics = await self._runs.open.diagnostics_of(trace)
        return DiagnosticReport.of(uri, diagnostics).unless(previous)

    def _parts(self) -> Mapping[Path, Collection[str]]:
        """The runs of closed traces, as far as somebody has looked."""
        return {each.path: each.parts for each in self._runs.closed.seen()}

    async def _of_closed(
        self,
        path: Path,
        uri: str,
        previous: str | None,
        options: findings.DiagnosticOptions,
        parts: Mapping[Path, Collection[str]],
    ) -> DiagnosticReport | None:
        beside = beside_of(self._runs, uri, parts.get(path, ()))
        try:
            return await in_thread(self._runs.closed.report, path, previous, options, beside)
        except Exception:
            log.exception("%s cannot be looked at", path)  # which must not fail all the others
            return None


def _workspace_report(uri: str, items: bytes, previous: str | None) -> dict[str, Any]:
    return DiagnosticReport.of(uri, items).unless(previous).as_workspace_report(None)
