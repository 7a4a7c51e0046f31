"""The workspace's symbols: of open traces as the editor has them, of the others from disk."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lsprotocol import types

from drive_trace.features.workspace_symbol import (
    FoundSymbol,
    SymbolName,
    best_matches,
    names_in,
    resolve_symbol,
    workspace_symbols,
)
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import in_thread
from drive_trace.lsp.workspace.following import Following
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.lsp.workspace.trace_folders import real_path

_AT_ONCE = 50
"""So many closed traces are asked in one go; between two, a cancel is noticed."""


class Symbols:
    """Answers ``workspace/symbol`` and ``workspaceSymbol/resolve``."""

    def __init__(self, protocol: TraceProtocol, runs: WorkspaceRuns, following: Following) -> None:
        self._protocol = protocol
        self._runs = runs
        self._following = following

    async def find(self, params: types.WorkspaceSymbolParams) -> list[types.WorkspaceSymbol]:
        """The runs, slices and dispatches whose names match best."""
        reals = await self._following.everything()
        closed: list[FoundSymbol] = []
        for start in range(0, len(reals), _AT_ONCE):
            closed += await in_thread(self._in_closed, reals[start : start + _AT_ONCE])
        found = [*self._in_open(params.query), *closed]
        client = self._protocol.client
        best = best_matches(found, params.query)
        return workspace_symbols(best, client.encoding, resolves=client.resolves_symbols)

    async def resolve(self, symbol: types.WorkspaceSymbol) -> types.WorkspaceSymbol:
        """A symbol with its place."""
        uri = symbol.location.uri
        names: Sequence[SymbolName] = ()
        trace = self._runs.open.get(uri)
        path = path_of(uri)
        if trace is not None:
            names = names_in(trace.analysis, symbol.name)
        elif path is not None:
            names = await in_thread(self._in_file, path)
        return resolve_symbol(symbol, names, self._protocol.client.encoding)

    def _in_open(self, query: str) -> list[FoundSymbol]:
        return [
            FoundSymbol(trace.uri, named)
            for trace in self._runs.open_traces()
            for named in names_in(trace.analysis, query)
        ]

    # In threads

    def _in_closed(self, reals: Sequence[str]) -> list[FoundSymbol]:
        closed = self._runs.closed
        looks = not self._protocol.client.registers_watchers
        return [
            FoundSymbol(uri, named)
            for real in reals
            if (uri := closed.uri_of(real)) is not None
            for named in closed.names(real, looks=looks)
        ]

    def _in_file(self, path: Path) -> Sequence[SymbolName]:
        return self._runs.closed.names(real_path(path))
