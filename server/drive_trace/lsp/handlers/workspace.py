"""Requests about all traces of the workspace, open or closed: symbols, and pulled diagnostics."""

import asyncio
import logging
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types

from drive_trace.features import findings, navigation
from drive_trace.lsp.handlers import Handlers
from drive_trace.lsp.rpc.capabilities import key_of, path_of
from drive_trace.lsp.rpc.messages import DiagnosticReport
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace import linting, runs

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
            if (
                uri not in done and self._runs.open.get(uri) is None
            ):  # gone, or out of the workspace
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
        return {each.path: each.run_ids for each in self._runs.closed.seen()}

    async def _of_closed(
        self,
        path: Path,
        uri: str,
        previous: str | None,
        options: findings.DiagnosticOptions,
        parts: Mapping[Path, Collection[str]],
    ) -> DiagnosticReport | None:
        beside = runs.beside_of(self._runs, uri, parts.get(path, ()))
        try:
            return await in_thread(self._runs.closed.report, path, previous, options, beside)
        except Exception:
            log.exception("%s cannot be looked at", path)  # which must not fail all the others
            return None


def _workspace_report(uri: str, items: bytes, previous: str | None) -> dict[str, Any]:
    return DiagnosticReport.of(uri, items).unless(previous).as_workspace_report(None)
