"""What the events of a run say happened: counts, times, and what stands out. No verdict."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any, cast

from drive_trace.scorecard.caveats import LineRef
from drive_trace.text.frozen import Frozen
from drive_trace.trace.line import TS, Line, earliest, latest, name_of
from drive_trace.trace.reading import values_of
from drive_trace.trace.run import Length, Run, length_of, misdated, work_of
from drive_trace.trace.times import in_moments, is_of_year, milliseconds_between
from drive_trace.vocabulary import DISPATCH, EVENTS, ROUND, SLICE, Lifetime

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
    stamps = in_moments([line.facts[TS] for line in chain.from_iterable(own)])
    first, last = (
        next((ts for ts in way if is_of_year(ts, year)), None) for way in (stamps, stamps[::-1])
    )
    ends = earliest([each[0] for each in own]), latest([each[-1] for each in own])
    return first, milliseconds_between(first, last) if not {*ends} & {*wrong} else None
