"""Adds up the token usage that agents' tools log, under their own names.

The input is most often a log of messages, some of which carry a usage object; each format is
recognised by its shape. A sum that might be wrong is refused: a message that appears twice with
different figures, a total that does not match what it adds up, a usage object in an unexpected
place.

The figures have the meaning of the vocabulary: input tokens are those that were not read from a
cache. OpenAI's tools count these within the input, and they are taken out of it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, takewhile
from typing import NamedTuple

from drive_trace.authoring import usage_shapes as shapes
from drive_trace.authoring.drafts import Refused
from drive_trace.authoring.usage_shapes import UsageLogError, at, every
from drive_trace.json_text import CROWDED, STRICT, is_crowded
from drive_trace.text.wording import are, first_of, plural, printable, shown
from drive_trace.vocabulary import TOKEN_FIELDS

_TOTALS = ("result", "total", "summary")
"""Types of the SDK's messages whose usage is the sum of all before them."""
_FOREIGN = ("inputtokens", "outputtokens", "prompttokens", "completiontokens", "totaltokens")
"""Names of figures in other SDKs, in lower case and without underscores."""
_PARENTS = (
    "payload.forked_from_id",
    "payload.parent_thread_id",
    "payload.source.subagent.thread_spawn.parent_thread_id",
)
"""Where one of Codex says from which other it was started. It repeats that one's history, and goes
on with its sums.
"""
_THREAD = "rollout-…-{}.jsonl"
_NAMED = {
    "toolUseResult.agentId": "agent-{}.jsonl",
    **dict.fromkeys(_PARENTS, _THREAD),
    "payload.new_thread_id": _THREAD,
    "payload.agent_thread_id": _THREAD,
    "payload.item.agent_thread_id": _THREAD,
    "continued_trajectory_ref": "{}",
}
_UNANSWERED = "agent-….jsonl (of the call {}, which has no result)"
"""Where a log says which others there are, and how these are called."""
_SESSIONS = (shapes.CLAUDE_SESSION, shapes.CODEX_SESSION, shapes.TRAJECTORY.name)
"""Shapes of logs that name others."""
_MOST_REASONS = 1_000
_MOST = 256 << 20
"""Characters of a value, or several, that are not on a line each."""
ID = re.compile(r"[\w-]{1,100}", re.ASCII)
_NO_SPACE = re.compile(r"[^ \t\r\n]")

Place = tuple[str | int, ...]


class UsageRow(NamedTuple):
    """What the messages of one format and model come to."""

    shape: str
    model: str | None
    """Untrusted; None where none is named."""
    messages: int
    figures: shapes.Figures
    cost: float | None
    """What the provider says that they cost, in US dollars; None where it does not of all."""


class Usage(NamedTuple):
    """The sum of some usage objects."""

    rows: Sequence[UsageRow]
    figures: shapes.Figures
    """Of all; a figure that some message does not have is not known."""
    notes: Sequence[str]
    """What was left out, a sentence each."""
    cost: float | None
    missing: Sequence[str]
    """Names of logs that are not there; the figures are a part, if there are any."""
    sessions: Sequence[str]
    """The ids of the first ten sessions that were counted."""


class _UsageMessage(NamedTuple):
    """A message with its usage object, which may be the message itself."""

    log: str
    name: str
    shape: shapes.Shape
    figures: shapes.Figures
    keys: Sequence[tuple[object, ...]]
    """What identifies it, each with how it is called."""
    model: str | None
    cost: float | None
    session: str
    type: object


Messages = Sequence[_UsageMessage]


