"""What the events of a run tell apart from its grades: what it cost, how they were written, and
what happened.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from enum import StrEnum
from itertools import chain, islice
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import msgspec

from drive_trace.scorecard.caveats import LineRef
from drive_trace.text.quick import Frozen
from drive_trace.text.wording import plural
from drive_trace.trace.line import EVENT_ID, TS, Line, earliest, latest, name_of
from drive_trace.trace.provenance import ProvenanceRecord
from drive_trace.trace.reading import values_of
from drive_trace.trace.run import (
    TIMED,
    Length,
    Run,
    TimeSpan,
    is_recorded_afterwards,
    length_of,
    misdated,
    span_ended_by,
    work_of,
)
from drive_trace.trace.times import is_of_year, milliseconds_between, sortable
from drive_trace.vocabulary import DISPATCH, EVENTS, ROUND, SLICE, TOKEN_FIELDS, Lifetime
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
    is_right = all(is_of_year(each or "", year) for each in (started, closed))
    if measured is not None and measured >= 0 and is_right:
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


# What the events of a run say happened: counts, times, and what stands out. No verdict.

_HALT = "falsified-assumption"
_OF_SLICES = (SLICE.opener, SLICE.closer)
_MOST_HALTS, _MOST_UNFINISHED = 20, 20
_LONGEST_SUMMARY = 1000
"""Characters."""


class Halt(Frozen, frozen=True):
    """An assumption that turned out false."""

    line: LineRef
    summary: str | None
    """Its author's words, cut; None if there are none."""


class NotableDispatch(Frozen, frozen=True):
    """A dispatch of a run that stands out: it has the largest figure, or was not completed."""

    name: str
    line: LineRef
    figure: int = 0
    result: str | None = None
    """What its end says; None if it has none."""


class RunFacts(Frozen, frozen=True):
    """What happened. Times are in milliseconds; None is *not recorded*, never zero."""

    dispatches: int = 0
    completed: int = 0
    failed: int = 0
    aborted: int = 0
    open: int = 0
    """So many have no end."""
    unfinished: tuple[NotableDispatch, ...] = ()
    """The first of those that were not completed."""
    slices: int = 0
    work_ms: int | None = None
    """In rounds, or in dispatches without one; what went on at the same time adds up."""
    claimed_ms: int = 0
    """How much of that is what authors claim, as timestamps do not tell."""
    clock_ms: int | None = None
    """From the first event to the last that is no feed's."""
    began: str | None = None
    """The moment of that first event, in a form that sorts."""
    halt_count: int = 0
    halts: tuple[Halt, ...] = ()
    """The first of these."""
    longest: NotableDispatch | None = None
    """By the time from start to end."""
    longest_work_ms: int | None = None
    """How much of that was work."""
    rounds: int = 0
    open_rounds: int = 0
    """So many have no end, or none that counts: no work is known of them."""
    reworked: int = 0
    """So many dispatches had more than one round."""
    most_rounds: NotableDispatch | None = None
    escalations: int = 0
    """So many rounds ended with a question to a person."""
    stopped: int = 0
    """So many rounds ended at a condition that stops the work."""
    worked: int = 0
    """So many events are work."""


_Bounds = tuple[Line | None, Line | None]
"""The line that starts a dispatch or round, and the one that ends it."""
_Files = Sequence[tuple[Run, str]]


