"""Caveats: why a verdict, or a figure beside it, may be worth less than it seems.

A caveat is computed once, with the run's score, and shown wherever the verdict is shown. One that
*qualifies* could overturn the verdict: a CORRECT with it is never green, never bare, and fails
``--require-correct``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import NamedTuple


class CaveatCode(StrEnum):
    """What a caveat is about. Users meet these in JSON: they are added to, never renamed."""

    STALE = "stale"
    UNREAD_INPUT = "unread-input"
    REJECTED_GRADE = "rejected-grade"
    LOOKALIKE_GRADE = "lookalike-grade"
    CONTRADICTING_GRADES = "contradicting-grades"
    REJECTED_COST = "rejected-cost"
    LOOKALIKE_COST = "lookalike-cost"
    COPIED_EVENTS = "copied-events"
    CONFLICTING_EVENT_ID = "conflicting-event-id"
    PARTIAL_COVERAGE = "partial-coverage"


class LineRef(NamedTuple):
    """A line of a trace."""

    path: str
    line: int
    """From 1."""


class Unread(NamedTuple):
    """An input that could not be read at all."""

    path: str
    reason: str
    """In a few words, as ``permission denied``; without the path."""


class Caveat(NamedTuple):
    """One caveat of one run."""

    code: CaveatCode
    short: str
    """In a few words, to stand behind the verdict: ``stale: 3 events after the grade``."""
    message: str
    """One sentence, without its full stop."""
    qualifies: bool
    """Whether it could overturn the verdict."""
    lines: tuple[LineRef, ...] = ()
    """The lines that it is about."""


def caveats_of_unread(unread: Sequence[Unread]) -> Iterator[Caveat]:
    """The caveat of every run that was joined while some inputs were not read."""
    if not unread:
        return
    count = len(unread)
    what = f"{count} input{'s' * (count > 1)} not read"
    named = f"{unread[0].path} ({unread[0].reason})"
    more = f" and {count - 1} more" if count > 1 else ""
    were = "were" if count > 1 else "was"
    yield Caveat(
        CaveatCode.UNREAD_INPUT,
        what,
        f"{named}{more} {were} not read, and may say something else about this run",
        qualifies=True,
    )