def total_usage(logs: Mapping[str, Iterable[str]], *, partial: bool = False) -> Usage | Refused:
    """Add up the usage objects of some logs, by their names: those of a tool that ``shapes`` knows,
    and those of the agents' SDK, each by itself or as the ``usage`` of a message. Messages without
    any are passed over. Refused where anything is not what it should be, and but for ``partial``
    where a log is missing. Raises only what reading the lines raises.

    A log comes line by line, as it is long: what is kept is a little of each message that counts.
    """
    read = [_Log(name, lines, is_named=len(logs) > 1) for name, lines in logs.items()]
    try:
        found = chain.from_iterable(log.read() for log in read)
        once, messages = _without_repeated(found)
        counted = _without_parts_of_totals(once)
        logged = {each.log for each in counted if each.shape.name in _SESSIONS}
        logged |= {each.name for each in read} - {each.log for each in once}
        missing = _missing([each for each in read if each.name in logged], read)
        of = {each.name: each for each in read}
        threads = {each.thread: each.totals for each in read if each.thread}
        counted = [_without_history(each, of[each.log], threads) for each in counted]
        rows, cost = _rows(counted), _cost(counted)
    except UsageLogError as error:
        none = f"{first_of([*logs], 10)}: no message tells usage; expected the log of a session"
        return Refused(error.args or (none,))
    except (RecursionError, OverflowError):
        return Refused(("the usage is nested too deeply, or has too large numbers",))
    if missing and not (partial and counted):
        return Refused((_about_missing(missing),))
    notes = [*_notes(read, messages, once, counted), *_losses(counted)]
    ids = {each.session for each in counted} - logs.keys()
    sessions = sorted(filter(ID.fullmatch, ids))[:10]
    return Usage(rows, _sums(counted), notes, cost, missing, sessions)


def _notes(read: Sequence[_Log], messages: int, once: Messages, counted: Messages) -> Iterator[str]:
    objects, passed = sum(each.objects for each in read), sum(each.passed for each in read)
    for each in read:
        if each.is_torn:
            yield f"the last line of {each.name} is cut off, as while it is written: passed over"
    if passed:
        yield f"{passed} of {objects} objects tell no usage: passed over"
    if len(once) < messages:
        again = f"{messages - len(once)} of {messages} usage objects"
        yield f"{again} only repeat a message: counted once"
    if counted and len(counted) < len(once):
        others = len(once) - len(counted)
        yield f"{counted[-1].name} adds up the {others} others, which are not counted again"


def _rows(messages: Messages) -> Sequence[UsageRow]:
    parts: dict[tuple[str, str | None], list[_UsageMessage]] = {}
    for each in messages:
        parts.setdefault((each.shape.name, each.model), []).append(each)
    return [
        UsageRow(shape, model, len(part), _sums(part), _cost(part))
        for (shape, model), part in parts.items()
    ]


def _cost(messages: Messages) -> float | None:
    """The sum of all costs; None where one of them is not known."""
    known = [each.cost for each in messages if each.cost is not None]
    return math.fsum(known) if known and len(known) == len(messages) else None


# What a log tells beside its figures: which others there are


