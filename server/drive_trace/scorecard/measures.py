"""What the events of a run tell apart from its grades: what it cost, and how they were written."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, cast

import msgspec

from drive_trace.text.wording import plural
from drive_trace.trace.line import EVENT_ID, TS, Line
from drive_trace.trace.provenance import ProvenanceRecord
from drive_trace.trace.run import (
    TIMED,
    Run,
    TimeSpan,
    is_recorded_afterwards,
    misdated,
    span_ended_by,
)
from drive_trace.trace.times import is_of_year, milliseconds_between
from drive_trace.vocabulary import DISPATCH, EVENTS, ROUND, TOKEN_FIELDS
from drive_trace.vocabulary.types import not_random

if TYPE_CHECKING:
    from drive_trace.scorecard.run_score import Recorded

# Tier 2: what it cost. To be shown for CORRECT runs only; the caller decides that

_DISPATCHES = (DISPATCH.opener, DISPATCH.closer)

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
    measured: int = 0
    """So many of the ends were measured, as the records beside their files say."""


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


class Efficiency(msgspec.Struct, frozen=True):
    """Tokens, time and rework. None means *no signal*, never zero."""

    tokens: Tokens
    wall_clock: WallClock
    rounds: Rounds
    runs: int = 1
    """How many runs the figures are of."""
    token_runs: Mapping[str, int] | None = None
    """How many of these recorded each component, where they are several."""

    # Programs that use the Python API read these two.

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
    ends = f"ends of {figure.dispatches:,} " * (figure.of != figure.dispatches)
    return f"{figure.counted:,} of {figure.of:,} {ends}dispatch{'es' * (figure.dispatches != 1)}"


def tokens_of(recorded: Recorded | None) -> Tokens | None:
    """The components of the token event that counts; None where there is none."""
    if recorded is None:
        return None
    return {name: cast("int | None", recorded.values[name]) for name in TOKEN_FIELDS}


def together(runs: Sequence[Efficiency]) -> Efficiency:
    """The sums of what some runs, one at least, recorded; None where none did."""
    told = {name: _known(each.tokens[name] for each in runs) for name in TOKEN_FIELDS}
    times = _known(each.wall_clock.ms for each in runs)
    counts = zip(*(each.wall_clock[1:] for each in runs), strict=True)
    return Efficiency(
        {name: sum(each) if each else None for name, each in told.items()},
        WallClock(sum(times) if times else None, *map(sum, counts)),
        Rounds(*map(sum, zip(*(each.rounds for each in runs), strict=True))),
        len(runs),
        {name: len(each) for name, each in told.items()},
    )


def _known(values: Iterable[int | None]) -> list[int]:
    return [each for each in values if each is not None]


def wall_clock(
    run: Run, started: str | None, closed: str | None, records: Sequence[ProvenanceRecord] = ()
) -> WallClock:
    """From the project's start to its close, else the dispatches' time; so, too, where the close
    is before the start, or the year of one of the two is wrong. ``records`` stand beside its files.
    """
    measured, year = milliseconds_between(started, closed), run.kept(misdated)[0]
    are_right = all(is_of_year(each or "", year) for each in (started, closed))
    if measured is not None and measured >= 0 and are_right:
        return WallClock(measured, 0, 0, 0, 1)
    starts, ends = (run.counts(name, DISPATCH.field) for name in _DISPATCHES)
    each = starts | ends  # of both counts the larger one
    place = EVENTS[DISPATCH.closer].positions["wall_clock_ms"]
    ms = sum([line.facts[place] for line in run.events(DISPATCH.closer)]) if ends else None
    count = sum(
        "wall_clock_ms" in record.measured(end) and _is_in_time(span_ended_by(run, end))
        for record in records
        for end in run.events("dispatch-end")
    )
    return WallClock(ms, ends.total(), each.total(), len(each), 0, int(ms is None), count)


def _is_in_time(span: TimeSpan | None) -> bool:
    """Whether the timestamps say so, too; they may be as far off as rules let them be."""
    if span is None or is_recorded_afterwards(span.measured_ms, span.claimed_ms):
        return False
    return not span.is_off(2000, 10)


def mean_rounds(run: Run) -> Rounds:
    """The mean number of rounds over all dispatches that had one."""
    rounds = run.counts(ROUND.opener, DISPATCH.field)
    dispatches = {*rounds}.union(*(run.counts(name, DISPATCH.field) for name in _DISPATCHES))
    return Rounds(rounds.total(), len(rounds), len(dispatches))


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


# Provenance: how its events were written. Information for a reader of the trace, with its evidence;
# never a grade, and no verdict depends on it

_MOST = 8
"""Of each event of a run, so many of the first and of the last ones are looked at."""
_FEWEST = 3
"""Fewer events show no habit."""
_FULL_MINUTE = (":00.000Z", ":00Z")


class Manner(StrEnum):
    """How a run's events were written."""

    NATIVE = "native"
    """As they happened: no sign of anything else."""
    BACK_FILLED = "back-filled"
    """Afterwards: most ends stand at the moment of their start, and claim minutes."""
    HAND_WRITTEN = "hand-written"
    """By hand: most ids are not random, or most times are on full minutes."""


