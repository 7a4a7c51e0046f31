"""A time axis on which idle time is folded, and short times are long enough to be seen.

Places are shares of the axis, from 0 to 1. Between two moments at which something happened, the
axis is even. How wide such a step is follows its length, but no step is narrower than a bar that
can be pointed at, and none is so wide that it leaves no room for the others: that one is *folded*.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil, log2
from typing import NamedTuple

WIDTH = 900
"""Pixels that an axis has at least on a desk; shares follow from it."""
LEAST = 4 / WIDTH
"""What can be pointed at is at least so wide."""
_FOLDED = 44 / WIDTH
"""A step in which no dispatch is open is no wider than the words on its length."""
_USUAL = 4
"""A step in which one is open is not drawn longer than so many times what most of them last."""
_LABEL = 76 / 640
"""From one tick to the next, also where a phone leaves the drawing this many pixels."""
_DEEPEST = 6
_SECOND = 1000
_DAY = 86_400_000
_STEPS = tuple(
    each * _SECOND
    for each in (86_400, 43_200, 21_600, 10_800, 3600, 1800, 900, 300, 60, 30, 15, 5, 1)
)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Fold(NamedTuple):
    """A step that is drawn far shorter than it is long."""

    left: float
    right: float
    milliseconds: int


class Tick(NamedTuple):
    """A round moment, with the level of zoom from which on there is room for it."""

    place: float
    moment: int
    level: int


@dataclass(frozen=True)
class TimeAxis:
    """Moments are milliseconds since 1970."""

    moments: Sequence[int]
    """At which something happened, sorted, each once; at least two."""
    places: Sequence[float]
    """Of each of them."""
    folds: Sequence[Fold]
    levels: int
    """How often the axis has to be doubled for its shortest step to be pointed at."""

    def place(self, moment: int) -> float:
        """Where a moment is; what is beyond the axis is at its end."""
        at = min(max(bisect_right(self.moments, moment), 1), len(self.moments) - 1)
        start, end = self.moments[at - 1], self.moments[at]
        share = min(max((moment - start) / (end - start), 0.0), 1.0)
        return self.places[at - 1] + share * (self.places[at] - self.places[at - 1])


def time_axis(moments: Iterable[int], busy: Iterable[tuple[int, int]]) -> TimeAxis | None:
    """The axis for all moments at which something happened; None if there are none. ``busy`` are
    the times in which some dispatch was open.
    """
    known = sorted(set(moments))
    if not known:
        return None
    if len(known) == 1:
        known.append(known[0] + _SECOND)
    steps = [end - start for start, end in pairwise(known)]
    is_busy = _busy_steps(known, busy)
    least = min(LEAST, 0.5 / len(steps))
    idle = max(min(_FOLDED, 0.5 / len(steps)), least)
    usual = sorted(step for step, each in zip(steps, is_busy, strict=True) if each) or sorted(steps)
    longest = _USUAL * usual[len(usual) * 4 // 5]
    bounds = [
        (min(step, longest), 1.0 if each else idle)
        for step, each in zip(steps, is_busy, strict=True)
    ]
    scale, widths = _filled(bounds, least)
    whole = sum(widths)
    places, folds = [0.0], []
    for step, width in zip(steps, widths, strict=True):
        left = places[-1]
        places.append(left + width / whole)
        if step * scale > 1.5 * width and width > least:
            folds.append(Fold(left, places[-1], step))
    levels = min(_DEEPEST, max(2, ceil(log2(LEAST / least)) + 1))
    return TimeAxis(tuple(known), tuple(places), tuple(folds), levels)


def _busy_steps(known: Sequence[int], busy: Iterable[tuple[int, int]]) -> list[bool]:
    changes = [0] * (len(known) + 1)
    for start, end in busy:
        changes[bisect_left(known, start)] += 1
        changes[bisect_left(known, end)] -= 1
    found, depth = [], 0
    for change in changes[: len(known) - 1]:
        depth += change
        found.append(depth > 0)
    return found


def _filled(bounds: Sequence[tuple[int, float]], least: float) -> tuple[float, list[float]]:
    """The width of a millisecond, and of each step, so that all together fill the axis if they can.
    A step is as wide as so many milliseconds, but not wider than its bound.
    """

    def widths(scale: float) -> list[float]:
        # Without min and max, which take longer than all the rest.
        scaled = [(length * scale, most) for length, most in bounds]
        return [most if wide > most else max(least, wide) for wide, most in scaled]

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if sum(widths(middle)) > 1:
            high = middle
        else:
            low = middle
    return high, widths(high)


def ticks(axis: TimeAxis) -> list[Tick]:
    """Round moments, the roundest first, as many as there is room for at each level of zoom."""
    levels = _Levels(_LABEL, axis.levels)
    found = []
    folded = {each.left for each in axis.folds}
    segments = [
        (start, end, left, right)
        for (start, end), (left, right) in zip(
            pairwise(axis.moments), pairwise(axis.places), strict=True
        )
        if left not in folded
    ]
    for step in _STEPS:
        for start, end, left, right in segments:
            width = (right - left) * step / (end - start)
            if width * 2**axis.levels < _LABEL and end - start > step:
                continue
            for moment in range(-(-start // step) * step, end + 1, step):
                place = left + (right - left) * (moment - start) / (end - start)
                level = levels.take(place)
                if level is not None and place < 1 - _LABEL / 2 ** (level + 1):
                    found.append(Tick(place, moment, level))
    return found


def days(axis: TimeAxis) -> list[Tick]:
    """Where each day begins of which something is known."""
    first: dict[int, int] = {}
    for moment in axis.moments:
        first.setdefault(moment // _DAY, moment)
    levels = _Levels(_LABEL, axis.levels)
    found = []
    for number, (day, moment) in enumerate(first.items()):
        midnight = day * _DAY
        place = axis.place(midnight if number and midnight > axis.moments[0] else moment)
        level = levels.take(place)
        if level is not None and place < 1 - _LABEL / 2 ** (level + 1):
            found.append(Tick(place, moment, level))
    return found


def spaced(places: Iterable[float], apart: float, most: int) -> list[int]:
    """The level of zoom from which on each place is so far from those shown before it; at most
    ``most``.
    """
    levels = _Levels(apart, most)
    found = (levels.take(place) for place in places)
    return [most if level is None else level for level in found]


class _Levels:
    """Finds room for labels: each is so far from all others that are shown where it is."""

    def __init__(self, apart: float, most: int) -> None:
        self._apart = apart
        self._placed: list[list[float]] = [[] for _ in range(most + 1)]

    def take(self, place: float) -> int | None:
        """The first level of zoom at which there is room; None if there is at none."""
        nearest = 2.0
        for level, placed in enumerate(self._placed):
            at = bisect_left(placed, place)
            if at and place - placed[at - 1] < nearest:
                nearest = place - placed[at - 1]
            if at < len(placed) and placed[at] - place < nearest:
                nearest = placed[at] - place
            if nearest * 2**level >= self._apart:
                insort(placed, place)
                return level
        return None


def as_date(moment: int) -> str:
    """``2026-06-08``."""
    return _at(moment).strftime("%Y-%m-%d")


def as_time(moment: int) -> str:
    """``14:05``, with seconds where there are some."""
    at = _at(moment)
    return at.strftime("%H:%M:%S" if at.second else "%H:%M")


def _at(moment: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=moment)