class _Log:
    """A log, and what was found when it was read, once."""

    def __init__(self, name: str, lines: Iterable[str], *, is_named: bool) -> None:
        self.name, self._lines = name, lines
        self._of = f" of {name}" if is_named else ""
        self.objects = self.passed = 0
        self.is_torn = False
        self.started: dict[str, str] = {}
        """Other logs that it says are there: what they log, and how they are called."""
        self.logged: set[str] = {_file_name(name)}
        """What it logs itself."""
        self.prompts: dict[str, int] = {}
        """By calls of subagents, the hashes of their prompts."""
        self.agent, self.prompt = "", 0
        """The first subagent whose messages it has, and the hash of what that was told."""
        self.thread = self.parent = ""
        self.totals: list[tuple[int | None, ...]] = []
        """Of Codex: the thread, that from which it was forked, and the sums so far."""

    def read(self) -> Iterator[_UsageMessage | str]:
        """The messages that tell usage, and what is wrong with some. What no shape has counts only
        where the log is none of a tool.
        """
        others, is_tools = list[list[_UsageMessage | str]](), False
        try:
            for line, value in values(self._lines):
                self.objects += 1
                name = f"object {self.objects} (line {line}){self._of}"
                for part in shapes.parts_of(value):
                    self._note(part)
                    is_one = (each for each in shapes.SHAPES if shapes.has_shape(part, each))
                    shape = next(is_one, None)
                    if shape is not None:
                        is_tools = is_tools or shape.is_log
                        known = [*_known(self.name, name, part, shape, self.thread or self.name)]
                        self.totals += [
                            (*each.figures.values(),)
                            for each in known
                            if shape.name == shapes.CODEX_SESSION and not isinstance(each, str)
                        ]
                        yield from known
                    elif is_tools:
                        self.passed += 1
                    else:
                        others.append([*_read(self.name, name, part)])
        except _CutOffError as error:
            if not is_tools and len(self.logged) == 1:
                raise UsageLogError(*error.args) from error
            self.is_torn = True
        for each in others:
            self.passed += is_tools or not each
            yield from () if is_tools else each

    def _note(self, value: object) -> None:
        """Which others a value names, and what is logged here."""
        named = {str(id_): name for at_, name in _NAMED.items() for id_ in every(value, at_)}
        for ref in every(value, "steps.observation.results.subagent_trajectory_ref"):
            path = _file_name(at(ref, "trajectory_path") or "")
            named[str(at(ref, "trajectory_id") or path or at(ref, "session_id") or "")] = "{}"
        parts, tools = every(value, "message.content"), shapes.DISPATCHERS
        calls = {str(at(each, "id")): each for each in parts if at(each, "name") in tools}
        named |= dict.fromkeys(calls, _UNANSWERED)
        self.prompts |= {id_: hash(str(at(calls[id_], "input.prompt"))) for id_ in calls}
        self.logged |= {str(id_) for id_ in every(value, "message.content.tool_use_id")}
        agent, session = at(value, "agentId"), str(at(value, "sessionId") or "")
        if at(value, "type") == "thread.started":
            self.thread = str(at(value, "thread_id"))  # of Codex, whose sums are those of a thread
        elif at(value, "type") == "session_meta" and not self.thread:
            self.thread = str(at(value, "payload.id") or at(value, "payload.session_id") or "")
            self.logged.add(self.thread)
            self.parent = str(next(filter(None, (at(value, each) for each in _PARENTS)), ""))
        elif at(value, "message"):
            self.logged.add(session if agent is None else str(agent))
            if agent is not None and not self.agent:
                self.agent, self.prompt = str(agent), hash(str(at(value, "message.content")))
            if agent is not None and at(value, "isSidechain") is True:
                named[session] = "{}.jsonl"
        elif shapes.has_shape(value, shapes.TRAJECTORY):
            self.logged |= {str(at(value, key)) for key in ("trajectory_id", "session_id")}
        for each, name in named.items():
            self.started[_file_name(each)] = name.format(_file_name(each))


def _file_name(path: object) -> str:
    """The last part of a path of any system, or of an address. No path is followed."""
    return str(path).replace("\\", "/").rpartition("/")[2]


def _missing(naming: Sequence[_Log], logs: Sequence[_Log]) -> list[str]:
    """The logs that some name and that are not there: Claude Code and Codex log what subagents do
    in files of their own, and without them the rest is not the run's cost.
    """
    logged = {each for log in logs for each in log.logged} | {""}
    started = {each: (log, name) for log in naming for each, name in log.started.items()}
    # A session that was killed has no result of a call, though the log of its subagent is there.
    unnamed = [log.prompt for log in logs if log.agent and log.agent not in started]
    missing = set[str]()
    for each, (log, name) in started.items():
        if each not in logged and log.prompts.get(each) in unnamed:
            unnamed.remove(log.prompts[each])
        elif each not in logged:
            missing.add(name)
    return sorted(missing)


def _about_missing(missing: Sequence[str]) -> str:
    count, files = len(missing), first_of([printable(each, 200) for each in missing], 100)
    return (
        f"{plural(count, 'log')} of the session {are(count)} not here, and the rest is not what "
        f"the run cost; name what is missing, too, or print the rest with --partial: {files}"
    )


def _without_history(
    each: _UsageMessage, log: _Log, threads: Mapping[str, Sequence[tuple[int | None, ...]]]
) -> _UsageMessage:
    """A message without the sums that a session of Codex has repeated from the one that it was
    forked from.
    """
    known = threads.get(log.parent, ()) if each.shape.name == shapes.CODEX_SESSION else ()
    *_, repeated = ((0,) * len(TOKEN_FIELDS), *takewhile(known.__contains__, log.totals))
    counts = zip(each.figures.items(), repeated, strict=True)
    figures = {name: count and count - (before or 0) for (name, count), before in counts}
    return each._replace(figures=figures)


