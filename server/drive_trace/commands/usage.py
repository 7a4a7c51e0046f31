"""Reads the usage that agents' SDKs report, in their own names.

What comes is most often a log of messages of which only some tell a usage. A sum that could be
wrong is refused: the same message twice, a total beside what it adds up, a usage that stands
where nobody said that it would.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from drive_trace.authoring.drafts import Refused
from drive_trace.commands.usage_json import UnreadableError, Value, values
from drive_trace.linter.rule import shown
from drive_trace.text.escaping import printable
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

    @property
    def figures(self) -> Figures:
        """By the vocabulary's names; None is not known."""
        return {name: whole_number(self.usage.get(camel)) for camel, name in USAGE_NAMES.items()}

    @property
    def ids(self) -> list[tuple[str, object]]:
        """What tells the message from others, by its keys."""
        found = [(key, self.message[key]) for key in _IDS if key in self.message]
        return [(key, id_) for key, id_ in found if isinstance(id_, str | int)]

    def is_of_message(self, key: str) -> bool:
        """Whether a key of the usage is one that counts, or is about something else."""
        is_inner = self.usage is not self.message
        return key in USAGE_NAMES or not (is_inner or key.lower().endswith("tokens"))

    @property
    def is_total(self) -> bool:
        """Whether it adds up other messages."""
        return self.message.get("type") in _TOTALS


def total_usage(text: str) -> Usage | Refused:
    """Sum up usage objects, each by itself or as the ``usage`` of a message, such as a
    ``TurnEndedUpdate``: one, an array of them, or one after another. Messages without any are
    passed over. Refused where anything is not what it should be. Never raises.
    """
    try:
        found = list(values(text))
    except UnreadableError as error:
        return Refused((str(error),))
    told: list[_Told] = []
    reasons: list[str] = []
    for number, value in enumerate(found, 1):
        each = _read(f"object {number} (line {value.line})", value)
        if isinstance(each, _Told):
            told.append(each)
        else:
            reasons += each
    if reasons or not told:
        return Refused(tuple(reasons or ["there is no usage object"]))
    once = _counted_once(told)
    if isinstance(once, Refused):
        return once
    kept, notes = once
    others = len(found) - len(told)
    passed = [f"{others} of {len(found)} objects tell no usage: passed over"] if others else []
    return _sum(kept, [*passed, *notes])


def _read(which: str, value: Value) -> _Told | list[str]:
    """The usage that a value tells; else what is wrong with it, which may be nothing."""
    message = value.value
    if not isinstance(message, dict):
        return [f"{which} must be an object; found {shown(message)}"]
    places = dict(_places(message))
    if not places:
        foreign = [key for key in message if key.lower().replace("_", "") in _FOREIGN]
        return [_without_figures(which, foreign)] if foreign else []
    if len(places) > 1:
        return [
            f"{which} tells usage in several places ({', '.join(map(_dotted, places))}): which "
            "one counts cannot be told; hand over the one that does, and its message's id"
        ]
    ((path, usage),) = places.items()
    if path not in {(), ("usage",)}:
        return [f"{which} tells its usage at {_dotted(path)}, which is not read; {_alone(path)}"]
    reasons = list(_wrong(which, usage))
    return reasons or _Told(which, message, usage)


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
    if not USAGE_NAMES.keys() & usage.keys():
        yield _without_figures(which, list(usage))
    for camel, name in USAGE_NAMES.items():
        found = usage.get(camel)
        count = whole_number(found)
        if found is not None and (count is None or count < 0):
            expected = EVENTS[COST].fields[name].describe()
            yield f"`{camel}` of {which} must be {expected}; found {shown(found)}"


def _without_figures(which: str, keys: Sequence[str]) -> str:
    found = f"; found {_listed(keys)}: rename them" if keys else ""
    return f"the usage of {which} has none of {', '.join(USAGE_NAMES)}{found}"


def _counted_once(told: Sequence[_Told]) -> tuple[list[_Told], list[str]] | Refused:
    """Without what repeats a message or is in a total, and what is to be said of that; refused
    where it cannot be told what counts.
    """
    again = _streamed_again(told)
    if isinstance(again, Refused):
        return again
    kept, notes = again
    totals = [each for each in kept if each.is_total]
    others = [each for each in kept if not each.is_total]
    if not totals or not others:
        return kept, notes
    if _sums(totals) == _sums(others):
        note = f"{totals[0].which} adds up the {len(others)} others, which are not counted again"
        return totals, [*notes, note]
    type_ = totals[0].message["type"]
    return Refused(
        (
            f"{totals[0].which} is of the type `{type_}`, which adds up others, but its figures "
            f"are not those of the {len(others)} others together: which count cannot be told; "
            f"hand over one kind, as by jq -c 'select(.type == \"{type_}\")'",
        )
    )


def _streamed_again(told: Sequence[_Told]) -> tuple[list[_Told], list[str]] | Refused:
    kept: list[_Told] = []
    reasons: list[str] = []
    seen: dict[tuple[str, object], _Told] = {}
    for each in told:
        ids = each.ids
        key = next((key for key in ids if key in seen), None)
        if key is None:
            seen |= dict.fromkeys(ids, each)
            kept.append(each)
        elif seen[key].figures != each.figures:
            reasons.append(
                f"{seen[key].which} and {each.which} have the same `{key[0]}` {shown(key[1])}, and "
                "different figures: one message must not be counted twice; hand over only the "
                "one that counts"
            )
    if reasons:
        return Refused(tuple(reasons))
    again = len(told) - len(kept)
    note = f"{again} of {len(told)} usage objects only repeat a message: counted once"
    return kept, [note] if again else []


def _sums(told: Sequence[_Told]) -> Figures:
    """Each figure of all together; None where one of them does not have it."""
    figures = [each.figures for each in told]
    return {
        name: None
        if any(each[name] is None for each in figures)
        else sum(each[name] or 0 for each in figures)
        for name in TOKEN_FIELDS
    }


def _sum(told: Sequence[_Told], notes: list[str]) -> Usage:
    sums = _sums(told)
    for camel, name in USAGE_NAMES.items():
        having = sum(each.figures[name] is not None for each in told)
        if 0 < having < len(told):
            notes.append(
                f"`{camel}` is in {having} of {len(told)} usage objects only: their sum is not "
                f"known, and not recorded; --{name.replace('_', '-')} records it if you know it"
            )
    others = {key for each in told for key in each.usage if not each.is_of_message(key)}
    if others:
        notes.append(f"the token feed has no place for {_listed(sorted(others))}")
    tokens = {name: figure for name, figure in sums.items() if figure is not None}
    return Usage(tokens, tuple(notes))


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(f"`{printable(name)}`" for name in names[:10]) + more


def _dotted(path: Path) -> str:
    return f"`{printable('.'.join(map(str, path)))}`" if path else "the top"


def _alone(path: Path) -> str:
    """How to get at the usage objects; what stands around them may have the message's id."""
    around = path[:-1] if path[-1] == "usage" else path
    is_plain = all(isinstance(step, str) and _PLAIN_KEY.fullmatch(step) for step in around)
    steps = "".join(f".{step}" for step in around)
    example = f", as by jq -c '{steps} | objects'" if is_plain else ""
    return f"hand over what is there{example}"
