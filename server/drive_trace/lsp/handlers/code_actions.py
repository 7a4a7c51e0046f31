"""Code actions: the offers, and the edit of an action, made when somebody picks it; and the
commands that change a project's configuration or baseline, or show a rule's page.
"""

import asyncio
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from drive_trace.features import filling, findings, new_events, runs
from drive_trace.features.results import CannotMake, JsonText, as_edits, workspace_edits
from drive_trace.linter.rule import Finding
from drive_trace.linter.rules import RULES
from drive_trace.lsp import handlers
from drive_trace.lsp.rpc.capabilities import Client, path_of
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace.open_traces import check_unchanged
from drive_trace.storage import recording, toml_models
from drive_trace.storage.linked_files import length_and_sha256, linked_files
from drive_trace.storage.projects import add_known
from drive_trace.trace import document, times

APPLY_ACTION = "driveTrace.applyAction"
"""The command that has the client apply an action's edit."""
_QUICK_FIX = types.CodeActionKind.QuickFix
RECORD_GRADE = "driveTrace.recordGrade"
"""The command that records components of a run's grade in an open trace."""


async def made_when_picked(request: handlers.TraceRequest | None, data: Any) -> dict[str, Any]:
    """The edit of an action, made when somebody picks it. Raises a JsonRpcException with the reason
    if there is none, or if the trace changes meanwhile. The data are untrusted: those of an offer
    have ``kind``, ``record``, ``id`` and ``title``; fix-all has ``make`` and perhaps ``rule``.
    """
    given = data if isinstance(data, dict) else {}
    if request is None:
        raise JsonRpcInvalidParams("the trace is not open")
    if given.get("make") == findings.FIX_ALL:
        edits = request.trace.edits
        made = await in_thread(_fixing(request, given.get("rule")))
        check_unchanged(request.trace, edits)
        return edit_of(request, made)
    kind = given.get("kind")
    if kind not in findings.KINDS or type(given.get("record")) is not int or "id" not in given:
        raise JsonRpcInvalidParams("there is no such action")
    if kind == findings.RECORD_KIND:
        await request.following.settled()
    return edit_of(request, await request.result_of(partial(_picked, request, given)))


def _picked(request: handlers.TraceRequest, data: Mapping[str, Any]) -> findings.Changes:
    analysis, record = request.analysis, data["record"]
    lines = analysis.document.lines
    at = document.Point(min(max(record, 0), len(lines) - 1), 0)
    found = analysis.findings_of(lines[at.record])
    only = [data["kind"]]
    known = filling.known_offers(analysis, at, only)
    offers = _offers(request, at, only, request.joined, found)
    offer = findings.picked([*known, *offers], data)
    return offer if isinstance(offer, CannotMake) else _making(request, offer)()


def _making(
    request: handlers.TraceRequest, offer: findings.Offer
) -> Callable[[], findings.Changes]:
    if isinstance(offer.make, findings.FixAll):
        return _fixing(request, offer.make.rule)
    return partial(offer.make, recording.new_stamp())


def _fixing(request: handlers.TraceRequest, rule: str | None) -> Callable[[], findings.Changes]:
    """What makes all safe fixes: from a copy of the texts, so that any thread can do it."""
    texts, rules = request.trace.records, request.trace.options.rules
    return partial(findings.safe_fixes, texts, rules, unquote(request.trace.uri), rule)


def file_of(request: handlers.TraceRequest, path: str) -> Path | None:
    """The file of the workspace that a path in the trace names."""
    return linked_files([path], path_of(request.trace.uri), request.folders).get(path)


_GRACE_MS = 60_000
"""A file may be saved so long after the time of the line that tells of it."""


def _is_as_then(file: Path | None, ts: str | None) -> bool:
    """Whether a file is there, and has not changed since a line was written."""
    then = times.epoch_milliseconds(ts)
    try:
        changed = file.stat().st_mtime * 1000 if file is not None else math.inf
    except OSError:
        return False
    return changed < math.inf and (then is None or changed <= then + _GRACE_MS)


def _contents(request: handlers.TraceRequest, path: str) -> tuple[int, str] | None:
    file = file_of(request, path)
    try:
        return length_and_sha256(file) if file is not None else None
    except OSError:
        return None


def edit_of(request: handlers.TraceRequest, made: findings.Changes) -> dict[str, Any]:
    """The workspace edit of some changes. Raises a JsonRpcException if there are none."""
    if isinstance(made, CannotMake):
        raise handlers.refusal(made.reason)
    edits = made if isinstance(made, JsonText) else as_edits(request.view, made)
    has_versions = request.client.reads_document_changes
    return workspace_edits([(request.document, edits)], with_document_changes=has_versions)


