"""Subagents as dispatches: what is recorded of them, and what the session has to say of them.

The id of a dispatch is made of those of the session and the agent, so that a turn finds what the
turn before has recorded in the trace itself, and nothing else is kept. A turn of an agent whose
last round has ended begins the next round; any other turn goes on with the round. Once the dispatch
has ended, a further turn begins one that resumes it.

No verdict and no result is written here. Whoever knows them ends rounds and dispatches by ``emit``,
which measures how long they took; the session is reminded of those that stand open.
"""

import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import TypeVar

from msgspec.structs import replace

from drive_trace.authoring.drafts import Refused
from drive_trace.authoring.emitting import Wanted, dispatch_id
from drive_trace.hook.claude_code import HookedSession
from drive_trace.json_text import from_json
from drive_trace.scorecard.scoring import ScoredTrace
from drive_trace.storage import emitting, files, recording
from drive_trace.storage.session_logs import log_lines, logs_of
from drive_trace.text.quick import sha256_of
from drive_trace.text.wording import shown
from drive_trace.trace.provenance import Origin
from drive_trace.trace.scope import Scope, scope_at
from drive_trace.vocabulary import COST, DISPATCH, EVENTS, FILES, ROUND

T = TypeVar("T")

_BRIEF = FILES[-1]
_BRIEF_ISSUED = next(each for each in EVENTS.values() if _BRIEF.length in each.fields).name
_SAID = {ROUND: "verdict=… findings_filed=…", DISPATCH: "result=…"}
"""What whoever ends it has to say."""
_AGENT = "orchestrator_agent_id"
_LONGEST = 100
"""Characters of a name that an agent can type."""
_LOOKS, _PAUSE = 5, 0.1
"""How often a log is looked at that is being written, and the seconds in between."""


def record_start(session: HookedSession) -> None:
    """Record that an agent begins to work: a dispatch, or the next round of one."""
    agent, kind = _text(session, "agent_id"), _text(session, "agent_type")

    def wanted(scope: Scope) -> Iterator[Wanted]:
        *ended, dispatch = _dispatches_of(scope, session, agent)
        if scope.start_of(DISPATCH, dispatch) is None:
            given = {DISPATCH.field: dispatch, "parent_dispatch_id": [None, *ended][-1]}
            names = {"dispatch_name": f"{kind}-{agent[:8]}", "subagent_type": kind}
            yield Wanted(DISPATCH.opener, given, names)
        if _open_round(scope, dispatch) is None:
            yield Wanted(ROUND.opener, {DISPATCH.field: dispatch})

    _append(session, wanted)


def record_brief(session: HookedSession) -> None:
    """Record what an agent was told that stops now: it stands in the agent's log by then."""
    prompt = b""
    for line in log_lines(_text(session, "agent_transcript_path")):
        with suppress(ValueError, RecursionError):  # as of a line that is being written
            match from_json(line):  # a tool's result is no text
                case {"type": "user", "message": {"content": str(text)}, **more}:
                    prompt = prompt if more.get("isMeta") else text.encode("utf-8", "replace")
    facts = {_BRIEF.length: len(prompt), str(_BRIEF.sha256): sha256_of(prompt)}

    def wanted(scope: Scope) -> Iterator[Wanted]:
        dispatch = _dispatches_of(scope, session, _text(session, "agent_id"))[-1]
        found = _open_round(scope, dispatch)
        issued = scope.of(_BRIEF_ISSUED, DISPATCH.field, dispatch)
        if prompt and found and found not in {each.fact(ROUND.field) for each in issued}:
            yield Wanted(_BRIEF_ISSUED, {DISPATCH.field: dispatch, ROUND.field: found}, facts)

    _append(session, wanted)


def record_tokens(session: HookedSession) -> None:
    """Record what the sessions of the run have cost so far, if this one is among them: all of it,
    or nothing.
    """
    from drive_trace.authoring.usage import total_usage  # noqa: PLC0415 - once a session

    scope, own = _now(session), _text(session, "session_id")
    lines = scope.run.lines if scope.run is not None else ()
    of_run = {scope.value(line, _AGENT) for line in lines if line.event is not None} - {None}
    if own not in of_run:
        return
    # An id from the trace may be a path.
    beside = Path(_text(session, "transcript_path")).parent
    logs = _usable(logs_of([str(beside / f"{Path(str(each)).name}.jsonl") for each in of_run]))
    before, looks = None, 0
    while before != (now := [Path(each).stat().st_size for each in logs]) and looks < _LOOKS:
        before, looks = now, looks + 1
        time.sleep(_PAUSE)  # a session ends before its last lines are on the disk
    figures = dict(_usable(total_usage({each: log_lines(each) for each in logs})).figures)
    origin = Origin("hook", tuple(figures), source=own)
    _usable(recording.record_feed(session.trace, COST, session.run, figures, origin=origin))


