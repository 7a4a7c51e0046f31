"""An event of a session of Claude Code, and what follows from it: what is told of an edit of the
trace, or what :mod:`drive_trace.hook.agents` does.
"""

from collections.abc import Mapping
from shlex import quote
from typing import NamedTuple

from drive_trace.hook import RECORD_SUFFIX, Answer, HookEvent, written
from drive_trace.linter.settings import Severity
from drive_trace.storage.files import STDIN, Problem, TraceRecords, inside, read_trace
from drive_trace.storage.projects import Project, Projects
from drive_trace.text.wording import plural, printable
from drive_trace.trace.provenance import read_provenance

_MOST = 10
"""So many findings are told at once."""


class HookedSession(NamedTuple):
    """An event of a session, and the trace that the session is recorded in."""

    event: HookEvent
    project: Project
    trace: str
    """Its real path."""
    run: str


def act(event: HookEvent, folder: str) -> Answer:
    """Act on an event, if the project of a folder records one. Raises whatever goes wrong."""
    project = Projects(folder).of(STDIN)
    for each in project.problems:
        raise ValueError(each.problem.message)
    record = project.configuration.record
    if record is None:
        return "", {}
    trace = str(inside(project.folder / record.trace, project.folder))
    session = HookedSession(event, project, trace, record.run)
    path = written(event) if event["hook_event_name"] == "PostToolUse" else None
    if path in (trace, f"{trace}{RECORD_SUFFIX}"):
        return _told(session, of_record=path != trace), {}
    from drive_trace.hook import agents  # noqa: PLC0415 - takes long to load

    words = ""
    match event:
        case {"hook_event_name": "SubagentStart"}:
            agents.record_start(session)
        case {"hook_event_name": "SubagentStop"}:
            agents.record_brief(session)
        case {"hook_event_name": "SessionEnd"}:
            agents.record_tokens(session)
        case {"tool_response": {"status": "completed", "agentId": agent}}:
            words = agents.reminder(session, agent)
        case {"hook_event_name": "Stop"} if not event.get("stop_hook_active"):
            words = agents.reminder(session)
    # The agent goes on with it; nothing has failed.
    context = {"hookEventName": event["hook_event_name"], "additionalContext": words}
    return "", {"hookSpecificOutput": context} if words else {}


def _told(session: HookedSession, *, of_record: bool) -> str:
    """The errors and warnings that an edit of the trace, or of its record, has brought, in the
    words of an agent's next step; empty where there are none. Where the tool does not say what the
    file was before, all of them count.
    """
    read = read_trace(session.trace)
    if isinstance(read, Problem):
        raise ValueError(read.message)  # noqa: TRY004 - the path names no trace that can be read
    now = _findings(session, read)
    if not now:
        return ""
    original = (session.event.get("tool_response") or {}).get("originalFile") or ""
    was = read._replace(records=original.split("\n"))
    if of_record:
        was = read._replace(provenance=read_provenance(original.encode("utf-8", "replace")))
    before = _findings(session, was)
    told = dict.fromkeys(message for key, message in now.items() if key not in before)
    new = [f"- {printable(each, 500)}" for each in told]
    found = f"{plural(len(new), 'finding')} in {printable(quote(session.trace), 4096)}"
    steps = [
        f"{found} since this edit. Mend it now (`drive-trace explain CODE` tells more of a code):",
        *new[:_MOST],
        "Write what is true, and make up no id, time, count or outcome. Write no events by hand: "
        "`drive-trace emit EVENT FIELD=VALUE …` fills in what is known.",
    ]
    return "\n".join(steps) if new else ""


def _findings(session: HookedSession, read: TraceRecords) -> Mapping[object, str]:
    """What is told in words, by what each of its places is known again when lines have moved."""
    from drive_trace.analysis import Analysis  # noqa: PLC0415 - the rules take long to load

    path, records, provenance, _ = read
    settings = session.project.settings_for(path)
    analysis = Analysis(records, settings, path, provenance=provenance)
    return {
        (each.rule, each.line.text.rstrip("\r"), each.place): f"line "
        f"{analysis.line_number(found.line)}: {analysis.message(found.message)} ({found.rule.code})"
        for found, places, _ in analysis.told()
        for each in (found, *places)
        if analysis.severity_of(each) <= Severity.WARNING
    }
