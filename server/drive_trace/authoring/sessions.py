"""What the logs of a session of Claude Code tell of a run, as if it had recorded itself: a dispatch
for each subagent, a round for each time that it was sent to work, and the briefs.

The times are the log's own, and durations what lies between them. What a log does not say is left
out, and named: what a round has decided above all. Of what was said, only lengths and hashes stay.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from itertools import islice
from typing import Any, NamedTuple

from drive_trace.authoring.transcripts import DISPATCHERS, is_operators_turn
from drive_trace.authoring.usage import UsageLogError, values
from drive_trace.authoring.usage_shapes import at
from drive_trace.text.wording import plural, shown, writable
from drive_trace.trace.times import milliseconds_between, sortable

_SNIFFED = 200
"""So many lines show whether a log is one of a session."""
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
_IDS = uuid.UUID("0e7d5c1a-6f0b-5a55-9a5e-3d1f4f6f8a10")
"""In whose space the ids are: the same log tells of the same dispatch each time."""
_ID, _ROUND = "dispatch_id", "round_id"


class _Moment(NamedTuple):
    """Something that a log tells."""

    ts: str
    lines: tuple[int, ...] = ()
    """Of the session's own log, from 1."""
    text: str = ""
    """The hash of a brief, or how a subagent ended."""
    size: int = 0
    """Of a brief, in bytes."""


@dataclass
class Dispatch:
    """A subagent, as it is read. All texts are untrusted."""

    agent: str
    log: str = ""
    call: str = ""
    name: str | None = None
    kind: str | None = None
    model: str | None = None
    first: _Moment | None = None
    """The brief that its own log has."""
    briefs: list[_Moment] = field(default_factory=list)
    end: _Moment | None = None
    reported_ms: object = None
    """How long the tool says that it has worked."""


class Told(NamedTuple):
    """An event that the logs tell of, without its envelope."""

    name: str
    ts: str
    payload: Mapping[str, object]
    lines: tuple[int, ...]
    computed: tuple[str, ...]


class Session(NamedTuple):
    """What the logs of a session tell."""

    id: str
    dispatches: Sequence[Dispatch]
    operator_turns: int
    left_out: Sequence[str]
    """What they do not tell, a sentence each."""

    @property
    def events(self) -> list[Told]:
        """In the order of their times."""
        every = [told for each in self.dispatches for told in _events(self.id, each)]
        return sorted(every, key=lambda each: each.ts)


def is_session(lines: Iterable[str]) -> bool:
    """Whether a log is that of a session, with times, and not an older transcript."""
    try:
        found = values(islice(lines, _SNIFFED))
        return any(isinstance(at(each, "sessionId"), str) and _ts(each) for _, each in found)
    except UsageLogError:
        return False


def read_session(
    logs: Mapping[str, Iterable[str]], metas: Mapping[str, Mapping[str, Any]]
) -> Session:
    """Read a session's own log, the first, and those of its subagents; ``metas`` has by log what
    stands beside it of a subagent.
    """
    reader, left_out = _Reader(), list[str]()
    for number, (log, lines) in enumerate(logs.items()):
        try:
            for line, value in values(lines):
                reader.read(value, log, (line,) if number == 0 else ())
        except UsageLogError:
            left_out.append(f"what follows the first line of {log} that is no JSON")
    found = list[Dispatch]()
    for each in reader.agents.values():
        meta = metas.get(each.log, {})
        first, given = reader.calls.get(each.call or str(meta.get("toolUseId")), (each.first, {}))
        each.name = _text(given.get("description")) or _text(meta.get("description"))
        each.kind = each.kind or _text(meta.get("agentType")) or _text(given.get("subagent_type"))
        each.model = each.model or _text(given.get("model"))
        if first is None or each.kind is None or each.name is None:
            left_out.append(f"the subagent {shown(each.agent)}: no start, kind or name")
            continue
        each.briefs = [first, *sorted(each.briefs)]
        if each.end is None or each.end.ts < each.briefs[-1].ts:
            each.end = None
            left_out.append(f"the end of the dispatch {shown(each.name)}: it has not come back")
        found.append(each)
    if found:
        rounds = plural(sum(len(each.briefs) for each in found), "round")
        left_out.append(f"the end of {rounds}: what was decided, and how much was found")
    left_out.append("the project, its slices, specs, plans, checks, retros and grades")
    return Session(reader.id, found, reader.turns, left_out)