@handlers.handles(
    types.TEXT_DOCUMENT_CODE_ACTION,
    types.CodeActionOptions(code_action_kinds=list(findings.KINDS), resolve_provider=True),
    if_closed=(),
)
def _code_action(request: handlers.TraceRequest, params: types.CodeActionParams) -> object:
    if not request.client.reads_action_literals:  # as none has been since 2018
        return []
    if not request.client.resolves_action_edits:
        return request.merging(lambda joined: _offered(request, params, joined))
    return _offered(request, params, request.joined)  # a grade is merged when it is picked


def _offered(
    request: handlers.TraceRequest, params: types.CodeActionParams, joined: runs.Joined
) -> list[object]:
    only, at, end = params.context.only, *map(request.point, (params.range.start, params.range.end))
    found = list(findings.touched(request.view, params))
    is_crowded = bool(found) or end.record > at.record
    known = filling.known_offers(request.analysis, at, only)
    fixes = findings.fix_offers(request.view, found, only)
    offers = _offers(request, at, only, joined, found, is_crowded=is_crowded)
    about_rules = project_offers(request, found, only)
    # Values that the run shows come before gaps that a person has to fill in, and a nested payload,
    # which holds values that somebody wrote, before both.
    flattening = [fix for fix in fixes if fix.title.startswith("Flatten")]
    others = [fix for fix in fixes if fix not in flattening]
    actions = (
        _action(request, params.context, each) for each in (*flattening, *known, *others, *offers)
    )
    return [
        *filter(None, actions),
        *(types.CodeAction(each.title, _QUICK_FIX, command=each) for each in about_rules),
    ]


def _offers(  # noqa: PLR0913 - the request, its place, and what is known already
    request: handlers.TraceRequest,
    at: document.Point,
    only: object,
    joined: runs.Joined,
    found: Sequence[Finding],
    *,
    is_crowded: bool = False,
) -> list[findings.Offer]:
    """What is offered for a line beside the fixes of its findings."""
    analysis = request.analysis
    # With a single finding, fix-all would do no more than its fix.
    has_safe_fix = analysis.finding_count > 1 and any(
        fix.safe for each in found for fix in analysis.fixes(each)
    )
    return [
        *(offer for each in found for offer in new_events.closing_offers(analysis, each, only)),
        *new_events.appending_offers(analysis, at, only, joined, is_crowded=is_crowded),
        *filling.fill_offers(
            analysis,
            at,
            only,
            lambda path, ts: _is_as_then(file_of(request, path), ts),
            partial(_contents, request),
        ),
        # Trying all fixes takes as long as opening the trace: not before somebody picks it.
        *(
            findings.rule_offers(analysis, found, only)
            if request.client.resolves_action_edits
            else ()
        ),
        *findings.source_offers(request.view, at.record, only, has_safe_fix=has_safe_fix),
    ]


def _action(
    request: handlers.TraceRequest, context: types.CodeActionContext, offer: findings.Offer
) -> types.CodeAction | dict[str, Any] | None:
    """An offer in the form that the client reads; None if there is nothing to show."""
    if offer.disabled is not None:
        if not request.client.reads_disabled_actions:
            return None
        disabled = types.CodeActionDisabled(offer.disabled)
        return types.CodeAction(offer.title, offer.kind, disabled=disabled)
    about: dict[str, Any] = {"title": offer.title, "kind": offer.kind}
    if offer.mends is not None:
        mended = findings.same(context.diagnostics, request.view, offer.mends)
        about |= {"diagnostics": mended} if mended else {}
        about["isPreferred"] = offer.is_preferred
    elif request.client.resolves_action_edits:
        return {**about, "data": _data(request, offer)}
    made = _making(request, offer)()
    return None if isinstance(made, CannotMake) else {**about, "edit": edit_of(request, made)}


def _data(request: handlers.TraceRequest, offer: findings.Offer) -> dict[str, Any]:
    uri, make = request.trace.uri, offer.make
    if isinstance(make, findings.FixAll):
        rule = {"rule": make.rule} if make.rule is not None else {}
        return {"uri": uri, "make": findings.FIX_ALL, **rule}
    data = {"title": offer.title, "kind": offer.kind, "record": offer.record, "id": offer.id}
    return {"uri": uri, **data}


@handlers.resolves(types.CODE_ACTION_RESOLVE)
async def _resolve(
    _client: Client, request: handlers.TraceRequest | None, action: types.CodeAction
) -> object:
    if action.command is not None:
        return action  # VS Code resolves actions that a command carries out, too
    made = await made_when_picked(request, action.data)
    kind = {"kind": action.kind} if action.kind is not None else {}
    return {"title": action.title, **kind, "edit": made}


