"""Diagnostics for clients that pull them, of open and of closed traces."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

from lsprotocol import types

from drive_trace.features.raw_json import dumps
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.messages import DiagnosticReport
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import in_thread
from drive_trace.lsp.workspace.judging import Judging
from drive_trace.lsp.workspace.open_traces import OpenTrace
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.lsp.workspace.trace_folders import real_path

log = logging.getLogger(__name__)

_BATCH_SECONDS = 0.1
"""A partial result waits so long for more before it is sent."""


class PulledDiagnostics:
    """Responds to ``textDocument/diagnostic`` and ``workspace/diagnostic``."""

    def __init__(self, protocol: TraceProtocol, runs: WorkspaceRuns, judging: Judging) -> None:
        self._protocol = protocol
        self._traces = runs.open
        self._closed = runs.closed
        self._judging = judging

    async def document(self, params: types.DocumentDiagnosticParams) -> dict[str, Any]:
        """The diagnostics of one document; of one that is not open, as it is on disk."""
        uri, previous = params.text_document.uri, params.previous_result_id
        report = await self._of_open(uri, previous)
        if report is None:
            path = path_of(uri)
            if path is not None and await in_thread(self._closed.has, path):
                report = await self._of_closed(path, uri, previous)
        return (report or DiagnosticReport.of(uri, b"[]").unless(previous)).as_document_report()

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
        done: set[str] = set()
        for trace in self._traces:
            done.add(trace.uri)
            report = await self._of_open(trace.uri, previous.get(trace.uri))
            now = self._traces.get(trace.uri)
            if report is not None and now is not None:
                yield report.as_workspace_report(now.version)
        for real, path, uri in await in_thread(self._closed.folders.spelled, list(previous)):
            if real in map(self._real_path, self._traces):
                continue
            closed = await self._of_closed(path, uri, previous.get(uri))
            # It may have been opened meanwhile, and then what is on disk does not count.
            if closed is not None and self._traces.get(uri) is None:
                done.add(uri)
                yield closed.as_workspace_report(None)
        for uri, items in self._judging.configuration_diagnostics().items():
            done.add(uri)
            yield (
                DiagnosticReport.of(uri, items).unless(previous.get(uri)).as_workspace_report(None)
            )
        for uri, value in previous.items():
            if uri not in done and self._traces.get(uri) is None:  # gone, or out of the workspace
                yield DiagnosticReport.of(uri, b"[]").unless(value).as_workspace_report(None)

    def _real_path(self, trace: OpenTrace) -> str | None:
        path = path_of(trace.uri)
        return real_path(path) if path is not None else None

    async def _of_open(self, uri: str, previous: str | None) -> DiagnosticReport | None:
        trace = self._traces.get(uri)
        if trace is None:
            return None
        # Who cannot be told to ask again gets no answer that may soon be wrong.
        for_long = not self._protocol.client.refreshes_diagnostics
        await self._judging.settled(trace, for_long=for_long)
        trace = self._traces.get(uri)  # as it is now: typing goes on
        return (
            DiagnosticReport.of(uri, trace.diagnostics()).unless(previous)
            if trace is not None
            else None
        )

    async def _of_closed(
        self, path: Path, uri: str, previous: str | None
    ) -> DiagnosticReport | None:
        try:
            options = await self._judging.options_now(uri)
            report = await in_thread(self._closed.report, path, previous, options)
        except Exception:
            log.exception("%s cannot be looked at", path)  # which must not fail all the others
            return None
        return report if self._traces.get(uri) is None else await self._of_open(uri, previous)
