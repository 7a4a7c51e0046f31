"""Tier 2: what a run cost. To be shown for CORRECT runs only; the caller decides that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from drive_trace.scorecard.summary import Recorded
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import TOKEN_FIELDS

Tokens = Mapping[str, int | None]


class Efficiency(NamedTuple):
    """Tokens, time and rework. None means *no signal*, never zero."""

    tokens: Tokens
    wall_clock_ms: int | None
    rounds_per_dispatch: float | None
    """The mean number of rounds that a dispatch took."""


def tokens_of(recorded: Recorded | None) -> Tokens | None:
    """The components of the token event that counts; None where there is none."""
    if recorded is None:
        return None
    return {name: cast("int | None", recorded.values[name]) for name in TOKEN_FIELDS}


def total_tokens(many: Iterable[Tokens | None]) -> Tokens:
    """Component by component, the sum of what was recorded; None where nothing was."""
    recorded = [tokens for tokens in many if tokens is not None]
    sums: dict[str, int | None] = {}
    for name in TOKEN_FIELDS:
        values = [value for tokens in recorded if (value := tokens[name]) is not None]
        sums[name] = sum(values) if values else None
    return sums


def total_wall_clock(many: Sequence[int | None]) -> int | None:
    """The sum of the runs' wall-clock times; None where none has one."""
    values = [value for value in many if value is not None]
    return sum(values) if values else None


def wall_clock(started: str | None, closed: str | None, dispatch_ms: int | None) -> int | None:
    """From the project's start to its close, else the dispatches' time, in milliseconds."""
    measured = milliseconds_between(started, closed)
    return measured if measured is not None else dispatch_ms


def mean_rounds(many: Iterable[Mapping[str, int]]) -> float | None:
    """The mean number of rounds over all dispatches that had one."""
    rounds: Counter[str] = Counter()
    for each in many:
        rounds.update(each)
    return rounds.total() / len(rounds) if rounds else None
