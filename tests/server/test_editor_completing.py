"""Completion, end to end, in the three editors that have presets: asked for, explained, taken."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import pytest_lsp
from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import ClientServerConfig

from tests.support.client_text import apply_edits, event
from tests.support.command import SERVE
from tests.support.lsp_editor import PATIENCE, Editor
from tests.support.presets import PRESETS, Preset

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]

PLAIN = get_converter()
AN_HOUR_AGO = datetime.now(UTC) - timedelta(hours=1)
DISPATCH = event(
    "dispatch-start",
    ts=AN_HOUR_AGO.strftime("%Y-%m-%dT%H:%M:%S.000Z"),
    dispatch_id="D1",
    dispatch_name="🚀 implementer",
    subagent_type="general",
    model=None,
    parent_dispatch_id=None,
)


class Writer(Editor):
    """An editor in a project of its own."""

    @property
    def project(self) -> Path:
        return Path(self.home.name).resolve()


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=list(SERVE), client_factory=Writer),
    params=PRESETS,
    ids=[preset.name for preset in PRESETS],
    scope="module",
)
async def editor(lsp_client: Writer, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    preset = request.param
    assert isinstance(preset, Preset)
    lsp_client.preset = preset
    (lsp_client.project / "projects" / "shop").mkdir(parents=True)
    (lsp_client.project / "projects" / "shop" / "spec.md").touch()
    folder = types.WorkspaceFolder(lsp_client.project.as_uri(), "project")
    params = types.InitializeParams(capabilities=preset.capabilities(), workspace_folders=[folder])
    async with asyncio.timeout(PATIENCE):
        result = await lsp_client.initialize_session(params)
    provider = result.capabilities.completion_provider
    assert provider is not None
    assert provider.resolve_provider
    assert set(provider.trigger_characters or ()) >= set('"{:,')
    yield
    async with asyncio.timeout(PATIENCE):
        await lsp_client.shutdown_session()
    lsp_client.home.cleanup()


class Writing:
    """A trace that somebody writes at, the cursor being at its end or before ``behind``."""

    numbers: Iterator[int] = iter(range(1000))

    def __init__(self, editor: Writer, text: str, behind: str = "") -> None:
        path = editor.project / "projects" / "shop" / f"slices/{next(self.numbers)}/trace.jsonl"
        self.editor, self.uri, self.text = editor, path.as_uri(), text + behind
        *lines, last = text.split("\n")
        width = {"utf-8": "utf-8", "utf-16": "utf-16-le", "utf-32": "utf-32-le"}
        units = {"utf-8": 1, "utf-16": 2, "utf-32": 4}[editor.preset.encoding]
        column = len(last.encode(width[editor.preset.encoding])) // units
        self.cursor = types.Position(len(lines), column)
        item = types.TextDocumentItem(self.uri, "drive-trace", 1, self.text)
        editor.text_document_did_open(types.DidOpenTextDocumentParams(item))

    async def offered(self) -> list[types.CompletionItem]:
        document = types.TextDocumentIdentifier(self.uri)
        params = types.CompletionParams(document, self.cursor)
        async with asyncio.timeout(PATIENCE):
            found = await self.editor.text_document_completion_async(params)
        assert isinstance(found, types.CompletionList)
        assert not found.is_incomplete
        return list(found.items)

    async def taken(self, label: str) -> str:
        """The last line after an item is taken, and a snippet's places are left as they come."""
        (item,) = [each for each in await self.offered() if each.label == label]
        assert isinstance(item.text_edit, types.TextEdit)
        edit = PLAIN.unstructure(item.text_edit)
        if item.insert_text_format is types.InsertTextFormat.Snippet:
            edit["newText"] = first_choices(edit["newText"])
        after = apply_edits(self.text, [edit], self.editor.preset.encoding)
        assert after.startswith(DISPATCH)
        return after.removeprefix(DISPATCH)


def first_choices(snippet: str) -> str:
    """What a snippet says when all that it offers is taken."""
    chosen = re.sub(r"\$\{\d+\|([^,|]*)[^|]*\|\}", r"\1", snippet)
    return re.sub(r"\$\d+", "", re.sub(r"\$\{\d+:([^}]*)\}", r"\1", chosen))


async def test_an_event_is_written(editor: Writer) -> None:
    writing = Writing(editor, DISPATCH + "{", "}")
    items = await writing.offered()
    assert [item.label for item in items[:2]] == ["round-start", "dispatch-end"]
    details = items[0].label_details
    note = details.description if details is not None else items[0].detail
    assert re.fullmatch(r"🚀 implementer, open since (\S+ )?\d\d:\d\d", note)
    line = await writing.taken("round-start")
    assert line.endswith("}\n")
    written = json.loads(line)
    assert (written["dispatch_id"], written["round_number"]) == ("D1", 1)
    assert (written["project_run_id"], written["orchestrator_agent_id"]) == ("run-1", None)
    assert len({written["event_id"], written["round_id"]}) == 2
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", written["ts"])

    async with asyncio.timeout(PATIENCE):
        resolved = await editor.completion_item_resolve_async(items[0])
    told = resolved.documentation
    text = told.value if isinstance(told, types.MarkupContent) else str(told)
    assert "One round of a dispatch begins" in text


async def test_an_end_is_measured_and_its_result_chosen(editor: Writer) -> None:
    text = await Writing(editor, DISPATCH).taken("dispatch-end")
    written = json.loads(text)
    assert written["wall_clock_ms"] > 0
    declared = editor.preset.capabilities().text_document
    item = declared.completion.completion_item if declared and declared.completion else None
    assert written["result"] == ("completed" if item and item.snippet_support else "")


async def test_a_value_is_completed_behind_text_beyond_the_bmp(editor: Writer) -> None:
    begun = DISPATCH + '{"note":"🚀 日本","event_type":"dispatch-end","result":"comp'
    text = await Writing(editor, begun, '"}\n').taken("completed")
    assert text == begun.removeprefix(DISPATCH) + 'leted"}\n'


async def test_a_path_on_disk_is_found(editor: Writer) -> None:
    begun = DISPATCH + '{"event_type":"spec-authored","spec_path":"projects/shop/'
    text = await Writing(editor, begun, '"}\n').taken("projects/shop/spec.md")
    assert text == begun.removeprefix(DISPATCH) + 'spec.md"}\n'
    outside = DISPATCH + '{"event_type":"spec-authored","spec_path":"../'
    assert await Writing(editor, outside, '"}\n').offered() == []


async def test_an_empty_file_and_a_broken_line(editor: Writer) -> None:
    first, *_ = await Writing(editor, "").offered()
    assert first.label == "project-started"
    items = await Writing(editor, 'not JSON\n{"event_type":"slice-started",').offered()
    assert [item.label for item in items[:2]] == ["event_id", "all 8 missing fields"]
    assert await Writing(editor, '{"event_type":"slice-started"}').offered() == []
