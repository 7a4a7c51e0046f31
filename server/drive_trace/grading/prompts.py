"""What a judge is asked: the rubric, and what a run did, fenced as data; and how the reply is read.

Whatever a stranger may have written stands between two marks with a nonce of the call, which nobody
can know who wrote it, and which does not occur in it. Not a byte of the text in between is changed.

A reply is one JSON object of the shape that was asked for, or it is no answer. What is no answer
never becomes a verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import Any, NamedTuple

from drive_trace.json_text import STRICT
from drive_trace.text.quick import sha256_of, shipped
from drive_trace.text.wording import listed, plural, printable, shown, writable

PROMPT_VERSION = "1"
"""Changes with a prompt's texts: a judge that was calibrated on others is not calibrated."""
LARGEST = 1_000_000
"""Characters of a prompt."""
_BYTES_A_TOKEN = 4


def _text(name: str) -> str:
    return shipped(__package__, f"prompt_texts/{name}.md")


DATA = _text("data")
"""What a prompt says of the text between its marks; ``{nonce}`` stands for that of the call."""

_TASK = _text("intent_task").replace("{data}", DATA)
CANNOT_TELL = "cannot tell"
"""The whole reply of a judge that cannot see what it would need to."""
_ANSWER = _text("intent_answer").replace("{cannot_tell}", CANNOT_TELL)
INTENT_SCHEMA = {
    "type": "object",
    "properties": {
        "reasons": {"type": "array", "items": {"type": "string"}},
        "intent": {"type": "string", "enum": ["pass", "fail", CANNOT_TELL]},
    },
    "required": ["reasons", "intent"],
    "additionalProperties": False,
}
"""What a provider is asked to hold a reply to, if it can. It leaves a judge the third answer."""


def hash_of(text: str) -> str:
    """SHA-256, as lowercase hexadecimal digits."""
    return sha256_of(text.encode("utf-8", "replace"))


RUBRIC_HASH = hash_of(_TASK + _ANSWER)
"""Of all that is asked but the data."""


class JudgedCase(NamedTuple):
    """What a run was meant to do."""

    acceptance: str
    """The acceptance criteria, in Markdown."""
    brief: str = ""
    """The task as it was posed."""
    reference: str = ""
    """A good solution, in words."""
    manual_qa: str = ""
    """The script of the QA run."""

    @property
    def hash(self) -> str:
        """SHA-256 of all of it."""
        return hash_of("\0".join(self))