def _known(
    log: str, name: str, message: object, shape: shapes.Shape, session: str
) -> Iterator[_UsageMessage | str]:
    """What a message tells, one for each model, and what is wrong with it."""
    usage, model = at(message, shape.usage), at(message, shape.model)
    by_model = usage if shape.by_model else {model if isinstance(model, str) else None: usage}
    assert isinstance(by_model, dict)
    is_sdk = shape is shapes.SDK_SHAPE
    every_id = [(path, at(message, path)) for path in shape.ids] or [("", session)]
    ids = [each for each in every_id if isinstance(each[1], str | int) and each[1] != ""]
    of = (at(message, "session_id") or at(message, "sessionId") or log) if shape.ids else session
    for model, each in by_model.items():
        figures = shapes.figures_of(name, each, shape.names)
        if isinstance(figures, list):
            yield from figures
            continue
        if not is_sdk and {*figures.values()} == {None}:
            yield f"the usage of {name} tells no figure; found {shown(each)}"
            continue
        kind = shape.name, model if shape.by_model else None
        keys = [(*each, *kind) for each in (ids if is_sdk else ids[:1])]
        cost, type_ = shapes.cost_of(message, each, shape), at(message, "type")
        yield _UsageMessage(log, name, shape, figures, keys, model, cost, str(of), type_)


def _read(log: str, name: str, message: object) -> Iterator[_UsageMessage | str]:
    """The message of the SDK if it has a usage object, and what is wrong with it."""
    if not isinstance(message, dict):
        yield f"{name} must be an object; found {shown(message)}"
        return
    places = dict(_places(message))
    path, usage = next(iter(places.items()), ((), message))
    foreign = [key for key in usage if path or key.lower().replace("_", "") in _FOREIGN]
    if len(places) > 1 or path not in {(), ("usage",)}:
        yield (
            f"{name} tells usage at {', '.join(map(_dotted, places))}, and it is read at the top "
            "or at `usage`: hand over what counts there, with its message's id"
        )
    elif any(each in usage for each in shapes.SDK):
        yield from _known(log, name, {**message, "usage": usage}, shapes.SDK_SHAPE, log)
    elif places or foreign:
        quoted = first_of([f"`{printable(each)}`" for each in foreign], 10)
        phrase = f"; found {quoted}: rename them" if foreign else ""
        yield f"the usage of {name} has none of {', '.join(shapes.SDK)}{phrase}"


def _places(value: object) -> Iterator[tuple[Place, Mapping[str, object]]]:
    """Where in a message usage objects are: they have known keys, or are called ``usage``."""
    waiting: list[tuple[Place, object]] = [((), value)]
    while waiting:
        path, each = waiting.pop()
        if isinstance(each, dict):
            if any(key in each for key in shapes.SDK) or path[-1:] == ("usage",):
                yield path, each
            waiting += [((*path, key), inner) for key, inner in reversed(each.items())]
        elif isinstance(each, list):
            waiting += [((*path, at), inner) for at, inner in enumerate(each)]


def _without_repeated(found: Iterable[_UsageMessage | str]) -> tuple[Messages, int]:
    """Each message once, and how many there are. Raises UsageLogError where there is none,
    something is wrong, or two of one id cannot both be true.
    """
    kept: dict[int, _UsageMessage] = {}
    reasons: list[str] = []
    places: dict[tuple[object, ...], int] = {}
    number = 0
    for number, each in enumerate(found, 1):
        if len(reasons) == _MOST_REASONS:
            break
        if isinstance(each, str):
            reasons.append(each)
            continue
        place = next((places[key] for key in each.keys if key in places), number)
        places |= dict.fromkeys(each.keys, place)
        before = kept.setdefault(place, each)
        if before.figures == each.figures:
            continue
        figures, known = each.figures, before.figures
        is_less = any((figures[name] or 0) < (known[name] or 0) for name in TOKEN_FIELDS)
        if is_less and each.shape.name == shapes.CLAUDE_SESSION and each.log != before.log:
            continue  # a session and its subagent log the same, one of them while it grows
        if is_less or each.shape is shapes.SDK_SHAPE:
            reasons.append(
                f"{each.name} repeats {before.name} with other figures: which one counts cannot "
                "be told; hand over only that, or one session at a time"
            )
        kept[place] = each
    if reasons or not number:
        raise UsageLogError(*reasons)
    return list(kept.values()), number