class _Reader:
    """What was found so far."""

    def __init__(self) -> None:
        self.id, self.turns = "", 0
        self.agents: dict[str, Dispatch] = {}
        self.calls: dict[str, tuple[_Moment | None, Mapping[str, Any]]] = {}

    def read(self, value: object, log: str, lines: tuple[int, ...]) -> None:
        """Take in a line of a log."""
        ts, content = _ts(value), at(value, "message.content")
        if ts is None or not isinstance(value, dict):
            return
        self.id = self.id or str(value.get("sessionId") or "")
        listed = content if isinstance(content, list) else []
        parts = [each for each in listed if isinstance(each, dict)]
        agent = self._agent(value["agentId"]) if value.get("agentId") else None
        if agent is not None:
            agent.log = agent.log or log
            agent.model = agent.model or _text(at(value, "message.model"))
        if value.get("type") == "assistant":
            for part in parts:
                self._called(part, ts, lines)
        elif value.get("type") == "user":
            said = content if isinstance(content, str) else _said(parts)
            notice = said if said.startswith(_NOTICE) else ""
            if agent is not None:
                agent.first = agent.first or _brief(ts, (), said)
            else:
                self.turns += not notice and is_operators_turn(value)
            if (found := _TASK.search(notice)) and found[1] in self.agents:
                self._returned({"agentId": found[1], "status": found[2]}, "", ts, lines)
            call = next((str(each["tool_use_id"]) for each in parts if "tool_use_id" in each), "")
            self._returned(value.get("toolUseResult"), call, ts, lines)

    def _agent(self, id_: object) -> Dispatch:
        return self.agents.setdefault(str(id_), Dispatch(str(id_)))

    def _called(self, part: Mapping[str, Any], ts: str, lines: tuple[int, ...]) -> None:
        """A call of a tool that sends a subagent to work, for the first time or again."""
        given, name = part.get("input"), part.get("name")
        if not isinstance(given, dict) or name not in (*DISPATCHERS, _MESSAGE):
            return
        again = given.get("to" if name == _MESSAGE else "resume")
        brief = _brief(ts, lines, given.get("message" if name == _MESSAGE else "prompt"))
        if isinstance(again, str):
            self._agent(again).briefs.append(brief)
        elif name != _MESSAGE:
            known = ("description", "subagent_type", "model")
            self.calls[str(part.get("id"))] = brief, {each: given.get(each) for each in known}

    def _returned(self, result: object, call: str, ts: str, lines: tuple[int, ...]) -> None:
        if not isinstance(result, dict) or not result.get("agentId"):
            return
        agent, status = self._agent(result["agentId"]), str(result.get("status"))
        agent.call = agent.call or call
        agent.kind = agent.kind or _text(result.get("agentType"))
        agent.model = _text(result.get("resolvedModel")) or agent.model
        if status in _RESULTS and (agent.end is None or agent.end.ts <= ts):
            agent.end = _Moment(ts, lines, _RESULTS[status])
            agent.reported_ms = result.get("totalDurationMs")


# The events


def missing_in(
    run: Sequence[Mapping[str, Any]], session: Session
) -> tuple[list[Told], Sequence[str]]:
    """What the events of a run lack of what a session tells of it, and of which dispatches nobody
    knows which they are there. A run without events, or one that this session was told to before,
    gets all events; another one only the ends of its own dispatches.
    """
    known = {_key(str(each["event_type"]), each) for each in run}
    starts = {str(each[_ID]): each for each in run if each["event_type"] == "dispatch-start"}
    if not run or any(_id_of(session.id, each) in starts for each in session.dispatches):
        return [each for each in session.events if _key(each.name, each.payload) not in known], ()
    sent = {(each.get(_ID), each.get("brief_content_hash")) for each in run}
    found, unknown = list[Told](), list[str]()
    for dispatch in session.dispatches:
        ids = [each for each in starts if (each, dispatch.briefs[0].text) in sent]
        ids = ids or [id_ for id_ in starts if starts[id_]["dispatch_name"] == dispatch.name]
        if len(ids) != 1:
            unknown.append(f"the dispatch {shown(dispatch.name)}: which one it is in the trace")
        elif ("dispatch-end", ids[0]) not in known:
            known.add(("dispatch-end", ids[0]))
            found += _end(dispatch, ids[0], str(starts[ids[0]]["ts"]))
    return sorted(found, key=lambda each: each.ts), unknown


def _key(name: str, event: Mapping[str, object]) -> tuple[str, object]:
    """What there is one event of: of this type, for this round or dispatch."""
    return name, event.get(_ROUND) or event.get(_ID)


def _id_of(session: str, dispatch: Dispatch) -> str:
    return str(uuid.uuid5(_IDS, f"{session}/{dispatch.agent}"))


def _events(session: str, dispatch: Dispatch) -> Iterator[Told]:
    start, id_ = dispatch.briefs[0], _id_of(session, dispatch)
    named = {"dispatch_name": dispatch.name, "subagent_type": dispatch.kind}
    opened = {_ID: id_, **named, "model": dispatch.model, "parent_dispatch_id": None}
    yield Told("dispatch-start", start.ts, opened, start.lines, (_ID,))
    seen = set[str]()
    for number, brief in enumerate(dispatch.briefs, 1):
        of = {_ID: id_, _ROUND: str(uuid.uuid5(_IDS, f"{id_}/{number}"))}
        begun = {**of, "round_number": number}
        yield Told("round-start", brief.ts, begun, brief.lines, (*begun,))
        how = "initial" if not seen else "reissue" if brief.text in seen else "amended"
        content = {"brief_byte_length": brief.size, "brief_content_hash": brief.text}
        issued = {**of, **content, "brief_disposition": how}
        yield Told("brief-issued", brief.ts, issued, brief.lines, (*of, "brief_disposition"))
        seen.add(brief.text)
    yield from _end(dispatch, id_, start.ts)


def _end(dispatch: Dispatch, id_: str, start: str) -> Iterator[Told]:
    """The end of a dispatch that has an id in a trace, and started there at a time."""
    took = milliseconds_between(start, dispatch.end.ts) if dispatch.end is not None else None
    if dispatch.end is not None and took is not None and took >= 0:
        payload = {_ID: id_, "result": dispatch.end.text, "wall_clock_ms": took}
        yield Told("dispatch-end", dispatch.end.ts, payload, dispatch.end.lines, (_ID,))


# What stands in a log


def _ts(value: object) -> str | None:
    ts = at(value, "timestamp")
    return sortable(ts) if isinstance(ts, str) and milliseconds_between(ts, ts) == 0 else None


def _brief(ts: str, lines: tuple[int, ...], text: object) -> _Moment:
    data = (text if isinstance(text, str) else "").encode("utf-8", "replace")
    return _Moment(ts, lines, sha256(data).hexdigest(), len(data))


def _said(parts: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(each["text"] for each in parts if isinstance(each.get("text"), str))


def _text(value: object) -> str | None:
    return writable(value[:_LONGEST]) if isinstance(value, str) and value.strip() else None