class Provenance(NamedTuple):
    """What the events of a run that were looked at show. Those of several files add up, without
    copies.
    """

    events: int = 0
    """So many were looked at; none of a feed, as others record these."""
    odd_ids: int = 0
    """So many ``event_id`` are no random UUIDs."""
    full_minutes: int = 0
    """So many ``ts`` are on a full minute."""
    ends: int = 0
    """The ends of dispatches and rounds among them that follow their start."""
    afterwards: int = 0
    """So many of these stand at the moment of their start, and claim minutes."""
    recorded: int = 0
    """So many events, of feeds too, are what the record beside their file says."""
    measured: int = 0
    """So many of these have a figure that was measured."""
    logged: int = 0
    """So many of these are told by the log of a session."""

    def plus(self, other: Provenance) -> Provenance:
        """Both together."""
        return Provenance(*map(sum, zip(self, other, strict=True)))

    @property
    def origin(self) -> Manner | None:
        """What most of the events show; None where they are too few."""
        if self.events < _FEWEST:
            return None
        if 2 * max(self.odd_ids, self.full_minutes) >= self.events:
            return Manner.HAND_WRITTEN
        is_filled = self.ends and 2 * self.afterwards >= self.ends
        return Manner.BACK_FILLED if is_filled else Manner.NATIVE

    @property
    def evidence(self) -> Sequence[str]:
        """What speaks for something else than native, a phrase each."""
        events = plural(self.events, "event")
        phrases = (
            (self.odd_ids, f"of {events}, {self.odd_ids:,} with an id that is no random UUID"),
            (self.full_minutes, f"of {events}, {self.full_minutes:,} timed on a full minute"),
            (
                self.afterwards,
                f"of {plural(self.ends, 'end')} of dispatches and rounds, {self.afterwards:,} "
                "written at the moment of the start, claiming minutes",
            ),
        )
        return [phrase for count, phrase in phrases if count]

    def sentence(self, of: int) -> str | None:
        """All of it for people, given how many events there are; None where there is nothing to
        say.
        """
        beside = f"{plural(self.recorded, 'event')} recorded beside"
        beside += f", {self.measured:,} with a measured value"
        beside += f", {self.logged:,} told by the log of a session" * bool(self.logged)
        sample = f"{self.events:,} of " * (self.events < of)
        none = f"no sign of another in {sample}{plural(of, 'event')}"
        told = [f"{self.origin} ({'; '.join(self.evidence) or none})"] * (self.origin is not None)
        told += [beside] * bool(self.recorded)
        return f"Provenance: {'; '.join(told)}." if told else None


def provenance(run: Run, record: ProvenanceRecord | None = None) -> Provenance:
    """How a run's events of one trace were written. Without a record it costs the same for a run of
    any length.
    """
    entries = [*filter(None, map(record.entry_of, run.lines))] if record is not None else []
    own = (lines for name, lines in run.by_event.items() if not EVENTS[name].is_feed)
    facts = [line.facts for each in own for line in _some(each)]
    are_afterwards = _are_afterwards(run)
    return Provenance(
        events=len(facts),
        odd_ids=len(not_random([str(each[EVENT_ID]) for each in facts])),
        full_minutes=sum([str(each[TS]).endswith(_FULL_MINUTE) for each in facts]),
        ends=len(are_afterwards),
        afterwards=sum(are_afterwards),
        recorded=len(entries),
        measured=sum([bool(record.measured(line)) for line in run.lines]) if record else 0,
        logged=sum(each.writer == "reconstruct" for each in entries),
    )


def _some(lines: Sequence[Line]) -> Sequence[Line]:
    return lines if len(lines) <= 2 * _MOST else [*lines[:_MOST], *lines[-_MOST:]]


def _are_afterwards(run: Run) -> list[bool]:
    """Of each end that follows what most likely is its own start, whether both were recorded
    afterwards: no table is needed for that.
    """
    found = []
    for of in TIMED:
        opened, closed = EVENTS[of.opener].positions[of.field], EVENTS[of.closer].positions
        ends = _some(run.events(of.closer))
        pairs = zip(map(run.events(of.opener).before, ends), ends, strict=True)
        own = [(start.facts, end.facts) for start, end in pairs if start is not None]
        own = [each for each in own if each[0][opened] == each[1][closed[of.field]]]
        times = [milliseconds_between(start[TS], end[TS]) for start, end in own]
        claims = [end[closed["wall_clock_ms"]] for _, end in own]
        both = zip(times, claims, strict=True)
        found += [is_recorded_afterwards(ms, n) for ms, n in both if ms is not None and ms >= 0]
    return found
