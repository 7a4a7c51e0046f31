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
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from drive_trace.authoring.drafts import Refused
from drive_trace.json_text import STRICT
from drive_trace.text.escaping import printable
from drive_trace.text.wording import first_of, plural, shown
from drive_trace.trace.exact import whole_number
from drive_trace.vocabulary import COST, EVENTS, TOKEN_FIELDS

# The formats

_INPUT, _, _CACHE_READ, _ = TOKEN_FIELDS
Path: TypeAlias = str
"""Keys from a message down to a value, with dots in between: ``message.usage``."""
Names: TypeAlias = tuple[Path, ...]
"""Where a usage object has its figures, in the order of the vocabulary. Where there are three, what
was written to a cache is never known, and the input counts what was read from it, too.
"""
_SDK: Names = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
"""The agents' SDK, after which the vocabulary is made."""
_CLAUDE: Names = (
    "input_tokens",
    "output_tokens",
    "cache_read_input_tokens",
    "cache_creation_input_tokens",
)
_CLAUDE_MODEL: Names = (
    "inputTokens",
    "outputTokens",
    "cacheReadInputTokens",
    "cacheCreationInputTokens",
)
_CHAT: Names = ("prompt_tokens", "completion_tokens", "prompt_tokens_details.cached_tokens")
_RESPONSES: Names = ("input_tokens", "output_tokens", "input_tokens_details.cached_tokens")
_CODEX: Names = ("input_tokens", "output_tokens", "cached_input_tokens")


class _Shape(NamedTuple):
    """A message that tells usage."""

    name: str
    """As a person calls what it stands in."""
    marks: Mapping[Path, str]
    """What it has where: one of some texts, with ``|`` in between."""
    usage: Path
    """Where its usage object is; empty where that is the message itself."""
    names: Names
    id: Path | None = None
    """Where the message's id is. Of messages with one id, and of those without any in one session,
    the last counts: tools log them again while they grow.
    """
    request: Path = ""
    """Where the id of the request is, which identifies a message that has none."""
    model: Path = "model"
    replaces: str | None = None
    """The shape of messages that this one adds up."""
    is_log: bool = False
    """Whether it stands in a log whose other messages tell nothing that counts."""
    by_model: bool = False
    """Whether there is a usage object for each model, by its name."""


_CLAUDE_SESSION = "Claude Code session"
_IN_RESULT = {"type": "result"}
"""What it has are sums of the session so far, with those of its subagents."""
_SHAPES = (
    _Shape(
        *("Claude Code result", _IN_RESULT, "modelUsage", _CLAUDE_MODEL, "session_id"),
        replaces=_CLAUDE_SESSION,
        by_model=True,
    ),
    _Shape(
        *("Claude Code result", _IN_RESULT, "usage", _CLAUDE, "session_id"),
        replaces=_CLAUDE_SESSION,
    ),
    _Shape(
        _CLAUDE_SESSION,
        {"type": "assistant", "message.role": "assistant"},
        *("message.usage", _CLAUDE, "message.id", "requestId", "message.model"),
        is_log=True,
    ),
    _Shape("Claude API response", {"type": "message", "role": "assistant"}, "usage", _CLAUDE, "id"),
    _Shape(
        "OpenAI chat completion",
        {"object": "chat.completion|chat.completion.chunk"},
        *("usage", _CHAT, "id"),
    ),
    _Shape("OpenAI response", {"object": "response"}, "usage", _RESPONSES, "id"),
    _Shape(
        "OpenAI response",
        {"type": "response.completed|response.incomplete", "response.object": "response"},
        *("response.usage", _RESPONSES, "response.id"),
        model="response.model",
        is_log=True,
    ),
    # Both of Codex' are sums of the session so far.
    _Shape(
        "Codex session",
        {"type": "event_msg", "payload.type": "token_count"},
        *("payload.info.total_token_usage", _CODEX),
        is_log=True,
    ),
    _Shape("Codex exec", {"type": "turn.completed"}, "usage", _CODEX, is_log=True),
)
_SDK_SHAPE = _Shape("usage of an SDK", {}, "", _SDK)


def _at(message: object, path: Path) -> object:
    """What stands at a path; None where nothing does."""
    for key in path.split(".") if path else ():
        message = message.get(key) if isinstance(message, Mapping) else None
    return message


def _has_shape(message: object, shape: _Shape) -> bool:
    if any(_at(message, path) not in texts.split("|") for path, texts in shape.marks.items()):
        return False
    usage = _at(message, shape.usage)
    if shape.by_model:
        return isinstance(usage, Mapping) and bool(usage)
    return any(_at(usage, path) is not None for path in shape.names)


