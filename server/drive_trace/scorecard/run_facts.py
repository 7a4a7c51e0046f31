"""What the events of a run say happened: counts, times, and what stands out. No verdict."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import NamedTuple

from drive_trace.scorecard.caveats import LineRef
from drive_trace.scorecard.dispatches import SPANNING, DispatchSpan, Event, dispatches_of
from drive_trace.trace.line import Line
from drive_trace.trace.reading import values_of
from drive_trace.trace.run import Run
from drive_trace.trace.times import milliseconds_between, sortable
from drive_trace.vocabulary import EVENTS, SLICE

_HALT = "falsified-assumption"
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


_Files = Sequence[tuple[Run, str]]


def run_facts(files: _Files) -> RunFacts:
    """What the events of a run say, given them file by file, without copies, with the files'
    paths.
    """
    spans = dispatches_of(chain.from_iterable(_events(files, name) for name in SPANNING))
    work = [length for span in spans for length in span.work]
    results = Counter(span.said for span in spans)
    verdicts = Counter(each.said for span in spans for each in span.rounds)
    slices = chain(_events(files, SLICE.opener), _events(files, SLICE.closer))
    halts = [(line, path) for run, path in files for line in run.events(_HALT)]
    longest = max(spans, key=lambda span: (span.length or (-1, False))[0], default=None)
    most = max(spans, key=lambda span: span.round_starts, default=None)
    return RunFacts(
        dispatches=len(spans),
        completed=results["completed"],
        failed=results["failed"],
        aborted=results["aborted"],
        open=results[None],
        slices=len({event.values[SLICE.field] for event in slices}),
        work_ms=sum(ms for ms, _ in work) if work else None,
        claimed_ms=sum(ms for ms, is_claimed in work if is_claimed),
        clock_ms=_clock_ms(files),
        halt_count=len(halts),
        halts=tuple(_halt(*each) for each in halts[:_MOST_HALTS]),
        longest=_top(longest, longest.length[0]) if longest and longest.length else None,
        longest_work_ms=sum(ms for ms, _ in longest.work) if longest else None,
        rounds=sum(span.round_starts for span in spans),
        reworked=sum(span.round_starts > 1 for span in spans),
        most_rounds=_top(most, most.round_starts) if most else None,
        escalations=verdicts["escalating-to-user"],
    )


def _events(files: _Files, name: str) -> Iterator[Event]:
    """Those of a name, with what lines keep of them."""
    keeps = EVENTS[name].keeps
    for run, path in files:
        for line in run.events(name):
            yield Event(name, dict(zip(keeps, line.facts, strict=True)), path, line.order + 1)


def _top(span: DispatchSpan, figure: int) -> TopDispatch:
    return TopDispatch(span.called, figure, span.place)


def _halt(line: Line, path: str) -> Halt:
    said = values_of(line)["assumption_summary"]
    place = LineRef(path, line.order + 1)
    return Halt(place, None if said is None else str(said)[:_LONGEST_SUMMARY])


def _clock_ms(files: _Files) -> int | None:
    own = (
        line for run, _ in files for some in (run.lines, run.lines[::-1]) for line in _first(some)
    )
    stamps = [*filter(None, (sortable(line.text_fact("ts")) for line in own))]
    return milliseconds_between(min(stamps), max(stamps)) if stamps else None


def _first(lines: Sequence[Line]) -> Iterator[Line]:
    """The first that is no feed's."""
    return islice((each for each in lines if each.event and not each.event.is_feed), 1)
