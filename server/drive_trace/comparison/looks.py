"""Levels for several planned looks at one comparison, which together are wrong no oftener than one.

They are spent as by O'Brien and Fleming: little at first, most at the end (K. K. G. Lan and D. L.
DeMets, Biometrika 70, 1983). Each follows from those before by the density of what has not been
decided yet (P. Armitage, C. K. McPherson and B. C. Rowe, 1969).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist

from drive_trace.comparison.statistics import ALPHA

_STEPS = 200
_FARTHEST = 8.0
"""In standard deviations: beyond there is nothing that a double can tell from 0."""
_normal = NormalDist()


def spent(share: float, alpha: float = ALPHA) -> float:
    """What may be spent of ``alpha``, half of it a side, when a share of all runs is there."""
    return 4 * _beyond(_normal.inv_cdf(1 - alpha / 4) / math.sqrt(share))


def levels(shares: Sequence[float], alpha: float = ALPHA) -> list[float]:
    """The level of a two-sided test at each look, given the shares of all runs that are there."""
    found: list[float] = []
    nodes, before, already = [(0.0, 1.0)], 0.0, 0.0
    for share in shares:
        deviation = math.sqrt(share - before)
        low, high = 0.0, _FARTHEST * math.sqrt(share)
        while high - low > 1e-9:  # beyond the bound lies what may be spent now
            bound = (low + high) / 2
            beyond = 2 * sum(mass * _beyond((bound - at) / deviation) for at, mass in nodes)
            low, high = (bound, high) if beyond > spent(share, alpha) - already else (low, bound)
        found.append(2 * _beyond(high / math.sqrt(share)))
        points = [high * (2 * step / _STEPS - 1) for step in range(_STEPS + 1)]
        inner = (sum(m * _normal.pdf((x - at) / deviation) for at, m in nodes) for x in points)
        nodes = [
            (x, each * _simpson(step) * high / _STEPS * 2 / 3 / deviation)
            for step, (x, each) in enumerate(zip(points, inner, strict=True))
        ]
        before, already = share, spent(share, alpha)
    return found


def levels_for_two(shares: Sequence[float], alpha: float = ALPHA) -> list[float]:
    """The level at each look that two tests may divide as they like: they are wrong most often
    where each has a half, and then as rarely as one.
    """
    return [2 * each for each in levels(shares, alpha / 2)]


def _simpson(step: int) -> int:
    return 1 if step in {0, _STEPS} else 4 if step % 2 else 2


def _beyond(z: float) -> float:
    return math.erfc(z / math.sqrt(2)) / 2
