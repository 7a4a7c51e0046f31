"""The language server: its life cycle, and the notifications about documents and settings."""

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, TypeAlias

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from drive_trace import __version__
from drive_trace.features.runs import SHOW_RUN
from drive_trace.lsp.handlers import HANDLERS, RESOLVE_HANDLERS, Responder, Services, code_actions
from drive_trace.lsp.handlers import requests as _requests  # noqa: F401 - it declares handlers
from drive_trace.lsp.handlers.reports import Reports
from drive_trace.lsp.handlers.requests import PulledDiagnostics, Symbols
from drive_trace.lsp.handlers.server_commands import APPEND, EMIT, ServerCommands
from drive_trace.lsp.handlers.views import Views
from drive_trace.lsp.rpc.capabilities import key_of, path_of
from drive_trace.lsp.rpc.messages import strict_converter
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.stream import ClientLog
from drive_trace.lsp.rpc.threads import Debouncer, in_background, in_thread, without_collecting
from drive_trace.lsp.workspace import open_traces
from drive_trace.lsp.workspace.client_settings import SECTION, ClientSettings, Settings
from drive_trace.lsp.workspace.closed_traces import ClosedTraces
from drive_trace.lsp.workspace.following import Following
from drive_trace.lsp.workspace.linting import CONFIGURATION_GLOBS, Linting, Publisher
from drive_trace.lsp.workspace.open_traces import LARGE, NewText, OpenTrace, Workspace
from drive_trace.lsp.workspace.runs import Joining, WorkspaceRuns
from drive_trace.lsp.workspace.saving import Saving
from drive_trace.storage.followed_file import KnownFile, lines_of
from drive_trace.storage.patterns import JUDGEMENTS_SUFFIX, TRACE_GLOBS, MoreFiles

_Opened: TypeAlias = tuple[OpenTrace, KnownFile | None]
"""A trace, and its file as it shows it; None for a document that is no file."""


