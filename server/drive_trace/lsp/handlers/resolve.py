"""What comes of a code action that somebody picks: its edit, made at that moment."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from drive_trace.features.code_actions.appending import CLOSE, RECORD, appended, at_the_end
from drive_trace.features.code_actions.filling import (
    FILL,
    KNOWN,
    Contents,
    fill_from_file,
    fill_from_run,
)
from drive_trace.features.code_actions.offers import CannotMake
from drive_trace.features.code_actions.source_actions import FIX_ALL, FORMAT, safe_fixes
from drive_trace.features.formatting import format_document
from drive_trace.features.raw_json import JsonText
from drive_trace.features.text_edits import TextChange, as_edits, workspace_edit
from drive_trace.lsp.handlers.base import Asked
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.tasks import check_unchanged, in_slices, in_thread
from drive_trace.storage.linked_files import file_named, length_and_sha256
from drive_trace.storage.recording import new_stamp
from drive_trace.tasks import finish

APPLY_ACTION = "driveTrace.applyAction"
"""The command of an action for clients to which an action is a command."""
RECORD_GRADE = "driveTrace.recordGrade"
"""The command that records components of a run's grade in an open trace."""

Made = dict[str, Any] | CannotMake
"""A workspace edit, or why there is none."""


async def made_when_picked(asked: Asked | None, data: Any) -> dict[str, Any]:
    """The edit of an action, made at the moment that it is picked. Raises what the client is told
    where there is none, or the trace has changed meanwhile.
    """
    if asked is None:
        raise JsonRpcInvalidParams("the trace is not open")
    try:
        made = await _when_picked(asked, data)
    except (KeyError, TypeError, ValueError) as error:
        raise JsonRpcInvalidParams("there is no such action") from error
    if isinstance(made, CannotMake):
        raise JsonRpcException(made.reason, types.LSPErrorCodes.RequestFailed)
    return made


async def _when_picked(asked: Asked, data: Mapping[str, Any]) -> Made:
    if data["make"] == FORMAT:
        layout = await in_slices(asked.trace, format_document(asked.analysis, asked.encoding))
        return _edit(asked, layout)
    if data["make"] == RECORD:
        await asked.settled()
    if data["make"] != FIX_ALL:
        return edit_at_once(asked, data)
    edits = asked.trace.edits
    made = await in_thread(_fixing(asked))
    check_unchanged(asked.trace, edits)
    return _edit(asked, _as_edits(asked, made))


def edit_at_once(asked: Asked, data: Mapping[str, Any]) -> Made:
    """The edit of an action without waiting, which for fix-all takes as long as opening the trace.
    Raises KeyError, TypeError or ValueError for data that is none's.
    """
    analysis, make = asked.analysis, data["make"]
    made: Sequence[TextChange] | CannotMake
    if make == FORMAT:
        return _edit(asked, finish(format_document(analysis, asked.encoding)))
    if make == FIX_ALL:
        made = _fixing(asked)()
    elif make == FILL:
        contents = _contents(asked, data["path"])
        made = fill_from_file(analysis, data, contents) if contents is not None else _NO_FILE
    elif make == KNOWN:
        made = fill_from_run(analysis, data, new_stamp())
    elif make in (RECORD, CLOSE):
        record = appended(analysis, data, new_stamp(), asked.joined)
        made = record if isinstance(record, CannotMake) else [at_the_end(analysis, record)]
    else:
        raise ValueError("there is no such action")
    return made if isinstance(made, CannotMake) else _edit(asked, _as_edits(asked, made))


def file_of(asked: Asked, path: str) -> Path | None:
    """The file of the workspace that the trace means by a path."""
    return file_named(path, asked.folders, path_of(asked.trace.uri))


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


def _as_edits(asked: Asked, made: Iterable[TextChange]) -> JsonText:
    return finish(as_edits(asked.analysis.document, made, asked.encoding))


def _edit(asked: Asked, edits: JsonText) -> dict[str, Any]:
    client = asked.client
    # A client that takes commands only gets what every other edit for it is, too.
    with_document_changes = client.reads_document_changes and client.reads_action_literals
    return workspace_edit(asked.document, edits, with_document_changes=with_document_changes)
