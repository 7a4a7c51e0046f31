"""Lines of unknown types, and which of them look like a feed's.

Somebody meant to grade a run, or to say what it cost, and readers keep the line apart without a
word. What the others are, nobody knows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from drive_trace.tasks import Task, in_batches
from drive_trace.text.wording import first_of
from drive_trace.trace.line import FlaggedLine, Line
from drive_trace.trace.mentions import feed_with_fields, time_in
from drive_trace.vocabulary import EVENTS
from drive_trace.vocabulary.slips import are_alike

_LONGEST = 80
_FEEDS = tuple(event.name for event in EVENTS.values() if event.is_feed)


class UnknownEvent(NamedTuple):
    """A line of an unknown type."""

    path: str
    line: int
    """From 1."""
    meant: str | None
    """The feed's event that it looks like, if any."""
    event_name: str
    run_id: str | None
    """The line's run, where it can be read."""
    ts: str | None = None
    """When it was recorded, where that can be read."""


def meant_feed(line: FlaggedLine) -> str | None:
    """The feed that a line of an unknown type was most likely meant for, if for any: by a type that
    is a slip of the feed's, or by having all its fields.
    """
    return meant_by(line.event_name or "") or feed_with_fields(line.text)


@lru_cache(maxsize=1024)
def meant_by(name: str) -> str | None:
    """The feed that an unknown event type is most likely a slip of, if of any."""
    word = name[:_LONGEST].lower().replace("_", "-")
    return next((feed for feed in _FEEDS if _is_near(word, feed)), None)


def _is_near(word: str, feed: str) -> bool:
    # The beginning by itself, too: many a name ends in "-recorded".
    first = feed.partition("-")[0]
    return are_alike(word[: len(first)], first) and are_alike(word, feed)


def unknown_lines(
    lines: Iterable[Line], number: Callable[[Line], int], path: str = ""
) -> Task[tuple[UnknownEvent, ...]]:
    """What is to be known of lines of unknown types."""
    found: list[UnknownEvent] = []
    for batch in in_batches(cast("Iterable[FlaggedLine]", lines)):
        found += [unknown_line(path, number(line), line) for line in batch]
        yield
    return tuple(found)


def unknown_line(path: str, number: int, line: FlaggedLine) -> UnknownEvent:
    """What is to be known of a line of an unknown type."""
    meant, ts = meant_feed(line), time_in(line.text)
    return UnknownEvent(path, number, meant, line.event_name or "", line.run_id, ts)


def lookalike_phrase(found: Sequence[UnknownEvent], most: int = 3) -> str | None:
    """``line 12 of an unknown type looks like correctness-recorded; it does not count``; None where
    nothing was found.
    """
    phrases = []
    for feed in _FEEDS:
        lines = [each.line for each in found if each.meant == feed]
        if len(lines) == 1:
            line = f"line {lines[0]} of an unknown type looks"
            phrases.append(f"{line} like {feed}; it does not count")
        elif lines:
            named = f"lines {first_of(lines, most)} of unknown types look"
            phrases.append(f"{named} like {feed}; they do not count")
    return "; ".join(phrases) or None
