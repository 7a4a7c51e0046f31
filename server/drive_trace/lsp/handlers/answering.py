"""How what a client asks about a trace gets to its answer, whatever that takes: steps, a thread,
or a look at the workspace's other traces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from typing import Any

from drive_trace.lsp.handlers import Answer, Asked, Resolve
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import begun
from drive_trace.lsp.workspace.client_settings import Settings
from drive_trace.lsp.workspace.following import Following
from drive_trace.lsp.workspace.open_traces import Workspace
from drive_trace.lsp.workspace.runs import WorkspaceRuns


class Answering:
    """Gives answers about open traces."""

    def __init__(
        self,
        protocol: TraceProtocol,
        traces: Workspace,
        runs: WorkspaceRuns,
        following: Following,
        settings: Callable[[], Settings],
    ) -> None:
        self._protocol = protocol
        self._traces = traces
        self._runs = runs
        self._following = following
        self._settings = settings

    def asked(self, uri: str) -> Asked | None:
        """What it takes to answer about a trace; None where it is not open."""
        trace = self._traces.get(uri)
        if trace is None:
            return None
        client, settled = self._protocol.client, self._following.settled
        return Asked(trace, client, self._settings(), self._runs, settled)

    def answer(self, answer: Answer, params: Any) -> object:
        """The answer to a request."""
        asked = self.asked(params.text_document.uri)
        if asked is None:
            return answer.of_nothing
        return self._given(asked, answer, lambda: answer.give(asked, params))

    def resolve(self, resolve: Resolve, item: Any) -> object:
        """A part of an answer, filled in."""
        uri = item.data.get("uri") if isinstance(item.data, dict) else None
        asked = self.asked(uri) if isinstance(uri, str) else None
        client = self._protocol.client
        if asked is None:
            return resolve.give(client, None, item)
        return self._given(asked, resolve, lambda: resolve.give(client, asked, item))

    def _given(self, asked: Asked, how: Answer | Resolve, give: Callable[[], object]) -> object:
        known = begun(asked.trace, give())
        if not (how.looks_elsewhere and self._following.is_due):
            return known
        return self._after_a_look(asked, known, give)

    def _after_a_look(
        self, asked: Asked, known: object, give: Callable[[], object]
    ) -> Awaitable[object]:
        edits = asked.trace.edits

        async def again() -> object:
            await self._following.fresh()
            # What was asked is about the text as it was then.
            made = give() if asked.trace.edits == edits else known
            return await made if isawaitable(made) else made

        return again()
