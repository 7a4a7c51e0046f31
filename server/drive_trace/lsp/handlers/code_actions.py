"""Code actions: the offers, and the edit of an action, made when somebody picks it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from drive_trace.features.appending import (
    CLOSE,
    RECORD,
    appended,
    appending_offers,
    at_the_end,
    closing_offers,
)
from drive_trace.features.code_actions import (
    FIX_ALL,
    FORMAT,
    KINDS,
    CannotMake,
    Offer,
    as_command,
    code_actions,
    rule_offers,
    safe_fixes,
    source_offers,
    touched,
)
from drive_trace.features.filling import (
    DURATIONS,
    FILL,
    KNOWN,
    Contents,
    fill_durations,
    fill_from_file,
    fill_from_run,
    fill_offers,
    known_offers,
)
from drive_trace.features.formatting import format_document
from drive_trace.features.positions import TextChange, as_edits, workspace_edit
from drive_trace.features.raw_json import JsonText
from drive_trace.features.runs import Joined
from drive_trace.linter.rule import Finding
from drive_trace.lsp.handlers.base import RequestHandler, ResolveHandler, TraceRequest
from drive_trace.lsp.handlers.project_commands import project_offers
from drive_trace.lsp.rpc.capabilities import Client, path_of
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace.open_traces import check_unchanged
from drive_trace.storage.linked_files import file_named, length_and_sha256
from drive_trace.storage.recording import new_stamp
from drive_trace.trace.times import epoch_milliseconds

APPLY_ACTION = "driveTrace.applyAction"
"""The command of an action for clients to which an action is a command."""
_QUICK_FIX = types.CodeActionKind.QuickFix
RECORD_GRADE = "driveTrace.recordGrade"
"""The command that records components of a run's grade in an open trace."""

Made = dict[str, Any] | CannotMake
"""A workspace edit, or why there is none."""


async def made_when_picked(request: TraceRequest | None, data: Any) -> dict[str, Any]:
    """The edit of an action, made when somebody picks it. Raises a JsonRpcException with the reason
    if there is none, or if the trace changes meanwhile.
    """
    if request is None:
        raise JsonRpcInvalidParams("the trace is not open")
    try:
        made = await _when_picked(request, data)
    except (KeyError, TypeError, ValueError) as error:
        raise JsonRpcInvalidParams("there is no such action") from error
    if isinstance(made, CannotMake):
        raise JsonRpcException(made.reason, types.LSPErrorCodes.RequestFailed)
    return made


async def _when_picked(request: TraceRequest, data: Mapping[str, Any]) -> Made:
    if data["make"] == FORMAT:
        layout = await request.result_of(
            lambda: format_document(request.analysis, request.encoding)
        )
        return _edit(request, layout)
    if data["make"] == RECORD:
        await request.following.settled()
    if data["make"] != FIX_ALL:
        return edit_at_once(request, data)
    edits = request.trace.edits
    made = await in_thread(_fixing(request, data))
    check_unchanged(request.trace, edits)
    return _edit(request, _as_edits(request, made))


def edit_at_once(request: TraceRequest, data: Mapping[str, Any]) -> Made:
    """The edit of an action, made at once. Fix-all takes as long as opening the trace. Raises
    KeyError, TypeError or ValueError for data of no action.
    """
    analysis, make = request.analysis, data["make"]
    made: Sequence[TextChange] | CannotMake
    if make == FORMAT:
        return _edit(request, format_document(analysis, request.encoding))
    if make == FIX_ALL:
        made = _fixing(request, data)()
    elif make == FILL:
        contents = _contents(request, data["path"])
        made = fill_from_file(analysis, data, contents) if contents is not None else _NO_FILE
    elif make == KNOWN:
        made = fill_from_run(analysis, data, new_stamp())
    elif make == DURATIONS:
        made = fill_durations(analysis)
    elif make in (RECORD, CLOSE):
        record = appended(analysis, data, new_stamp(), request.joined)
        made = record if isinstance(record, CannotMake) else [at_the_end(analysis, record)]
    else:
        raise ValueError("there is no such action")
    return made if isinstance(made, CannotMake) else _edit(request, _as_edits(request, made))


def file_of(request: TraceRequest, path: str) -> Path | None:
    """The file of the workspace that a path in the trace names."""
    return file_named(path, request.folders, path_of(request.trace.uri))


_GRACE_MS = 60_000
"""A file may be saved so long after the time of the line that tells of it."""


def _is_as_then(file: Path | None, ts: str | None) -> bool:
    """Whether a file is there, and has not changed since a line was written."""
    then = epoch_milliseconds(ts)
    try:
        changed = file.stat().st_mtime * 1000 if file is not None else math.inf
    except OSError:
        return False
    return changed < math.inf and (then is None or changed <= then + _GRACE_MS)


def _contents(request: TraceRequest, path: object) -> Contents | None:
    file = file_of(request, path) if isinstance(path, str) else None
    try:
        return Contents(*length_and_sha256(file)) if file is not None else None
    except OSError:
        return None


_NO_FILE = CannotMake("There is no such file in the workspace, or it cannot be read.")


