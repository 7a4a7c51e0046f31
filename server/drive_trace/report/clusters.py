"""Bars of a timeline that are too narrow to be pointed at stand together, until there is room."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil, log2
from typing import TYPE_CHECKING, NamedTuple

from drive_trace.report.time_axis import LEAST, WIDTH

if TYPE_CHECKING:
    from drive_trace.report.chart import Bar

_REACH = 24 / WIDTH
"""A cluster is no wider than a number on it needs."""


class Cluster(NamedTuple):
    """What stands for some neighbours of one lane, at one level of zoom alone."""

    lane: int
    left: float
    right: float
    level: int
    bars: Sequence[Bar]


def level_of(width: float, most: int) -> int:
    """The first level of zoom at which something of this width can be pointed at; at most ``most``,
    where everything is shown.
    """
    if width <= 0:
        return most
    return min(max(ceil(log2(LEAST / width) - 0.01), 0), most)


def clusters_of(bars: Sequence[Bar], most: int) -> Iterator[Cluster]:
    """The clusters of each level below ``most``, for bars in order of time."""
    for level in range(most):
        if all(bar.level <= level for bar in bars):
            return
        near: dict[int, list[Bar]] = {}
        for bar in bars:
            group = near.setdefault(bar.lane, [])
            is_narrow = bar.level > level
            if group and not (is_narrow and _is_near(group[0], bar, level)):
                yield _cluster(group, level)
                group.clear()
            if is_narrow:
                group.append(bar)
        yield from (_cluster(group, level) for group in near.values() if group)


def _is_near(first: Bar, bar: Bar, level: int) -> bool:
    return bar.right - first.left <= _REACH / 2.0**level


def _cluster(group: Sequence[Bar], level: int) -> Cluster:
    left = group[0].left
    right = max(left + LEAST / 2**level, *(bar.right for bar in group))
    return Cluster(group[0].lane, left, right, level, tuple(group))