class TraceServer(LanguageServer):
    """The server of one client."""

    protocol: TraceProtocol

    def __init__(self) -> None:
        super().__init__(
            "drive-trace",
            __version__,
            protocol_cls=TraceProtocol,
            converter_factory=strict_converter,
        )
        protocol = self.protocol
        self._traces = Workspace()
        closed = ClosedTraces(())
        self._folders = closed.folders
        self._runs = WorkspaceRuns(self._traces, closed)
        self._client_log = ClientLog(partial(protocol.notify, types.WINDOW_LOG_MESSAGE))
        self._settings = ClientSettings(protocol, self._settings_changed)
        self._publisher = Publisher(protocol, self._runs)
        self._linting = Linting(protocol, self._traces, self._settings, self._publisher)
        self._joining = Joining(self._runs, self._joined, self._closed_traces_changed)
        self._following = Following(
            protocol, self._runs, self._linting.rules_now, self._closed_traces_changed
        )
        self._saving = Saving(protocol, self._traces)
        self._edited = Debouncer(self._publish_edited)
        self._services = Services(
            protocol, self._runs, self._following, self._settings, self._linting, self._publisher
        )
        self._commands = ServerCommands(self._services)
        self._use(self._settings.now)
        self._register()

    def _register(self) -> None:
        self._on(types.INITIALIZE, self._initialize)
        self._on(types.INITIALIZED, self._initialized)
        self._on(types.TEXT_DOCUMENT_DID_OPEN, self._did_open)
        self._on(types.TEXT_DOCUMENT_DID_CHANGE, self._did_change)
        self._on(types.TEXT_DOCUMENT_DID_CLOSE, self._did_close)
        self._on(types.TEXT_DOCUMENT_WILL_SAVE_WAIT_UNTIL, self._saving.will_save)
        self._on(types.TEXT_DOCUMENT_DID_SAVE, self._saving.saved)
        self._on(types.WORKSPACE_DID_CHANGE_CONFIGURATION, self._did_change_configuration)
        self._on(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._did_change_files)
        self._on(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self._did_change_folders)
        pulled = types.DiagnosticOptions(
            inter_file_dependencies=True, workspace_diagnostics=True, identifier="drive-trace"
        )
        services = self._services
        diagnostics = PulledDiagnostics(services)
        self._on(types.TEXT_DOCUMENT_DIAGNOSTIC, diagnostics.document, pulled)
        self._on(types.WORKSPACE_DIAGNOSTIC, diagnostics.workspace)
        responder = Responder(services)
        for handler in HANDLERS:
            self._on(handler.method, partial(responder.respond, handler), handler.options)
        for method, resolve in RESOLVE_HANDLERS.items():
            self._on(method, partial(responder.resolve, resolve))
        self._on(types.WORKSPACE_SYMBOL, Symbols(services).find)
        self._on(types.WINDOW_WORK_DONE_PROGRESS_CANCEL, self._cancel_progress)
        reports = Reports(services)
        self._on(types.WORKSPACE_TEXT_DOCUMENT_CONTENT, reports.content)
        for method, (params, handle) in (Views(services).handlers | reports.handlers).items():
            self.protocol.own_requests[method] = params
            self._on(method, handle)
        self.command(SHOW_RUN)(partial(self._commands.show_run))
        project = code_actions.ProjectCommands(services)
        self.command(code_actions.TURN_RULE_OFF)(partial(project.turn_rule_off))
        self.command(code_actions.ADD_TO_BASELINE)(partial(project.add_to_baseline))
        self.command(code_actions.SHOW_RULE)(partial(project.show_rule))

    def _on(self, method: str, handler: Callable[[Any], object], options: object = None) -> None:
        # pygls sets attributes on handlers, which a bound method does not allow.
        self.feature(method, options)(partial(handler))

    # Documents

    def _initialize(self, params: dict[str, Any]) -> None:
        folders = self.protocol.client.folders
        self._folders.change(folders, ())
        if folders:
            self._linting.start(str(folders[0]))
        options = params.get("initializationOptions")
        self._folders.trusted = isinstance(options, dict) and options.get("trusted") is True
        self._settings.start(options)
        self._use(self._settings.now)
        client = self.protocol.client
        if client.applies_edits:
            self.command(code_actions.RECORD_GRADE)(partial(self._commands.record_grade))
            self.command(APPEND)(partial(self._commands.append))
            self.command(EMIT)(partial(self._commands.emit))
            self.command(code_actions.APPLY_ACTION)(partial(self._commands.apply_action))

    def _initialized(self, _params: types.InitializedParams) -> None:
        client = self.protocol.client
        if client.registers_watchers:
            self._publisher.watch(
                "files", (*CONFIGURATION_GLOBS, *TRACE_GLOBS, f"**/*{JUDGEMENTS_SUFFIX}")
            )
            self._publisher.watch_more((), self._settings.now.files)
        if client.registers_settings:
            section = types.DidChangeConfigurationRegistrationOptions(SECTION)
            method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            self._publisher.register(types.Registration("settings", method, section))
        if client.gives_settings:
            self._settings.request()

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> Awaitable[None] | None:
        document = params.text_document
        uri, version, path = document.uri, document.version, path_of(document.uri)
        text, document.text = document.text, ""  # it can be large, and somebody has it now
        is_named = path is not None and self._folders.takes(path)
        options = self._linting.options(uri)

        def read() -> _Opened | None:
            if not (is_named or open_traces.is_trace_text(uri, text, document.language_id)):
                return None
            trace = OpenTrace(uri, version, text, options)
            return trace, None if path is None else KnownFile(str(path), lines_of(trace.records))

        if open_traces.size_of(text) >= LARGE:
            return self._open_later(uri, read)
        self._opened(read())
        return None

    @contextmanager
    def _refusing(self, uri: str) -> Iterator[None]:
        """Do without a document if it is too large, until it is opened again. Its file counts
        meanwhile, as of a trace that is closed, and no verdict that it may change is green.
        """
        try:
            yield
        except open_traces.TooLargeError as error:
            self._did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
            self._publisher.refuse(uri, str(error))
            self._closed_traces_changed()

    async def _open_later(self, uri: str, read: Callable[[], _Opened | None]) -> None:
        def with_diagnostics() -> _Opened | None:
            if (opened := read()) is not None:
                opened[0].diagnostics()  # keeps them, for those who ask on the loop
            return opened

        with self._refusing(uri):
            self._opened(await in_thread(without_collecting, with_diagnostics))

    def _opened(self, opened: _Opened | None) -> None:
        if opened is None:
            return
        trace, seen = opened
        uri = trace.uri
        self._traces.open(trace)
        self._saving.opened(trace, seen)
        self._linting.look([trace])
        self._linting.publish(trace)
        self._following.opened(uri)
        self._joining.request()
        self._publisher.refresh_views(uri)

    def _did_change(self, params: types.DidChangeTextDocumentParams) -> Awaitable[None] | None:
        trace, version = self._traces.get(params.text_document.uri), params.text_document.version
        if trace is None or version < trace.version:
            return None  # it is no trace, or the change is older than what is there
        if trace.takes_long(params.content_changes):
            return self._change_later(trace, params)
        self._change(trace, params)
        return None

    async def _change_later(
        self, trace: OpenTrace, params: types.DidChangeTextDocumentParams
    ) -> None:
        def with_diagnostics() -> NewText:
            whole = trace.as_whole(params.content_changes)
            params.content_changes = [whole]
            new = trace.read_anew(whole.text)
            new[0].as_json()  # keeps them, as above
            return new

        with self._refusing(trace.uri):
            new, before = await in_thread(without_collecting, with_diagnostics), [trace.analysis]
            self._change(trace, params, new)
            in_background(in_thread(open_traces.let_go, before))

    def _change(
        self,
        trace: OpenTrace,
        params: types.DidChangeTextDocumentParams,
        read: NewText | None = None,
    ) -> None:
        with self._refusing(trace.uri):
            moves_lines = trace.change(params.text_document.version, params.content_changes, read)
            self._edited.request(trace.uri)
            self._joining.request()
            if moves_lines:
                self._saving.changed(trace)

    def _joined(self, trace: OpenTrace) -> None:
        self._linting.publish(trace)
        self._publisher.refresh_diagnostics()

    def _closed_traces_changed(self) -> None:
        self._publisher.closed_traces_changed()
        self._joining.request()

    def _did_close(self, params: types.DidCloseTextDocumentParams) -> None:
        uri = params.text_document.uri
        self._edited.drop(uri)
        if self._traces.refused.pop(key_of(uri), None):
            self._publisher.clear(uri)
            self._closed_traces_changed()
        if self._traces.close(uri):
            self._publisher.clear(uri)
            self._joining.request()
            self._following.closed(uri)
            self._publisher.refresh_views(uri)

    def _did_change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        added, removed = (
            [path for folder in folders if (path := path_of(folder.uri)) is not None]
            for folders in (params.event.added, params.event.removed)
        )
        self._folders.change(added, removed)
        self._following.folders_changed()
        self._publisher.refresh_diagnostics()

    def _did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        self._settings.request(params.settings)

    def _did_change_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        are_traces = self._following.files_changed(params.changes)
        changed = [trace for each in params.changes if (trace := self._traces.get(each.uri))]
        self._linting.look(changed)  # a trace that was saved may have been committed, too
        for trace in changed:
            self._saving.look(trace, is_told=True)
        if not are_traces:
            self._linting.look_at_all()

    def _cancel_progress(self, params: types.WorkDoneProgressCancelParams) -> None:
        self._following.cancel(params.token)

    # Settings

    def _settings_changed(self, before: Settings, now: Settings) -> None:
        self._use(now)
        self._linting.run_rules(self._traces)
        self._publisher.settings_changed(before, now)
        if now.files != before.files:
            self._publisher.watch_more(before.files, now.files)
            self._following.folders_changed()
        if (now.files, now.diagnostics) != (before.files, before.diagnostics):
            self._publisher.refresh_diagnostics()
            self._publisher.refresh_views(None)

    def _use(self, settings: Settings) -> None:
        self._folders.more = MoreFiles(settings.files)
        self._runs.closed.counts_findings |= settings.diagnostics.covers_closed
        self._client_log.use(settings.log_to_client)

    # Edits

    def _publish_edited(self, uri: str) -> None:
        trace = self._traces.get(uri)
        if trace is not None:
            if not self.protocol.client.registers_watchers:
                self._linting.look_now_and_then()
            self._linting.publish(trace)
            self._publisher.changed(trace)
            self._publisher.refresh_views(uri)
