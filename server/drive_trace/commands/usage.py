"""Reads the usage that agents' SDKs report, in their own names.

What comes is most often a log of messages of which only some tell a usage. A sum that could be
wrong is refused: the same message twice, a total beside what it adds up, a usage that stands
where nobody said that it would.
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


def _camel_case(name: str) -> str:
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


USAGE_NAMES: Mapping[str, str] = {_camel_case(name): name for name in TOKEN_FIELDS}
"""The vocabulary's names by the SDK's: ``inputTokens`` is ``input_tokens``."""
_IDS = ("id", "uuid", "messageId", "message_id", "turnId", "turn_id")
"""Keys that tell one message from another."""
_TOTALS = ("result", "total", "summary")
"""Types of messages that tell the usage of all before them."""
_FOREIGN = ("inputtokens", "outputtokens", "prompttokens", "completiontokens", "totaltokens")
"""Names of figures in other SDKs, without their underscores."""
_PLAIN_KEY = re.compile(r"[A-Za-z_]\w*", re.ASCII)

Path = tuple[str | int, ...]
Figures = Mapping[str, int | None]
Messages = Sequence["_Told"]


class Usage(NamedTuple):
    """The sum of some usage objects."""

    tokens: Mapping[str, int]
    """By the vocabulary's names; without those that some object does not have."""
    notes: tuple[str, ...]
    """What was left out, a sentence each."""


class _Told(NamedTuple):
    """A message that tells a usage."""

    which: str
    message: Mapping[str, object]
    usage: Mapping[str, object]
    figures: Figures
    """By the vocabulary's names; None is not known."""

    @property
    def type(self) -> object:
        """Which kind of message it is."""
        return self.message.get("type")

    @property
    def ids(self) -> list[tuple[str, object]]:
        """What tells the message from others, by its keys."""
        return [
            (key, self.message[key]) for key in _IDS if isinstance(self.message.get(key), str | int)
        ]

    def is_lost(self, key: str) -> bool:
        """Whether a key of the usage says what the token feed has no place for."""
        is_inner = self.usage is not self.message
        return key not in USAGE_NAMES and (is_inner or key.lower().endswith("tokens"))


def total_usage(text: str) -> Usage | Refused:
    """Sum up usage objects, each by itself or as the ``usage`` of a message, such as a
    ``TurnEndedUpdate``: one, an array of them, or one after another. Messages without any are
    passed over. Refused where anything is not what it should be. Never raises.
    """
    try:
        found = list(values(text))
    except UsageLogError as error:
        return Refused((str(error),))
    reasons: list[str] = []
    notes: list[str] = []
    read = [_read(number, value, reasons) for number, value in enumerate(found, 1)]
    usages: Messages = [each for each in read if each is not None]
    if not usages and not reasons:
        reasons.append("there is no usage object")
    if len(usages) < len(found):
        passed = len(found) - len(usages)
        notes.append(f"{passed} of {len(found)} objects tell no usage: passed over")
    for leave_out in (_repeated, _parts_of_totals):
        if not reasons:
            usages = leave_out(usages, reasons, notes)
    return Refused(tuple(reasons)) if reasons else Usage(_sum(usages, notes), tuple(notes))


def _read(number: int, value: Value, reasons: list[str]) -> _Told | None:
    """The message that a value is if it tells a usage; what is wrong with it is a reason."""
    which, message = f"object {number} (line {value.line})", value.value
    if not isinstance(message, dict):
        reasons.append(f"{which} must be an object; found {shown(message)}")
        return None
    places = dict(_places(message))
    path, usage = next(iter(places.items()), ((), message))
    if len(places) > 1:
        reasons.append(
            f"{which} tells usage in several places ({', '.join(map(_dotted, places))}): which "
            "one counts cannot be told; hand over the one that does, and its message's id"
        )
    elif path not in {(), ("usage",)}:
        reasons.append(
            f"{which} tells its usage at {_dotted(path)}, which is not read; {_alone(path)}"
        )
    elif not USAGE_NAMES.keys() & usage.keys():
        foreign = [key for key in usage if path or key.lower().replace("_", "") in _FOREIGN]
        if places or foreign:
            phrase = f"; found {_quoted(foreign)}: rename them" if foreign else ""
            reasons.append(f"the usage of {which} has none of {', '.join(USAGE_NAMES)}{phrase}")
    else:
        reasons += _wrong(which, usage)
        figures = {name: whole_number(usage.get(camel)) for camel, name in USAGE_NAMES.items()}
        return _Told(which, message, usage, figures)
    return None


def _places(value: object) -> Iterator[tuple[Path, Mapping[str, object]]]:
    """Where in a message usage objects stand: by their keys, or by what they are called."""
    waiting: list[tuple[Path, object]] = [((), value)]
    while waiting:
        path, each = waiting.pop()
        if isinstance(each, dict):
            if USAGE_NAMES.keys() & each.keys() or path[-1:] == ("usage",):
                yield path, each
            waiting += [((*path, key), inner) for key, inner in reversed(each.items())]
        elif isinstance(each, list):
            waiting += [((*path, at), inner) for at, inner in enumerate(each)]