def _without_parts_of_totals(messages: Messages) -> Messages:
    """Without the messages that totals add up. Raises UsageLogError where the sums differ."""
    replaced = {(of, each.shape.replaces) for each in messages for of in (each.log, each.session)}
    kept = [
        each
        for each in messages
        if not {(each.log, each.shape.name), (each.session, each.shape.name)} & replaced
    ]
    own = [each for each in kept if each.shape is shapes.SDK_SHAPE]
    totals = [each for each in own if each.type in _TOTALS]
    others = [each for each in own if each.type not in _TOTALS]
    if not totals or not others:
        return kept
    if _sums(totals) == _sums(others):
        return [each for each in kept if each.shape is not shapes.SDK_SHAPE or each.type in _TOTALS]
    type_ = totals[0].type
    raise UsageLogError(
        f"{totals[0].name} is of the type `{type_}`, which adds up others, but its figures "
        f"are not those of the {len(others)} others together: which count cannot be told; "
        f"hand over one kind, as by jq -c 'select(.type == \"{type_}\")'"
    )


def _sums(messages: Messages) -> shapes.Figures:
    """Each figure of all together; None where one of them does not have it."""
    columns = {name: [each.figures[name] for each in messages] for name in TOKEN_FIELDS}
    return {
        name: None if None in column else sum(filter(None, column))
        for name, column in columns.items()
    }


def _losses(messages: Messages) -> Iterator[str]:
    """What the messages report and the sum does not say."""
    for name in TOKEN_FIELDS:
        having = sum(each.figures[name] is not None for each in messages)
        if 0 < having < len(messages):
            yield (
                f"`{name}` is in {having} of {len(messages)} usage objects only: their sum is not "
                f"known, and not recorded; --{name.replace('_', '-')} records it if you know it"
            )


def _dotted(path: Place) -> str:
    return f"`{printable('.'.join(map(str, path)))}`" if path else "the top"


class _CutOffError(UsageLogError):
    """The last line has no newline, and is no JSON."""


def values(lines: Iterable[str]) -> Iterator[tuple[int, object]]:
    """The JSON values of a text, each with the line that it begins in, from 1. Those of an array
    come one by one. Raises UsageLogError.

    Lines with whole values are read one by one; from the first other one on, they are taken
    together.
    """
    number, rest = 1, iter(lines)
    for line in rest:
        text = line.removeprefix("\ufeff") if number == 1 else line
        try:
            yield from list(_values_in(text, number))
        except _NotJsonError as error:
            others = ""
            for each in rest:
                others += each
                if len(others) > _MOST:
                    what = f"is not a value a line, and has more than {_MOST >> 20} MB"
                    raise UsageLogError(f"the usage {what}") from error
            if not others and not line.endswith("\n") and number > 1:
                raise _CutOffError(*error.args) from error
            yield from _values_in(text + others, number)
            return
        number += line.count("\n")


class _NotJsonError(UsageLogError):
    """A text is no JSON."""


def _values_in(text: str, line: int) -> Iterator[tuple[int, object]]:
    """The values of a text that begins in a line."""
    if is_crowded(text):
        raise UsageLogError(f"line {line} of the usage {CROWDED}")
    first, end = line, 0
    decoder = json.JSONDecoder(**STRICT)
    while found := _NO_SPACE.search(text, end):
        start = found.start()
        line += text.count("\n", end, start)
        try:
            value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            phrase = f"is not JSON: {error.msg}, column {error.colno}"
            where = first + error.lineno - 1
            raise _NotJsonError(f"line {where} of the usage {phrase}") from error
        except RecursionError as error:
            raise UsageLogError(f"line {line} of the usage is nested too deeply") from error
        except ValueError as error:
            raise UsageLogError(f"line {line} of the usage cannot be read: {error}") from error
        for each in value if isinstance(value, list) else [value]:
            yield line, each
        line += text.count("\n", start, end)
