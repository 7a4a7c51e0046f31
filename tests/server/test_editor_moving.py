"""Three editors lead somebody through a trace."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest
from lsprotocol import types

from tests.support.client_text import event, path_of, range_of
from tests.support.lsp_editor import PATIENCE, Editor
from tests.test_server_pytest_lsp import ODD, PLAIN, Session
from tests.test_server_pytest_lsp import editor as editor  # noqa: PLC0414 - the fixture

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]

SPEC = "projects/checkout/spec.md"
DISPATCH = {"dispatch_id": f"d {ODD}"}
ROUND = {**DISPATCH, "round_id": "r-1"}
LINES = (
    event("spec-authored", spec_path=SPEC, spec_kind="project", byte_length=1).replace(
        "}", ',"edge_cases_count":null,"open_questions_count":0,"dod_items_count":1}'
    ),
    event("slice-started", slice_slug="retry", slice_index=1, linear_ref="SHOP-214"),
    event(
        "dispatch-start",
        **DISPATCH,
        dispatch_name="implementer D1",
        subagent_type="implementer",
        model=None,
        parent_dispatch_id=None,
    ),
    event("round-start", **ROUND, round_number=1),
    event("round-end", **ROUND, verdict="satisfied", findings_filed=0, wall_clock_ms=0),
    event("dispatch-end", **DISPATCH, result="finished", wall_clock_ms=0),
)
TEXT = "".join(LINES)


def opened(editor: Editor, name: str) -> Session:
    return Session(editor, f"file:///traces/{name}/trace.jsonl", TEXT)


def at(session: Session, line: int, token: str) -> types.Position:
    """Inside a token of a line, which stands there once."""
    where = range_of(LINES[line], token, session.editor.preset.encoding)["start"]
    return types.Position(line, where["character"] + 1)


async def test_from_an_id_to_its_start_and_to_all_that_names_it(editor: Editor) -> None:
    session = opened(editor, "named")
    place = at(session, 5, '"d ')
    async with asyncio.timeout(PATIENCE):
        found = await editor.text_document_definition_async(
            types.DefinitionParams(session.identifier, place)
        )
        references = await editor.text_document_references_async(
            types.ReferenceParams(
                types.ReferenceContext(include_declaration=False), session.identifier, place
            )
        )
        lit = await editor.text_document_document_highlight_async(
            types.DocumentHighlightParams(session.identifier, place)
        )
    assert isinstance(found, list)
    (start,) = found
    declared = editor.preset.capabilities().text_document
    assert declared is not None
    assert declared.definition is not None
    if declared.definition.link_support:
        assert isinstance(start, types.LocationLink)
        assert start.target_range.start == types.Position(2, 0)
        assert start.target_selection_range.start.line == 2
    else:
        assert isinstance(start, types.Location)
        assert start.range.start.line == 2
    assert [each.range.start.line for each in references or ()] == [3, 4, 5]
    assert [(each.range.start.line, each.kind) for each in lit or ()] == [
        (2, types.DocumentHighlightKind.Write),
        (3, types.DocumentHighlightKind.Read),
        (4, types.DocumentHighlightKind.Read),
        (5, types.DocumentHighlightKind.Write),
    ]


async def test_the_structure(editor: Editor) -> None:
    session = opened(editor, "structure")
    async with asyncio.timeout(PATIENCE):
        symbols = await editor.text_document_document_symbol_async(
            types.DocumentSymbolParams(session.identifier)
        )
        folds = await editor.text_document_folding_range_async(
            types.FoldingRangeParams(session.identifier)
        )
        grown = await editor.text_document_selection_range_async(
            types.SelectionRangeParams(session.identifier, [at(session, 4, '"satisfied"')])
        )
    assert symbols
    declared = editor.preset.capabilities().text_document
    assert declared is not None
    assert declared.document_symbol is not None
    if declared.document_symbol.hierarchical_document_symbol_support:
        (run,) = symbols
        assert isinstance(run, types.DocumentSymbol)
        assert run.children is not None
        assert [each.name for each in run.children] == [
            "spec-authored · checkout/spec.md",
            "retry · not ended",
        ]
    else:
        assert [each.name for each in symbols][2:5] == [
            "retry · not ended",
            "implementer D1 · its end is rejected",
            "Round 1 · 0ms · satisfied",
        ]
    assert [(each.start_line, each.end_line) for each in folds or ()] == [(1, 5), (2, 5), (3, 4)]
    (selection,) = grown or ()
    lines = []
    step: types.SelectionRange | None = selection
    while step is not None:
        lines.append((step.range.start.line, step.range.end.line))
        step = step.parent
    assert lines == [(4, 4)] * 4 + [(3, 4), (2, 5), (1, 5), (0, 5), (0, 6)]


async def _links(session: Session) -> Sequence[types.DocumentLink]:
    params = types.DocumentLinkParams(session.identifier)
    return await session.editor.text_document_document_link_async(params) or ()


async def _target_of_spec(session: Session) -> tuple[str, int]:
    """Where the definition of the path leads, and to which line."""
    params = types.DefinitionParams(session.identifier, at(session, 0, f'"{SPEC}'))
    found = await session.editor.text_document_definition_async(params)
    assert isinstance(found, list)
    (target,) = found
    if isinstance(target, types.LocationLink):
        assert target.origin_selection_range is not None
        return target.target_uri, target.target_selection_range.start.line
    return target.uri, target.range.start.line


async def test_paths_are_followed_into_the_workspace(editor: Editor, tmp_path: Path) -> None:
    spec = tmp_path / SPEC
    spec.parent.mkdir(parents=True)
    folder = types.WorkspaceFolder(tmp_path.as_uri(), "here")
    editor.workspace_did_change_workspace_folders(
        types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent([folder], []))
    )
    address = "https://linear.app/shop/issue/{ref}"
    settings = {"driveTrace": {"links": {"ticketUrl": address}}}
    editor.set_configuration(settings)
    editor.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings))
    session = opened(editor, "links")
    async with asyncio.timeout(PATIENCE):
        links: Sequence[types.DocumentLink] = ()
        while not links:  # the server asks for the settings first
            links = await _links(session)
        nowhere = await _target_of_spec(session)
        spec.write_text("# Checkout", encoding="utf-8")
        file, ticket = await _links(session)
        defined = await _target_of_spec(session)
    assert [each.target for each in links] == [ticket.target]
    assert PLAIN.unstructure(file.range) == range_of(TEXT, SPEC, editor.preset.encoding)
    assert ticket.target == "https://linear.app/shop/issue/SHOP-214"
    assert file.target is not None
    assert path_of(file.target) == spec
    # Without a file, a path leads to the event that wrote it.
    assert nowhere == (session.uri, 0)
    assert defined == (file.target, 0)
    editor.workspace_did_change_workspace_folders(
        types.DidChangeWorkspaceFoldersParams(types.WorkspaceFoldersChangeEvent([], [folder]))
    )
