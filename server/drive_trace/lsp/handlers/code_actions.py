"""Answers that offer code actions, with their edits for clients that want these at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lsprotocol import types

from drive_trace.features.code_actions import as_command, code_actions, touched
from drive_trace.features.code_actions.appending import appending_offers
from drive_trace.features.code_actions.filling import fill_offers, known_offers
from drive_trace.features.code_actions.offers import KINDS, CannotMake, Offer
from drive_trace.features.code_actions.source_actions import source_offers
from drive_trace.features.runs import Joined
from drive_trace.lsp.handlers.base import Answer, Asked, Resolve
from drive_trace.lsp.handlers.resolve import APPLY_ACTION, edit_at_once, file_of, made_when_picked
from drive_trace.lsp.rpc.capabilities import Client


def _code_action(asked: Asked, params: types.CodeActionParams) -> object:
    client = asked.client
    if not client.reads_action_literals and not client.applies_edits:
        return []
    if client.reads_action_literals and not client.resolves_action_edits:
        return asked.merging(lambda joined: _offered(asked, params, joined))
    return _offered(asked, params, asked.joined)  # a grade is merged when it is picked


def _offered(asked: Asked, params: types.CodeActionParams, joined: Joined) -> list[object]:
    client = asked.client
    fixes = code_actions(
        asked.analysis,
        asked.document,
        params,
        asked.encoding,
        with_document_changes=client.reads_document_changes and client.reads_action_literals,
    )
    # What the run tells comes before gaps that are to be filled in by hand.
    known = known_offers(asked.analysis, asked.point(params.range.start), params.context.only)
    offers = _offers(asked, params, joined)
    if client.reads_action_literals:
        return [*_actions(asked, known), *fixes, *_actions(asked, offers)]
    return [
        *(as_command(fix, asked.trace.uri, asked.trace.version) for fix in fixes),
        *(
            types.Command(each.title, APPLY_ACTION, arguments=[_data(asked, each)])
            for each in (*known, *offers)
            if each.disabled is None
        ),
    ]


def _offers(asked: Asked, params: types.CodeActionParams, joined: Joined) -> list[Offer]:
    analysis, only = asked.analysis, params.context.only
    findings = list(touched(analysis, params.range, asked.encoding))
    # Where one finding is all there is, fix-all is no more than its fix.
    has_safe_fix = analysis.finding_count > 1 and any(
        fix.safe for each in findings for fix in analysis.fixes(each)
    )
    at, end = asked.point(params.range.start), asked.point(params.range.end)
    is_crowded = bool(findings) or end.record > at.record
    return [
        *appending_offers(analysis, at, only, joined, is_crowded=is_crowded),
        *fill_offers(analysis, at, only, lambda path: file_of(asked, path) is not None),
        *source_offers(only, has_safe_fix=has_safe_fix),
    ]


def _actions(asked: Asked, offers: Iterable[Offer]) -> Iterator[object]:
    return filter(None, (_action(asked, each) for each in offers))


def _action(asked: Asked, offer: Offer) -> types.CodeAction | dict[str, Any] | None:
    """An offer in the form that the client reads; None where there is nothing to show."""
    if offer.disabled is not None:
        if not asked.client.reads_disabled_actions:
            return None
        disabled = types.CodeActionDisabled(offer.disabled)
        return types.CodeAction(offer.title, offer.kind, disabled=disabled)
    if asked.client.resolves_action_edits:
        return types.CodeAction(offer.title, offer.kind, data=_data(asked, offer))
    made = edit_at_once(asked, offer.data)
    if isinstance(made, CannotMake):
        return None
    return {"title": offer.title, "kind": offer.kind, "edit": made}


def _data(asked: Asked, offer: Offer) -> dict[str, Any]:
    return {"uri": asked.trace.uri, "title": offer.title, **offer.data}


async def _resolve(_client: Client, asked: Asked | None, action: types.CodeAction) -> object:
    made = await made_when_picked(asked, action.data)
    kind = {"kind": action.kind} if action.kind is not None else {}
    return {"title": action.title, **kind, "edit": made}


ANSWERS = (
    Answer(
        types.TEXT_DOCUMENT_CODE_ACTION,
        _code_action,
        types.CodeActionOptions(code_action_kinds=list(KINDS), resolve_provider=True),
        of_nothing=(),
    ),
)

RESOLVES = (Resolve(types.CODE_ACTION_RESOLVE, _resolve),)
