"""A pytest-lsp client that takes what an editor takes."""

from __future__ import annotations

import asyncio
import os
from tempfile import TemporaryDirectory
from typing import Any

from lsprotocol import types
from pytest_lsp import LanguageClient

from tests.support.presets import PRESETS

PATIENCE = 60.0
"""Seconds that anything is waited for."""


class Editor(LanguageClient):
    """A client that knows which versions were published, and takes what an editor takes."""

    def __init__(self) -> None:
        super().__init__()
        self.preset = PRESETS[0]
        self.asks = False
        """Whether it asks for diagnostics, instead of waiting for them."""
        self.exit_code: int | None = None
        self.gone = asyncio.Event()
        self.home = TemporaryDirectory()
        self._published: list[types.PublishDiagnosticsParams] = []
        self._refreshes = 0
        self._news = asyncio.Condition()

        # Functions, as pygls notes things on what it is given.
        @self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)
        async def _(params: types.PublishDiagnosticsParams) -> None:
            async with self._news:
                self._published.append(params)
                self._news.notify_all()

        @self.feature(types.WORKSPACE_CODE_LENS_REFRESH)
        async def _(_: None) -> None:
            async with self._news:
                self._refreshes += 1
                self._news.notify_all()

        @self.feature(types.WORKSPACE_DIAGNOSTIC_REFRESH)
        def _(_: None) -> None:
            """This editor asks when it wants to know."""

        @self.feature(types.WINDOW_SHOW_MESSAGE)
        def _(params: types.ShowMessageParams) -> None:
            self.messages.append(params)

        @self.feature(types.WINDOW_SHOW_DOCUMENT)
        def _(params: types.ShowDocumentParams) -> types.ShowDocumentResult:
            self.shown_documents.append(params)
            return types.ShowDocumentResult(success=True)

        @self.feature(types.CLIENT_REGISTER_CAPABILITY)
        def _(_: types.RegistrationParams) -> None:
            """This editor tells of all changes in any case."""

        @self.feature(types.WORKSPACE_CONFIGURATION)
        def _(params: types.ConfigurationParams) -> list[Any]:
            return [self.get_configuration(section=each.section) for each in params.items]

        @self.feature(types.WINDOW_WORK_DONE_PROGRESS_CREATE)
        def _(_: types.WorkDoneProgressCreateParams) -> None:
            """It shows what takes long."""

    async def start_io(self, cmd: str, *args: str, **_: Any) -> None:
        home = {"HOME": self.home.name, "DRIVE_TRACE_CACHE": self.home.name}
        await super().start_io(cmd, *args, env={**os.environ, **home})

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        self.exit_code = server.returncode
        self.gone.set()
        await super().server_exit(server)

    @property
    def was_sent_diagnostics(self) -> bool:
        return bool(self._published)

    async def published(self, uri: str, version: int | None) -> list[types.Diagnostic]:
        """The diagnostics of a version, that were or will be published."""

        def found() -> list[types.PublishDiagnosticsParams]:
            return [each for each in self._published if (each.uri, each.version) == (uri, version)]

        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(found)
        return list(found()[-1].diagnostics)

    async def refreshed(self) -> None:
        """Wait for the next word that lenses are to be asked for again."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: self._refreshes)
            self._refreshes = 0
