"""Tier 2: what a run cost. To be shown for CORRECT runs only; the caller decides that."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, NamedTuple, cast

from drive_trace.trace.run import Run
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import TOKEN_FIELDS

if TYPE_CHECKING:
    from drive_trace.scorecard.run_score import Recorded

_DISPATCHES = ("dispatch-start", "dispatch-end")

Tokens = Mapping[str, int | None]


class WallClock(NamedTuple):
    """A wall-clock time with what it is the sum of."""

    ms: int | None
    """None where there is no signal."""
    counted: int
    """So many ends of dispatches are summed, as claimed."""
    of: int
    """So many there would be if each start had one, in the runs that are measured so."""
    dispatches: int
    """So many dispatches were started or ended in these runs."""
    clocked: int
    """So many runs are measured by the clock, from their start to their close."""
    missing: int = 0
    """So many runs have no signal."""


class Rounds(NamedTuple):
    """The mean number of rounds that a dispatch took."""

    total: int
    counted: int
    """So many dispatches have a round."""
    of: int
    """So many there are."""

    @property
    def mean(self) -> float | None:
        """None where there is no signal."""
        return self.total / self.counted if self.counted else None

    @property
    def dispatches(self) -> int:
        """As in a wall-clock time."""
        return self.of


class Efficiency(NamedTuple):
    """Tokens, time and rework. None means *no signal*, never zero."""

    tokens: Tokens
    wall_clock: WallClock
    rounds: Rounds
    runs: int = 1
    """How many runs the figures are of."""
    token_runs: Mapping[str, int] | None = None
    """How many of these recorded each component, where they are several."""

    @property
    def wall_clock_ms(self) -> int | None:
        """Milliseconds; None where there is no signal."""
        return self.wall_clock.ms

    @property
    def rounds_per_dispatch(self) -> float | None:
        """The mean number of rounds that a dispatch took; None where there is no signal."""
        return self.rounds.mean


def covered(figure: WallClock | Rounds) -> str:
    """``12 of 16 dispatches``, and ``2 of 2 ends of 1 dispatch`` where one has several."""
    is_plain = figure.of == figure.dispatches
    plural = "es" * (is_plain or figure.dispatches != 1)
    ends = "" if is_plain else f"ends of {figure.dispatches:,} "
    return f"{figure.counted:,} of {figure.of:,} {ends}dispatch{plural}"


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
        sum(each.dispatches for each in many),
        sum(each.clocked for each in many),
        sum(each.missing for each in many),
    )


def wall_clock(run: Run, started: str | None, closed: str | None) -> WallClock:
    """From the project's start to its close, else the dispatches' time; so, too, where the close
    is before the start, as one of the two timestamps is wrong.
    """
    measured = milliseconds_between(started, closed)
    if measured is not None and measured >= 0:
        return WallClock(measured, 0, 0, 0, 1)
    starts, ends = run.count_by_dispatch("dispatch-start"), run.count_by_dispatch("dispatch-end")
    each = starts.keys() | ends.keys()
    of = sum(max(starts.get(name, 0), ends.get(name, 0)) for name in each)
    ms = run.dispatch_ms if ends else None
    return WallClock(ms, sum(ends.values()), of, len(each), 0, int(ms is None))


def mean_rounds(run: Run) -> Rounds:
    """The mean number of rounds over all dispatches that had one."""
    rounds = run.count_by_dispatch("round-start")
    dispatches = {each for name in _DISPATCHES for each in run.count_by_dispatch(name)}
    return Rounds(sum(rounds.values()), len(rounds), len(rounds.keys() | dispatches))


def as_double(value: int | None) -> int | float | None:
    """An integer as JavaScript, whose numbers are doubles, would write it; null where a sum is
    too large for one.
    """
    if value is None or abs(value) <= 2**53:
        return value
    try:
        double = float(value)
    except OverflowError:
        return None
    return int(Decimal(repr(double))) if abs(double) < 1e21 else double
