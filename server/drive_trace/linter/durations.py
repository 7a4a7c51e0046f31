"""What the ends of dispatches and rounds claim, beside their timestamps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from drive_trace.linter.phases import MOST
from drive_trace.linter.rule import Finding, Message, Option, Related, Rule
from drive_trace.trace.durations import TIMED, TimeSpan, span_ended_by
from drive_trace.trace.line import Line
from drive_trace.trace.places import Place
from drive_trace.trace.run import Run
from drive_trace.trace.times import milliseconds_between

_DISPATCH, _ROUND = TIMED
CLAIM = Place.value("wall_clock_ms")
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
    run: Run

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
        return Finding(rule, span.end, CLAIM, message, related, expected=expected, run=run)


def durations(run: Run) -> Sequence[Duration]:
    """The dispatches and rounds of a run that did not take what their ends say, to the digit."""
    return run.kept(_durations)


def _durations(run: Run) -> Sequence[Duration]:
    found: list[Duration] = []
    for of in TIMED:
        started = run.table(of.opener, of.field)
        for value, ends in run.table(of.closer, of.field).items():
            starts = started.get(value, ())
            if len(starts) == len(ends) == 1 and _is_exact(starts[0], ends[0]):
                continue  # as nearly all are
            spans = (span_ended_by(run, end) for end in ends)
            found += [Duration(span, run) for span in spans if span is not None and span.excess_ms]
    return found


def _is_exact(start: Line, end: Line) -> bool:
    passed = milliseconds_between(start.text_fact("ts"), end.text_fact("ts"))
    return passed == end.fact("wall_clock_ms")


def _speaker(run: Run, end: Line) -> Line | None:
    """The end that speaks for this one, if what both claim is wrong."""
    dispatch = end.fact(_DISPATCH.field)
    rounds = run.of(_ROUND.opener, _DISPATCH.field, dispatch)
    ends = run.of(_DISPATCH.closer, _DISPATCH.field, dispatch)
    if len(ends) != 1:
        return None
    if ends[0] is not end:
        of_rounds = run.of(_ROUND.closer, _DISPATCH.field, dispatch)
        is_one_of_few = 1 < len(rounds) <= MOST and len(of_rounds) <= MOST
        return ends[0] if is_one_of_few else None
    if len(rounds) != 1:
        return None
    round_id = rounds[0].fact(_ROUND.field)
    starts, ends = (run.of(name, _ROUND.field, round_id) for name in (_ROUND.opener, _ROUND.closer))
    return ends[0] if len(starts) == len(ends) == 1 else None