# What is added up

_IDS = ("id", "uuid", "messageId", "message_id", "turnId", "turn_id")
"""Keys that identify a message of the SDK."""
_TOTALS = ("result", "total", "summary")
"""Types of the SDK's messages whose usage is the sum of all before them."""
_FOREIGN = ("inputtokens", "outputtokens", "prompttokens", "completiontokens", "totaltokens")
"""Names of figures in other SDKs, in lower case and without underscores."""
_SUBAGENT = "toolUseResult.agentId"
"""Where a session says which subagent has done something for it."""
_PLAIN_KEY = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NO_SPACE = re.compile(r"[^ \t\r\n]")

Place = tuple[str | int, ...]
Figures = Mapping[str, int | None]
"""By the vocabulary's names; None is not known."""


class UsageRow(NamedTuple):
    """What the messages of one format and model come to."""

    shape: str
    model: str | None
    """Untrusted; None where none is named."""
    messages: int
    figures: Figures


class Usage(NamedTuple):
    """The sum of some usage objects."""

    rows: Sequence[UsageRow]
    figures: Figures
    """Of all; a figure that some message does not have is not known."""
    notes: Sequence[str]
    """What was left out, a sentence each."""


class _UsageMessage(NamedTuple):
    """A message with its usage object, which may be the message itself."""

    log: str
    name: str
    shape: _Shape
    figures: Figures
    keys: Sequence[tuple[str, object]] = ()
    """What identifies it, each with how it is called."""
    model: str | None = None
    type: object = None
    lost: Sequence[str] = ()
    """The keys of figures that the token feed has no place for."""


Messages = Sequence[_UsageMessage]


class UsageLogError(Exception):
    """The usage cannot be summed up; ``args`` are the reasons, a sentence each."""


def total_usage(logs: Mapping[str, str]) -> Usage | Refused:
    """Add up the usage objects of some logs, by their names: those of a tool that ``shapes`` knows,
    and those of the agents' SDK, each by itself or as the ``usage`` of a message. Messages without
    any are passed over. Refused where anything is not what it should be. Never raises.
    """
    try:
        found = {log: list(values(text)) for log, text in logs.items()}
        read = [each for log in found for each in _read_log(log, found[log], len(found) > 1)]
        messages = _messages(read)
        once = _without_repeated(messages)
        counted = _without_parts_of_totals(once)
        sessions = {each.log for each in counted if each.shape.name == _CLAUDE_SESSION}
        _refuse_lost_subagents(found, sessions)
    except UsageLogError as error:
        return Refused(error.args)
    objects = [value for each in found.values() for _, value in each]
    passed = len(objects) - len({each.name for each in messages})
    notes: list[str] = []
    if passed:
        notes.append(f"{passed} of {len(objects)} objects tell no usage: passed over")
    if len(once) < len(messages):
        again = f"{len(messages) - len(once)} of {len(messages)} usage objects"
        notes.append(f"{again} only repeat a message: counted once")
    if len(counted) < len(once):
        others = len(once) - len(counted)
        notes.append(f"{counted[-1].name} adds up the {others} others, which are not counted again")
    return Usage(_rows(counted), _sums(counted), [*notes, *_losses(counted)])


def _messages(read: Sequence[_UsageMessage | str]) -> Messages:
    """Raises UsageLogError where something is wrong, or nothing is there."""
    reasons = [each for each in read if isinstance(each, str)]
    if reasons or not read:
        raise UsageLogError(*reasons or ["there is no usage object"])
    return [each for each in read if not isinstance(each, str)]


def _rows(messages: Messages) -> Sequence[UsageRow]:
    parts: dict[tuple[str, str | None], list[_UsageMessage]] = {}
    for each in messages:
        parts.setdefault((each.shape.name, each.model), []).append(each)
    return [
        UsageRow(shape, model, len(part), _sums(part)) for (shape, model), part in parts.items()
    ]


def _refuse_lost_subagents(
    found: Mapping[str, Sequence[tuple[int, object]]], sessions: Collection[str]
) -> None:
    """Claude Code logs what its subagents do in files of their own. Raises UsageLogError where one
    that a session of ``sessions`` has started is in no log: the rest is not the run's cost.
    """
    objects = [(log, each) for log in found for _, each in found[log]]
    started = {str(_at(each, _SUBAGENT) or "") for log, each in objects if log in sessions}
    logged = {str(_at(each, "agentId")) for _, each in objects if _at(each, "message")}
    lost = sorted(started - logged - {""})
    if lost:
        files = first_of([f"agent-{printable(each, 100)}.jsonl" for each in lost], 10)
        raise UsageLogError(
            f"{plural(len(lost), 'subagent')} of the session logged elsewhere, and the rest is not "
            f"what the run cost; name the files in the session's folder subagents, too: {files}"
        )


