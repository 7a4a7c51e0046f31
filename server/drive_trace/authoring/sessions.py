"""What the logs of a session of Claude Code tell of a run, as if it had recorded itself: a dispatch
for each subagent, a round for each time that it was sent to work, and the briefs.

The times are the log's own, and durations what lies between them. What a log does not say is left
out, and named: what a round has decided above all. Of what was said, only lengths and hashes stay.
"""

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from drive_trace.authoring import emitting, transcripts, usage_shapes
from drive_trace.authoring.usage import ID, values
from drive_trace.text.quick import sha256_of
from drive_trace.text.wording import plural, shown, writable
from drive_trace.trace.times import milliseconds_between, sortable

_LONGEST = 200
"""Characters of a name or a model that are kept."""
_RESULTS = {
    "completed": "completed",
    **dict.fromkeys(("failed", "error"), "failed"),
    **dict.fromkeys(("killed", "stopped", "aborted", "cancelled", "interrupted"), "aborted"),
}
"""By what a log calls how a subagent ended."""
_MESSAGE = "SendMessage"
"""The tool that sends a subagent to work again."""
_NOTICE = "<task-notification>"
_TASK = re.compile(r"<task-id>([\w-]{1,100})</task-id>.*?<status>(\w+)</status>", re.DOTALL)
_ID, _ROUND = "dispatch_id", "round_id"


class _Moment(NamedTuple):
    """Something that a log tells."""

    ts: str
    lines: tuple[int, ...]
    """Of the session's own log, from 1."""
    text: str
    """The hash of a brief, or how a subagent ended."""
    size: int = 0
    """Of a brief, in bytes."""


@dataclass
class Dispatch:
    """A subagent, as it is read. All texts are untrusted."""

    agent: str
    log: str = ""
    name: str | None = None
    kind: str | None = None
    model: str | None = None
    prompt: str = ""
    """The hash of what its own log begins with."""
    briefs: list[_Moment] = field(default_factory=list)
    end: _Moment | None = None


class LoggedEvent(NamedTuple):
    """An event that the logs tell of, without its envelope."""

    name: str
    ts: str | None
    """None for what is told of the session as a whole."""
    payload: Mapping[str, object]
    lines: tuple[int, ...]
    computed: tuple[str, ...]


class SessionLogs(NamedTuple):
    """What the logs of a session tell."""

    id: str
    """Empty where they are none of a session with times, as older transcripts are none."""
    dispatches: Sequence[Dispatch]
    operator_turns: int
    left_out: Sequence[str]
    """What they do not tell, a sentence each."""


def read_session(logs: Mapping[str, Iterable[str]]) -> SessionLogs:
    """Read a session's own log, the first, and those of its subagents."""
    reader, found, left_out = _SessionReader(), list[Dispatch](), list[str]()
    for number, (log, lines) in enumerate(logs.items()):
        for line, text in enumerate(lines, 1):
            try:
                for _, value in values([text]):
                    reader.read(value, log, (line,) if number == 0 else ())
            except usage_shapes.UsageLogError:
                left_out.append(f"line {line} of {log}: it cannot be read")
    for each in reader.agents.values():
        # A session that was killed has no result of a call whose subagent was at work.
        prompts = {told.text: call for call, (told, *_) in reader.calls.items() if told.size}
        reader.begun_by(prompts.get(each.prompt, ""), each)
        if each.kind is None or each.name is None:
            left_out.append(f"the subagent {shown(each.agent)}: no start, kind or name")
            continue
        found.append(each)
        each.briefs.sort()
        if each.end is None or each.end.ts < each.briefs[-1].ts:
            each.end = None
            left_out.append(f"the end of the dispatch {shown(each.name)}: it has not come back")
    lost = (shown(each[1]) for call, each in reader.calls.items() if call not in reader.returned)
    left_out += (f"the dispatch {name}: its call failed, or had no log yet" for name in lost)
    if found:
        rounds = plural(sum(len(each.briefs) for each in found), "round")
        left_out.append(f"the end of {rounds}: what was decided, and how much was found")
    left_out.append("the project, its slices, specs, plans, checks, retros and grades")
    return SessionLogs(reader.id, found, reader.turns, left_out)