# Commands about rules


TURN_RULE_OFF = "driveTrace.turnRuleOff"
ADD_TO_BASELINE = "driveTrace.addToBaseline"
SHOW_RULE = "driveTrace.showRule"
_MOST_RULES = 3
"""The most rules that are offered at one place."""


def project_offers(
    request: handlers.TraceRequest, found: Iterable[Finding], only: object
) -> Iterator[types.Command]:
    """What else a person may do about findings, as commands."""
    uri = request.trace.uri
    if path_of(uri) is None or not findings.asks_for(only, types.CodeActionKind.QuickFix.value):
        return
    for finding in list({each.rule.code: each for each in found}.values())[:_MOST_RULES]:
        code = finding.rule.code
        given = {"uri": uri, "rule": code}
        known = {**given, "line": request.analysis.line_number(finding.line)}
        here = {**given, "here": True}
        yield types.Command(f"Add this {code} to the baseline", ADD_TO_BASELINE, arguments=[known])
        yield types.Command(f"Turn {code} off for this file", TURN_RULE_OFF, arguments=[here])
        yield types.Command(f"Turn {code} off for the project", TURN_RULE_OFF, arguments=[given])
        if request.client.shows_documents and request.trace.options.url_of(code) is not None:
            yield types.Command(f"Show the documentation of {code}", SHOW_RULE, arguments=[given])


def _found(request: handlers.TraceRequest, code: str, number: object) -> tuple[str, int]:
    """The text of a line, and the number of lines of that text on which a rule finds something."""
    analysis = request.analysis
    lines = analysis.document.lines
    if type(number) is not int or not 0 < number <= len(lines):
        raise JsonRpcInvalidParams(f"{ADD_TO_BASELINE} takes the number of a line, too")
    text = lines[number - 1].text
    same = [line for line in lines if line.text == text]
    found = [any(each.rule.code == code for each in analysis.findings_of(line)) for line in same]
    if True not in found:
        reason = f"{code} finds nothing on line {number} any more"
        raise handlers.refusal(reason)
    return text, found.count(True)


class ProjectCommands(handlers.Handlers):
    """The commands, each a coroutine that takes the client's one argument."""

    def __init__(self, services: handlers.Services) -> None:
        super().__init__(services)
        self._writing = asyncio.Lock()
        """A change begins with what the one before it has written."""

    async def turn_rule_off(self, argument: Any = None) -> None:
        """Turn a rule off in the project's configuration, with ``here`` for this trace alone."""
        request, path, code = self._asked(argument)
        uri, is_here = request.trace.uri, argument.get("here") is True
        async with self._writing:
            project = await self._linting.project_now(uri)
            trace = project.path_of(path) if is_here else None
            file = handlers.done(await in_thread(toml_models.turn_off, project, code, trace))
        message = f"{code} is off for {'this file' if is_here else 'the project'} now: see {file}"
        (options,) = await self._linting.options_now([uri])
        if options.rules.severity(RULES[code]) is not None:
            message += ". It stays on here, by a setting of the editor or an override for this file"
        self._tell(message)

    async def add_to_baseline(self, argument: Any = None) -> None:
        """Add what a rule finds on a line, and on lines of the same text, to the baseline."""
        request, path, code = self._asked(argument)
        number = argument.get("line")
        async with self._writing:
            await self._linting.settled(request.trace, for_long=True)  # by what was added before
            text, count = await request.result_of(partial(_found, request, code, number))
            project = await self._linting.project_now(request.trace.uri)
            inner = project.path_of(path)
            file = handlers.done(await in_thread(add_known, project, inner, code, text, count))
        self._tell(f"{code} is known on line {number} now: see {file}")

    async def show_rule(self, argument: Any = None) -> None:
        """Show a rule's page."""
        request, _, code = self._asked(argument)
        page = request.trace.options.url_of(code)
        if page is None or not await handlers.show_document(self._protocol, page):
            self._protocol.show_message(f"The page of {code} could not be shown: {page}")

    def _asked(self, argument: object) -> tuple[handlers.TraceRequest, str, str]:
        """The trace, its path and the rule in an argument, which is untrusted."""
        given = argument if isinstance(argument, dict) else {}
        uri, code = given.get("uri"), given.get("rule")
        request = self.request(uri)
        path = path_of(uri) if isinstance(uri, str) else None
        if request is None or path is None or not isinstance(code, str) or code not in RULES:
            raise JsonRpcInvalidParams("a command about a rule takes an open file and the rule")
        return request, str(path), code

    def _tell(self, message: str) -> None:
        self._linting.look_at_all()
        self._protocol.show_message(message)
