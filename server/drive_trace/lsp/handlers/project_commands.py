"""Commands that change a project's configuration or baseline, or show a rule's page, and the code
actions that offer them beside findings.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from drive_trace.features.code_actions import asks_for
from drive_trace.linter.rule import Finding
from drive_trace.linter.rules import RULES
from drive_trace.lsp.handlers.base import Responder, TraceRequest, show_document, show_message
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.threads import in_thread
from drive_trace.lsp.workspace.linting import Linting
from drive_trace.storage.files import Problem
from drive_trace.storage.pages import rule_url
from drive_trace.storage.project_changes import add_known, turn_off

TURN_RULE_OFF = "driveTrace.turnRuleOff"
ADD_TO_BASELINE = "driveTrace.addToBaseline"
SHOW_RULE = "driveTrace.showRule"
_MOST_RULES = 3
"""The most rules that are offered at one place."""


def project_offers(
    request: TraceRequest, findings: Iterable[Finding], only: object
) -> Iterator[types.Command]:
    """What else a person may do about findings, as commands."""
    uri = request.trace.uri
    if path_of(uri) is None or not asks_for(only, types.CodeActionKind.QuickFix.value):
        return
    for finding in list({each.rule.code: each for each in findings}.values())[:_MOST_RULES]:
        code = finding.rule.code
        argument = {"uri": uri, "rule": code}
        known = {**argument, "line": request.analysis.line_number(finding.line)}
        here = {**argument, "here": True}
        yield types.Command(f"Add this {code} to the baseline", ADD_TO_BASELINE, arguments=[known])
        yield types.Command(f"Turn {code} off for this file", TURN_RULE_OFF, arguments=[here])
        yield types.Command(f"Turn {code} off for the project", TURN_RULE_OFF, arguments=[argument])
        if request.client.shows_documents and _page(request, code) is not None:
            yield types.Command(
                f"Show the documentation of {code}", SHOW_RULE, arguments=[argument]
            )


def _page(request: TraceRequest, code: str) -> str | None:
    return rule_url(code, request.settings.rule_url)


def _found(request: TraceRequest, code: str, number: object) -> tuple[str, int]:
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
        raise JsonRpcException(reason, types.LSPErrorCodes.RequestFailed)
    return text, found.count(True)


class ProjectCommands:
    """The commands, each a coroutine that takes the client's one argument."""

    def __init__(self, protocol: TraceProtocol, responder: Responder, linting: Linting) -> None:
        self._protocol = protocol
        self._responder = responder
        self._linting = linting
        self._writing = asyncio.Lock()
        """A change begins with what the one before it has written."""

    async def turn_rule_off(self, argument: Any = None) -> None:
        """Turn a rule off in the project's configuration, with ``here`` for this trace alone."""
        request, path, code = self._asked(argument)
        uri, is_here = request.trace.uri, argument.get("here") is True
        async with self._writing:
            project = await self._linting.project_now(uri)
            trace = project.path_of(path) if is_here else None
            file = self._checked(await in_thread(turn_off, project, code, trace))
        done = f"{code} is off for {'this file' if is_here else 'the project'} now: see {file}"
        (options,) = await self._linting.options_now([uri])
        if options.rules.severity(RULES[code]) is not None:
            done += ". It stays on here, by a setting of the editor or an override for this file"
        self._done(done)

    async def add_to_baseline(self, argument: Any = None) -> None:
        """Add what a rule finds on a line, and on lines of the same text, to the baseline."""
        request, path, code = self._asked(argument)
        number = argument.get("line")
        async with self._writing:
            await self._linting.settled(request.trace, for_long=True)  # by what was added before
            text, count = _found(request, code, number)
            project = await self._linting.project_now(request.trace.uri)
            inner = project.path_of(path)
            file = self._checked(await in_thread(add_known, project, inner, code, text, count))
        self._done(f"{code} is known on line {number} now: see {file}")

    async def show_rule(self, argument: Any = None) -> None:
        """Show a rule's page."""
        request, _, code = self._asked(argument)
        page = _page(request, code)
        if page is None or not await show_document(self._protocol, page):
            show_message(self._protocol, f"The page of {code} could not be shown: {page}")

    def _asked(self, argument: object) -> tuple[TraceRequest, str, str]:
        """The trace, its path and the rule in an argument, which is untrusted."""
        given = argument if isinstance(argument, dict) else {}
        uri, code = given.get("uri"), given.get("rule")
        request = self._responder.request(uri) if isinstance(uri, str) else None
        path = path_of(uri) if isinstance(uri, str) else None
        if request is None or path is None or not isinstance(code, str) or code not in RULES:
            raise JsonRpcInvalidParams("a command about a rule takes an open file and the rule")
        return request, str(path), code

    def _checked(self, outcome: Problem | str) -> str:
        if isinstance(outcome, Problem):
            raise JsonRpcException(outcome.message, types.LSPErrorCodes.RequestFailed)
        return outcome

    def _done(self, message: str) -> None:
        self._linting.look_at_all()
        show_message(self._protocol, message)
