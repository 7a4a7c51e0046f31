"""The entities of durations: what an end claims, beside its timestamps."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from drive_trace.linter.entities import MOST, EntityKind, Mention, WholeTrace, kind_of
from drive_trace.linter.rule import Finding, Message, Option, Related, Rule
from drive_trace.trace.durations import TIMED, TimeSpan, ends_beside, span_ended_by
from drive_trace.trace.line import Line
from drive_trace.trace.places import Place
from drive_trace.trace.run_index import RunIndex

_DISPATCH, _ROUND = TIMED
_FIELDS = tuple(of.field for of in TIMED)
_BOUNDS = tuple(name for of in TIMED for name in (of.opener, of.closer))
_CLAIM = Place.value("wall_clock_ms")
TOLERANCES = (
    Option(
        "tolerance-ms",
        2000,
        "Milliseconds that a duration may differ from its timestamps, whatever its length.",
        minimum=0,
    ),
    Option(
        "tolerance-percent",
        10,
        "Percent of the time between the timestamps that a duration may differ from it.",
        minimum=0,
    ),
)
"""What rules about durations let pass; see :meth:`Duration.excess_ms`."""


class Duration(NamedTuple):
    """The way from a start to an end of a dispatch or round, which did not take what the end says;
    with that of the round of a dispatch that has one round, or of the dispatch of one of its up to
    16 rounds: what is wrong with both is said there.
    """

    span: TimeSpan
    run: RunIndex

    def excess_ms(self, tolerance_ms: float, tolerance_percent: float) -> int:
        """How much more is claimed than was measured, negative where it is less; 0 within the
        tolerances, and where the other one is off in the same way.
        """
        tolerances, excess = (tolerance_ms, tolerance_percent), self.span.excess_ms
        if not self.span.is_off(*tolerances):
            return 0
        speaker = _speaker(self.run, self.span.end)
        other = span_ended_by(self.run, speaker) if speaker is not None else None
        if other is not None and other.is_off(*tolerances) and other.excess_ms * excess > 0:
            return 0
        return excess

    def finding(self, rule: Rule[Any], message: Message) -> Finding:
        """The finding on the duration."""
        span = self.span
        related = (Related(span.start, Place.value("ts"), "it started then"),)
        expected, run = span.measured_ms, self.run
        return Finding(rule, span.end, _CLAIM, message, related, expected=expected, run=run)


class RecordedAfterwards(NamedTuple):
    """A run with dispatches or rounds whose start and end were written at one moment."""

    first: TimeSpan
    ends: int
    """How many there are."""

    def finding(self, rule: Rule[Any], message: Message) -> Finding:
        """The finding on the first of them."""
        related = (Related(self.first.start, Place.value("ts"), "the start was written then"),)
        return Finding(rule, self.first.end, _CLAIM, message, related)


def _duration(trace: WholeTrace, line: Line) -> Iterator[Duration]:
    run = trace.index.runs[line.run]
    span = span_ended_by(run, line)
    if span is not None and span.excess_ms:
        yield Duration(span, run)


def _speaker(run: RunIndex, end: Line) -> Line | None:
    """The end that speaks for this one, if what both claim is wrong."""
    dispatch = end.fact(_DISPATCH.field)
    rounds = run.table(_ROUND.opener, _DISPATCH.field).of(dispatch)
    ends = run.table(_DISPATCH.closer, _DISPATCH.field).of(dispatch)
    if len(ends) != 1:
        return None
    if ends[0] is not end:
        of_rounds = run.table(_ROUND.closer, _DISPATCH.field).of(dispatch)
        is_one_of_few = 1 < len(rounds) <= MOST and len(of_rounds) <= MOST
        return ends[0] if is_one_of_few else None
    if len(rounds) != 1:
        return None
    round_id = rounds[0].fact(_ROUND.field)
    starts, ends = (run.table(name, _ROUND.field).of(round_id) for name in _BOUNDS[2:])
    return ends[0] if len(starts) == len(ends) == 1 else None


def _duration_keys(mention: Mention) -> Iterator[Line | None]:
    if not mention.is_a(*_BOUNDS):
        return
    line, run = mention.line, mention.run
    yield line if mention.is_a(_DISPATCH.closer, _ROUND.closer) else None
    yield from ends_beside(run, line)
    dispatches = {mention.value}
    if mention.field == _ROUND.field:
        starts = run.table(_ROUND.opener, _ROUND.field).of(mention.value)
        dispatches = {start.fact(_DISPATCH.field) for start in starts[:2]}
    for dispatch in dispatches:
        yield from run.table(_DISPATCH.closer, _DISPATCH.field).of(dispatch)[:2]
        if mention.field == _DISPATCH.field:
            yield from run.table(_ROUND.closer, _DISPATCH.field).of(dispatch)[: MOST + 1]


def _all_durations(trace: WholeTrace) -> Iterator[Line]:
    for run in trace.index.runs.values():
        yield from run.inexact_ends()


def _afterwards_keys(mention: Mention) -> Iterable[str]:
    return (mention.run.run_id,) if mention.is_a(*_BOUNDS) else ()


def _afterwards(trace: WholeTrace, run_id: str) -> Iterator[RecordedAfterwards]:
    run = trace.index.runs.get(run_id)
    ends = run.recorded_afterwards if run is not None else ()
    if run is not None and ends:
        first = span_ended_by(run, ends[0])
        assert first is not None
        yield RecordedAfterwards(first, len(ends))


KINDS: Mapping[type[tuple[Any, ...]], EntityKind] = {
    Duration: kind_of(_FIELDS, _duration_keys, _duration, _all_durations),
    RecordedAfterwards: kind_of(
        _FIELDS, _afterwards_keys, _afterwards, lambda trace: trace.index.runs
    ),
}
