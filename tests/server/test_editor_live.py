"""A modern editor in a workspace whose traces grow: settings, symbols, and runs of two traces."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig

from tests.support.client_text import graded
from tests.support.command import SERVE
from tests.support.fixtures import trace
from tests.support.lsp_editor import PATIENCE, Editor
from tests.support.presets import PRESETS
from tests.test_server_pytest_lsp import Session, text_of

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]

RUN = '"run-1"'


class Watching(Editor):
    """An editor that tells of files that change."""

    folder: Path

    def grow(self, path: Path, text: str) -> None:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
        change = types.FileEvent(path.as_uri(), types.FileChangeType.Changed)
        self.workspace_did_change_watched_files(types.DidChangeWatchedFilesParams([change]))


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=list(SERVE), client_factory=Watching), scope="module"
)
async def editor(lsp_client: Watching) -> AsyncIterator[None]:
    preset = PRESETS[0]
    lsp_client.preset, lsp_client.asks = preset, True
    with TemporaryDirectory() as name:
        lsp_client.folder = Path(name).resolve()
        params = preset.parameters()
        params.workspace_folders = [types.WorkspaceFolder(lsp_client.folder.as_uri(), "shop")]
        async with asyncio.timeout(PATIENCE):
            result = await lsp_client.initialize_session(params)
        assert result.capabilities.workspace_symbol_provider
        yield
        assert lsp_client.log_messages == []
        async with asyncio.timeout(PATIENCE):
            await lsp_client.shutdown_session()


async def test_a_session(editor: Watching) -> None:
    text = trace('EVENT{"event_type":"slice-started","slice_slug":"🚀","project_run_id":"run-1"}')
    here, there = editor.folder / "trace.jsonl", editor.folder / "a" / "trace.jsonl"
    there.parent.mkdir()
    for path in (here, there):
        path.write_text(text, encoding="utf-8")
    session = Session(editor, here.as_uri(), text)
    await editor.refreshed()
    assert "Joined over 2 files of the workspace folder" in text_of(await session.hover(RUN))

    editor.grow(there, graded("pass", "pass", "pass"))
    await editor.refreshed()
    ((line, title),) = await session.titles()
    assert line == 0
    assert title.startswith("CORRECT")
    assert "this file alone: not graded · decided by a/trace.jsonl" in title
    assert f"({there.as_uri()}#L2)" in text_of(await session.hover(RUN))

    async with asyncio.timeout(PATIENCE):
        found = await editor.workspace_symbol_async(types.WorkspaceSymbolParams("🚀"))
    symbols = [each for each in found or () if isinstance(each, types.WorkspaceSymbol)]
    assert sorted(each.location.uri for each in symbols) == [there.as_uri(), here.as_uri()]
    for symbol in symbols:
        async with asyncio.timeout(PATIENCE):
            resolved = await editor.workspace_symbol_resolve_async(symbol)
        assert isinstance(resolved.location, types.Location)
        assert resolved.location.range == session.range_of('"🚀"')

    editor.set_configuration({"driveTrace": {"lens": {"runs": False}}})
    editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    await editor.refreshed()
    assert await session.titles() == []
