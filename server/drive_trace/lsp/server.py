"""The language server: what the client asks, answered from the features."""

from __future__ import annotations

import gc
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from drive_trace import __version__
from drive_trace.api import Analysis
from drive_trace.features.code_actions import APPLY_FIX
from drive_trace.features.code_lens import SHOW_RUN, resolve_lens
from drive_trace.features.completion_resolve import resolve_completion
from drive_trace.features.diagnostics import DiagnosticOptions
from drive_trace.features.elsewhere import elsewhere_short
from drive_trace.features.inlay_hints import resolve_hint
from drive_trace.lsp.answers import ANSWERS, Answer, Asked
from drive_trace.lsp.answers.picking import APPLY_ACTION, RECORD_GRADE
from drive_trace.lsp.client import path_of
from drive_trace.lsp.closed_traces import ClosedTraces
from drive_trace.lsp.configurations import CONFIGURATION_GLOBS, Configurations
from drive_trace.lsp.converter import strict_converter
from drive_trace.lsp.diagnosing import Diagnosing
from drive_trace.lsp.following import Following
from drive_trace.lsp.logs import ClientLog
from drive_trace.lsp.protocol import TraceProtocol
from drive_trace.lsp.scheduling import Debouncer
from drive_trace.lsp.server_commands import ServerCommands
from drive_trace.lsp.settings import SECTION, Settings
from drive_trace.lsp.settings_source import SettingsSource
from drive_trace.lsp.symbols import Symbols
from drive_trace.lsp.threads import in_thread
from drive_trace.lsp.views import Views
from drive_trace.lsp.workspace import OpenTrace, Workspace
from drive_trace.lsp.workspace_runs import WorkspaceRuns
from drive_trace.storage.linked_files import linked_file
from drive_trace.storage.pages import rule_url
from drive_trace.storage.traces import TRACE_GLOBS

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
        self._configurations = Configurations(os.curdir)
        self._client_log = ClientLog(self.window_log_message)
        closed = ClosedTraces(())
        self._folders = closed.folders
        self._diagnosing = Diagnosing(
            self.protocol, self.traces, closed, self._options, self._configuration_diagnostics
        )
        self._runs = WorkspaceRuns(self.traces, closed)
        self._following = Following(self.protocol, self._runs, self._tell_of_closed)
        self._symbols = Symbols(self.protocol, self._runs, self._following)
        self._settings_source = SettingsSource(self.protocol, self._use_and_follow)
        self._refreshing = Debouncer(self._refresh)
        self._publishing = Debouncer(self._deliver)
        self._scored: dict[str, tuple[int, int]] = {}
        self._commands = ServerCommands(self)
        self._views = Views(
            self.protocol,
            self._runs,
            self._following,
            self.asked,
            lambda uri: self._options(uri).rules,
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
            self._on(answer.method, partial(self._give, answer), answer.options)
        self._on(types.CODE_LENS_RESOLVE, self._resolve_lens)
        self._on(types.CODE_ACTION_RESOLVE, self._commands.resolve_action)
        self._on(types.COMPLETION_ITEM_RESOLVE, self._resolve_completion)
        self._on(types.DOCUMENT_LINK_RESOLVE, self._resolve_link)
        self._on(types.INLAY_HINT_RESOLVE, self._resolve_hint)
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
        self._configurations = Configurations(str(folders[0]) if folders else os.curdir)
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
            globs = (*CONFIGURATION_GLOBS, *TRACE_GLOBS)
            watchers = [types.FileSystemWatcher(glob) for glob in globs]
            files = types.DidChangeWatchedFilesRegistrationOptions(watchers)
            method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
            wanted.append(types.Registration("files", method, files))
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
        self._scored[trace.uri] = trace.score_revision
        self._diagnosing.publish(trace)
        self._diagnosing.publish_configurations()
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
        self._scored.pop(uri, None)
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
            self._follow_options()
            self._diagnosing.ask_again()  # closed traces have configurations, too

    def _cancel_progress(self, params: types.WorkDoneProgressCancelParams) -> None:
        self._following.cancel(params.token)

    def _follow_options(self) -> None:
        """Use what settings, configurations and baselines say now."""
        has_changed = False
        for trace in self.traces:
            if trace.use(self._options(trace.uri)):
                has_changed = True
                self._diagnosing.publish(trace)
        self._diagnosing.publish_configurations()
        if has_changed:
            self._diagnosing.ask_again()
            self._views.changed(None)

    def _use_and_follow(self, settings: Settings) -> None:
        before = self.settings
        self._use(settings)
        self._follow_options()
        if settings.lens != before.lens:
            self._refresh(types.WORKSPACE_CODE_LENS_REFRESH)
        if settings.inlay_hints != before.inlay_hints:
            self._refresh(types.WORKSPACE_INLAY_HINT_REFRESH)

    def _use(self, settings: Settings) -> None:
        for problem in settings.rule_problems:
            log.warning("the client's settings: %s", problem)
        self.settings = settings
        self._url_of = partial(rule_url, template=settings.rule_url)
        self._client_log.use(settings.log_to_client)

    def _options(self, uri: str) -> DiagnosticOptions:
        return DiagnosticOptions(
            uri=uri,
            encoding=self.protocol.client.encoding,
            most=self.settings.max_findings,
            url_of=self._url_of,
            members=self.protocol.client.diagnostic_members,
            rules=self._configurations.rules_for(uri, self.settings.rules),
        )

    def _configuration_diagnostics(self) -> dict[str, bytes]:
        return self._configurations.diagnostics(self.protocol.client.encoding)

    def _deliver(self, uri: str) -> None:
        trace = self.traces.get(uri)
        if trace is not None:
            if not self.protocol.client.registers_watchers and self._configurations.is_due():
                self._follow_options()
            self._diagnosing.publish(trace)
            self._refresh_lenses(trace)
            self._views.changed(uri)

    def _refresh_lenses(self, trace: OpenTrace) -> None:
        revision = trace.score_revision
        if self._scored.get(trace.uri) == revision:
            return
        self._scored[trace.uri] = revision
        self._refresh(types.WORKSPACE_CODE_LENS_REFRESH)

    def _tell_of_closed(self) -> None:
        """Closed traces were looked at: what of them shows in the editor may be out of date."""
        runs = self._runs.closed.take_changed_runs()
        has_new_text = self._runs.closed.take_new_text()
        if runs or has_new_text:
            self._views.changed(None)
        if any(not runs.isdisjoint(trace.analysis.index.runs) for trace in self.traces):
            self._refreshing.request(types.WORKSPACE_CODE_LENS_REFRESH)
        if has_new_text and self.protocol.client.pulls_diagnostics:
            self._refreshing.request(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    def _refresh(self, method: str) -> None:
        """Have the client ask again for something, if it can be told to."""
        client = self.protocol.client
        can = {
            types.WORKSPACE_CODE_LENS_REFRESH: client.refreshes_lenses,
            types.WORKSPACE_INLAY_HINT_REFRESH: client.refreshes_hints,
            types.WORKSPACE_DIAGNOSTIC_REFRESH: client.refreshes_diagnostics,
        }
        if can[method]:
            self.protocol.tell_by_request(method)

    # What the client asks

    def _give(self, answer: Answer, params: Any) -> object:
        asked = self.asked(params.text_document.uri)
        if asked is None:
            return answer.of_nothing
        if answer.looks_elsewhere:
            return self._with_others(asked.trace, lambda: answer.give(asked, params))
        return answer.give(asked, params)

    def asked(self, uri: str) -> Asked | None:
        """What it takes to answer about a trace; None where it is not open."""
        trace = self.traces.get(uri)
        if trace is None:
            return None
        return Asked(trace, self.protocol.client, self.settings, self._runs)

    def _resolve_lens(self, lens: types.CodeLens) -> object:
        data = lens.data if isinstance(lens.data, dict) else {}
        trace = self.traces.get(str(data.get("uri", "")))
        if trace is None:
            return resolve_lens(None, lens)

        def elsewhere(run_id: str) -> str | None:
            said = self._runs.elsewhere(run_id, trace.uri)
            return elsewhere_short(said) if said is not None else None

        return self._with_others(trace, lambda: resolve_lens(trace.analysis, lens, elsewhere))

    def _with_others(self, trace: OpenTrace, give: Callable[[], object]) -> object:
        """An answer that other traces have a part in, which may have to be looked at before."""
        known = give()
        if not self._following.is_due:
            return known
        edits = trace.edits

        async def after_a_look() -> object:
            await self._following.fresh()
            # What was asked is about the text as it was then.
            is_same = self.traces.get(trace.uri) is trace and trace.edits == edits
            return give() if is_same else known

        return after_a_look()

    def _resolve_completion(self, item: types.CompletionItem) -> types.CompletionItem:
        return resolve_completion(item, self.protocol.client.completion.documentation)

    def _resolve_hint(self, hint: types.InlayHint) -> types.InlayHint:
        return resolve_hint(self._analysis_of(hint.data), hint)

    def _analysis_of(self, data: object) -> Analysis | None:
        """The trace that something to be resolved was made of."""
        trace = self.traces.get(str(data.get("uri", ""))) if isinstance(data, dict) else None
        return trace.analysis if trace is not None else None

    async def _resolve_link(self, link: types.DocumentLink) -> types.DocumentLink:
        data = link.data if isinstance(link.data, dict) else {}
        named, trace = data.get("path"), path_of(str(data.get("uri", "")))
        if isinstance(named, str):
            file = await in_thread(linked_file, named, trace, self._folders.folders)
            link.target = file.as_uri() if file is not None else None
        return link


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
