"""When the client is told that what it shows of traces is out of date, so that it asks again."""

from __future__ import annotations

from collections.abc import Callable

from lsprotocol import types

from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import Debouncer
from drive_trace.lsp.workspace.client_settings import Settings
from drive_trace.lsp.workspace.open_traces import OpenTrace, Workspace
from drive_trace.lsp.workspace.runs import WorkspaceRuns


class Refreshing:
    """Sends the protocol's refresh requests."""

    def __init__(
        self,
        protocol: TraceProtocol,
        traces: Workspace,
        runs: WorkspaceRuns,
        changed_on_disk: Callable[[], None],
    ) -> None:
        self._protocol = protocol
        self._traces = traces
        self._runs = runs
        self._changed_on_disk = changed_on_disk
        self._soon = Debouncer(self._refresh)
        self._scored: dict[str, tuple[int, int]] = {}

    def opened(self, trace: OpenTrace) -> None:
        """The client asks for all there is to show by itself."""
        self._scored[trace.uri] = trace.score_revision

    def closed(self, uri: str) -> None:
        """Nothing is shown of a trace any more."""
        self._scored.pop(uri, None)

    def changed(self, trace: OpenTrace) -> None:
        """A trace was edited: its lenses may show another verdict."""
        revision = trace.score_revision
        if self._scored.get(trace.uri) != revision:
            self._scored[trace.uri] = revision
            self._refresh(types.WORKSPACE_CODE_LENS_REFRESH)

    def settings_changed(self, before: Settings, now: Settings) -> None:
        """The client has other settings."""
        if now.lens != before.lens:
            self._refresh(types.WORKSPACE_CODE_LENS_REFRESH)
        if now.inlay_hints != before.inlay_hints:
            self._refresh(types.WORKSPACE_INLAY_HINT_REFRESH)

    def closed_traces_changed(self) -> None:
        """Closed traces were looked at: what of them shows in the editor may be out of date."""
        runs, has_new_text, may_touch_any_run = self._runs.closed.take_changes()
        may_touch_any_run |= self._runs.take_said_so_far()
        if runs or has_new_text or may_touch_any_run:
            self._changed_on_disk()
        if may_touch_any_run or any(
            not runs.isdisjoint(trace.analysis.index.runs) for trace in self._traces
        ):
            self._soon.request(types.WORKSPACE_CODE_LENS_REFRESH)
        if has_new_text and self._protocol.client.pulls_diagnostics:
            self._soon.request(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    def _refresh(self, method: str) -> None:
        client = self._protocol.client
        can = {
            types.WORKSPACE_CODE_LENS_REFRESH: client.refreshes_lenses,
            types.WORKSPACE_INLAY_HINT_REFRESH: client.refreshes_hints,
            types.WORKSPACE_DIAGNOSTIC_REFRESH: client.refreshes_diagnostics,
        }
        if can[method]:
            self._protocol.tell_by_request(method)