class Prompt(NamedTuple):
    """A rendered prompt."""

    text: str
    acceptance_hash: str
    """SHA-256 of the case."""

    @property
    def hash(self) -> str:
        """SHA-256 of the text."""
        return hash_of(self.text)

    @property
    def tokens(self) -> int:
        """An estimate: a token has four bytes or so."""
        return -(-len(self.text.encode()) // _BYTES_A_TOKEN)


def intent_prompt(case: JudgedCase, diff: CutDiff, events: Sequence[str], nonce: str) -> Prompt:
    """Ask for ``pass`` or ``fail`` of a run. ``events`` are the excerpt of its trace, as JSON."""
    parts = [("ACCEPTANCE", case.acceptance)]
    others = (("TASK", case.brief), ("QA-SCRIPT", case.manual_qa), ("REFERENCE", case.reference))
    parts += [(name, text) for name, text in others if text]
    shown = diff.text
    if diff.left_out:
        shown += "\n" * (not shown.endswith("\n")) + _omitted(diff.left_out)
    parts += [("TRACE", "\n".join(events)), ("DIFF", shown)]
    data = "\n".join(fenced(name, text, nonce) for name, text in parts)
    # Only our own text: data that says {nonce} must not learn it.
    text = "\n".join([_TASK.replace("{nonce}", nonce), data, _ANSWER])
    return Prompt(text, case.hash)


def fenced(name: str, text: str, nonce: str) -> str:
    """Untrusted text between two marks, as it is. The nonce must not occur in it."""
    return f"<<<{name} {nonce}\n{text}\n{name} {nonce}>>>\n"


def _omitted(left_out: Sequence[str]) -> str:
    head = (
        f"[{plural(len(left_out), 'file')} left out, as they are binary or the diff is too long:]"
    )
    return "\n".join([head, *left_out])


# A diff, cut to a length by whole files


_LARGEST_DIFF = 200_000
"""Characters of a diff that are shown to a judge."""

_NAMED = 200
"""So many of the files that are left out are named."""
_BINARY = re.compile(r"\0|^(?:Binary files .* differ|GIT binary patch)$", re.MULTILINE)
_HEAD = re.compile(r"^diff --git |^--- (?=[^\n]*\n\+\+\+ )", re.MULTILINE)


_CHANGE = re.compile(r"^(?:diff -|--- [^\n]*\n\+\+\+ |\*\*\* [^\n]*\n--- |@@+ -)", re.MULTILINE)


def is_diff(text: str) -> bool:
    """Whether there is a file's header or a hunk in a text."""
    return _CHANGE.search(text) is not None


class CutDiff(NamedTuple):
    """What of a diff is shown."""

    text: str
    left_out: tuple[str, ...] = ()
    """``src/a.ts (+120 −3)`` for each file that is not."""


def cut_diff(text: str, most: int = _LARGEST_DIFF) -> CutDiff:
    """Keep whole files, the short ones first, in the order of the diff; name the others."""
    files = list(_files(text))
    room = most
    kept = set()
    for number, each in sorted(enumerate(files), key=lambda pair: len(pair[1])):
        if _BINARY.search(each):
            continue
        room -= len(each)
        if room < 0:
            break
        kept.add(number)
    left_out = [_name(each) for number, each in enumerate(files) if number not in kept]
    if len(left_out) > _NAMED:
        left_out[_NAMED:] = [f"{len(left_out) - _NAMED:,} more files"]
    shown = (each for number, each in enumerate(files) if number in kept)
    return CutDiff("".join(shown), tuple(left_out))


def _files(text: str) -> Iterator[str]:
    """The parts of a diff, a file each. The header lines of git belong to the file below them."""
    starts = [found.start() for found in _HEAD.finditer(text)]
    if any(text.startswith("diff --git ", start) for start in starts):
        starts = [start for start in starts if text.startswith("diff --git ", start)]
    bounds = sorted({0, *starts, len(text)})
    yield from (text[start:end] for start, end in pairwise(bounds))


def _name(part: str) -> str:
    lines = part.split("\n")
    head = next((each[4:] for each in lines if each.startswith("+++ ")), "")
    if head in {"", "/dev/null"}:
        head = next((each[4:] for each in lines if each.startswith("--- ")), lines[0])
    added = sum(each.startswith("+") and not each.startswith("+++ ") for each in lines)
    removed = sum(each.startswith("-") and not each.startswith("--- ") for each in lines)
    return f"{printable(head.removeprefix('b/').removeprefix('a/'), 200)} (+{added:,} −{removed:,})"


# A model's reply, read strictly

LARGEST_REPLY = 100_000
"""Characters. A longer reply is not read."""
MOST_REASONS = 20
LONGEST_REASON = 2_000
"""Characters."""

_FENCED = re.compile(r"```(?:json)?[ \t]*\r?\n(.*)\n```", re.DOTALL | re.IGNORECASE)


class ModelAnswer(NamedTuple):
    """What a model answered."""

    values: tuple[str, ...]
    """Of those that were allowed, each once: one, unless it may name several, or none."""
    reasons: tuple[str, ...]
    """At least one, none of them blank. Untrusted."""


class NoAnswer(NamedTuple):
    """A reply that does not count."""

    reason: str
    """Why, in one clause without a full stop."""
    is_final: bool = False
    """Whether it is what was asked for all the same, so that nothing is to be asked again."""


class _RefusedError(Exception):
    """The reply is JSON of another shape."""


def read_answer(
    reply: str, key: str, allowed: Collection[str], *, many: bool = False
) -> ModelAnswer | NoAnswer:
    """Read ``{"reasons": ["…"], key: value}``, bare or in one Markdown fence and nothing else;
    ``many`` with an array of values, which are all different.

    The reasons come first: a model that names its verdict first finds reasons for it afterwards.
    """
    try:
        reasons, said = _read(reply, key, "[…]" if many else _either(allowed))
        return ModelAnswer(_allowed(said if many else [said], said, key, allowed), reasons)
    except _RefusedError as refused:
        return NoAnswer(str(refused))


def _read(reply: str, key: str, values: str) -> tuple[tuple[str, ...], Any]:
    """The reasons, and what stands behind the key."""
    text = reply.strip(" \t\r\n")  # what JSON takes for white space, and no more
    if not text:
        raise _RefusedError("the reply is empty")
    if len(text) > LARGEST_REPLY:
        raise _RefusedError(f"the reply has more than {LARGEST_REPLY:,} characters")
    fenced = _FENCED.fullmatch(text)
    if fenced is not None:
        text = fenced[1]
    try:
        value = json.loads(text, **STRICT)
    except (json.JSONDecodeError, RecursionError) as error:
        raise _RefusedError("the reply is not one JSON object and nothing else") from error
    except ValueError as error:
        raise _RefusedError(str(error)) from error
    if not isinstance(value, dict):
        raise _RefusedError("the reply is JSON, but no object")
    if list(value) != ["reasons", key]:
        shape = f'{{"reasons": ["..."], "{key}": {values}}}'
        raise _RefusedError(f"the object has to be {shape}, in this order and with nothing else")
    reasons, said = value.values()
    if not (isinstance(reasons, list) and 1 <= len(reasons) <= MOST_REASONS):
        raise _RefusedError(f'"reasons" is no array of 1 to {MOST_REASONS} texts')
    if not all(isinstance(each, str) and _is_reason(each) for each in reasons):
        raise _RefusedError(f"a reason is no text of 1 to {LONGEST_REASON:,} characters")
    return tuple(writable(each) for each in reasons), said


def _allowed(values: Any, said: Any, key: str, allowed: Collection[str]) -> tuple[str, ...]:
    if not isinstance(values, list):
        raise _RefusedError(f'"{key}" is {shown(said)}, and has to be an array')
    if not all(isinstance(each, str) and each in allowed for each in values):
        raise _RefusedError(f'"{key}" is {shown(said)}, and has to be {_either(allowed)}')
    if len(set(values)) < len(values):
        raise _RefusedError(f'"{key}" has a value twice')
    return tuple(values)


def _either(allowed: Collection[str]) -> str:
    return listed((f'"{each}"' for each in allowed), "or")


def _is_reason(text: str) -> bool:
    says_something = any(each.isprintable() and not each.isspace() for each in text)
    return says_something and len(text) <= LONGEST_REASON


# What a model is asked when it sorts what went on in a run: a catalogue of classes, and one item,
# fenced as data. It is for those who look back, and grades nothing

LONGEST_ITEM = 20_000
"""Characters of an item, or of what stood before it, that are shown."""

Classes = Mapping[str, str]
"""What each class means, by its name."""


class Item(NamedTuple):
    """One thing to sort. Untrusted."""

    line: int
    """Where it begins in its file, from 1."""
    text: str
    context: str = ""
    """What stood before it."""
    name: str | None = None
    """What people call it, where the text is for programs."""


class Sorting(NamedTuple):
    """What is sorted, and into how many classes each item may go."""

    items: str
    """As people call the items; with hyphens, the name of the shipped file with their classes."""
    key: str
    """Of the answer: ``classes`` where an item may be of several or none, else ``class``."""

    @property
    def takes_many(self) -> bool:
        """Whether an item may be of several classes, or of none."""
        return self.key == "classes"


FAILURES = Sorting("failures", "classes")
OPERATOR_TURNS = Sorting("operator turns", "class")

_MANY = "`classes` has each class that ITEM shows, and is empty if it shows none of them."
_ONE = "`class` is the one that fits ITEM best."


def class_prompt(sorting: Sorting, classes: Classes, item: Item, nonce: str) -> Prompt:
    """Ask which of the classes an item is of. The catalogue is trusted, and the item is not."""
    named = "\n".join(f"- {name}: {' '.join(text.split())}" for name, text in classes.items())
    task = _text("sorting_task").format(
        items=sorting.items, data=DATA.replace("{nonce}", nonce), classes=named
    )
    many = sorting.takes_many
    answer = _text("sorting_answer").format(
        key=sorting.key, value='["…"]' if many else '"…"', which=_MANY if many else _ONE
    )
    context = [fenced("BEFORE", _end_of(item.context), nonce)] if item.context else []
    data = "\n".join([*context, fenced("ITEM", _start_of(item.text), nonce)])
    return Prompt("\n".join([task, data, answer]), hash_of(named))


def _start_of(text: str) -> str:
    return text if len(text) <= LONGEST_ITEM else f"{text[:LONGEST_ITEM]} [cut off]"


def _end_of(text: str) -> str:
    return text if len(text) <= LONGEST_ITEM else f"[cut off] {text[-LONGEST_ITEM:]}"


# What is sorted in a text that a person hands over


def items_of(records: Iterable[str]) -> list[Item]:
    """Each paragraph of a text; where there is only one, each of its lines."""
    said = groupby(enumerate(records, 1), key=lambda line: bool(line[1].strip()))
    parts = [list(group) for is_text, group in said if is_text]
    if len(parts) == 1:
        parts = [[line] for line in parts[0]]
    return [Item(part[0][0], "\n".join(line for _, line in part).strip()) for part in parts]
