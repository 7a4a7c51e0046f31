"""The examples of a rule, as the docstring of its file writes them below ``Examples:``.

Each is a piece of a trace, written as :mod:`tests.support.fixtures` describes. Marks (``^^^``)
stand under what the rule finds; an example without marks is a near miss, in which it finds nothing.
These lines are no part of a trace:

``---`` or ``--- What it shows.``
    The next example begins.
``=>`` or ``=> Title of the fix``
    What follows is the text after that fix of the first finding, or after its first fix. An example
    without this says that no fix is offered.
``@path …``
    Where the trace lies.
``@encoding …``
    How the file is written, if it is not UTF-8.
``@beside``
    What follows is another trace, ``other.jsonl``, that is checked before this one.
``@head``
    What follows is the trace as git's ``HEAD`` has it.
``@recorded``
    What follows is the trace as it was recorded: each line has an entry in the record beside it.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from drive_trace.linter import rules

_DIRECTION = re.compile(r"(---|=>|@path|@encoding|@beside|@head|@recorded)(?: (.*))?")


class Example(NamedTuple):
    """A piece of a trace, and what a rule says of it."""

    before: str
    after: str | None = None
    """The text after a fix of the first finding; None says that it offers none."""
    fix: str | None = None
    """The title of that fix; None is the first one."""
    path: str | None = None
    """Where the trace lies."""
    beside: str | None = None
    """Another trace that is checked before this one; for rules between files."""
    encoding: str = "utf-8"
    """How the file is written."""
    head: str | None = None
    """The trace as git's ``HEAD`` has it."""
    recorded: str | None = None
    """The trace as it was recorded, event by event."""


def examples_of(code: str) -> tuple[Example, ...]:
    """The examples of a rule, in their order."""
    return tuple(read_examples(rules.examples(code)))


def read_examples(text: str) -> Iterator[Example]:
    """The examples of a text."""
    facts: dict[str, str] = {}
    parts: dict[str, list[str]] = {"before": []}
    name = "before"
    for line in text.strip("\n").split("\n"):
        direction = _DIRECTION.fullmatch(line)
        if direction is None:
            parts[name].append(line)
            continue
        word, rest = direction[1].strip("@"), direction[2]
        if word == "---":
            if parts["before"]:
                yield _example(parts, facts)
            facts, parts, name = {}, {"before": []}, "before"
        elif word in ("path", "encoding"):
            facts[word] = rest
        else:
            name = "after" if word == "=>" else word
            parts[name] = []
            facts |= {"fix": rest} if rest else {}
    if parts["before"]:
        yield _example(parts, facts)


def _example(parts: dict[str, list[str]], facts: dict[str, str]) -> Example:
    # A fixture begins below its quotes, so that its first line may be blank.
    texts = {name: "\n" + "\n".join(lines) + "\n" for name, lines in parts.items()}
    return Example(**texts, **facts)
