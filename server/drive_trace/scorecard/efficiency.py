"""Tier 2: what a run cost. To be shown for CORRECT runs only; the caller decides that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple, cast

from drive_trace.scorecard.summary import Recorded, RunSummary
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import TOKEN_FIELDS

Tokens = Mapping[str, int | None]


class WallClock(NamedTuple):
    """A wall-clock time with what it is the sum of."""

    ms: int | None
    """None where there is no signal."""
    counted: int
    """So many dispatches have an end, whose claims are summed."""
    of: int
    """So many were started or ended in the runs that are measured by their dispatches."""
    clocked: int
    """So many runs are measured by the clock, from their start to their close."""
    missing: int = 0
    """So many runs have no signal."""


class Efficiency(NamedTuple):
    """Tokens, time and rework. None means *no signal*, never zero."""

    tokens: Tokens
    wall_clock: WallClock
    rounds_per_dispatch: float | None
    """The mean number of rounds that a dispatch took."""
    runs: int = 1
    """How many runs the figures are of."""
    token_runs: Mapping[str, int] | None = None
    """How many of these recorded each component, where they are several."""

    @property
    def wall_clock_ms(self) -> int | None:
        """Milliseconds; None where there is no signal."""
        return self.wall_clock.ms


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


def runs_with(many: Sequence[Tokens | None]) -> dict[str, int]:
    """Component by component, how many recorded it."""
    recorded = [tokens for tokens in many if tokens is not None]
    return {name: sum(each[name] is not None for each in recorded) for name in TOKEN_FIELDS}


def total_wall_clock(many: Sequence[WallClock]) -> WallClock:
    """The sum of the runs' wall-clock times; None where none has one."""
    values = [each.ms for each in many if each.ms is not None]
    return WallClock(
        sum(values) if values else None,
        sum(each.counted for each in many),
        sum(each.of for each in many),
        sum(each.clocked for each in many),
        sum(each.missing for each in many),
    )


def wall_clock(parts: Sequence[RunSummary]) -> WallClock:
    """From the project's start to its close, else the dispatches' time; so, too, where the close
    is before the start, as one of the two timestamps is wrong.
    """
    started = min((part.started for part in parts if part.started is not None), default=None)
    closed = min((part.closed for part in parts if part.closed is not None), default=None)
    measured = milliseconds_between(started, closed)
    if measured is not None and measured >= 0:
        return WallClock(measured, 0, 0, 1)
    claims = [part.dispatch_ms for part in parts if part.dispatch_ms is not None]
    counted, of = _coverage([part.dispatches for part in parts if part.dispatches])
    return WallClock(sum(claims) if claims else None, counted, of, 0, int(not claims))


def _coverage(many: Sequence[Mapping[str, bool]]) -> tuple[int, int]:
    """How many dispatches are ended, of how many."""
    if len(many) == 1:
        return sum(many[0].values()), len(many[0])
    ended = {name for each in many for name, is_ended in each.items() if is_ended}
    return len(ended), len(set().union(*many))


def mean_rounds(many: Sequence[Mapping[str, int]]) -> float | None:
    """The mean number of rounds over all dispatches that had one."""
    if len(many) == 1:
        (only,) = many
        return sum(only.values()) / len(only) if only else None
    rounds: Counter[str] = Counter()
    for each in many:
        rounds.update(each)
    return rounds.total() / len(rounds) if rounds else None