def _read_log(
    log: str, found: Sequence[tuple[int, object]], is_named: bool
) -> Iterator[_UsageMessage | str]:
    """The messages of one log that tell usage, and what is wrong with some."""
    shapes = [
        next((shape for shape in _SHAPES if _has_shape(value, shape)), None) for _, value in found
    ]
    has_others = any(shape is not None and shape.is_log for shape in shapes)
    session: object = log
    for number, ((line, value), shape) in enumerate(zip(found, shapes, strict=True), 1):
        name = f"object {number} (line {line})" + (f" of {log}" if is_named else "")
        if shape is not None:
            yield from _known(log, name, value, shape, session)
        elif not has_others:
            yield from _read(log, name, value)
        elif _at(value, "type") == "thread.started":
            session = str(_at(value, "thread_id"))  # of Codex, whose sums are those of a thread


def _known(
    log: str, name: str, message: object, shape: _Shape, session: object
) -> Iterator[_UsageMessage | str]:
    """What a tool's message tells, one for each model, and what is wrong with it."""
    usage = _at(message, shape.usage)
    assert isinstance(usage, dict)
    named = _at(message, shape.model)
    by_model = usage if shape.by_model else {named if isinstance(named, str) else None: usage}
    id_ = _at(message, shape.id) or _at(message, shape.request) if shape.id else session
    for model, each in by_model.items():
        figures = _figures(name, each, shape.names)
        if isinstance(figures, list):
            yield from figures
            continue
        if all(count is None for count in figures.values()):
            yield f"the usage of {name} tells no figure; found {shown(each)}"
            continue
        key = (f"{shape.name} {model if shape.by_model else ''}", id_)
        keys = [key] if isinstance(id_, str) else []
        yield _UsageMessage(log, name, shape, figures, keys, model)


def _figures(name: str, usage: object, names: Names) -> Figures | list[str]:
    """The figures of a usage object, or what is wrong with some."""
    figures: dict[str, int | None] = dict.fromkeys(TOKEN_FIELDS)
    wrong = []
    for known, path in zip(TOKEN_FIELDS, names, strict=False):
        found = _at(usage, path)
        figures[known] = count = whole_number(found)
        if found is not None and (count is None or count < 0):
            expected = EVENTS[COST].fields[known].describe()
            wrong.append(f"`{path}` of {name} must be {expected}; found {shown(found)}")
    read, cached = figures[_INPUT], figures[_CACHE_READ]
    if len(names) < len(TOKEN_FIELDS) and not wrong and read is not None and cached is not None:
        if cached > read:
            wrong.append(f"{name} has {read:,} input tokens, of which {cached:,} were cached")
        figures[_INPUT] = read - cached
    return wrong or figures


def _read(log: str, name: str, message: object) -> Iterator[_UsageMessage | str]:
    """The message of the SDK if it has a usage object, and what is wrong with it."""
    if not isinstance(message, dict):
        yield f"{name} must be an object; found {shown(message)}"
        return
    places = dict(_places(message))
    path, usage = next(iter(places.items()), ((), message))
    foreign = [key for key in usage if path or key.lower().replace("_", "") in _FOREIGN]
    if len(places) > 1:
        yield (
            f"{name} tells usage in several places ({', '.join(map(_dotted, places))}): which "
            "one counts cannot be told; hand over the one that does, and its message's id"
        )
    elif path not in {(), ("usage",)}:
        yield f"{name} tells its usage at {_dotted(path)}, which is not read; {_alone(path)}"
    elif any(each in usage for each in _SDK):
        figures = _figures(name, usage, _SDK)
        if isinstance(figures, list):
            yield from figures
        else:
            keys = [(key, message[key]) for key in _IDS if isinstance(message.get(key), str | int)]
            others = (key for key in usage if key not in _SDK)
            lost = [key for key in others if path or key.lower().endswith("tokens")]
            yield _UsageMessage(
                log, name, _SDK_SHAPE, figures, keys, type=message.get("type"), lost=lost
            )
    elif places or foreign:
        phrase = f"; found {_quoted(foreign)}: rename them" if foreign else ""
        yield f"the usage of {name} has none of {', '.join(_SDK)}{phrase}"