class _SessionReader:
    """What was found so far."""

    def __init__(self) -> None:
        self.id, self.turns, self.returned = "", 0, set[str]()
        self.agents: dict[str, Dispatch] = {}
        self.calls: dict[str, tuple[_Moment, str | None, str | None]] = {}
        """By call: the brief of a subagent, its name, and its kind."""

    def read(self, value: object, log: str, lines: tuple[int, ...]) -> None:
        """Take in a line of a log."""
        ts, content = _ts(value), usage_shapes.at(value, "message.content")
        if ts is None or not isinstance(value, dict):
            return
        self.id = self.id or "".join(filter(ID.fullmatch, [str(value.get("sessionId") or "")]))
        if value.get("agentId"):
            agent = self._agent(value["agentId"])
            agent.log = agent.log or log
            agent.model = agent.model or _text(usage_shapes.at(value, "message.model"))
            agent.prompt = agent.prompt or _brief(ts, lines, content).text
        for part in usage_shapes.every(value, "message.content"):
            self._called(part, ts, lines)
        said = content if isinstance(content, str) else ""
        notice = _TASK.search(said) if said.startswith(_NOTICE) else None
        if notice and notice[1] in self.agents:
            self._returned({"agentId": notice[1], "status": notice[2]}, "", ts, lines)
        elif not value.get("agentId") and not said.startswith(_NOTICE):
            self.turns += transcripts.is_operators_turn(value)
        call = str(next(iter(usage_shapes.every(value, "message.content.tool_use_id")), ""))
        self._returned(value.get("toolUseResult"), call, ts, lines)

    def _agent(self, id_: object) -> Dispatch:
        return self.agents.setdefault(str(id_), Dispatch(str(id_)))

    def _called(self, part: object, ts: str, lines: tuple[int, ...]) -> None:
        """A call of a tool that sends a subagent to work, for the first time or again."""
        given, name = usage_shapes.at(part, "input"), usage_shapes.at(part, "name")
        if not isinstance(given, dict) or name not in (*usage_shapes.DISPATCHERS, _MESSAGE):
            return
        to, what = ("to", "message") if name == _MESSAGE else ("resume", "prompt")
        brief = _brief(ts, lines, given.get(what))
        if isinstance(given.get(to), str):
            self._agent(given[to]).briefs.append(brief)
        elif name != _MESSAGE:
            named = _text(given.get("description")), _text(given.get("subagent_type"))
            self.calls[str(usage_shapes.at(part, "id"))] = brief, *named

    def begun_by(self, call: str, agent: Dispatch) -> None:
        """Take in which call has started an agent."""
        if call in self.calls and agent.name is None:
            brief, agent.name, agent.kind = self.calls.pop(call)
            agent.briefs.append(brief)

    def _returned(self, result: object, call: str, ts: str, lines: tuple[int, ...]) -> None:
        if not isinstance(result, dict) or not result.get("agentId"):
            return
        self.returned.add(call)
        agent, status = self._agent(result["agentId"]), str(result.get("status"))
        self.begun_by(call, agent)
        agent.kind = _text(result.get("agentType")) or agent.kind
        agent.model = _text(result.get("resolvedModel")) or agent.model
        if status in _RESULTS and (agent.end is None or agent.end.ts <= ts):
            agent.end = _Moment(ts, lines, _RESULTS[status])


# The events


def missing_in(
    run: Sequence[Mapping[str, Any]], session: SessionLogs
) -> tuple[list[LoggedEvent], Sequence[str]]:
    """What the events of a run lack of what a session tells of it, in the order of their times, and
    of which dispatches nobody knows which they are there.

    A dispatch that the run has gets its end, and one that it does not have is told whole. Where
    none has the id that it would have by ``hook`` or ``reconstruct``, names say which is which.
    """
    starts = {str(each[_ID]): each for each in run if each["event_type"] == "dispatch-start"}
    ended = {each[_ID] for each in run if each["event_type"] == "dispatch-end"}
    own = {each.agent: emitting.dispatch_id(session.id, each.agent) for each in session.dispatches}
    is_own = not starts or not starts.keys().isdisjoint(own.values())
    names = [each.name for each in session.dispatches]
    found, unknown = list[LoggedEvent](), list[str]()
    for each in session.dispatches:
        alike = [id_ for id_, start in starts.items() if start["dispatch_name"] == each.name]
        ids = [own[each.agent]] if is_own else alike * names.count(each.name)
        if len(ids) != 1:
            unknown.append(f"the dispatch {shown(each.name)}: which one it is in the trace")
            continue
        found += _begun(each, ids[0]) if ids[0] not in starts else ()
        begun = starts[ids[0]]["ts"] if ids[0] in starts else each.briefs[0].ts
        took = milliseconds_between(begun, each.end.ts) if each.end is not None else None
        if each.end is not None and ids[0] not in ended and took is not None and took >= 0:
            payload = {_ID: ids[0], "result": each.end.text, "wall_clock_ms": took}
            found.append(LoggedEvent("dispatch-end", each.end.ts, payload, each.end.lines, (_ID,)))
    return sorted(found, key=lambda each: str(each.ts)), unknown


def _begun(dispatch: Dispatch, id_: str) -> Iterator[LoggedEvent]:
    start, seen = dispatch.briefs[0], set[str]()
    named = {"dispatch_name": dispatch.name, "subagent_type": dispatch.kind}
    opened = {_ID: id_, **named, "model": dispatch.model, "parent_dispatch_id": None}
    yield LoggedEvent("dispatch-start", start.ts, opened, start.lines, (_ID,))
    for number, brief in enumerate(dispatch.briefs, 1):
        of = {_ID: id_, _ROUND: str(uuid.uuid5(uuid.UUID(id_), str(number)))}
        begun = {**of, "round_number": number}
        yield LoggedEvent("round-start", brief.ts, begun, brief.lines, (*begun,))
        how = "initial" if not seen else "reissue" if brief.text in seen else "amended"
        content = {"brief_byte_length": brief.size, "brief_content_hash": brief.text}
        issued = {**of, **content, "brief_disposition": how}
        yield LoggedEvent("brief-issued", brief.ts, issued, brief.lines, (*of, "brief_disposition"))
        seen.add(brief.text)


# What stands in a log


def _brief(ts: str, lines: tuple[int, ...], text: object) -> _Moment:
    data = (text if isinstance(text, str) else "").encode("utf-8", "replace")
    return _Moment(ts, lines, sha256_of(data), len(data))


def _ts(value: object) -> str | None:
    ts = usage_shapes.at(value, "timestamp")
    return sortable(ts) if isinstance(ts, str) and milliseconds_between(ts, ts) == 0 else None


def _text(value: object) -> str | None:
    return writable(value[:_LONGEST]) if isinstance(value, str) and value.strip() else None
