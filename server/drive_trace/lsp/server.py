"""The language server: its life, and the documents that it is told of."""

from __future__ import annotations

import gc
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from drive_trace import __version__
from drive_trace.features.code_actions import APPLY_FIX
from drive_trace.features.code_lens import SHOW_RUN
from drive_trace.features.diagnostics import DiagnosticOptions
from drive_trace.lsp.handlers import ANSWERS, RESOLVES
from drive_trace.lsp.handlers.answering import Answering
from drive_trace.lsp.handlers.resolve import APPLY_ACTION, RECORD_GRADE
from drive_trace.lsp.handlers.server_commands import ServerCommands
from drive_trace.lsp.handlers.views import Views
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.converter import strict_converter
from drive_trace.lsp.rpc.logs import ClientLog
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import Debouncer
from drive_trace.lsp.workspace.client_settings import SECTION, Settings
from drive_trace.lsp.workspace.closed_traces import ClosedTraces
from drive_trace.lsp.workspace.configurations import CONFIGURATION_GLOBS, Configurations
from drive_trace.lsp.workspace.diagnostics import Diagnosing
from drive_trace.lsp.workspace.following import Following
from drive_trace.lsp.workspace.judging import Judging
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.lsp.workspace.refreshing import Refreshing
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.lsp.workspace.settings_source import SettingsSource
from drive_trace.lsp.workspace.symbols import Symbols
from drive_trace.lsp.workspace.watched_files import from_any_folder, watched
from drive_trace.storage.finding import TRACE_GLOBS
from drive_trace.storage.pages import rule_url
from drive_trace.storage.patterns import MoreFiles

