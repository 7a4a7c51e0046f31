"""Commands that change a project's configuration or baseline, or show a rule's page, and the code
actions that offer them beside findings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from lsprotocol import types
from pygls.exceptions import JsonRpcException, JsonRpcInvalidParams

from drive_trace.features.code_actions.offers import asks_for
from drive_trace.linter.rule import Finding
from drive_trace.linter.rules import RULES
from drive_trace.lsp.handlers.base import Responder, TraceRequest
from drive_trace.lsp.rpc.capabilities import path_of
from drive_trace.lsp.rpc.protocol import TraceProtocol
from drive_trace.lsp.rpc.tasks import in_thread
from drive_trace.lsp.workspace.judging import Judging
from drive_trace.storage.files import Problem
from drive_trace.storage.pages import rule_url
from drive_trace.storage.project_changes import add_known, turn_off

TURN_RULE_OFF = "driveTrace.turnRuleOff"
ADD_TO_BASELINE = "driveTrace.addToBaseline"
SHOW_RULE = "driveTrace.showRule"
_MOST_RULES = 3
"""Of so many rules that find something at one place these are offered."""


def project_offers(
    request: TraceRequest, findings: Iterable[Finding], only: object
) -> Iterator[types.Command]:
    """What a person may do about findings but fix them, as commands."""
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


class ProjectCommands:
    """The commands, each a coroutine that takes the client's one argument."""

    def __init__(self, protocol: TraceProtocol, responder: Responder, judging: Judging) -> None:
        self._protocol = protocol
        self._responder = responder
        self._judging = judging

    async def turn_rule_off(self, argument: Any = None) -> None:
        """Turn a rule off in the project's configuration, with ``here`` for this trace alone."""
        request, path, code = self._asked(argument)
        project = await self._judging.project_now(request.trace.uri)
        trace = project.path_of(path) if argument.get("here") is True else None
        self._done(
            await in_thread(turn_off, project, code, trace),
            f"{code} is off for {'this file' if trace else 'the project'} now",
        )

    async def add_to_baseline(self, argument: Any = None) -> None:
        """Add what a rule finds on a line, and on lines of the same text, to the baseline."""
        request, path, code = self._asked(argument)
        lines, number = request.analysis.document.lines, argument.get("line")
        if type(number) is not int or not 0 < number <= len(lines):
            raise JsonRpcInvalidParams(f"{ADD_TO_BASELINE} takes the number of a line, too")
        text = lines[number - 1].text
        count = sum(1 for line in lines if line.text == text)
        project = await self._judging.project_now(request.trace.uri)
        self._done(
            await in_thread(add_known, project, project.path_of(path), code, text, count),
            f"{code} is known on line {number} now",
        )

    async def show_rule(self, argument: Any = None) -> None:
        """Show a rule's page."""
        request, _, code = self._asked(argument)
        page = _page(request, code)
        if page is not None:
            is_web = not page.startswith("file:")
            params = types.ShowDocumentParams(uri=page, external=is_web, take_focus=True)
            await self._protocol.request(types.WINDOW_SHOW_DOCUMENT, params)

    def _asked(self, argument: object) -> tuple[TraceRequest, str, str]:
        """The trace, its path and the rule in an argument, which is untrusted."""
        given = argument if isinstance(argument, dict) else {}
        uri, code = given.get("uri"), given.get("rule")
        request = self._responder.request(uri) if isinstance(uri, str) else None
        path = path_of(uri) if isinstance(uri, str) else None
        if request is None or path is None or code not in RULES:
            raise JsonRpcInvalidParams("a command about a rule takes an open file and the rule")
        return request, str(path), str(code)

    def _done(self, outcome: Problem | str, done: str) -> None:
        if isinstance(outcome, Problem):
            raise JsonRpcException(outcome.message, types.LSPErrorCodes.RequestFailed)
        self._judging.look_at_all()
        message = types.ShowMessageParams(types.MessageType.Info, f"{done}: see {outcome}")
        self._protocol.notify(types.WINDOW_SHOW_MESSAGE, message)
