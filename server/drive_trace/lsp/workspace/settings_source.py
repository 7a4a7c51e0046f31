"""Where the settings come from: the client is asked for them, or sends them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from lsprotocol import types

from drive_trace.lsp.rpc.client_requests import ask
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.workspace.client_settings import SECTION, Settings, read_settings


class SettingsSource:
    """Follows the settings of one client."""

    def __init__(self, protocol: TraceProtocol, use: Callable[[Settings], None]) -> None:
        self._protocol = protocol
        self._use = use
        self._given = Settings()
        """What the client said when it started the server."""
        self._now = self._given
        self._asked = 0
        self._tasks: set[asyncio.Future[None]] = set()

    def start(self, options: object) -> None:
        """Take the settings of ``initializationOptions``."""
        self._given = self._now = read_settings(options, Settings())
        self._use(self._now)

    def ask(self, sent: object = None) -> None:
        """Get the settings as they are now. ``sent`` is what came with the word that they have
        changed: it counts where the client gives no others.
        """
        if not self._protocol.client.gives_settings:
            self._take(read_settings(sent, self._now))
            return
        self._asked += 1
        task = asyncio.ensure_future(self._ask(self._asked, sent))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask(self, number: int, sent: object) -> None:
        params = types.ConfigurationParams([types.ConfigurationItem(section=SECTION)])
        reply = await ask(self._protocol, types.WORKSPACE_CONFIGURATION, params)
        if number != self._asked:
            return  # asked again meanwhile
        match reply and reply.result:
            case [dict() as section, *_]:
                # What stands in it no more is again as it was at the start.
                self._take(read_settings(section, self._given))
            case _:
                self._take(read_settings(sent, self._now))

    def _take(self, settings: Settings) -> None:
        if settings != self._now:
            self._now = settings
            self._use(settings)