log = logging.getLogger(__name__)


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
        self.traces = Workspace()
        self.settings = Settings()
        self._configurations = Configurations()
        self._client_log = ClientLog(self.window_log_message)
        closed = ClosedTraces(())
        self._folders = closed.folders
        self._judging = Judging(
            self.traces, self._configurations, self._options, self._send_findings, self._judged
        )
        self._diagnosing = Diagnosing(
            self.protocol,
            self.traces,
            closed,
            self._judging,
            self._configuration_diagnostics,
        )
        self._runs = WorkspaceRuns(self.traces, closed)
        self._refreshing = Refreshing(
            self.protocol, self.traces, self._runs, lambda: self._views.changed(None)
        )
        told = self._refreshing.closed_traces_changed
        self._following = Following(self.protocol, self._runs, told)
        self.answering = Answering(
            self.protocol, self.traces, self._runs, self._following, lambda: self.settings
        )
        self._symbols = Symbols(self.protocol, self._runs, self._following)
        self._settings_source = SettingsSource(self.protocol, self._use_and_follow)
        self._publishing = Debouncer(self._deliver)
        self._commands = ServerCommands(self)
        self._views = Views(
            self.protocol,
            self._runs,
            self._following,
            self.answering.asked,
            self._judging.rules_now,
        )
        self._use(self.settings)
        self._register()

    def _register(self) -> None:
        self._on(types.INITIALIZE, self._initialize)
        self._on(types.INITIALIZED, self._initialized)
        self._on(types.TEXT_DOCUMENT_DID_OPEN, self._did_open)
        self._on(types.TEXT_DOCUMENT_DID_CHANGE, self._did_change)
        self._on(types.TEXT_DOCUMENT_DID_CLOSE, self._did_close)
        self._on(types.WORKSPACE_DID_CHANGE_CONFIGURATION, self._did_change_configuration)
        self._on(types.WORKSPACE_DID_CHANGE_WATCHED_FILES, self._did_change_files)
        self._on(types.WORKSPACE_DID_CHANGE_WORKSPACE_FOLDERS, self._did_change_folders)
        pulled = types.DiagnosticOptions(
            inter_file_dependencies=False, workspace_diagnostics=True, identifier="drive-trace"
        )
        self._on(types.TEXT_DOCUMENT_DIAGNOSTIC, self._diagnosing.document, pulled)
        self._on(types.WORKSPACE_DIAGNOSTIC, self._diagnosing.workspace)
        for answer in ANSWERS:
            self._on(answer.method, partial(self.answering.answer, answer), answer.options)
        for resolve in RESOLVES:
            self._on(resolve.method, partial(self.answering.resolve, resolve))
        symbols = types.WorkspaceSymbolOptions(resolve_provider=True)
        self._on(types.WORKSPACE_SYMBOL, self._symbols.find, symbols)
        self._on(types.WORKSPACE_SYMBOL_RESOLVE, self._symbols.resolve)
        self._on(types.WINDOW_WORK_DONE_PROGRESS_CANCEL, self._cancel_progress)
        for method, handler in self._views.handlers.items():
            self._on(method, handler)
        self.command(SHOW_RUN)(partial(self._commands.show_run))

    def _on(self, method: str, handler: Callable[[Any], object], options: object = None) -> None:
        # pygls notes things on what it is given, which a bound method does not let it do.
        self.feature(method, options)(partial(handler))

    # Documents

    def _initialize(self, params: types.InitializeParams) -> None:
        folders = self.protocol.client.folders
        self._folders.change(folders, ())
        if folders:
            self._configurations.start(str(folders[0]))
        self._settings_source.start(params.initialization_options)
        client = self.protocol.client
        if client.applies_edits:
            self.command(RECORD_GRADE)(partial(self._commands.record_grade))
        if client.applies_edits and not client.reads_action_literals:
            self.command(APPLY_FIX)(partial(self._commands.apply_fix))
            self.command(APPLY_ACTION)(partial(self._commands.apply_action))

    def _initialized(self, _params: types.InitializedParams) -> None:
        client = self.protocol.client
        wanted = []
        if client.registers_watchers:
            wanted.append(watched("files", (*CONFIGURATION_GLOBS, *TRACE_GLOBS)))
            if self.settings.files:
                wanted.append(watched("more-files", from_any_folder(self.settings.files)))
        if client.registers_settings:
            section = types.DidChangeConfigurationRegistrationOptions(SECTION)
            method = types.WORKSPACE_DID_CHANGE_CONFIGURATION
            wanted.append(types.Registration("settings", method, section))
        if wanted:
            params = types.RegistrationParams(wanted)
            self.protocol.tell_by_request(types.CLIENT_REGISTER_CAPABILITY, params)
        if client.gives_settings:
            self._settings_source.ask()

    def _did_open(self, params: types.DidOpenTextDocumentParams) -> None:
        document = params.text_document
        options = self._options(document.uri)
        with _without_collecting():
            trace = OpenTrace(document.uri, document.version, document.text, options)
        document.text = ""  # the trace has it now, and it can be large
        self.traces.open(trace)
        self._refreshing.opened(trace)
        self._judging.look([trace])
        self._judging.publish(trace)
        self._following.opened(document.uri)
        self._views.changed(document.uri)

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
        self._refreshing.closed(uri)
        self._judging.closed(uri)
        if self.traces.close(uri):
            self._diagnosing.clear(uri)
            self._following.closed(uri)
            self._views.changed(uri)

    def _did_change_folders(self, params: types.DidChangeWorkspaceFoldersParams) -> None:
        added, removed = (
            [path for folder in folders if (path := path_of(folder.uri)) is not None]
            for folders in (params.event.added, params.event.removed)
        )
        self._folders.change(added, removed)
        self._following.folders_changed()
        self._diagnosing.ask_again()

    def _did_change_configuration(self, params: types.DidChangeConfigurationParams) -> None:
        self._settings_source.ask(params.settings)

    def _did_change_files(self, params: types.DidChangeWatchedFilesParams) -> None:
        self._following.files_changed(params.changes)
        if not all(self._following.is_trace(each.uri) for each in params.changes):
            self._judging.look(self.traces)
            self._diagnosing.ask_again()  # closed traces have configurations, too

    def _cancel_progress(self, params: types.WorkDoneProgressCancelParams) -> None:
        self._following.cancel(params.token)

    def _use_and_follow(self, settings: Settings) -> None:
        before = self.settings
        self._use(settings)
        self._judging.judge(self.traces)
        self._refreshing.settings_changed(before, settings)
        if settings.files != before.files:
            self._watch_instead(before.files, settings.files)
            self._following.folders_changed()
            self._diagnosing.ask_again()
            self._views.changed(None)

    def _watch_instead(self, before: Sequence[str], now: Sequence[str]) -> None:
        if not self.protocol.client.registers_watchers:
            return
        if before:
            gone = types.Unregistration("more-files", types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
            params = types.UnregistrationParams([gone])
            self.protocol.tell_by_request(types.CLIENT_UNREGISTER_CAPABILITY, params)
        if now:
            wanted = types.RegistrationParams([watched("more-files", from_any_folder(now))])
            self.protocol.tell_by_request(types.CLIENT_REGISTER_CAPABILITY, wanted)

    def _use(self, settings: Settings) -> None:
        for problem in settings.rule_problems:
            log.warning("the client's settings: %s", problem)
        self.settings = settings
        self._folders.more = MoreFiles(settings.files)
        self._url_of = partial(rule_url, template=settings.rule_url)
        self._client_log.use(settings.log_to_client)

    def _options(self, uri: str) -> DiagnosticOptions:
        """By what was found at the last look at the disk."""
        return DiagnosticOptions(
            uri=uri,
            encoding=self.protocol.client.encoding,
            most=self.settings.max_findings,
            url_of=self._url_of,
            members=self.protocol.client.diagnostic_members,
            rules=self._configurations.rules_for(uri, self.settings.rules),
        )

    def _send_findings(self, trace: OpenTrace) -> None:
        self._diagnosing.publish(trace)

    def _judged(self, by_other_rules: bool) -> None:
        self._diagnosing.publish_configurations()
        if by_other_rules:
            self._diagnosing.ask_again()
            self._views.changed(None)

    def _configuration_diagnostics(self) -> dict[str, bytes]:
        return self._configurations.diagnostics(self.protocol.client.encoding)

    def _deliver(self, uri: str) -> None:
        trace = self.traces.get(uri)
        if trace is not None:
            if not self.protocol.client.registers_watchers:
                self._judging.look_now_and_then()
            self._judging.publish(trace)
            self._refreshing.changed(trace)
            self._views.changed(uri)


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