def _fixing(request: TraceRequest, data: Mapping[str, Any]) -> partial[Any]:
    """Fix-all on a copy of the texts, so that a thread can do it."""
    trace = request.trace
    texts = [line.text for line in trace.analysis.document.lines]
    path, rule = unquote(trace.uri), data.get("rule")
    return partial(safe_fixes, texts, trace.options.rules, path, rule)


def _as_edits(request: TraceRequest, made: Iterable[TextChange]) -> JsonText:
    return as_edits(request.analysis.document, made, request.encoding)


def _edit(request: TraceRequest, edits: JsonText) -> dict[str, Any]:
    client = request.client
    # Clients that take commands only get all their edits as ``changes``.
    with_document_changes = client.reads_document_changes and client.reads_action_literals
    return workspace_edit(request.document, edits, with_document_changes=with_document_changes)


def _code_action(request: TraceRequest, params: types.CodeActionParams) -> object:
    client = request.client
    if not client.reads_action_literals and not client.applies_edits:
        return []
    if client.reads_action_literals and not client.resolves_action_edits:
        return request.merging(lambda joined: _offered(request, params, joined))
    return _offered(request, params, request.joined)  # a grade is merged when it is picked


def _offered(request: TraceRequest, params: types.CodeActionParams, joined: Joined) -> list[object]:
    client = request.client
    fixes = code_actions(
        request.analysis,
        request.document,
        params,
        request.encoding,
        with_document_changes=client.reads_document_changes and client.reads_action_literals,
    )
    # Values that the run shows come before gaps that a person has to fill in, and a nested payload,
    # which holds values that somebody wrote, before both.
    flattening = [fix for fix in fixes if fix.title.startswith("Flatten")]
    rest = [fix for fix in fixes if fix not in flattening]
    known = known_offers(request.analysis, request.point(params.range.start), params.context.only)
    findings = list(touched(request.analysis, params, request.encoding))
    offers = _offers(request, params, joined, findings)
    about_rules = project_offers(request, findings, params.context.only)
    if client.reads_action_literals:
        return [
            *flattening,
            *_actions(request, known),
            *rest,
            *_actions(request, offers),
            *(types.CodeAction(each.title, _QUICK_FIX, command=each) for each in about_rules),
        ]
    return [
        *(as_command(fix, request.trace.uri, request.trace.version) for fix in fixes),
        *(
            types.Command(each.title, APPLY_ACTION, arguments=[_data(request, each)])
            for each in (*known, *offers)
            if each.disabled is None
        ),
        *about_rules,
    ]


def _offers(
    request: TraceRequest,
    params: types.CodeActionParams,
    joined: Joined,
    findings: Sequence[Finding],
) -> list[Offer]:
    analysis, only = request.analysis, params.context.only
    # With a single finding, fix-all would do no more than its fix.
    has_safe_fix = analysis.finding_count > 1 and any(
        fix.safe for each in findings for fix in analysis.fixes(each)
    )
    at, end = request.point(params.range.start), request.point(params.range.end)
    is_crowded = bool(findings) or end.record > at.record
    return [
        *(offer for each in findings for offer in closing_offers(analysis, each, only)),
        *appending_offers(analysis, at, only, joined, is_crowded=is_crowded),
        *fill_offers(analysis, at, only, lambda path, ts: _is_as_then(file_of(request, path), ts)),
        # Trying all fixes takes as long as opening the trace: not before somebody picks it.
        *(rule_offers(analysis, findings, only) if request.client.resolves_action_edits else ()),
        *source_offers(only, has_safe_fix=has_safe_fix),
    ]


def _actions(request: TraceRequest, offers: Iterable[Offer]) -> Iterator[object]:
    return filter(None, (_action(request, each) for each in offers))


def _action(request: TraceRequest, offer: Offer) -> types.CodeAction | dict[str, Any] | None:
    """An offer in the form that the client reads; None if there is nothing to show."""
    if offer.disabled is not None:
        if not request.client.reads_disabled_actions:
            return None
        disabled = types.CodeActionDisabled(offer.disabled)
        return types.CodeAction(offer.title, offer.kind, disabled=disabled)
    if request.client.resolves_action_edits:
        return types.CodeAction(offer.title, offer.kind, data=_data(request, offer))
    made = edit_at_once(request, offer.data)
    if isinstance(made, CannotMake):
        return None
    return {"title": offer.title, "kind": offer.kind, "edit": made}


def _data(request: TraceRequest, offer: Offer) -> dict[str, Any]:
    return {"uri": request.trace.uri, "title": offer.title, **offer.data}


async def _resolve(
    _client: Client, request: TraceRequest | None, action: types.CodeAction
) -> object:
    if action.command is not None:
        return action  # VS Code resolves actions that a command carries out, too
    made = await made_when_picked(request, action.data)
    kind = {"kind": action.kind} if action.kind is not None else {}
    return {"title": action.title, **kind, "edit": made}


HANDLERS = (
    RequestHandler(
        types.TEXT_DOCUMENT_CODE_ACTION,
        _code_action,
        types.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=True),
        if_closed=(),
    ),
)

RESOLVE_HANDLERS = (ResolveHandler(types.CODE_ACTION_RESOLVE, _resolve),)
