"""Work that the client shows, and can take back."""

from __future__ import annotations

import asyncio
import uuid

from lsprotocol import types

from drive_trace.features.raw_json import dumps
from drive_trace.lsp.rpc.client_requests import ask
from drive_trace.lsp.rpc.protocol import TraceProtocol


class Progress:
    """One piece of work. It goes on whether or not the client shows it."""

    def __init__(self, protocol: TraceProtocol, title: str) -> None:
        self.token = str(uuid.uuid4())
        self.is_cancelled = False
        """Whether the user wants no more of it."""
        self._protocol = protocol
        self._title = title
        self._is_shown = False
        self._asking: asyncio.Task[None] | None = None

    def show(self) -> None:
        """Have the client show it, where it can."""
        if self._protocol.client.shows_progress:
            self._asking = asyncio.ensure_future(self._show())

    def report(self, done: int, total: int) -> None:
        """So much of it is done."""
        if self._is_shown:
            percentage = 100 * done // max(1, total)
            message = f"{done:,} of {total:,}"
            self._tell({"kind": "report", "message": message, "percentage": percentage})

    def end(self) -> None:
        """It is over."""
        if self._is_shown:
            self._is_shown = False
            self._tell({"kind": "end"})
        elif self._asking is not None:
            self._asking.cancel()

    async def _show(self) -> None:
        params = types.WorkDoneProgressCreateParams(self.token)
        if await ask(self._protocol, types.WINDOW_WORK_DONE_PROGRESS_CREATE, params) is not None:
            self._is_shown = True
            begin = {"kind": "begin", "title": self._title, "cancellable": True, "percentage": 0}
            self._tell(begin)

    def _tell(self, value: dict[str, object]) -> None:
        self._protocol.notify_json(types.PROGRESS, dumps({"token": self.token, "value": value}))
