"""Requests that change a trace: completion, formatting and renaming."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcContentModified, JsonRpcException

from drive_trace.analysis import Analysis
from drive_trace.features.completion import PathEntry, completion, resolve_completion
from drive_trace.features.formatting import format_document, format_range
from drive_trace.features.positions import workspace_edit, workspace_edits
from drive_trace.features.raw_json import JsonText
from drive_trace.features.rename import (
    CannotRename,
    prepare_rename,
    rename,
    rename_named,
    run_to_rename,
)
from drive_trace.lsp.handlers.base import RequestHandler, ResolveHandler, TraceRequest
from drive_trace.lsp.rpc.capabilities import Client, path_of
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace.open_traces import OpenTrace, check_unchanged
from drive_trace.storage.linked_files import list_folder
from drive_trace.storage.recording import new_stamp
from drive_trace.text.wording import shown
from drive_trace.trace.document import Point
from drive_trace.trace.occurrences import NamedEntity

_HOME = re.compile(r"^(.+)/(?:projects|wip)/")


def _completion(request: TraceRequest, params: types.CompletionParams) -> object:
    return request.merging(
        lambda joined: completion(
            request.analysis,
            request.point(params.position),
            request.encoding,
            client=request.client.completion,
            stamp=new_stamp(),
            listing=_Listing(request),
            joined=joined,
        )
    )


class _Listing:
    """The folders that paths in a trace start from, read when somebody writes one."""

    def __init__(self, request: TraceRequest) -> None:
        self._trace = path_of(request.trace.uri)
        self._folders = request.folders

    def __call__(self, typed: str) -> list[PathEntry]:
        """The entries of the folder that a half-written path names. Before anything is written,
        also those beside the trace.
        """
        base = self._base()
        if base is None or self._trace is None:
            return []
        folder = typed[: typed.rfind("/") + 1]
        found = list_folder(base, folder)
        if not folder and self._trace.parent != base:
            found = [*list_folder(base, f"{_below(self._trace.parent, base)}/"), *found]
        return [PathEntry(*each) for each in found]

    def _base(self) -> Path | None:
        """The workspace's folder that the trace is in. Without a workspace, the folder above
        ``projects/``.
        """
        trace = self._trace
        if trace is None:
            return None
        if self._folders:
            within = [folder for folder in self._folders if trace.is_relative_to(folder)]
            return max(within, key=lambda folder: len(folder.parts), default=None)
        home = _HOME.match(trace.as_posix())
        return Path(home[1]) if home is not None else None


def _below(folder: Path, base: Path) -> str:
    return folder.relative_to(base).as_posix()


def _resolve(
    client: Client, _request: TraceRequest | None, item: types.CompletionItem
) -> types.CompletionItem:
    return resolve_completion(item, client.completion.documentation)


def _formatting(request: TraceRequest, _params: types.DocumentFormattingParams) -> JsonText:
    return format_document(request.analysis, request.encoding)


def _range_formatting(
    request: TraceRequest, params: types.DocumentRangeFormattingParams
) -> JsonText:
    return format_range(request.analysis, params.range, request.encoding)


def _prepare_rename(
    request: TraceRequest, params: types.PrepareRenameParams
) -> types.PrepareRenamePlaceholder | None:
    return prepare_rename(request.analysis, request.point(params.position), request.encoding)


def _rename(request: TraceRequest, params: types.RenameParams) -> object:
    point = request.point(params.position)
    run = run_to_rename(request.analysis, point)
    if run is not None and request.runs.folder_of(request.trace.uri) is not None:
        return _rename_run(request, request.trace.edits, run, params.new_name)
    return _rename_here(request, point, params)


async def _rename_run(
    request: TraceRequest, edits: int, run: NamedEntity, new_name: str
) -> dict[str, Any]:
    """The edits of all files of the workspace folder that name a run, or why there are none."""
    await request.following.settled()
    client, uri = request.client, request.trace.uri
    is_annotated = client.reads_annotations and client.reads_document_changes
    annotation = "rename-run" if is_annotated else None

    def work(analysis: Analysis, each: str) -> tuple[str, JsonText | CannotRename]:
        made = rename_named(analysis, run, new_name, request.encoding, annotation)
        return each, made

    check_unchanged(request.trace, edits)
    others, before = request.runs.others_with(run.value, uri), _as_they_are(request, run.value)
    uris = [uri, *(each.uri for each in others)]
    reason = _why_not(request, run.value, new_name) or await in_thread(_not_writable, uris)
    if reason is not None:
        raise JsonRpcException(reason, types.LSPErrorCodes.RequestFailed)
    found = await request.runs.run_on_others(run.value, uri, work)
    found.insert(0, await request.result_of(partial(work, request.analysis, uri)))
    if _as_they_are(request, run.value) != before:
        raise JsonRpcContentModified("a trace of the run has changed meanwhile")
    versions = {each.uri: each.trace.version for each in others if each.trace is not None}
    versions[uri] = request.trace.version
    made = []
    for each, text in found:
        if isinstance(text, CannotRename):
            raise JsonRpcException(text.reason, types.LSPErrorCodes.RequestFailed)
        document = types.OptionalVersionedTextDocumentIdentifier(each, versions.get(each))
        made.append((document, text))
    if len(made) <= len(others):
        reason = "A file that names the run cannot be read any more: nothing was renamed."
        raise JsonRpcException(reason, types.LSPErrorCodes.RequestFailed)
    count = len(made)
    label = f"Rename run {shown(run.value)} to {shown(new_name)}"
    about = types.ChangeAnnotation(label, description=f"in {count} file{'s' * (count > 1)}")
    return workspace_edits(
        made,
        with_document_changes=client.reads_document_changes,
        annotations={annotation: about} if annotation is not None else None,
    )


def _as_they_are(request: TraceRequest, run_id: str) -> list[tuple[str, OpenTrace | None, int]]:
    """The traces that hold a run, each with its open trace and the number of its changes."""
    others = request.runs.others_with(run_id, request.trace.uri)
    found = [(request.trace.uri, request.trace), *((each.uri, each.trace) for each in others)]
    return [(uri, trace, 0 if trace is None else trace.edits) for uri, trace in found]


def _why_not(request: TraceRequest, run_id: str, new_name: str) -> str | None:
    """Why a run cannot be renamed, by what other files hold."""
    uri = request.trace.uri
    taken = request.runs.others_with(new_name, uri) if new_name != run_id else ()
    if taken:
        return (
            f"{taken[0].part.path} names a run {shown(new_name)} already: "
            "renaming this run would make the two one."
        )
    joined = request.joined(run_id)
    if joined is not None and joined.lack is not None:
        return f"Which other files name the run is not known; {joined.lack}."
    return None


def _not_writable(uris: Sequence[str]) -> str | None:
    """Why a run cannot be renamed, by the permissions of its files. Call it from a thread."""
    for path in filter(None, map(path_of, uris)):
        if os.path.exists(path) and not os.access(path, os.W_OK):  # noqa: PTH110 - Path.exists raises
            return f"{path} cannot be written: nothing was renamed."
    return None


def _rename_here(request: TraceRequest, point: Point, params: types.RenameParams) -> dict[str, Any]:
    edits = rename(request.analysis, point, params.new_name, request.encoding)
    if isinstance(edits, CannotRename):
        raise JsonRpcException(edits.reason, types.LSPErrorCodes.RequestFailed)
    return workspace_edit(
        request.document, edits, with_document_changes=request.client.reads_document_changes
    )


HANDLERS = (
    RequestHandler(
        types.TEXT_DOCUMENT_COMPLETION,
        _completion,
        types.CompletionOptions(
            trigger_characters=['"', "{", ":", ",", "/"], resolve_provider=True
        ),
    ),
    RequestHandler(types.TEXT_DOCUMENT_FORMATTING, _formatting, if_closed=()),
    RequestHandler(types.TEXT_DOCUMENT_RANGE_FORMATTING, _range_formatting, if_closed=()),
    RequestHandler(types.TEXT_DOCUMENT_PREPARE_RENAME, _prepare_rename),
    RequestHandler(types.TEXT_DOCUMENT_RENAME, _rename),
)

RESOLVE_HANDLERS = (ResolveHandler(types.COMPLETION_ITEM_RESOLVE, _resolve),)
