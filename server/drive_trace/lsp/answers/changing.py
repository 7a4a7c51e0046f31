"""Answers that offer changes of a trace: code actions."""

from __future__ import annotations

from lsprotocol import types

from drive_trace.features.code_actions import as_command, code_actions
from drive_trace.lsp.answers.base import Answer, Asked


def _code_action(
    asked: Asked, params: types.CodeActionParams
) -> list[types.CodeAction] | list[types.Command]:
    client = asked.client
    if not client.reads_action_literals and not client.applies_edits:
        return []
    actions = code_actions(
        asked.analysis,
        asked.document,
        params,
        asked.encoding,
        with_document_changes=client.reads_document_changes and client.reads_action_literals,
    )
    if client.reads_action_literals:
        return actions
    return [as_command(action, asked.trace.uri, asked.trace.version) for action in actions]


ANSWERS = (
    Answer(
        types.TEXT_DOCUMENT_CODE_ACTION,
        _code_action,
        types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix]),
        of_nothing=(),
    ),
)
