"""Lines of unknown types whose names look like a feed's.

Somebody meant to grade a run, or to say what it cost, and readers keep the line apart without a
word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import orjson

from drive_trace.json_text import parse
from drive_trace.json_text.strings import strings_named
from drive_trace.steps import Steps, in_batches
from drive_trace.trace.line import Line, Status, name_of
from drive_trace.vocabulary import EVENTS
from drive_trace.vocabulary.slips import are_alike

_LONGEST = 80
_FEEDS = tuple(event.name for event in EVENTS.values() if event.is_feed)


class Lookalike(NamedTuple):
    """A line of an unknown type that looks like a feed's."""

    path: str
    line: int
    """From 1."""
    meant: str
    """The feed's event."""
    event_name: str
    run_id: str | None
    """The line's run, where it can be read."""
    ts: str | None = None
    """When it was recorded, where that can be read."""


@lru_cache(maxsize=1024)
def meant_feed(name: str) -> str | None:
    """The feed that an unknown event type is most likely a slip of, if of any."""
    word = name[:_LONGEST].lower().replace("_", "-")
    return next((feed for feed in _FEEDS if _is_near(word, feed)), None)


def _is_near(word: str, feed: str) -> bool:
    # The beginning by itself, too: many a name ends in "-recorded".
    first = feed.partition("-")[0]
    return are_alike(word[: len(first)], first) and are_alike(word, feed)


def lookalikes(
    lines: Iterable[Line], number: Callable[[Line], int], path: str = ""
) -> Steps[tuple[Lookalike, ...]]:
    """Those of some lines of unknown types that look like a feed's."""
    found: list[Lookalike] = []
    for batch in in_batches(lines):
        found += _found(batch, number, path)
        yield
    return tuple(found)


def _found(lines: Iterable[Line], number: Callable[[Line], int], path: str) -> Iterator[Lookalike]:
    for line in lines:
        name = name_of(line)
        meant = meant_feed(name) if name is not None else None
        if name is not None and meant is not None:
            yield lookalike(path, number(line), meant, line)


def lookalike(path: str, number: int, meant: str, line: Line) -> Lookalike:
    """What is to be known of a line that looks like a feed's."""
    ts = next((value for value, _ in strings_named(line.text, "ts")), None)
    return Lookalike(path, number, meant, name_of(line) or "", run_named(line), ts)


def is_lookalike(line: Line) -> bool:
    """Whether a line is of an unknown type that looks like a feed's."""
    name = name_of(line)
    is_unknown = line.status is Status.UNKNOWN
    return is_unknown and name is not None and meant_feed(name) is not None


def run_named(line: Line) -> str | None:
    """The run that a line of an unknown type names."""
    try:
        data = orjson.loads(line.text)
    except ValueError:  # what only the exact path reads, as a lone surrogate
        data = parse(line.text).to_python()
    run_id = data.get("project_run_id") if isinstance(data, dict) else None
    return run_id if isinstance(run_id, str) else None


def lookalike_phrase(found: Sequence[Lookalike], most: int = 3) -> str | None:
    """``line 12 has an unknown type much like correctness-recorded; it does not count``; None where
    nothing was found.
    """
    said = []
    for feed in _FEEDS:
        lines = [each.line for each in found if each.meant == feed]
        if len(lines) == 1:
            said.append(f"line {lines[0]} has an unknown type much like {feed}; it does not count")
        elif lines:
            named = ", ".join(map(str, lines[:most]))
            more = f" and {len(lines) - most} more" if len(lines) > most else ""
            said.append(
                f"lines {named}{more} have unknown types much like {feed}; they do not count"
            )
    return "; ".join(said) or None
