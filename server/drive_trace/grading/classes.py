"""What a model is asked when it sorts what went on in a run: a catalogue of classes, and one item,
fenced as data. It is for those who look back, and grades nothing.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import NamedTuple

from drive_trace.grading.prompts import DATA, Prompt, fenced, hash_of

LONGEST = 20_000
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

_TASK = """\
You sort {items} of a run of coding agents, for people who look back on it. An orchestrator hands \
work to implementers, and an operator, who is a person, steers the orchestrator.

{data}
The classes are:

{classes}
"""
_ANSWER = """\
Answer with exactly one JSON object and nothing else, with these two keys in this order:

{{"reasons": ["…"], "{key}": {value}}}

`reasons` has one to five short sentences. Each says what in ITEM shows it. {which}
"""
_MANY = "`classes` has each class that ITEM shows, and is empty if it shows none of them."
_ONE = "`class` is the one that fits ITEM best."


def read_classes(text: str) -> Classes:
    """Read a catalogue: TOML with a text for each name. Raises ValueError, which says what is
    wrong.
    """
    classes = tomllib.loads(text)
    for name, meaning in classes.items():
        if not isinstance(meaning, str) or not meaning.strip():
            raise ValueError(f"the class {name} has no text")
    if not classes:
        raise ValueError("there are no classes in it")
    return classes


def class_prompt(sorting: Sorting, classes: Classes, item: Item, nonce: str) -> Prompt:
    """Ask which of the classes an item is of. The catalogue is trusted, and the item is not."""
    named = "\n".join(f"- {name}: {' '.join(text.split())}" for name, text in classes.items())
    task = _TASK.format(items=sorting.items, data=DATA.replace("{nonce}", nonce), classes=named)
    many = sorting.takes_many
    answer = _ANSWER.format(
        key=sorting.key, value='["…"]' if many else '"…"', which=_MANY if many else _ONE
    )
    context = [fenced("BEFORE", _end_of(item.context), nonce)] if item.context else []
    data = "\n".join([*context, fenced("ITEM", _start_of(item.text), nonce)])
    return Prompt("\n".join([task, data, answer]), hash_of(named))


def _start_of(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} [cut off]"


def _end_of(text: str) -> str:
    return text if len(text) <= LONGEST else f"[cut off] {text[-LONGEST:]}"


# What is sorted in a text that a person hands over


def items_of(records: Iterable[str]) -> list[Item]:
    """Each paragraph of a text; where there is only one, each of its lines."""
    said = groupby(enumerate(records, 1), key=lambda line: bool(line[1].strip()))
    parts = [list(group) for is_text, group in said if is_text]
    if len(parts) == 1:
        parts = [[line] for line in parts[0]]
    return [Item(part[0][0], "\n".join(line for _, line in part).strip()) for part in parts]
