"""The commands of ``workspace/executeCommand``."""

import json
from collections.abc import Sequence
from functools import partial
from typing import Any
from urllib.parse import quote

from lsprotocol import types
from pygls.exceptions import JsonRpcInvalidParams

from drive_trace.authoring import drafts, emitting
from drive_trace.features.new_events import graded
from drive_trace.features.results import markup
from drive_trace.features.runs import SHOW_RUN, JoinedRun, choices
from drive_trace.lsp.handlers import Handlers, TraceRequest, done, refusal, says_yes, show_document
from drive_trace.lsp.handlers.code_actions import RECORD_GRADE, edit_of, made_when_picked
from drive_trace.lsp.rpc import capabilities, messages, threads
from drive_trace.scorecard.dispatches import events_of
from drive_trace.storage.emitting import filled
from drive_trace.storage.files import why
from drive_trace.storage.linked_files import write_run_page
from drive_trace.storage.recording import NewEvent, append_events, new_stamp, record_feed
from drive_trace.trace import line, provenance
from drive_trace.vocabulary import GRADE

APPEND = "driveTrace.append"
"""The command that appends an event to the file of an open trace."""
EMIT = "driveTrace.emit"
"""The command that does the same with an event that is filled in and checked as by ``emit``."""
_EDITOR = provenance.Origin("editor")


class ServerCommands(Handlers):
    """The commands, each a coroutine that takes the client's one argument."""

    async def show_run(self, argument: Any = None) -> str:
        """Show a run's page. The result is its card, for clients that cannot show documents."""
        uri, run_id = _strings(SHOW_RUN, argument, "uri", "runId")
        request = self.request(uri)
        run = await request.result_of(partial(request.joined, run_id)) if request else None
        if request is None or run is None or not request.analysis.index.names(run_id):
            raise JsonRpcInvalidParams(f"{uri} is not open, or has no line of that run")
        client = self._protocol.client
        card = markup(run.markdown, client.hover_format).value
        if not client.shows_documents:
            self._protocol.show_message(run.title)
            return card
        if client.reads_contents:
            address = f"{messages.CONTENT_SCHEME}:/run.md?{quote(json.dumps([uri, run_id]))}"
            await show_document(self._protocol, address)
            return card
        try:
            lines = tuple(request.analysis.document.lines)  # as they are now; typing goes on
            page = await threads.in_thread(lambda: write_run_page(uri, run_id, page_of(run, lines)))
        except OSError as error:
            problem = f"its page could not be written: {why(error)}"
            self._protocol.show_message(f"{run.title} ({problem})")
            return card
        if not await show_document(self._protocol, page.as_uri()):
            self._protocol.show_message(run.title)
        return card

    async def apply_action(self, argument: Any = None) -> bool:
        """Let the client apply the edit of an action. The result is whether it did."""
        uri = argument.get("uri") if isinstance(argument, dict) else None
        made = await made_when_picked(self.request(uri), argument)
        return await self._apply(made, str(argument.get("title", "Drive Trace")))

    async def record_grade(self, argument: Any = None) -> bool | dict[str, object]:
        """Let the client append a run's grade with some changes. The result is whether it did.
        With ``inFile``, it is appended to the file, which the client has not edited; see ``append``
        for the result.
        """
        uri, run_id = _strings(RECORD_GRADE, argument, "uri", "runId")
        changes = argument.get("changes")
        if not isinstance(changes, dict) or not changes or not changes.keys() <= choices().keys():
            raise JsonRpcInvalidParams(f"{RECORD_GRADE}: changes are components of a grade")
        if argument.get("inFile") is True:
            path, beside = await self._files(uri, run_id)
            merged = await threads.in_thread(
                lambda: record_feed(path, GRADE, run_id, changes, beside=beside, origin=_EDITOR)
            )
            recorded = done(merged)
            return {"line": recorded.line, "notes": list(recorded.written.notes)}
        request = self._open(uri)
        await request.following.settled()
        made = await request.result_of(
            lambda: graded(request.analysis, run_id, changes, request.joined, new_stamp())
        )
        return await self._apply(edit_of(request, made), "Record a grade")

    async def append(self, argument: Any = None) -> dict[str, object]:
        """Append an event to the file of an open trace, which the client has not edited, with an id
        and a time of this moment. The result has what the person should know about it.
        """
        uri, record = _strings(APPEND, argument, "uri", "record")
        draft = done(drafts.draft_of_record(record))
        path, beside = await self._files(uri, draft.run_id)
        events, others = [NewEvent(draft, _EDITOR)], {draft.run_id: beside}
        written = done(await threads.in_thread(lambda: append_events(path, events, others)))
        return {"notes": [note for each in written for note in each.notes]}

    async def emit(self, argument: Any = None) -> dict[str, object]:
        """Append an event to the file of an open trace, of which the client gives some fields. What
        is missing or contradicts the trace is refused with the choices; a grade always, as those
        who ask are agents.
        """
        uri, event = _strings(EMIT, argument, "uri", "event")
        fields, run_id = argument.get("fields", {}), argument.get("runId")
        path = capabilities.path_of(self._open(uri).trace.uri)
        if path is None or not isinstance(fields, dict) or not isinstance(run_id, str | None):
            raise JsonRpcInvalidParams(f"{EMIT} takes a file, an event, its fields and a run's id")
        if event == GRADE:
            reason = "a grade is recorded by a person, by a gate, or by a calibrated judge"
            raise refusal(reason)
        wanted = {"": emitting.Wanted(event, fields)}
        make = partial(filled, wanted, path=str(path), run_id=run_id)
        (written,) = done(await threads.in_thread(append_events, str(path), make))
        return {"record": written.record, "notes": list(written.notes)}

    async def _files(self, uri: str, run_id: str) -> tuple[str, list[str]]:
        """The file of an open trace, and the others that its run stands in."""
        request, path = self._open(uri), capabilities.path_of(uri)
        if path is None:
            raise JsonRpcInvalidParams(f"{uri} is no file")
        await request.following.settled()
        run = await request.result_of(partial(request.joined, run_id))
        if run is None:
            return str(path), []
        if run.lack is not None:
            reason = f"What other files say of the run is not known; {run.lack}."
            raise refusal(reason)
        others = (capabilities.path_of(each) for each in run.uris if each != run.own_uri)
        return str(path), [str(each) for each in others if each is not None]

    def _open(self, uri: str) -> TraceRequest:
        request = self.request(uri)
        if request is None:
            raise JsonRpcInvalidParams(f"{uri} is not open")
        return request

    async def _apply(self, edit: types.WorkspaceEdit | dict[str, Any], label: str) -> bool:
        params = {"label": label, "edit": edit}
        response = await self._protocol.request(types.WORKSPACE_APPLY_EDIT, params)
        return response is not None and says_yes(response.result, "applied")


def page_of(run: JoinedRun, lines: Sequence[line.Line]) -> str:
    """The page of a run: its card over all files, and the report on the events of this one. The
    time grows with the number of events.
    """
    from drive_trace.report import sections  # noqa: PLC0415 - nothing else needs it

    events = events_of(lines, run.run.run_id)
    return sections.run_report_markdown(run.full_headline, run.card, run.run, events)


def _strings(command: str, argument: object, *names: str) -> list[str]:
    given = [argument.get(name) for name in names] if isinstance(argument, dict) else [None]
    strings = [each for each in given if isinstance(each, str)]
    if len(strings) != len(names):
        wanted = ", ".join(names)
        raise JsonRpcInvalidParams(f"{command} takes one argument: {{{wanted}}}, all strings")
    return strings
