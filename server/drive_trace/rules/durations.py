"""What the rules about ``wall_clock_ms`` have in common: the duration that two timestamps allow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, cast

from drive_trace.rules.base import Finding, Fix, Level, Option, Related, Rule, Words
from drive_trace.rules.edits import as_json, replace_value
from drive_trace.rules.subjects import Step
from drive_trace.trace.line import Line
from drive_trace.trace.places import Part, Place
from drive_trace.trace.times import in_words, milliseconds_between

WALL_CLOCK = Place(Part.VALUE, ("wall_clock_ms",))

TOLERANCES = (
    Option(
        "tolerance-ms",
        2000,
        "Milliseconds that a duration may differ from its timestamps, whatever its length.",
        minimum=0,
    ),
    Option(
        "tolerance-percent",
        2,
        "Percent of the time between the timestamps that a duration may differ from it.",
        minimum=0,
    ),
)


class Measured(NamedTuple):
    """The end of a dispatch or round, and how long that took."""

    start: Line
    end: Line
    claimed_ms: int
    """What the end says."""
    measured_ms: int
    """What lies between the two timestamps."""

    @property
    def excess_ms(self) -> int:
        """How much more is claimed than was measured; negative where it is less."""
        return self.claimed_ms - self.measured_ms

    def is_off(self, tolerance_ms: float, tolerance_percent: float) -> bool:
        """Whether the two differ by more than both tolerances."""
        off = abs(self.excess_ms)
        return off > tolerance_ms and 100 * off > tolerance_percent * self.measured_ms


def measure(subject: Step) -> Measured | None:
    """The durations at the end of a dispatch or round that just went on from its start."""
    start, end = subject.before, subject.line
    if not subject.closes or subject.follows_end or start is None:
        return None
    measured = milliseconds_between(start.text_fact("ts"), end.text_fact("ts"))
    if measured is None or measured < 0:  # then the timestamps are what is wrong
        return None
    return Measured(start, end, cast("int", end.fact("wall_clock_ms")), measured)


def in_full(milliseconds: int) -> str:
    """A length of time in words, and exactly."""
    words = in_words(milliseconds)
    return words if words.endswith("ms") else f"{words} ({milliseconds} ms)"


def finding_on(rule: Rule[Any], found: Measured, words: Words) -> Finding:
    """The finding on a duration that is not what the timestamps say."""
    related = (Related(found.start, Place(Part.VALUE, ("ts",)), ("it started then",)),)
    return Finding(rule, found.end, WALL_CLOCK, words, related, expected=found.measured_ms)


def replace_with_measured(finding: Finding) -> Iterable[Fix]:
    """Suggests the time between the timestamps."""
    edit = replace_value(finding.line, ("wall_clock_ms",), as_json(finding.expected))
    yield Fix(f"Replace with {finding.expected}, as the timestamps say", Level.BY_HAND, (edit,))
