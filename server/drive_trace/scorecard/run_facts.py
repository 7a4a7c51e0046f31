"""What the events of a run say happened: counts, times, and what stands out. No verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import NamedTuple, cast

from drive_trace.scorecard.caveats import LineRef
from drive_trace.trace.line import Line
from drive_trace.trace.reading import values_of
from drive_trace.trace.run import Run, TimeSpan
from drive_trace.trace.times import milliseconds_between, sortable
from drive_trace.vocabulary import DISPATCH, ROUND, SLICE, Lifetime

_OF_SLICES = (SLICE.opener, SLICE.closer)
_MOST_HALTS = 20
_LONGEST_SUMMARY = 1000
"""Characters."""


class Halt(NamedTuple):
    """An assumption that turned out false."""

    line: LineRef
    summary: str | None
    """Its author's words, cut; None if there are none."""


class TopDispatch(NamedTuple):
    """The dispatch of a run with the largest figure."""

    name: str
    figure: int
    line: LineRef


class RunFacts(NamedTuple):
    """What happened. Times are in milliseconds; None is *not recorded*, never zero."""

    dispatches: int = 0
    completed: int = 0
    failed: int = 0
    aborted: int = 0
    open: int = 0
    """So many have no end."""
    slices: int = 0
    work_ms: int | None = None
    """In rounds, or in dispatches without one; what went on at the same time adds up."""
    claimed_ms: int = 0
    """How much of that is what authors claim, as timestamps do not tell."""
    clock_ms: int | None = None
    """From the first event to the last that is no feed's."""
    halt_count: int = 0
    halts: tuple[Halt, ...] = ()
    """The first of these."""
    longest: TopDispatch | None = None
    """By the time from start to end."""
    longest_work_ms: int | None = None
    """How much of that was work."""
    rounds: int = 0
    reworked: int = 0
    """So many dispatches had more than one round."""
    most_rounds: TopDispatch | None = None
    escalations: int = 0
    """So many rounds ended with a question to a person."""


_Place = tuple[Line, str]
"""A line and the path of its file."""
_Files = Sequence[tuple[Run, str]]
_Length = tuple[int, bool]
"""Milliseconds, and whether only their author says so."""


class _Span:
    """A dispatch or round: its first start and its last end."""

    def __init__(self, first: _Place) -> None:
        self.first = first
        self.start: _Place | None = None
        self.end: _Place | None = None

    @property
    def length(self) -> _Length | None:
        """How long it took; None while it has no end."""
        if self.end is None:
            return None
        end, claimed = self.end[0], cast("int", self.end[0].fact("wall_clock_ms"))
        start = self.start[0] if self.start is not None else None
        ts = start.text_fact("ts") if start is not None else None
        clock = milliseconds_between(ts, end.text_fact("ts"))
        if start is None or clock is None or clock < 0:
            return claimed, True
        is_claimed = TimeSpan(start, end, claimed, clock).is_recorded_afterwards
        return (claimed if is_claimed else clock), is_claimed


def run_facts(files: _Files) -> RunFacts:
    """What the events of a run say, given them file by file, without copies, with the files'
    paths.
    """
    dispatches, inside = _spans(files, DISPATCH), dict[str, list[_Length]]()
    for each in _spans(files, ROUND).values():
        key = each.first[0].text_fact(DISPATCH.field)
        dispatches.setdefault(key, _Span(each.first))
        if (length := each.length) is not None:
            inside.setdefault(key, []).append(length)
    lengths = {key: found for key, span in dispatches.items() if (found := span.length)}
    work = {key: inside.get(key) or [length] for key, length in lengths.items()}
    work |= inside
    worked = [*chain.from_iterable(work.values())]
    rounds = Counter(line.text_fact(DISPATCH.field) for line, _ in _events(files, ROUND.opener))
    longest = _top(dispatches, {key: ms for key, (ms, _) in lengths.items()})
    results = Counter(span.end[0].fact("result") for span in dispatches.values() if span.end)
    verdicts = Counter(line.fact("verdict") for line, _ in _events(files, ROUND.closer))
    slices = (line for name in _OF_SLICES for line, _ in _events(files, name))
    halts = [*_events(files, "falsified-assumption")]
    return RunFacts(
        dispatches=len(dispatches),
        completed=results["completed"],
        failed=results["failed"],
        aborted=results["aborted"],
        open=len(dispatches) - results.total(),
        slices=len({line.fact(SLICE.field) for line in slices}),
        work_ms=sum(ms for ms, _ in worked) if worked else None,
        claimed_ms=sum(ms for ms, is_claimed in worked if is_claimed),
        clock_ms=_clock_ms(files),
        halt_count=len(halts),
        halts=tuple(_halt(*each) for each in halts[:_MOST_HALTS]),
        longest=longest and longest[1],
        longest_work_ms=sum(ms for ms, _ in work[longest[0]]) if longest else None,
        rounds=rounds.total(),
        reworked=sum(count > 1 for count in rounds.values()),
        most_rounds=(most := _top(dispatches, rounds)) and most[1],
        escalations=verdicts["escalating-to-user"],
    )


def _events(files: _Files, name: str) -> Iterator[_Place]:
    return ((line, path) for run, path in files for line in run.events(name))


def _spans(files: _Files, of: Lifetime) -> dict[str, _Span]:
    found: dict[str, _Span] = {}
    for place in _events(files, of.opener):
        span = found.setdefault(place[0].text_fact(of.field), _Span(place))
        span.start = span.start or place
    for place in _events(files, of.closer):
        found.setdefault(place[0].text_fact(of.field), _Span(place)).end = place
    return found


def _top(
    dispatches: Mapping[str, _Span], figures: Mapping[str, int]
) -> tuple[str, TopDispatch] | None:
    """The id of the dispatch with the largest figure, and that; of equal ones the first."""
    # A round whose id stands in several dispatches is taken for one of the first.
    known = [key for key in figures if key in dispatches]
    key = max(known, key=figures.__getitem__, default=None)
    if key is None:
        return None
    span = dispatches[key]
    name = span.start[0].text_fact("dispatch_name") if span.start is not None else key
    return key, TopDispatch(name, figures[key], _place(*span.first))


def _place(line: Line, path: str) -> LineRef:
    return LineRef(path, line.order + 1)


def _halt(line: Line, path: str) -> Halt:
    said = values_of(line)["assumption_summary"]
    return Halt(_place(line, path), None if said is None else str(said)[:_LONGEST_SUMMARY])


def _clock_ms(files: _Files) -> int | None:
    own = (
        line for run, _ in files for some in (run.lines, run.lines[::-1]) for line in _first(some)
    )
    stamps = [*filter(None, (sortable(line.text_fact("ts")) for line in own))]
    return milliseconds_between(min(stamps), max(stamps)) if stamps else None


def _first(lines: Sequence[Line]) -> Iterator[Line]:
    """The first that is no feed's."""
    return islice((each for each in lines if each.event and not each.event.is_feed), 1)
