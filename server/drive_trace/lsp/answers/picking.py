"""What comes of a code action that somebody picks: its edit, made at that moment."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from pygls.exceptions import JsonRpcContentModified

from drive_trace.features.appending import CLOSE, RECORD, appended, at_the_end
from drive_trace.features.filling import FILL, Contents, filled
from drive_trace.features.filling_in import KNOWN, filled_in
from drive_trace.features.formatting import format_document
from drive_trace.features.json_text import JsonText
from drive_trace.features.offers import CannotMake
from drive_trace.features.replacing import as_edits, workspace_edit
from drive_trace.features.source_actions import FIX_ALL, FORMAT, safe_fixes
from drive_trace.lsp.answers.base import Asked
from drive_trace.lsp.client import path_of
from drive_trace.lsp.threads import in_thread
from drive_trace.storage.recording import new_stamp
from drive_trace.storage.workspace_files import file_named, length_and_sha256

APPLY_ACTION = "driveTrace.applyAction"
"""The command of an action for clients to which an action is a command."""
RECORD_GRADE = "driveTrace.recordGrade"
"""The command that records components of a run's grade in an open trace."""

Made = dict[str, Any] | CannotMake
"""A workspace edit, or why there is none."""


async def edit_when_picked(asked: Asked, data: Mapping[str, Any]) -> Made:
    """The edit of an action. Raises KeyError, TypeError or ValueError for data that is none's, and
    JsonRpcContentModified where the trace has changed meanwhile.
    """
    if data["make"] != FIX_ALL:
        return edit_at_once(asked, data)
    version = asked.trace.version
    made = await in_thread(_fixing(asked))
    if asked.trace.version != version:
        raise JsonRpcContentModified("the trace has changed meanwhile")
    return _edit(asked, as_edits(asked.analysis.document, made, asked.encoding))


def edit_at_once(asked: Asked, data: Mapping[str, Any]) -> Made:
    """The same without waiting, which for fix-all takes as long as opening the trace."""
    analysis, make = asked.analysis, data["make"]
    if make == FORMAT:
        return _edit(asked, format_document(analysis, asked.encoding))
    if make == FIX_ALL:
        made = _fixing(asked)()
    elif make == FILL:
        contents = _contents(asked, data["path"])
        changes = filled(analysis, data, contents) if contents is not None else _NO_FILE
        if isinstance(changes, CannotMake):
            return changes
        made = changes
    elif make == KNOWN:
        told = filled_in(analysis, data, new_stamp())
        if isinstance(told, CannotMake):
            return told
        made = told
    elif make in (RECORD, CLOSE):
        record = appended(analysis, data, new_stamp())
        if isinstance(record, CannotMake):
            return record
        made = [at_the_end(analysis, record)]
    else:
        raise ValueError("there is no such action")
    return _edit(asked, as_edits(analysis.document, made, asked.encoding))


def file_of(asked: Asked, path: str) -> Path | None:
    """The file of the workspace that the trace means by a path."""
    return file_named(path, asked.client.folders, path_of(asked.trace.uri))


def _contents(asked: Asked, path: object) -> Contents | None:
    file = file_of(asked, path) if isinstance(path, str) else None
    try:
        return Contents(*length_and_sha256(file)) if file is not None else None
    except OSError:
        return None


_NO_FILE = CannotMake("There is no such file in the workspace, or it cannot be read.")


def _fixing(asked: Asked) -> partial[Any]:
    """Works on texts of its own, so that it can be done beside the loop."""
    trace = asked.trace
    texts = [line.text for line in trace.analysis.document.lines]
    return partial(safe_fixes, texts, trace.options.rules, unquote(trace.uri))


def _edit(asked: Asked, edits: JsonText) -> dict[str, Any]:
    client = asked.client
    # A client that takes commands only gets what every other edit for it is, too.
    with_document_changes = client.reads_document_changes and client.reads_action_literals
    return workspace_edit(asked.document, edits, with_document_changes=with_document_changes)
