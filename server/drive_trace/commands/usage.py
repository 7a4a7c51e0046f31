"""Reads the token usage that agents' SDKs log, under their own names.

The input is most often a log of messages, some of which carry a usage object. A sum that might be
wrong is refused: a message that appears twice with different figures, a total that does not match
what it adds up, a usage object in an unexpected place.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, NoReturn

from drive_trace.authoring.drafts import Refused
from drive_trace.text.escaping import printable
from drive_trace.text.wording import first_of, shown
from drive_trace.trace.exact import whole_number
from drive_trace.vocabulary import COST, EVENTS, TOKEN_FIELDS

_NAMES = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
USAGE_NAMES: Mapping[str, str] = dict(zip(_NAMES, TOKEN_FIELDS, strict=True))
"""The vocabulary's names by the SDK's: ``inputTokens`` is ``input_tokens``."""
_IDS = ("id", "uuid", "messageId", "message_id", "turnId", "turn_id")
"""Keys that identify a message."""
_TOTALS = ("result", "total", "summary")
"""Types of messages whose usage is the sum of all before them."""
_FOREIGN = ("inputtokens", "outputtokens", "prompttokens", "completiontokens", "totaltokens")
"""Names of figures in other SDKs, in lower case and without underscores."""
_PLAIN_KEY = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_NO_SPACE = re.compile(r"[^ \t\r\n]")

Path = tuple[str | int, ...]
Figures = Mapping[str, int | None]
"""By the vocabulary's names; None is not known."""


class Usage(NamedTuple):
    """The sum of some usage objects."""

    tokens: Mapping[str, int]
    """By the vocabulary's names; without those that some object does not have."""
    notes: tuple[str, ...]
    """What was left out, a sentence each."""


class _UsageMessage(NamedTuple):
    """A message with its usage object, which may be the message itself."""

    name: str
    message: Mapping[str, object]
    usage: Mapping[str, object]
    figures: Figures

    @property
    def is_total(self) -> bool:
        """Whether the message adds up others."""
        return self.message.get("type") in _TOTALS

    @property
    def ids(self) -> list[tuple[str, object]]:
        """What identifies the message, by its keys."""
        return [
            (key, self.message[key]) for key in _IDS if isinstance(self.message.get(key), str | int)
        ]

    @property
    def lost_keys(self) -> list[str]:
        """The keys of figures that the token feed has no place for."""
        is_inner = self.usage is not self.message
        others = (key for key in self.usage if key not in USAGE_NAMES)
        return [key for key in others if is_inner or key.lower().endswith("tokens")]


Messages = Sequence[_UsageMessage]


class UsageLogError(Exception):
    """The usage cannot be summed up; ``args`` are the reasons, a sentence each."""


def total_usage(text: str) -> Usage | Refused:
    """Sum up usage objects, each by itself or as the ``usage`` of a message, such as a
    ``TurnEndedUpdate``: one, an array of them, or one after another. Messages without any are
    passed over. Refused where anything is not what it should be. Never raises.
    """
    try:
        found = list(values(text))
        messages = _usage_messages(found)
        once = _without_repeated(messages)
        counted = _without_parts_of_totals(once)
    except UsageLogError as error:
        return Refused(error.args)
    notes: list[str] = []
    if len(messages) < len(found):
        passed = len(found) - len(messages)
        notes.append(f"{passed} of {len(found)} objects tell no usage: passed over")
    if len(once) < len(messages):
        again = f"{len(messages) - len(once)} of {len(messages)} usage objects"
        notes.append(f"{again} only repeat a message: counted once")
    if len(counted) < len(once):
        others = len(once) - len(counted)
        notes.append(f"{counted[0].name} adds up the {others} others, which are not counted again")
    notes += _losses(counted)
    sums = {name: figure for name, figure in _sums(counted).items() if figure is not None}
    return Usage(sums, tuple(notes))


def _usage_messages(found: Sequence[tuple[int, object]]) -> Messages:
    read = [
        each
        for number, (line, value) in enumerate(found, 1)
        for each in _read(f"object {number} (line {line})", value)
    ]
    reasons = [each for each in read if isinstance(each, str)]
    if reasons or not read:
        raise UsageLogError(*reasons or ["there is no usage object"])
    return [each for each in read if not isinstance(each, str)]


