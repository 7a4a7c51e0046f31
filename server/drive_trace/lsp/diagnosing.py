"""Diagnostics as the client wants them: sent after each change, or given when it asks.

Never both: an editor that does both shows everything twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from lsprotocol import types

from drive_trace.features.diagnostics import DiagnosticOptions, dumps
from drive_trace.lsp.client import folder_of
from drive_trace.lsp.closed_traces import ClosedTraces
from drive_trace.lsp.protocol import TraceProtocol
from drive_trace.lsp.reports import Report
from drive_trace.lsp.workspace import OpenTrace, Workspace

_BATCH_SECONDS = 0.1
"""A partial result waits so long for more before it is sent."""


class Diagnosing:
    """Makes and delivers the diagnostics of open and closed traces."""

    def __init__(
        self,
        protocol: TraceProtocol,
        traces: Workspace,
        options_of: Callable[[str], DiagnosticOptions],
    ) -> None:
        self._protocol = protocol
        self._traces = traces
        self._options_of = options_of
        self.closed = ClosedTraces(())

    # Sent

    def publish(self, trace: OpenTrace) -> None:
        """Send a trace's diagnostics, with its version, to a client that does not ask."""
        if self._protocol.client.pulls_diagnostics:
            return
        head = b'{"uri":%b,"version":%d,"diagnostics":' % (dumps(trace.uri), trace.version)
        self._protocol.notify_json(
            types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, head, trace.diagnostics(), b"}"
        )

    def clear(self, uri: str) -> None:
        """Take back what was sent of a trace that was closed."""
        if not self._protocol.client.pulls_diagnostics:
            empty = dumps({"uri": uri, "diagnostics": []})
            self._protocol.notify_json(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS, empty)

    def ask_again(self) -> None:
        """Have a client that asks do so: what it knows may be wrong now."""
        client = self._protocol.client
        if client.pulls_diagnostics and client.refreshes_diagnostics:
            self._protocol.tell_by_request(types.WORKSPACE_DIAGNOSTIC_REFRESH)

    # Asked for

    async def document(self, params: types.DocumentDiagnosticParams) -> dict[str, Any]:
        """The diagnostics of one document; of one that is not open, as it is on disk."""
        uri, previous = params.text_document.uri, params.previous_result_id
        trace = self._traces.get(uri)
        if trace is not None:
            return Report.of(uri, trace.diagnostics()).unless(previous).as_document_report()
        path = _real(folder_of(uri))
        report: Report | None = None
        if path is not None and path in map(_real, await asyncio.to_thread(self.closed.paths)):
            options = self._options_of(uri)
            report = await asyncio.to_thread(self.closed.report, path, previous, options)
        return (report or Report.of(uri, b"[]").unless(previous)).as_document_report()

    async def workspace(self, params: types.WorkspaceDiagnosticParams) -> dict[str, Any]:
        """The diagnostics of all traces, open or not; in parts where the client takes parts."""
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
        params = {"token": token, "value": {"items": items}}
        self._protocol.notify_json(types.PROGRESS, dumps(params))

    async def _reports(
        self, previous_ids: Sequence[types.PreviousResultId]
    ) -> AsyncIterator[dict[str, Any]]:
        previous = {each.uri: each.value for each in previous_ids}
        spelled = {path: uri for uri in previous if (path := _real(folder_of(uri))) is not None}
        done: set[str] = set()
        opened: set[Path | None] = set()
        for trace in self._traces:
            done.add(trace.uri)
            opened.add(_real(folder_of(trace.uri)))
            report = Report.of(trace.uri, trace.diagnostics()).unless(previous.get(trace.uri))
            yield report.as_workspace_report(trace.version)
        for path in await asyncio.to_thread(self.closed.paths):
            real = _real(path)
            if real is None or real in opened:
                continue
            uri = spelled.get(real) or path.absolute().as_uri()
            options = self._options_of(uri)
            closed = await asyncio.to_thread(self.closed.report, path, previous.get(uri), options)
            if closed is not None:
                done.add(uri)
                yield closed.as_workspace_report(None)
        for uri, value in previous.items():
            if uri not in done:  # gone, or out of the workspace now
                yield Report.of(uri, b"[]").unless(value).as_workspace_report(None)


def _real(path: Path | None) -> Path | None:
    """One name for all spellings of a path."""
    if path is None:
        return None
    with suppress(OSError, ValueError):
        return path.resolve()
    return path
