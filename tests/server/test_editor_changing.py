"""Three editors change a trace: laid out, renamed, fixed, graded."""

from __future__ import annotations

import asyncio
import json

import pytest
from lsprotocol import types

from tests.support.client_text import apply_edits, event, graded
from tests.support.lsp_editor import PATIENCE, Editor
from tests.test_server_pytest_lsp import ODD, PLAIN, Session
from tests.test_server_pytest_lsp import editor as editor  # noqa: PLC0414 - the fixture

pytestmark = [
    pytest.mark.end_to_end,
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning"),
]

START = event("slice-started", slice_slug="retry", slice_index=1, linear_ref=ODD)
END = event("slice-completed", slice_slug="retry", slice_index=1, dod_status="partial", pr_ref=None)
GRADE = graded("pass", "pass", None)


def opened(editor: Editor, name: str, text: str) -> Session:
    return Session(editor, f"file:///traces/{name}/trace.jsonl", text)


def changed(session: Session, edits: object) -> str:
    """The text after edits that were given for it, as a list or in a workspace edit."""
    plain = PLAIN.unstructure(edits)
    if isinstance(plain, dict):
        changes = plain.get("documentChanges")
        plain = changes[0]["edits"] if changes else plain["changes"][session.uri]
    return apply_edits(session.text, plain, session.editor.preset.encoding)


async def actions(session: Session, where: types.Range, kind: str) -> dict[str, types.CodeAction]:
    """The code actions of a kind, by their titles, resolved where they are made when picked."""
    context = types.CodeActionContext([], only=[kind])
    params = types.CodeActionParams(session.identifier, where, context)
    async with asyncio.timeout(PATIENCE):
        offered = await session.editor.text_document_code_action_async(params)
        found = {}
        for each in offered or ():
            if isinstance(each, types.Command):  # lsprotocol reads an action with a command as that
                continue
            is_made_later = each.edit is None and each.disabled is None
            found[each.title] = (
                await session.editor.code_action_resolve_async(each) if is_made_later else each
            )
    return found


async def test_a_spaced_line_is_laid_out(editor: Editor) -> None:
    spaced = START.replace('":', '": ').replace(',"', ', "')
    session = opened(editor, "layout", spaced + END + "{broken\n")
    options = types.FormattingOptions(tab_size=2, insert_spaces=True)
    async with asyncio.timeout(PATIENCE):
        whole = await editor.text_document_formatting_async(
            types.DocumentFormattingParams(session.identifier, options)
        )
        part = await editor.text_document_range_formatting_async(
            types.DocumentRangeFormattingParams(
                session.identifier, types.Range(types.Position(0, 0), types.Position(1, 0)), options
            )
        )
    for edits in (whole, part):
        first, second, *others = changed(session, edits).split("\n")
        assert json.loads(first) == json.loads(spaced)
        assert len(first) == len(START) - 1
        assert json.loads(second) == json.loads(END)
        assert others == ["{broken", ""]


async def test_a_slice_is_renamed_wherever_it_is_named(editor: Editor) -> None:
    session = opened(editor, "rename", START + END)
    start = session.range_of('"slice_slug":"retry","slice_index":1,"linear_ref"').start
    place = types.Position(start.line, start.character + len('"slice_slug":"r'))
    async with asyncio.timeout(PATIENCE):
        prepared = await editor.text_document_prepare_rename_async(
            types.PrepareRenameParams(session.identifier, place)
        )
        edit = await editor.text_document_rename_async(
            types.RenameParams(session.identifier, place, "retry-queue")
        )
    assert prepared is not None
    assert changed(session, edit) == session.text.replace('"retry"', '"retry-queue"')


async def test_a_slip_is_fixed_and_the_file_as_a_whole(editor: Editor) -> None:
    session = opened(editor, "fix", START + GRADE.replace('"qa":"pass"', '"qa":"passed"'))
    fixes = await actions(session, session.range_of('"passed"'), "quickfix")
    mended = changed(session, fixes['Replace with "pass"'].edit)
    assert mended == session.text.replace('"passed"', '"pass"')

    torn = opened(editor, "fix-all", START.removesuffix("}\n") + ",}\n")
    everything = types.Range(types.Position(0, 0), types.Position(1, 0))
    (fix_all,) = (await actions(torn, everything, "source.fixAll")).values()
    assert changed(torn, fix_all.edit) == START


async def test_a_grade_is_recorded_and_keeps_what_was_graded(editor: Editor) -> None:
    session = opened(editor, "record", START + GRADE)
    offered = await actions(session, session.range_of('"intent":null'), "refactor")
    text = changed(session, offered["Record intent: pass → CORRECT"].edit)
    added = json.loads(text.removeprefix(session.text))
    recorded = {name: added[name] for name in ("mechanical", "qa", "intent")}
    assert recorded == dict.fromkeys(recorded, "pass")
    assert text.endswith("}\n")
