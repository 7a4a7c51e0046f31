"""What the rules about ``wall_clock_ms`` have in common: the duration that two timestamps allow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from drive_trace.linter.edits import as_json, replace_value
from drive_trace.linter.lives import Duration
from drive_trace.linter.rule import Finding, Fix, Level, Option, Related, Rule, Words
from drive_trace.trace.places import Part, Place
from drive_trace.trace.times import in_words

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


def in_full(milliseconds: int) -> str:
    """A length of time in words, and exactly."""
    words = in_words(milliseconds)
    return words if words.endswith("ms") else f"{words} ({milliseconds} ms)"


def finding_on(rule: Rule[Any], found: Duration, words: Words) -> Finding:
    """The finding on a duration that is not what the timestamps say."""
    related = (Related(found.start, Place(Part.VALUE, ("ts",)), ("it started then",)),)
    return Finding(rule, found.end, WALL_CLOCK, words, related, expected=found.measured_ms)


def replace_with_measured(finding: Finding) -> Iterable[Fix]:
    """Suggests the time between the timestamps."""
    edit = replace_value(finding.line, ("wall_clock_ms",), as_json(finding.expected))
    yield Fix(f"Replace with {finding.expected}, as the timestamps say", Level.BY_HAND, (edit,))