def _places(value: object) -> Iterator[tuple[Place, Mapping[str, object]]]:
    """Where in a message usage objects are: they have known keys, or are called ``usage``."""
    waiting: list[tuple[Place, object]] = [((), value)]
    while waiting:
        path, each = waiting.pop()
        if isinstance(each, dict):
            if any(key in each for key in _SDK) or path[-1:] == ("usage",):
                yield path, each
            waiting += [((*path, key), inner) for key, inner in reversed(each.items())]
        elif isinstance(each, list):
            waiting += [((*path, at), inner) for at, inner in enumerate(each)]


def _without_repeated(messages: Messages) -> Messages:
    """Each message once. Raises UsageLogError where two of one id cannot both be true."""
    kept: dict[object, _UsageMessage] = {}
    reasons: list[str] = []
    seen: dict[tuple[str, object], object] = {}
    for number, each in enumerate(messages):
        key = next((key for key in each.keys if key in seen), None)
        place = number if key is None else seen[key]
        seen |= dict.fromkeys(each.keys, place)
        before = kept.setdefault(place, each)
        if key is None or before.figures == each.figures:
            continue
        if each.shape is _SDK_SHAPE:
            reasons.append(
                f"{before.name} and {each.name} have the same `{key[0]}` {shown(key[1])}, and "
                "different figures: one message must not be counted twice; hand over only the "
                "one that counts"
            )
        elif any((each.figures[name] or 0) < (before.figures[name] or 0) for name in TOKEN_FIELDS):
            reasons.append(
                f"{each.name} has smaller figures than {before.name}, which it replaces: which one "
                "counts cannot be told; hand over one session at a time"
            )
        kept[place] = each
    if reasons:
        raise UsageLogError(*reasons)
    return list(kept.values())


def _without_parts_of_totals(messages: Messages) -> Messages:
    """Without the messages that totals add up. Raises UsageLogError where the sums differ."""
    replaced = {(each.log, each.shape.replaces) for each in messages}
    kept = [each for each in messages if (each.log, each.shape.name) not in replaced]
    own = [each for each in kept if each.shape is _SDK_SHAPE]
    totals = [each for each in own if each.type in _TOTALS]
    others = [each for each in own if each.type not in _TOTALS]
    if not totals or not others:
        return kept
    if _sums(totals) == _sums(others):
        return [each for each in kept if each.shape is not _SDK_SHAPE or each.type in _TOTALS]
    type_ = totals[0].type
    raise UsageLogError(
        f"{totals[0].name} is of the type `{type_}`, which adds up others, but its figures "
        f"are not those of the {len(others)} others together: which count cannot be told; "
        f"hand over one kind, as by jq -c 'select(.type == \"{type_}\")'"
    )


def _sums(messages: Messages) -> Figures:
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
    others = {key for each in messages for key in each.lost}
    if others:
        yield f"the token feed has no place for {_quoted(sorted(others))}"


def _quoted(names: Sequence[str]) -> str:
    return first_of([f"`{printable(name)}`" for name in names], 10)


def _dotted(path: Place) -> str:
    return f"`{printable('.'.join(map(str, path)))}`" if path else "the top"


def _alone(path: Place) -> str:
    """How to extract the usage objects. What is around them may have the message's id."""
    around = path[:-1] if path[-1] == "usage" else path
    is_plain = all(isinstance(step, str) and _PLAIN_KEY.fullmatch(step) for step in around)
    steps = "".join(f".{step}" for step in around)
    example = f", as by jq -c '{steps} | objects'" if is_plain else ""
    return f"hand over what is there{example}"


def values(text: str) -> Iterator[tuple[int, object]]:
    """The JSON values of a text, each with the line that it begins in, from 1. Those of an array
    come one by one. Raises UsageLogError.
    """
    text = text.removeprefix("\ufeff")
    line, end = 1, 0
    decoder = json.JSONDecoder(**STRICT)
    while found := _NO_SPACE.search(text, end):
        start = found.start()
        line += text.count("\n", end, start)
        try:
            value, end = decoder.raw_decode(text, start)
        except json.JSONDecodeError as error:
            phrase = f"is not JSON: {error.msg}, column {error.colno}"
            raise UsageLogError(f"line {error.lineno} of the usage {phrase}") from error
        except RecursionError as error:
            raise UsageLogError(f"line {line} of the usage is nested too deeply") from error
        except ValueError as error:
            raise UsageLogError(f"line {line} of the usage cannot be read: {error}") from error
        for each in value if isinstance(value, list) else [value]:
            yield line, each
        line += text.count("\n", start, end)