def _wrong(which: str, usage: Mapping[str, object]) -> Iterator[str]:
    for camel, name in USAGE_NAMES.items():
        found = usage.get(camel)
        count = whole_number(found)
        if found is not None and (count is None or count < 0):
            expected = EVENTS[COST].fields[name].describe()
            yield f"`{camel}` of {which} must be {expected}; found {shown(found)}"


def _repeated(usages: Messages, reasons: list[str], notes: list[str]) -> Messages:
    """Without messages that only repeat one."""
    kept: list[_Told] = []
    seen: dict[tuple[str, object], _Told] = {}
    for each in usages:
        key = next((key for key in each.ids if key in seen), None)
        if key is None:
            seen |= dict.fromkeys(each.ids, each)
            kept.append(each)
        elif seen[key].figures != each.figures:
            reasons.append(
                f"{seen[key].which} and {each.which} have the same `{key[0]}` {shown(key[1])}, and "
                "different figures: one message must not be counted twice; hand over only the "
                "one that counts"
            )
    if len(kept) < len(usages):
        again = len(usages) - len(kept)
        notes.append(f"{again} of {len(usages)} usage objects only repeat a message: counted once")
    return kept


def _parts_of_totals(usages: Messages, reasons: list[str], notes: list[str]) -> Messages:
    """Without messages that others add up."""
    totals = [each for each in usages if each.type in _TOTALS]
    others = [each for each in usages if each.type not in _TOTALS]
    if not totals or not others:
        return usages
    which, type_ = totals[0].which, totals[0].type
    if _sums(totals) == _sums(others):
        notes.append(f"{which} adds up the {len(others)} others, which are not counted again")
        return totals
    reasons.append(
        f"{which} is of the type `{type_}`, which adds up others, but its figures "
        f"are not those of the {len(others)} others together: which count cannot be told; "
        f"hand over one kind, as by jq -c 'select(.type == \"{type_}\")'"
    )
    return usages


def _sums(usages: Messages) -> Figures:
    """Each figure of all together; None where one of them does not have it."""
    columns = {name: [each.figures[name] for each in usages] for name in TOKEN_FIELDS}
    return {
        name: None if None in column else sum(filter(None, column))
        for name, column in columns.items()
    }


def _sum(usages: Messages, notes: list[str]) -> Mapping[str, int]:
    for camel, name in USAGE_NAMES.items():
        having = sum(each.figures[name] is not None for each in usages)
        if 0 < having < len(usages):
            notes.append(
                f"`{camel}` is in {having} of {len(usages)} usage objects only: their sum is not "
                f"known, and not recorded; --{name.replace('_', '-')} records it if you know it"
            )
    others = {key for each in usages for key in each.usage if each.is_lost(key)}
    if others:
        notes.append(f"the token feed has no place for {_quoted(sorted(others))}")
    return {name: figure for name, figure in _sums(usages).items() if figure is not None}


def _quoted(names: Sequence[str]) -> str:
    return first_of([f"`{printable(name)}`" for name in names], 10)


def _dotted(path: Path) -> str:
    return f"`{printable('.'.join(map(str, path)))}`" if path else "the top"


def _alone(path: Path) -> str:
    """How to get at the usage objects; what stands around them may have the message's id."""
    around = path[:-1] if path[-1] == "usage" else path
    is_plain = all(isinstance(step, str) and _PLAIN_KEY.fullmatch(step) for step in around)
    steps = "".join(f".{step}" for step in around)
    example = f", as by jq -c '{steps} | objects'" if is_plain else ""
    return f"hand over what is there{example}"


_SPACE = re.compile(r"[ \t\r\n]*")


class UsageLogError(Exception):
    """The text is not such JSON; the message is a sentence for the person who gave it."""


class Value(NamedTuple):
    """A JSON value and where it stands."""

    line: int
    """Where it begins, from 1."""
    value: object


def values(text: str) -> Iterator[Value]:
    """The values of a text; those of an array are given one by one. Raises UsageLogError, also
    where a key stands twice in one object: which of its values is meant cannot be told.
    """
    text = text.removeprefix("\ufeff")
    line, end = 1, 0

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found = dict(pairs)
        if len(found) < len(pairs):
            counts = Counter(key for key, _ in pairs)
            twice = printable(next(key for key in counts if counts[key] > 1))
            raise UsageLogError(
                f"the object in line {line} of the usage has the key `{twice}` twice: which one "
                "counts cannot be told; leave one out"
            )
        return found

    decoder = json.JSONDecoder(object_pairs_hook=unique, parse_constant=_refuse)
    while (start := _end_of_space(text, end)) < len(text):
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
            yield Value(line, each)
        line += text.count("\n", start, end)


def _end_of_space(text: str, at: int) -> int:
    space = _SPACE.match(text, at)
    return space.end() if space else at


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")
