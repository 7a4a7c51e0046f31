"""What a metric is: a fact about the traces, computed from their valid events.

Metrics are diagnostic. They say what happened, never whether the work is right:
the correctness gate says that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from drive_trace.report.event_log import EventLog
from drive_trace.scorecard.efficiency import as_double

Number = int | float
Value = object
"""A metric's value as JSON: a number, or objects and lists of them; None is *no signal*."""


class Polarity(StrEnum):
    """Which way is better, other things equal; it means nothing without a correctness signal."""

    LOWER = "lower is better"
    HIGHER = "higher is better"
    NEITHER = "neither way is better"


class Source(StrEnum):
    """Where a value comes from, so that a claim is not taken for a measurement."""

    COUNTED = "counted"
    CLOCK = "by the clock"
    ASSERTED = "author-asserted"
    NOBODY = "not recorded"


class FigureUnit(StrEnum):
    """The unit of a figure."""

    COUNT = ""
    RATIO = "ratio"
    SHARE = "share"
    MILLISECONDS = "ms"
    WORD = "word"


class Figure(NamedTuple):
    """A single figure of a metric; ``at`` are the keys that lead to it in the value."""

    label: str
    at: tuple[str, ...] = ()
    unit: FigureUnit = FigureUnit.COUNT


class Breakdown(NamedTuple):
    """A table of a metric: an object, or a list of objects whose first key names the row."""

    caption: str
    key: str
    """What the first column holds."""
    columns: Sequence[tuple[str, tuple[str, ...]]]
    """Header, and the keys that lead to the cell from a row's value."""
    at: tuple[str, ...] = ()
    unit: FigureUnit = FigureUnit.COUNT


def breakdown(
    caption: str, key: str, header: str, *at: str, unit: FigureUnit = FigureUnit.COUNT
) -> Breakdown:
    """A table with one column beside the first; ``at`` are the keys that lead to its rows."""
    return Breakdown(caption, key, ((header, ()),), at, unit)


@dataclass(frozen=True, slots=True)
class Metric:
    """The declaration of one metric."""

    group: str
    key: str
    """Where it stands in JSON: ``metrics[group][key]``."""
    title: str
    polarity: Polarity
    source: Source
    compute: Callable[[EventLog], Value]
    no_signal: str
    """Why it has no value, where it has none."""
    shows: Sequence[Figure | Breakdown]


def metric(
    group: str,
    title: str,
    polarity: Polarity,
    source: Source,
    *shows: Figure | Breakdown,
    no_signal: str = "it always has a value",
) -> Callable[[Callable[[EventLog], Value]], Metric]:
    """Declare a metric by the function that computes it. The function's name is its key."""

    def declare(compute: Callable[[EventLog], Value]) -> Metric:
        return Metric(group, compute.__name__, title, polarity, source, compute, no_signal, shows)

    return declare


class Measured(NamedTuple):
    """A metric with its value."""

    metric: Metric
    value: Value


def total(numbers: Iterable[int]) -> Number | None:
    """The sum as a JavaScript reader has it; None where no finite double holds it."""
    return as_double(sum(numbers))


def ratio(part: Number, whole: int) -> Number | None:
    """A quotient as JSON writes it: whole ones without a fraction. None over nothing."""
    if not whole:
        return None
    quotient = part / whole
    return as_double(int(quotient)) if quotient.is_integer() else quotient


def mean(numbers: Sequence[int]) -> Number | None:
    """The arithmetic mean; None of nothing, and where no finite double holds the sum."""
    added = total(numbers)
    return None if added is None else ratio(added, len(numbers))


def counted(values: Iterable[str]) -> Mapping[str, int]:
    """How often each value occurs, in the order of first occurrence."""
    return dict(Counter(values))