def reminder(session: HookedSession, agent: str | None = None) -> str:
    """What the session has to say of its agents' work: of those that are not at work in the
    background, or of one alone. Empty where nothing of theirs stands open.
    """
    scope = _now(session)
    tasks = session.event.get("background_tasks") or ()
    left_out = {_dispatches_of(scope, session, each["id"])[-1] for each in tasks}
    only = _dispatches_of(scope, session, agent)[-1] if agent is not None else None
    lines = list[str]()
    for each in scope.opened[DISPATCH.entity]:
        is_ours = scope.value(each.start, _AGENT) == session.event["session_id"]
        if is_ours and each.id not in left_out and only in (None, each.id):
            name = each.start.text_fact("dispatch_name")
            name = quote(name) if name.isprintable() and len(name) < _LONGEST else each.id
            for of in (ROUND, DISPATCH)[_open_round(scope, each.id) is None :]:
                lines.append(f"drive-trace emit {of.closer} {_SAID[of]} --dispatch {name}")
    words = (
        "These rounds and dispatches of your agents stand open. Of each whose work is over, say "
        "what came of it, in this order (no end of a dispatch whose agent gets another round):"
    )
    return "\n".join([words, *lines]) if lines else ""


def _text(session: HookedSession, name: str) -> str:
    """What an event calls so. Raises KeyError where it does not, ValueError where that is none."""
    text = session.event[name]
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"`{name}` of the event must be a text; found {json.dumps(text)}")
    return text


def _dispatches_of(scope: Scope, session: HookedSession, agent: str) -> list[str]:
    """The ids of an agent's dispatches: those that have ended, and the one of its next turn."""
    found: list[str] = []
    while not found or scope.of(DISPATCH.closer, DISPATCH.field, found[-1]):
        found.append(dispatch_id(_text(session, "session_id"), agent, len(found)))
    return found


def _open_round(scope: Scope, dispatch: str) -> str | None:
    """The last round of a dispatch, if it is open."""
    started = scope.of(ROUND.opener, DISPATCH.field, dispatch)
    last = started[-1].text_fact(ROUND.field) if started else ""
    return None if not last or scope.of(ROUND.closer, ROUND.field, last) else last


def _append(session: HookedSession, wanted: Callable[[Scope], Iterator[Wanted]]) -> None:
    """Append the events that are wanted in the trace as it is once it is locked."""
    agent, own = _text(session, "agent_id"), _text(session, "session_id")

    def events(data: bytes) -> Sequence[recording.NewEvent] | Refused:
        scope = _scope(data, session)
        if scope.has_ended:
            return Refused((f"the run {shown(session.run)} has ended",))
        each = enumerate(wanted(scope))
        ours = {str(place): found._replace(agent_id=own, as_given=True) for place, found in each}
        made = emitting.filled(ours, data, session.trace, session.run)
        if isinstance(made, Refused):
            return made
        return [
            new._replace(origin=replace(new.origin, writer="hook", source=agent)) for new in made
        ]

    _usable(recording.append_events(session.trace, events))


def _usable(outcome: T | Refused | files.Problem) -> T:
    """What was done. Raises ValueError where it was not."""
    if isinstance(outcome, Refused | files.Problem):
        reasons = outcome.reasons if isinstance(outcome, Refused) else (outcome.message,)
        raise ValueError("; ".join(reasons))  # noqa: TRY004 - the reasons are of values
    return outcome


def _now(session: HookedSession) -> Scope:
    """What holds at the end of the trace, which need not exist."""
    data = files.read_bytes(session.trace) if files.may_be_there(session.trace) else b""
    return _scope(_usable(data), session)


def _scope(data: bytes, session: HookedSession) -> Scope:
    trace = ScoredTrace(files.records_of(data), only_score=False)
    lines = trace.document.lines
    return scope_at(trace.index, lines, len(lines), session.run)
