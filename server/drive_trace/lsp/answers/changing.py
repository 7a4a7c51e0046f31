"""Answers that change a trace: formatting and renaming."""

from __future__ import annotations

from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from drive_trace.features.formatting import format_document, format_range
from drive_trace.features.json_text import JsonText
from drive_trace.features.rename import CannotRename, prepare_rename, rename
from drive_trace.features.replacing import workspace_edit
from drive_trace.lsp.answers.base import Answer, Asked
from drive_trace.steps import Steps


def _formatting(asked: Asked, _params: types.DocumentFormattingParams) -> Steps[JsonText]:
    return format_document(asked.analysis, asked.encoding)


def _range_formatting(asked: Asked, params: types.DocumentRangeFormattingParams) -> Steps[JsonText]:
    return format_range(asked.analysis, params.range, asked.encoding)


def _prepare_rename(
    asked: Asked, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    return prepare_rename(asked.analysis, asked.point(params.position), asked.encoding)


def _rename(asked: Asked, params: types.RenameParams) -> Steps[dict[str, Any]]:
    point = asked.point(params.position)
    edits = yield from rename(asked.analysis, point, params.new_name, asked.encoding)
    if isinstance(edits, CannotRename):
        raise JsonRpcException(edits.reason, types.LSPErrorCodes.RequestFailed)
    return workspace_edit(
        asked.document, edits, with_document_changes=asked.client.reads_document_changes
    )


ANSWERS = (
    Answer(types.TEXT_DOCUMENT_FORMATTING, _formatting, of_nothing=()),
    Answer(types.TEXT_DOCUMENT_RANGE_FORMATTING, _range_formatting, of_nothing=()),
    Answer(types.TEXT_DOCUMENT_PREPARE_RENAME, _prepare_rename),
    Answer(types.TEXT_DOCUMENT_RENAME, _rename),
)
