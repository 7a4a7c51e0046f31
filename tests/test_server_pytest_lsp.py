"""A session of three editors, each with its own capabilities and position encoding."""

from __future__ import annotations

import asyncio
import os
from typing import TYPE_CHECKING, Any

import pytest
import pytest_lsp
from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import ClientServerConfig, LanguageClient

from tests.support.client_text import apply_edits, event, graded, range_of, tokens, triage
from tests.support.command import SERVE
from tests.support.presets import PRESETS, Preset

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]

PATIENCE = 10.0
"""Seconds that anything is waited for."""
ODD = "\u2028\x85 🚀 日本"
PASSED = '"passed"'
TEXT = (
    triage(input_ref=ODD)
    + tokens(1_900_000, 42_000, None, None)
    + graded("pass", "passed", "pass", orchestrator_agent_id=ODD)
    + event("made-up", note=ODD)
)
_converter = get_converter()


class Editor(LanguageClient):
    """A client that remembers every version that was published."""

    def __init__(self) -> None:
        super().__init__()
        self.published: list[types.PublishDiagnosticsParams] = []
        self.refreshed = 0
        self.exit_code: int | None = None
        self.preset: Preset = PRESETS[0]
        self._news = asyncio.Condition()
        self.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(self._on_published)
        self.feature(types.WORKSPACE_CODE_LENS_REFRESH)(self._on_refresh)
        self.feature(types.CLIENT_REGISTER_CAPABILITY)(lambda _: None)
        self.feature(types.WINDOW_SHOW_MESSAGE)(lambda params: self.messages.append(params))
        self.feature(types.WINDOW_SHOW_DOCUMENT)(self._on_show_document)

    async def server_exit(self, server: asyncio.subprocess.Process) -> None:
        self.exit_code = server.returncode
        await super().server_exit(server)

    async def diagnostics_of(self, uri: str, version: int) -> list[types.Diagnostic]:
        """The diagnostics of a version, that were or will be published."""

        def found() -> list[types.PublishDiagnosticsParams]:
            return [each for each in self.published if (each.uri, each.version) == (uri, version)]

        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(found)
        return list(found()[-1].diagnostics)

    async def refreshes(self, count: int) -> None:
        """Wait until lenses were to be refreshed so often."""
        async with asyncio.timeout(PATIENCE), self._news:
            await self._news.wait_for(lambda: self.refreshed >= count)

    async def _on_published(self, params: types.PublishDiagnosticsParams) -> None:
        async with self._news:
            self.published.append(params)
            self._news.notify_all()

    async def _on_refresh(self, _: None) -> None:
        async with self._news:
            self.refreshed += 1
            self._news.notify_all()

    def _on_show_document(self, params: types.ShowDocumentParams) -> types.ShowDocumentResult:
        self.shown_documents.append(params)
        return types.ShowDocumentResult(success=True)
