"""How likely so many runs are to show a difference that is there, and how many would be enough; and
at which levels one may look before all runs are there.

By normal approximations: of the gate with its correction for whole counts (Casagrande, Pike and
Smith, 1978, over cases), of costs by the ranks of log-normal ones. They say how many runs to plan,
and decide nothing.
"""

import math
from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import NamedTuple, TypeAlias

from drive_trace.comparison import statistics
from drive_trace.comparison.statistics import ALPHA, HIGHER, Sample, is_significant, quantile
from drive_trace.grading.calibration import Z
from drive_trace.text.wording import are, plural

ENOUGH = 0.80
"""So often a difference that matters should be shown."""
RATIO = 1.5
"""By default a cost that is higher or lower by this factor matters."""
MOST_RUNS = 1000
"""So many runs a side nobody makes."""

Sizes: TypeAlias = Sequence[tuple[int, int]]
"""Of each case, how many runs each side has."""
_NORMAL = NormalDist()
_chance = _NORMAL.cdf
_STEPS = 200
_FARTHEST = 8.0
"""In standard deviations: beyond there is nothing that a double can tell from 0."""


class Power(NamedTuple):
    """What a design can show."""

    what: str
    """Whose difference: ``CORRECT runs``, or a cost."""
    effect: float
    """The least difference that matters: of rates, or a ratio of costs."""
    power: float
    """In how many comparisons the design shows it, as a share."""
    runs: int | None
    """How many runs a side in each case would show it in :data:`ENOUGH`; None above MOST_RUNS."""

    @property
    def words(self) -> str:
        """All of it, as a clause."""
        effect = f"a factor of {self.effect:g}" if self.effect > 1 else f"{self.effect:.2f}"
        each = f"{plural(self.runs or MOST_RUNS, 'run')} per case and side"
        enough = f"{each} {are(self.runs or 0)} enough"
        more = enough if self.runs else f"it takes more than {each}"
        return (
            f"a difference of {effect} in {self.what} is found in {self.power:.0%} of such "
            f"comparisons; for {ENOUGH:.0%}, {more}"
        )


def power_of(what: str, effect: float, sizes: Sizes, chance: Callable[[Sizes], float]) -> Power:
    """The power of a design, given that of any; and how many runs would be enough in its cases."""
    most = MOST_RUNS // len(sizes)

    def shows(runs: int) -> bool:
        return chance([(runs, runs)] * len(sizes)) >= ENOUGH

    low, high = 0, 1
    while high < most and not shows(high):
        low, high = high, min(2 * high, most)
    is_enough = shows(high)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shows(middle) else (middle, high)
    return Power(what, effect, chance(sizes), high if is_enough else None)


def power_of_gate(sizes: Sizes, rate: float, margin: float, alpha: float) -> Power:
    """How likely the gate decides: see :func:`chance_of_gate`."""
    return power_of(
        "CORRECT runs", margin, sizes, lambda of: chance_of_gate(of, rate, margin, alpha)
    )


def chance_of_gate(sizes: Sizes, rate: float, margin: float, alpha: float = ALPHA) -> float:
    """How likely the gate decides where the baseline's rate of passes is ``rate``, and the
    candidate's is lower or higher by ``margin``, whichever is harder to show.
    """
    if not is_significant(statistics.smallest_p(sizes), alpha):
        return 0.0
    rates = [each for each in (rate - margin, rate + margin) if 0 <= each <= 1]
    return min(
        _shown(sizes, rate, other, quantile(alpha)) for other in rates or [max(rate - margin, 0.0)]
    )


def _shown(sizes: Sizes, p: float, q: float, z: float) -> float:
    weights = [m * n / (m + n) for m, n in sizes]
    pooled = [(m * p + n * q) / (m + n) for m, n in sizes]
    alike = math.fsum(w * r * (1 - r) for w, r in zip(weights, pooled, strict=True))
    apart = math.fsum(
        w * w * (p * (1 - p) / m + q * (1 - q) / n)
        for w, (m, n) in zip(weights, sizes, strict=True)
    )
    far = sum(weights) * abs(q - p) - 0.5 - z * math.sqrt(alike)
    return _chance(far / math.sqrt(apart)) if apart else float(far >= 0)


def chance_of_cost(  # noqa: PLR0913 - what it depends on
    sizes: Sizes,
    rate: float,
    spread: float,
    ratio: float,
    alpha: float = ALPHA,
    *,
    by_dollars: bool = True,
) -> float:
    """How likely a cost is told that differs by ``ratio``, where the logarithms of costs have the
    standard deviation ``spread`` within a case, and ``rate`` of all runs pass: for each CORRECT run
    by the dollar, else of CORRECT runs alone.
    """
    ways = math.prod(math.comb(m + n, n) for m, n in sizes)
    if ways < (1 / (1 - HIGHER) if by_dollars else 2) / alpha:
        return 0.0  # so few runs tell nothing
    if by_dollars:
        weights = [m * n / (m + n) for m, n in sizes]
        own = sum(w * w / (m + n - 1) for w, (m, n) in zip(weights, sizes, strict=True))
        room = (sum(weights) / quantile(2 * HIGHER * alpha)) ** 2 - own
        far = math.log(ratio) * math.sqrt(sum(weights) / (spread**2 + (1 - rate) / rate))
        return _chance(far - sum(weights) / math.sqrt(room)) if room > 0 else 0.0
    wins = _chance(math.log(ratio) / (spread or 1e-9) / math.sqrt(2)) - 0.5
    mean = wins * rate * rate * sum(m * n for m, n in sizes)
    # How many runs pass is left to chance, and the variance of ranks grows faster than they.
    ranks = ((m + n - 2) * rate + 3 for m, n in sizes)
    variances = (m * n * rate * rate * each / 12 for (m, n), each in zip(sizes, ranks, strict=True))
    deviation = math.sqrt(math.fsum(variances))
    return _chance(max(mean - 0.5, 0.0) / deviation - quantile(alpha)) if mean else 0.0


def spread_of(cases: Sequence[Sample]) -> float | None:
    """The standard deviation of the logarithms of costs within a case, whatever the sides differ
    by; None of too few.
    """
    pairs = [c - b for case in cases for b in case.baseline for c in case.candidate]
    shift = math.fsum(pairs) / len(pairs) if pairs else 0.0
    squares, free = [], -1 if pairs else 0
    for case in cases:
        costs = [*case.baseline, *(each - shift for each in case.candidate)]
        mean = math.fsum(costs) / len(costs) if costs else 0.0
        squares += [(each - mean) ** 2 for each in costs]
        free += max(len(costs) - 1, 0)
    return math.sqrt(math.fsum(squares) / free) if free > 0 else None


def likely_rate(passed: float, of: int) -> float:
    """A rate of passes to plan with: the middle of Wilson's interval, as few runs show no rate of
    0 or 1.
    """
    return (passed + Z * Z / 2) / (of + Z * Z)


# Levels for several planned looks at one comparison, which together are wrong no oftener than one.
# They are spent as by O'Brien and Fleming: little at first, most at the end (K. K. G. Lan and D. L.
# DeMets, Biometrika 70, 1983). Each follows from those before by the density of what has not been
# decided yet (P. Armitage, C. K. McPherson and B. C. Rowe, 1969).


def spent(share: float, alpha: float = ALPHA) -> float:
    """What may be spent of ``alpha``, half of it a side, when a share of all runs is there."""
    return 4 * _beyond(_NORMAL.inv_cdf(1 - alpha / 4) / math.sqrt(share))


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
        inner = (sum(m * _NORMAL.pdf((x - at) / deviation) for at, m in nodes) for x in points)
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