def run_facts(run: Run, files: _Files) -> RunFacts:
    """What the events of a run say, given all of them, and file by file with the files' paths;
    without copies.
    """
    dispatches = _bounds(run, DISPATCH, "dispatch_id")
    rounds = _bounds(run, ROUND, "dispatch_id", "round_id")
    verdicts = Counter(_said(rounds, ROUND, "verdict").values())
    results = dict.fromkeys([*dispatches, *(dispatch_id for dispatch_id, _ in rounds)])
    results.update(_said(dispatches, DISPATCH, "result"))
    counts = Counter(results.values())
    unfinished = [key for key, said in results.items() if said != "completed"]
    took = _lengths(dispatches, DISPATCH)
    in_rounds: dict[str, list[Length]] = {key: [] for key in results}
    for (key, _), length in _lengths(rounds, ROUND).items():
        in_rounds[key].append(length)
    work_in = {key: work_of(took.get(key), own) for key, own in in_rounds.items()}
    work = [*chain.from_iterable(work_in.values())]
    starts = run.counts(ROUND.opener, DISPATCH.field)
    reworked = [key for key in results if starts[key] > 1]
    longest = max(took, key=lambda key: took[key][0], default=None)
    most = max(reworked, key=lambda key: starts[key], default=None)

    def called(key: str) -> tuple[str, LineRef]:
        own = (each for (dispatch_id, _), each in rounds.items() if dispatch_id == key)
        start, end = dispatches.get(key) or next(own)
        line = cast("Line", start or end)
        path = next(path for own, path in files if own.lines.has(line))
        name = line.text_fact("dispatch_name") if name_of(line) == DISPATCH.opener else ""
        return name or key, LineRef(path, line.order + 1)

    began, clock_ms = _clock(run)
    halts = ((line, path) for own, path in files for line in own.events(_HALT))
    return RunFacts(
        dispatches=len(results),
        completed=counts["completed"],
        failed=counts["failed"],
        aborted=counts["aborted"],
        open=counts[None],
        unfinished=tuple(
            NotableDispatch(*called(key), result=results[key])
            for key in unfinished[:_MOST_UNFINISHED]
        ),
        slices=len({key for name in _OF_SLICES for key in run.counts(name, SLICE.field)}),
        work_ms=sum(ms for ms, _ in work) if work else None,
        claimed_ms=sum(ms for ms, is_claimed in work if is_claimed),
        clock_ms=clock_ms,
        began=began,
        halt_count=len(run.events(_HALT)),
        halts=tuple(_halt(*each) for each in islice(halts, _MOST_HALTS)),
        longest=NotableDispatch(*called(longest), took[longest][0])
        if longest is not None
        else None,
        longest_work_ms=sum(ms for ms, _ in work_in.get(longest or "", ())),
        rounds=len(run.events(ROUND.opener)),
        open_rounds=sum(end is None for _, end in rounds.values()),
        reworked=len(reworked),
        most_rounds=NotableDispatch(*called(most), starts[most]) if most is not None else None,
        escalations=verdicts["escalating-to-user"],
        stopped=verdicts["stop-condition"],
        worked=sum(len(own) for name, own in run.by_event.items() if EVENTS[name].is_work),
    )


def _bounds(run: Run, of: Lifetime, *fields: str) -> Mapping[Any, _Bounds]:
    """By what they name, the first line that starts each, and the last that ends it: all by whole
    columns, as a long trace has a hundred thousand.
    """
    starts, ends = run.events(of.opener), run.events(of.closer)
    started, ended = _keys(starts, of.opener, fields), _keys(ends, of.closer, fields)
    first = dict(zip(reversed(started), reversed(starts), strict=True))
    last = dict(zip(ended, ends, strict=True))
    return {key: (first.get(key), last.get(key)) for key in dict.fromkeys((*started, *ended))}


def _keys(lines: Sequence[Line], name: str, fields: Sequence[str]) -> Sequence[Any]:
    named = itemgetter(*(EVENTS[name].positions[each] for each in fields))
    return [*map(named, [line.facts for line in lines])]


def _said(bounds: Mapping[Any, _Bounds], of: Lifetime, field: str) -> dict[Any, str | None]:
    """What each end says, where there is one."""
    place = EVENTS[of.closer].positions[field]
    return {key: end.facts[place] for key, (_, end) in bounds.items() if end is not None}


def _lengths(bounds: Mapping[Any, _Bounds], of: Lifetime) -> dict[Any, Length]:
    """How long each took that has an end: by whole columns, too."""
    ended = {key: (start, end) for key, (start, end) in bounds.items() if end is not None}
    starts = [start.facts[TS] if start is not None else None for start, _ in ended.values()]
    ends = [end.facts for _, end in ended.values()]
    clocks = [*map(milliseconds_between, starts, [each[TS] for each in ends])]
    claim = EVENTS[of.closer].positions["wall_clock_ms"]
    claims = [each[claim] for each in ends]
    return dict(zip(ended, map(length_of, claims, clocks), strict=True))


def _halt(line: Line, path: str) -> Halt:
    said = values_of(line)["assumption_summary"]
    place = LineRef(path, line.order + 1)
    return Halt(place, None if said is None else str(said)[:_LONGEST_SUMMARY])


def _clock(run: Run) -> tuple[str | None, int | None]:
    """The first moment of a run, and how long it went on: by the timestamps, as a merge may have
    put a line anywhere. Unknown where the year is wrong of the line with which it begins or ends.
    """
    own = [lines for name, lines in run.by_event.items() if not EVENTS[name].is_feed]
    year, wrong = run.kept(misdated)
    stamps = [line.facts[TS] for line in chain.from_iterable(own)]
    known = sorted(filter(None, map(sortable, stamps)))
    first = next((ts for ts in known if is_of_year(ts, year)), None)
    last = next((ts for ts in reversed(known) if is_of_year(ts, year)), None)
    ends = earliest([each[0] for each in own]), latest([each[-1] for each in own])
    return first, milliseconds_between(first, last) if not {*ends} & {*wrong} else None
