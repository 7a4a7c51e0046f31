"""What helps to read a trace, in three editors: hints, tokens, and hovers that lead on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_lsp
from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import ClientServerConfig

from tests.support.client_text import apart, event, range_of, tokens
from tests.support.command import SERVE
from tests.support.lsp_editor import PATIENCE, Editor
from tests.support.presets import PRESETS, Preset

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]

PLAIN = get_converter()
URI = "file:///traces/aids/trace.jsonl"
TEXT = apart(
    event(
        "dispatch-start",
        ts="2026-05-28T14:00:00.000Z",
        dispatch_id="d-🚀",
        dispatch_name="日本 D1",
        subagent_type="implementer",
        model=None,
        parent_dispatch_id=None,
    )
    + event(
        "dispatch-end",
        ts="2026-05-28T14:28:00.000Z",
        dispatch_id="d-🚀",
        result="completed",
        wall_clock_ms=3_600_000,
    )
    + tokens(1_900_000, 42_000, None, None)
    + '{"event_type":"round-end",'
)


class Viewer(Editor):
    """An editor that has the trace open."""

    offered: types.ServerCapabilities


@pytest_lsp.fixture(
    config=ClientServerConfig(server_command=list(SERVE), client_factory=Viewer),
    params=PRESETS,
    ids=[preset.name for preset in PRESETS],
    scope="module",
)
async def editor(lsp_client: Viewer, request: pytest.FixtureRequest) -> AsyncIterator[None]:
    preset = request.param
    assert isinstance(preset, Preset)
    lsp_client.preset = preset
    async with asyncio.timeout(PATIENCE):
        result = await lsp_client.initialize_session(preset.parameters())
    lsp_client.offered = result.capabilities
    item = types.TextDocumentItem(URI, "drive-trace", 1, TEXT)
    lsp_client.text_document_did_open(types.DidOpenTextDocumentParams(item))
    yield
    async with asyncio.timeout(PATIENCE):
        await lsp_client.shutdown_session()


DOCUMENT = types.TextDocumentIdentifier(URI)
EVERYWHERE = types.Range(types.Position(0, 0), types.Position(4, 0))


async def test_hints_stand_behind_values_and_explain_themselves(editor: Viewer) -> None:
    assert editor.offered.inlay_hint_provider
    async with asyncio.timeout(PATIENCE):
        hints = await editor.text_document_inlay_hint_async(
            types.InlayHintParams(DOCUMENT, EVERYWHERE)
        )
    assert hints is not None
    behind = range_of(TEXT, "3600000", editor.preset.encoding)["end"]
    assert [(hint.label, hint.position.line) for hint in hints] == [
        ("1h · clock says 28m", 1),
        ("1.9M", 2),
        ("42k", 2),
    ]
    assert PLAIN.unstructure(hints[0].position) == behind
    declared = editor.preset.capabilities().text_document
    assert declared is not None
    assert declared.inlay_hint is not None
    if declared.inlay_hint.resolve_support is None:
        assert hints[0].data is None
        return
    async with asyncio.timeout(PATIENCE):
        explained = await editor.inlay_hint_resolve_async(hints[0])
    assert explained.tooltip == (
        "= 3,600,000 milliseconds · 1h\n\nThe clock says 28m, from line 1 to this line: 32m less."
    )


async def test_tokens_are_sent_whole_and_for_a_range(editor: Viewer) -> None:
    async with asyncio.timeout(PATIENCE):
        whole = await editor.text_document_semantic_tokens_full_async(
            types.SemanticTokensParams(DOCUMENT)
        )
        part = await editor.text_document_semantic_tokens_range_async(
            types.SemanticTokensRangeParams(DOCUMENT, EVERYWHERE)
        )
    assert whole is not None
    assert part is not None
    provider = editor.offered.semantic_tokens_provider
    declared = editor.preset.capabilities().text_document
    assert declared is not None
    if declared.semantic_tokens is not None:
        assert isinstance(provider, types.SemanticTokensOptions)
        assert provider.full is True
        known = set(declared.semantic_tokens.token_types)
        assert {provider.legend.token_types[kind] for kind in whole.data[3::5]} <= known
    assert whole.data == part.data
    assert len(whole.data) > 5 * 60


async def test_a_hover_leads_to_the_line_that_it_speaks_of(editor: Viewer) -> None:
    at = PLAIN.structure(range_of(TEXT, "3600000", editor.preset.encoding), types.Range)
    async with asyncio.timeout(PATIENCE):
        hover = await editor.text_document_hover_async(types.HoverParams(DOCUMENT, at.start))
    assert hover is not None
    assert hover.range == at
    assert isinstance(hover.contents, types.MarkupContent)
    link = f"[line 1]({URI}#L1)" if hover.contents.kind == "markdown" else "line 1"
    stress = "**" if hover.contents.kind == "markdown" else ""
    assert (
        f"The clock says {stress}28m{stress}, from {link} to this line: 32m less."
    ) in hover.contents.value