def _read(name: str, message: object) -> Iterator[_UsageMessage | str]:
    """The message if it has a usage object, and what is wrong with it."""
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
    elif USAGE_NAMES.keys() & usage.keys():
        figures = {known: whole_number(usage.get(camel)) for camel, known in USAGE_NAMES.items()}
        for camel, known in USAGE_NAMES.items():
            found, count = usage.get(camel), figures[known]
            if found is not None and (count is None or count < 0):
                expected = EVENTS[COST].fields[known].describe()
                yield f"`{camel}` of {name} must be {expected}; found {shown(found)}"
        yield _UsageMessage(name, message, usage, figures)
    elif places or foreign:
        phrase = f"; found {_quoted(foreign)}: rename them" if foreign else ""
        yield f"the usage of {name} has none of {', '.join(USAGE_NAMES)}{phrase}"


def _places(value: object) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """Where in a message usage objects are: they have known keys, or are called ``usage``."""
    waiting: list[tuple[Path, object]] = [((), value)]
    while waiting:
        path, each = waiting.pop()
        if isinstance(each, dict):
            if USAGE_NAMES.keys() & each.keys() or path[-1:] == ("usage",):
                yield path, each
            waiting += [((*path, key), inner) for key, inner in reversed(each.items())]
        elif isinstance(each, list):
            waiting += [((*path, at), inner) for at, inner in enumerate(each)]


def _without_repeated(messages: Messages) -> Messages:
    """Each message once. Raises UsageLogError where two of one id have different figures."""
    kept: list[_UsageMessage] = []
    reasons: list[str] = []
    seen: dict[tuple[str, object], _UsageMessage] = {}
    for each in messages:
        key = next((key for key in each.ids if key in seen), None)
        if key is None:
            seen |= dict.fromkeys(each.ids, each)
            kept.append(each)
        elif seen[key].figures != each.figures:
            reasons.append(
                f"{seen[key].name} and {each.name} have the same `{key[0]}` {shown(key[1])}, and "
                "different figures: one message must not be counted twice; hand over only the "
                "one that counts"
            )
    if reasons:
        raise UsageLogError(*reasons)
    return kept


def _without_parts_of_totals(messages: Messages) -> Messages:
    """Without the messages that totals add up. Raises UsageLogError where the sums differ."""
    totals = [each for each in messages if each.is_total]
    others = [each for each in messages if not each.is_total]
    if not totals or not others:
        return messages
    if _sums(totals) == _sums(others):
        return totals
    type_ = totals[0].message["type"]
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
    for camel, name in USAGE_NAMES.items():
        having = sum(each.figures[name] is not None for each in messages)
        if 0 < having < len(messages):
            yield (
                f"`{camel}` is in {having} of {len(messages)} usage objects only: their sum is not "
                f"known, and not recorded; --{name.replace('_', '-')} records it if you know it"
            )
    others = {key for each in messages for key in each.lost_keys}
    if others:
        yield f"the token feed has no place for {_quoted(sorted(others))}"


def _quoted(names: Sequence[str]) -> str:
    return first_of([f"`{printable(name)}`" for name in names], 10)


def _dotted(path: Path) -> str:
    return f"`{printable('.'.join(map(str, path)))}`" if path else "the top"


def _alone(path: Path) -> str:
    """How to extract the usage objects. What is around them may have the message's id."""
    around = path[:-1] if path[-1] == "usage" else path
    is_plain = all(isinstance(step, str) and _PLAIN_KEY.fullmatch(step) for step in around)
    steps = "".join(f".{step}" for step in around)
    example = f", as by jq -c '{steps} | objects'" if is_plain else ""
    return f"hand over what is there{example}"


def values(text: str) -> Iterator[tuple[int, object]]:
    """The JSON values of a text, each with the line that it begins in, from 1. Those of an array
    come one by one. Raises UsageLogError, also for a key that an object has twice: nobody knows
    which of its values is meant.
    """
    text = text.removeprefix("\ufeff")
    line, end = 1, 0

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
            raise UsageLogError(
                f"the object in line {line} of the usage has the key `{printable(twice)}` twice: "
                "which one counts cannot be told; leave one out"
            )
        return found

    decoder = json.JSONDecoder(object_pairs_hook=unique, parse_constant=_refuse)
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
            raise UsageLogError(f"line {line} of the usage is not JSON: {error}") from error
        for each in value if isinstance(value, list) else [value]:
            yield line, each
        line += text.count("\n", start, end)


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
