"""What an assertion is: a rule of the Drive method that a trace can bear out or not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from drive_trace.report.event_log import Event, EventLog


class Status(StrEnum):
    """What the traces say of an assertion."""

    PASS = "pass"  # noqa: S105 - no password
    FAIL = "fail"
    NOT_CHECKABLE = "not-checkable"


class Outcome(NamedTuple):
    """An assertion's status, the events that it rests on, and a sentence on why."""

    status: Status
    evidence: Sequence[Event]
    note: str


@dataclass(frozen=True, slots=True)
class Assertion:
    """The declaration of one assertion."""

    id: str
    title: str
    """What it demands, as a statement."""
    check: Callable[[EventLog], Outcome]


class Checked(NamedTuple):
    """An assertion with its outcome."""

    assertion: Assertion
    outcome: Outcome


def verdict_on(looked_at: Sequence[Event], broken_by: Sequence[Event], note: str) -> Outcome:
    """Fails with the events that break it, else passes with those that were looked at."""
    if broken_by:
        return Outcome(Status.FAIL, broken_by, note)
    return Outcome(Status.PASS, looked_at, note if looked_at else "It does not apply here.")


def not_checkable(
    id_: str,
    title: str,
    reason: str,
    supporting: Callable[[EventLog], Sequence[Event]] | None = None,
) -> Assertion:
    """An assertion that no trace can decide; ``supporting`` are events for a person to look at."""

    def check(log: EventLog) -> Outcome:
        return Outcome(Status.NOT_CHECKABLE, supporting(log) if supporting else (), reason)

    return Assertion(id_, title, check)
