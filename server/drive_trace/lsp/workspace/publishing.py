"""What the server sends by itself: diagnostics to clients that do not pull them, and requests to
refresh what is out of date.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lsprotocol import types

from drive_trace.features.results import dumps
from drive_trace.lsp.rpc.messages import CHANGED
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.threads import Debouncer
from drive_trace.lsp.workspace.client_settings import Settings
from drive_trace.lsp.workspace.open_traces import OpenTrace
from drive_trace.lsp.workspace.runs import WorkspaceRuns

_MORE_FILES = "more-files"
"""The registration of watchers for the files that a setting adds."""


class Publisher:
    """Sends diagnostics, refresh requests, and the extension's own notification.

    Diagnostics are never pushed to a client that pulls them: it would show everything twice.
    """

    def __init__(self, protocol: TraceProtocol, runs: WorkspaceRuns) -> None:
        self._protocol = protocol
        self._runs = runs
        self.has_views = False
        """Whether the client shows views of its own."""
        self._soon = Debouncer(self._refresh)
        self._sent: Mapping[str, bytes] = {}
        """The diagnostics of configurations."""

    # Diagnostics

    def publish(self, trace: OpenTrace) -> None:
        """Push a trace's diagnostics, with its version."""
        if not self._protocol.client.pulls_diagnostics:
            head = b'{"uri":%b,"version":%d,"diagnostics":' % (dumps(trace.uri), trace.version)
            self._push(head, trace.diagnostics(), b"}")

    def publish_configurations(self, diagnostics: Mapping[str, bytes]) -> None:
        """Push the diagnostics of configurations that have changed."""
        if self._protocol.client.pulls_diagnostics:
            return
        before, self._sent = self._sent, diagnostics
        for uri, items in diagnostics.items():
            if before.get(uri, b"[]") != items:
                self._push(b'{"uri":%b,"diagnostics":%b}' % (dumps(uri), items))

    def clear(self, uri: str) -> None:
        """Take back the diagnostics of a trace that was closed."""
        if not self._protocol.client.pulls_diagnostics:
            self._push(dumps({"uri": uri, "diagnostics": []}))

    def _push(self, *params: bytes) -> None:
        self._protocol.notify_json(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, *params)

    # Refreshing

    def refresh_diagnostics(self) -> None:
        """Let a client that pulls diagnostics pull them again."""
        self._refresh(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    def refresh_views(self, uri: str | None) -> None:
        """Let the client's own views refresh what they show of a trace; None: of all traces."""
        if self.has_views:
            self._protocol.notify(CHANGED, {"uri": uri})

    def changed(self, trace: OpenTrace) -> None:
        """A trace was edited. Its lenses are refreshed if they may show another verdict now."""
        if trace.shown_score != trace.score_revision:
            trace.shown_score = trace.score_revision
            self._refresh(types.WORKSPACE_CODE_LENS_REFRESH)

    def settings_changed(self, before: Settings, now: Settings) -> None:
        """The client has other settings."""
        if now.lens != before.lens:
            self._refresh(types.WORKSPACE_CODE_LENS_REFRESH)
        if now.inlay_hints != before.inlay_hints:
            self._refresh(types.WORKSPACE_INLAY_HINT_REFRESH)

    def closed_traces_changed(self) -> None:
        """Closed traces were looked at. What the editor shows of them may be out of date."""
        runs, has_new_text, may_touch_any_run = self._runs.closed.take_changes()
        may_touch_any_run |= self._runs.take_outdated()
        if runs or has_new_text or may_touch_any_run:
            self.refresh_views(None)
        if may_touch_any_run or any(
            runs & ({*trace.analysis.index.runs, *trace.analysis.index.uncounted})
            for trace in self._runs.open
        ):
            self._soon.request(types.WORKSPACE_CODE_LENS_REFRESH)
        holders = self._runs.closed.holders
        if has_new_text or any(len(holders(run_id)) > 1 for run_id in runs):
            self._soon.request(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    def _refresh(self, method: str) -> None:
        client = self._protocol.client
        can = {
            types.WORKSPACE_CODE_LENS_REFRESH: client.refreshes_lenses,
            types.WORKSPACE_INLAY_HINT_REFRESH: client.refreshes_hints,
            types.WORKSPACE_DIAGNOSTIC_REFRESH: (
                client.pulls_diagnostics and client.refreshes_diagnostics
            ),
        }
        if can[method]:
            self._protocol.notify_by_request(method)

    # Registrations

    def watch(self, name: str, globs: Sequence[str]) -> None:
        """Let the client report changes of files on disk. The name identifies the registration."""
        watchers = [types.FileSystemWatcher(glob) for glob in globs]
        options = types.DidChangeWatchedFilesRegistrationOptions(watchers)
        method = types.WORKSPACE_DID_CHANGE_WATCHED_FILES
        self.register(types.Registration(name, method, options))

    def watch_more(self, before: Sequence[str], now: Sequence[str]) -> None:
        """Let the client watch the files of a setting instead of those it had before."""
        if not self._protocol.client.registers_watchers:
            return
        if before:
            gone = types.Unregistration(_MORE_FILES, types.WORKSPACE_DID_CHANGE_WATCHED_FILES)
            params = types.UnregistrationParams([gone])
            self._protocol.notify_by_request(types.CLIENT_UNREGISTER_CAPABILITY, params)
        if now:
            # Clients match whole paths. This may match more than is meant.
            self.watch(_MORE_FILES, [g if g.startswith(("/", "**/")) else f"**/{g}" for g in now])

    def register(self, registration: types.Registration) -> None:
        """Register for notifications of the client."""
        params = types.RegistrationParams([registration])
        self._protocol.notify_by_request(types.CLIENT_REGISTER_CAPABILITY, params)
