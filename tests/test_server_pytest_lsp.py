"""A session of three editors, each with its own capabilities and position encoding."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_lsp
from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import ClientServerConfig

from tests.support.client_text import (
    apart,
    apply_edits,
    event,
    graded,
    path_of,
    range_of,
    tokens,
    triage,
)
from tests.support.command import SERVE
from tests.support.lsp_editor import PATIENCE, Editor
from tests.support.presets import PRESETS, Preset

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]

ODD = "\u2028\x85 🚀 日本"
PASSED = '"passed"'
REJECTED = graded("pass", "passed", "pass", orchestrator_agent_id=ODD)
TEXT = apart(triage(input_ref=ODD) + tokens(1_900_000, 42_000, None, None) + REJECTED)
PLAIN = get_converter()


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=list(SERVE), client_factory=Editor),
    params=PRESETS,
    ids=[preset.name for preset in PRESETS],
    scope="module",
)
async def editor(lsp_client: Editor, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    preset = request.param
    assert isinstance(preset, Preset)
    lsp_client.preset = preset
    async with asyncio.timeout(PATIENCE):
        result = await lsp_client.initialize_session(preset.parameters())
    assert result.capabilities.position_encoding == preset.encoding
    declared = preset.capabilities().text_document
    lsp_client.asks = bool(declared and declared.diagnostic)
    assert (result.capabilities.diagnostic_provider is not None) == lsp_client.asks
    yield
    assert lsp_client.log_messages == []
    assert not (lsp_client.asks and lsp_client.was_sent_diagnostics)
    async with asyncio.timeout(PATIENCE):
        await lsp_client.shutdown_session()
        await lsp_client.gone.wait()
    assert lsp_client.exit_code == 0
    lsp_client.home.cleanup()


class Session:
    """A document that is open in an editor."""

    def __init__(self, editor: Editor, uri: str, text: str) -> None:
        self.editor, self.uri, self.text, self.version = editor, uri, text, 1
        self.identifier = types.TextDocumentIdentifier(uri)
        item = types.TextDocumentItem(uri, "drive-trace", 1, text)
        editor.text_document_did_open(types.DidOpenTextDocumentParams(item))

    def range_of(self, token: str) -> types.Range:
        where = range_of(self.text, token, self.editor.preset.encoding)
        return PLAIN.structure(where, types.Range)

    async def diagnostics(self) -> list[types.Diagnostic]:
        """Those of the present version: asked for by editors that ask, else published."""
        if not self.editor.asks:
            return await self.editor.published(self.uri, self.version)
        params = types.DocumentDiagnosticParams(self.identifier)
        async with asyncio.timeout(PATIENCE):
            report = await self.editor.text_document_diagnostic_async(params)
        assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
        return list(report.items)

    async def replace(self, old: str, new: str) -> list[types.Diagnostic]:
        change = types.TextDocumentContentChangePartial(range=self.range_of(old), text=new)
        self.text = self.text.replace(old, new)
        self.version += 1
        self.editor.text_document_did_change(
            types.DidChangeTextDocumentParams(
                types.VersionedTextDocumentIdentifier(self.version, self.uri), [change]
            )
        )
        return await self.diagnostics()

    async def hover(self, token: str) -> types.Hover:
        at = self.range_of(token).start
        params = types.HoverParams(self.identifier, at)
        async with asyncio.timeout(PATIENCE):
            hover = await self.editor.text_document_hover_async(params)
        assert hover is not None
        return hover

    async def lenses(self) -> list[types.CodeLens]:
        params = types.CodeLensParams(self.identifier)
        async with asyncio.timeout(PATIENCE):
            lenses = await self.editor.text_document_code_lens_async(params) or []
            return [await self.editor.code_lens_resolve_async(lens) for lens in lenses]

    async def titles(self) -> list[tuple[int, str]]:
        return [
            (lens.range.start.line, lens.command.title if lens.command else "")
            for lens in await self.lenses()
        ]

    async def actions(self, diagnostic: types.Diagnostic) -> list[types.CodeAction]:
        context = types.CodeActionContext([diagnostic], only=[types.CodeActionKind.QuickFix])
        params = types.CodeActionParams(self.identifier, diagnostic.range, context)
        async with asyncio.timeout(PATIENCE):
            actions = await self.editor.text_document_code_action_async(params) or []
        return [action for action in actions if isinstance(action, types.CodeAction)]

    def applied(self, action: types.CodeAction) -> str:
        """The text after an action, whose edit has the shape that the editor understands."""
        edit: Any = PLAIN.unstructure(action.edit)
        workspace = self.editor.preset.capabilities().workspace
        assert workspace is not None
        assert workspace.workspace_edit is not None
        assert ("documentChanges" in edit) == bool(workspace.workspace_edit.document_changes)
        if "documentChanges" in edit:
            (change,) = edit["documentChanges"]
            assert change["textDocument"] == {"uri": self.uri, "version": self.version}
            edits = change["edits"]
        else:
            edits = edit["changes"][self.uri]
        return apply_edits(self.text, edits, self.editor.preset.encoding)


def text_of(hover: types.Hover) -> str:
    assert isinstance(hover.contents, types.MarkupContent)
    return hover.contents.value


async def test_a_session(editor: Editor) -> None:
    session = Session(editor, "file:///traces/checkout/trace.jsonl", TEXT)

    (diagnostic,) = await session.diagnostics()
    assert diagnostic.range == session.range_of(PASSED)
    assert (diagnostic.code, diagnostic.source) == ("unknown-value", "drive-trace")
    assert diagnostic.severity is types.DiagnosticSeverity.Error
    declared = editor.preset.capabilities().text_document
    assert declared is not None
    assert declared.publish_diagnostics is not None
    if declared.publish_diagnostics.code_description_support:
        assert diagnostic.code_description is not None
        assert diagnostic.code_description.href.endswith("/unknown-value.md")
    else:
        assert diagnostic.code_description is None

    hover = await session.hover(PASSED)
    assert hover.range == session.range_of(PASSED)
    assert text_of(hover).startswith("**not computable — missing: external correctness signal**")
    assert await session.titles() == [
        (
            0,
            "not computable: not graded · 1 correctness line rejected (line 3), not counted",
        ),
        (2, "rejected, not counted"),
    ]

    (action,) = await session.actions(diagnostic)
    assert action.title == 'Replace with "pass"'
    assert not action.is_preferred
    assert action.diagnostics is not None
    assert action.diagnostics[0].range == diagnostic.range
    assert session.applied(action) == TEXT.replace(PASSED, '"pass"')

    # The verdict moves with the text, and the editor is told when it can be told.
    assert await session.replace(PASSED, '"fail"') == []
    workspace = editor.preset.capabilities().workspace
    if workspace and workspace.code_lens and workspace.code_lens.refresh_support:
        await editor.refreshed()
    assert [title for _, title in await session.titles()] == [
        "INCORRECT — qa failed",
        "decides: INCORRECT — qa failed",
    ]
    assert text_of(await session.hover('"fail"')).startswith("**INCORRECT — qa failed**")
    assert await session.replace('"fail"', '"pass"') == []
    lenses = await session.lenses()
    assert [lens.command.title for lens in lenses if lens.command] == [
        "CORRECT · 1.9M in · 42k out",
        "decides: CORRECT",
    ]

    editor.text_document_did_close(types.DidCloseTextDocumentParams(session.identifier))
    if editor.asks:
        assert await session.diagnostics() == []
    else:
        assert await editor.published(session.uri, None) == []


async def test_the_lens_shows_the_run(editor: Editor) -> None:
    uri = "file:///traces/shown/trace.jsonl"
    session = Session(editor, uri, graded("pass", "pass", "pass"))
    editor.messages.clear()
    editor.shown_documents.clear()
    command = (await session.lenses())[0].command
    assert command is not None
    assert command.command == "driveTrace.showRun"
    assert list(command.arguments or ()) == [{"uri": uri, "runId": "run-1"}]
    async with asyncio.timeout(PATIENCE):
        card = await editor.workspace_execute_command_async(
            types.ExecuteCommandParams(command.command, command.arguments)
        )
    assert str(card).startswith("**CORRECT**")
    window = editor.preset.capabilities().window
    if window and window.show_document and window.show_document.support:
        (shown,) = editor.shown_documents
        page = path_of(shown.uri)
        assert page.is_relative_to(editor.home.name)
        assert page.read_text(encoding="utf-8").startswith("# CORRECT\n")
        assert editor.messages == []
    else:
        assert [message.message for message in editor.messages] == ["CORRECT"]


async def test_ordinary_editor_traffic_is_taken(editor: Editor) -> None:
    """What editors send on their own, and this server has no use for."""
    session = Session(editor, "file:///traces/traffic/trace.jsonl", event("made-up", note=ODD))
    editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))
    editor.workspace_did_change_watched_files(
        types.DidChangeWatchedFilesParams(
            [types.FileEvent(uri=session.uri, type=types.FileChangeType.Changed)]
        )
    )
    folder = types.WorkspaceFolder(uri="file:///other", name="other")
    editor.workspace_did_change_workspace_folders(
        types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent([folder], []))
    )
    editor.text_document_did_save(types.DidSaveTextDocumentParams(session.identifier))
    editor.set_trace(types.SetTraceParams(types.TraceValue.Verbose))
    (diagnostic,) = await session.diagnostics()
    assert diagnostic.code == "unknown-event-type"
    assert diagnostic.range == session.range_of('"made-up"')
