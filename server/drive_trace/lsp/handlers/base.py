"""How a request about an open trace gets to its response: at once, in slices, or after a look at
the workspace's other traces.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from inspect import isawaitable
from pathlib import Path
from typing import Any, NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.positions import point_at
from drive_trace.features.runs import Joined, JoinedRun
from drive_trace.lsp.rpc.capabilities import Client
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import begun, check_unchanged
from drive_trace.lsp.workspace.client_settings import ClientSettings, Settings
from drive_trace.lsp.workspace.following import Following
from drive_trace.lsp.workspace.open_traces import OpenTrace
from drive_trace.lsp.workspace.runs import WorkspaceRuns
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.document import Point


class Asked(NamedTuple):
    """What a request is about, and who asks."""

    trace: OpenTrace
    client: Client
    settings: Settings
    runs: WorkspaceRuns
    settled: Callable[..., Awaitable[None]]
    """See :meth:`Following.settled`."""

    @property
    def analysis(self) -> Analysis:
        """The trace as it is now."""
        return self.trace.analysis

    @property
    def encoding(self) -> PositionEncoding:
        """How the client counts characters."""
        return self.client.encoding

    @property
    def document(self) -> types.OptionalVersionedTextDocumentIdentifier:
        """The trace's name and version, as an edit gives them."""
        return types.OptionalVersionedTextDocumentIdentifier(self.trace.uri, self.trace.version)

    @property
    def folders(self) -> tuple[Path, ...]:
        """The workspace's folders, as they are now."""
        return self.runs.closed.folders.folders

    def joined(self, run_id: str) -> JoinedRun | None:
        """A run over all its files in the workspace folder."""
        return self.runs.joined(run_id, self.trace.uri)

    def merging(self, make: Callable[[Joined], object]) -> object:
        """What is made of this trace and, where it asks for them, of what other files say of a run:
        then it is made once more when these are known as they are now. Where they are not known at
        all, nothing is merged, and nothing waits.
        """
        asks = False

        def joined(run_id: str) -> JoinedRun | None:
            nonlocal asks
            said = self.joined(run_id)
            asks |= said is None or said.lack is None
            return said

        made = make(joined)
        return self._made_of_what_is_now(make) if asks else made

    async def _made_of_what_is_now(self, make: Callable[[Joined], object]) -> object:
        edits = self.trace.edits
        await self.settled(searches=False)
        check_unchanged(self.trace, edits)
        return make(self.joined)

    def point(self, position: types.Position) -> Point:
        """Where a position of the client is."""
        return point_at(self.trace.analysis, position, self.client.encoding)


class Answer(NamedTuple):
    """How a method is answered whose params name a document."""

    method: str
    give: Callable[[Asked, Any], object]
    """Gives the result, the steps to it, or a coroutine."""
    options: object = None
    """What the server declares beside the method."""
    of_nothing: object = None
    """The answer for a document that is not open."""
    looks_elsewhere: bool = False
    """Whether it also says what other traces of the workspace hold."""


class Resolve(NamedTuple):
    """How a part of an answer is filled in when somebody looks at it. Its ``data`` names the trace
    that it was made of, where that matters.
    """

    method: str
    give: Callable[[Client, Asked | None, Any], object]
    """Is given None where no trace is named, or it is not open any more."""
    looks_elsewhere: bool = False
    """As of an answer."""


class Answering:
    """Gives answers about open traces."""

    def __init__(
        self,
        protocol: TraceProtocol,
        runs: WorkspaceRuns,
        following: Following,
        settings: ClientSettings,
    ) -> None:
        self._protocol = protocol
        self._runs = runs
        self._following = following
        self._settings = settings

    def asked(self, uri: str) -> Asked | None:
        """What it takes to answer about a trace; None where it is not open."""
        trace = self._runs.open.get(uri)
        if trace is None:
            return None
        client, settled = self._protocol.client, self._following.settled
        return Asked(trace, client, self._settings.now, self._runs, settled)

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
