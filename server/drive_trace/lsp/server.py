"""The language server: what the client asks, answered from the features."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

import cattrs
from lsprotocol import types
from lsprotocol.converters import get_converter
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams
from pygls.lsp.server import LanguageServer

from drive_trace import __version__
from drive_trace.features.code_actions import code_actions
from drive_trace.features.code_lens import SHOW_RUN, code_lenses, resolve_lens
from drive_trace.features.diagnostics import DiagnosticOptions, dumps
from drive_trace.features.hover import hover
from drive_trace.features.positions import point_at
from drive_trace.lsp.protocol import TraceProtocol
from drive_trace.lsp.scheduling import Debouncer
from drive_trace.lsp.settings import Settings, read_settings
from drive_trace.lsp.workspace import OpenTrace, Workspace, choose_encoding
from drive_trace.scorecard.render import card_markdown, lens_title, run_page
from drive_trace.storage.pages import rule_url
from drive_trace.storage.run_pages import write_run_page

log = logging.getLogger(__name__)

_CLIENT_PATIENCE = 10.0
"""Seconds that a client has to show a document."""


class TraceServer(LanguageServer):
    """The server of one client."""

    protocol: TraceProtocol

    def __init__(self) -> None:
        super().__init__(
            "drive-trace",
            __version__,
            protocol_cls=TraceProtocol,
            converter_factory=lambda: get_converter(cattrs.Converter(detailed_validation=False)),
        )
        self.traces = Workspace()
        self.settings = Settings()
        self._publishing = Debouncer(self._publish)
        self._scored: dict[str, tuple[int, int]] = {}
        quick_fixes = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])
        self._on(types.INITIALIZE, self._initialize)
        self._on(types.TEXT_DOCUMENT_DID_OPEN, self._did_open)
        self._on(types.TEXT_DOCUMENT_DID_CHANGE, self._did_change)
        self._on(types.TEXT_DOCUMENT_DID_CLOSE, self._did_close)
        self._on(types.WORKSPACE_DID_CHANGE_CONFIGURATION, self._did_change_configuration)
        self._on(types.TEXT_DOCUMENT_HOVER, self._hover)
        lazily = types.CodeLensOptions(resolve_provider=True)
        self._on(types.TEXT_DOCUMENT_CODE_LENS, self._code_lens, lazily)
        self._on(types.CODE_LENS_RESOLVE, self._resolve_lens)
        self._on(types.TEXT_DOCUMENT_CODE_ACTION, self._code_action, quick_fixes)
        self.command(SHOW_RUN)(partial(self._show_run))

    def _on(self, method: str, handler: Callable[[Any], object], options: object = None) -> None:
        # pygls notes things on what it is given, which a bound method does not let it do.
        self.feature(method, options)(partial(handler))

    # Documents

    def _initialize(self, params: types.InitializeParams) -> None:
        self.traces.encoding = choose_encoding(params.capabilities)
        self.settings = read_settings(params.initialization_options, self.settings)

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        options = self._options(document.uri)
        with _without_collecting():
            trace = OpenTrace(document.uri, document.version, document.text, options)
        document.text = ""  # the trace has it now, and it can be large
        self.traces.open(trace)
        self._scored[trace.uri] = trace.score_revision
        self._publish(trace.uri)

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> None:
        uri, version = params.text_document.uri, params.text_document.version
        trace = self.traces.get(uri)
        if trace is None or version < trace.version:
            log.warning("ignored a change of %s: not open, or older than what is", uri)
            return
        trace.change(version, params.content_changes)
        self._publishing.request(uri)

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self._publishing.drop(uri)
        self._scored.pop(uri, None)
        if self.traces.close(uri):
            empty = {"uri": uri, "diagnostics": []}
            self.protocol.notify_json(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, dumps(empty))

    def _did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        settings = read_settings(params.settings, self.settings)
        if settings != self.settings:
            self.settings = settings
            for trace in self.traces:
                trace.use(self._options(trace.uri))
                self._publish(trace.uri)

    def _options(self, uri: str) -> DiagnosticOptions:
        return DiagnosticOptions(
            uri=uri,
            encoding=self.traces.encoding,
            most=self.settings.max_findings,
            url_of=partial(rule_url, template=self.settings.rule_url),
        )

    def _publish(self, uri: str) -> None:
        trace = self.traces.get(uri)
        if trace is None:
            return
        head = b'{"uri":%b,"version":%d,"diagnostics":' % (dumps(uri), trace.version)
        self.protocol.notify_json(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, head, trace.diagnostics(), b"}"
        )
        self._refresh_lenses(trace)

    def _refresh_lenses(self, trace: OpenTrace) -> None:
        revision = trace.score_revision
        workspace = self.protocol.client_capabilities.workspace
        lens = workspace.code_lens if workspace is not None else None
        if self._scored.get(trace.uri) == revision:
            return
        self._scored[trace.uri] = revision
        if lens is not None and lens.refresh_support:
            self.protocol.tell_by_request(types.WORKSPACE_CODE_LENS_REFRESH)

    # What the client asks

    def _hover(self, params: types.HoverParams) -> types.Hover | None:
        trace = self.traces.get(params.text_document.uri)
        if trace is None:
            return None
        point = point_at(trace.analysis, params.position, self.traces.encoding)
        return hover(trace.analysis, point, self.traces.encoding)

    def _code_lens(self, params: types.CodeLensParams) -> list[types.CodeLens]:
        trace = self.traces.get(params.text_document.uri)
        if trace is None:
            return []
        return code_lenses(trace.analysis, trace.uri, self.traces.encoding)

    def _resolve_lens(self, lens: types.CodeLens) -> types.CodeLens:
        data = lens.data if isinstance(lens.data, dict) else {}
        trace = self.traces.get(str(data.get("uri", "")))
        return resolve_lens(trace.analysis if trace is not None else None, lens)

    def _code_action(self, params: types.CodeActionParams) -> list[types.CodeAction]:
        trace = self.traces.get(params.text_document.uri)
        if trace is None:
            return []
        workspace = self.protocol.client_capabilities.workspace
        edit = workspace.workspace_edit if workspace is not None else None
        return code_actions(
            trace.analysis,
            types.OptionalVersionedTextDocumentIdentifier(trace.uri, trace.version),
            params,
            self.traces.encoding,
            with_document_changes=bool(edit is not None and edit.document_changes),
        )

    async def _show_run(self, argument: Any = None) -> str:
        """Show a run's page; gives its card, for clients that cannot show documents."""
        uri, run_id = _run_argument(argument)
        trace = self.traces.get(uri)
        run = trace.analysis.score_run(run_id, _name_of(uri)) if trace is not None else None
        if run is None:
            raise JsonRpcInvalidParams(f"{uri} is not open, or has no valid event of that run")
        window = self.protocol.client_capabilities.window
        if window is None or window.show_document is None or not window.show_document.support:
            self._tell(lens_title(run))
            return card_markdown(run)
        try:
            page = await asyncio.to_thread(write_run_page, uri, run_id, run_page(run))
        except OSError as error:
            self._tell(f"{lens_title(run)} (its page could not be written: {error.strerror})")
            return card_markdown(run)
        if not await self._show_document(page.as_uri()):
            self._tell(lens_title(run))
        return card_markdown(run)

    async def _show_document(self, uri: str) -> bool:
        asked = self.protocol.send_request_async(
            types.WINDOW_SHOW_DOCUMENT, types.ShowDocumentParams(uri=uri, take_focus=True)
        )
        try:
            answer = await asyncio.wait_for(asked, _CLIENT_PATIENCE)
        except (TimeoutError, JsonRpcException):
            return False
        return isinstance(answer, dict) and bool(answer.get("success"))

    def _tell(self, message: str) -> None:
        self.window_show_message(types.ShowMessageParams(types.MessageType.Info, message))


def _run_argument(argument: object) -> tuple[str, str]:
    uri = argument.get("uri") if isinstance(argument, dict) else None
    run_id = argument.get("runId") if isinstance(argument, dict) else None
    if not isinstance(uri, str) or not isinstance(run_id, str):
        raise JsonRpcInvalidParams(f"{SHOW_RUN} takes one argument: {{uri, runId}}, both strings")
    return uri, run_id


def _name_of(uri: str) -> str:
    """The last two steps of a document's path: enough to tell traces apart."""
    return "/".join(unquote(urlsplit(uri).path).split("/")[-2:])


@contextmanager
def _without_collecting() -> Iterator[None]:
    """Nothing that opening a trace makes is garbage, and looking for some takes a third of the
    time; afterwards it is put aside, so that later collections do not walk it either.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
