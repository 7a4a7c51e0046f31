"""The statistics of a comparison: exact tests and their intervals, for few runs in several cases.

No random numbers: all ways to shuffle labels within the cases are counted, not drawn. Where they
are too many for ranks, the sum of these is taken for normal. A difference is always *candidate −
baseline*, and a ratio *candidate ÷ baseline*. Intervals are for 95 %.
"""

import math
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate, chain
from operator import mul
from statistics import NormalDist, covariance, fmean, median, variance
from typing import NamedTuple

from drive_trace.grading.calibration import Z, wilson

ALPHA = 0.05
_TIED = 1 + 1e-7
"""Chances that differ by less are the same, as in R's ``fisher.test``."""
_NEVER = 1e-30
_LEAST = 1e-12
"""No level is lower: a double cannot tell 1 less a smaller one from 1."""
_CLOSE = 1e-9
"""Sums of ranks that differ by less are the same."""
_FINE = 10**7
HIGHER = 2 / 3
"""So much of its level a test of dollars spends on a higher cost: a lower one has a margin, too."""
_FAR = 2.5 * 1.4826
"""Median deviations: 2.5 standard deviations of what is normal."""
_MOST_WORK = 10**9, 3 * 10**7
"""Bytes that are added up to count the ways of a case, and steps to join the cases: some seconds.
What takes more has so many different ranks that their sum is as good as normal.
"""

Interval = tuple[float, float]
Chances = list[float]


class Counts(NamedTuple):
    """One case: how many runs of each side, and how many of them passed."""

    baseline_passed: int
    baseline: int
    candidate_passed: int
    candidate: int

    @property
    def weight(self) -> float:
        """Mantel and Haenszel's: what the case can tell of a difference."""
        return self.baseline * self.candidate / (self.baseline + self.candidate)


def is_significant(p: float, alpha: float = ALPHA) -> bool:
    """Whether chance alone hardly explains what was found."""
    return p <= alpha * _TIED


# The gate


def difference(cases: Sequence[Counts]) -> tuple[float, Interval]:
    """The difference of the rates of passes, weighted by Mantel and Haenszel, with its interval.

    The interval is Newcombe's hybrid score interval (1998, method 10), of several cases over the
    weighted rates and the number of runs that these are worth. It needs a run of each side.
    """
    total = sum(case.weight for case in cases)
    shares = [case.weight / total for case in cases]
    p, (p_low, p_high) = _weighted(shares, [case[:2] for case in cases])
    q, (q_low, q_high) = _weighted(shares, [case[2:] for case in cases])
    low, high = math.hypot(q - q_low, p_high - p), math.hypot(q_high - q, p - p_low)
    return q - p, (q - p - low, q - p + high)


def _weighted(shares: Sequence[float], side: Sequence[tuple[int, int]]) -> tuple[float, Interval]:
    rate = math.fsum(w * hits / of for w, (hits, of) in zip(shares, side, strict=True))
    worth = 1 / math.fsum(w * w / of for w, (_, of) in zip(shares, side, strict=True))
    if all(hits == of for hits, of in side):
        rate = 1.0  # whatever rounding makes of it
    return rate, wilson(rate * worth, worth)


def gate_p(cases: Sequence[Counts]) -> float:
    """The two-sided p of no difference, given how many runs of each case passed: Fisher's exact
    test for one case, and for several the exact test of Cochran, Mantel and Haenszel, which counts
    every way to shuffle the labels within the cases. All ways as unlikely as this one count.
    """
    chances = _added(map(_passes, cases))
    observed = sum(case.candidate_passed - _fewest(case) for case in cases)
    return min(1.0, math.fsum(each for each in chances if each <= chances[observed] * _TIED))


def left_by_gate(cases: Sequence[Counts], alpha: float = ALPHA, apart: float = 0.0) -> float:
    """What the gate leaves of ``alpha``: as counts are whole, it decides less often than that where
    the sides are alike. A test at this level after it keeps all false answers below ``alpha``.

    Where ``apart`` is known, how the test goes with the candidate's passes, as a correlation if
    labels mean nothing, both together use ``alpha`` up: where the gate has decided, the test is not
    asked. Of such a level :data:`HIGHER` is for a higher cost.
    """
    chances = _added(map(_passes, cases))
    ordered = sorted(chances)
    sums = [*accumulate(ordered)]
    ps = (sums[bisect_right(ordered, each * _TIED) - 1] for each in chances)
    mean = math.fsum(each * at for at, each in enumerate(chances))
    spread = math.fsum(each * (at - mean) ** 2 for at, each in enumerate(chances)) ** 0.5 or 1.0
    found = [
        (chance, apart * (at - mean) / spread)
        for at, (chance, p) in enumerate(zip(chances, ps, strict=True))
        if not is_significant(p, alpha)
    ]
    own = NormalDist(0, math.sqrt(max(1 - apart**2, _CLOSE)))
    if not apart:
        return max(0.0, alpha - 1 + math.fsum(chance for chance, _ in found))

    def wrong(step: int) -> float:
        higher = HIGHER * step / _FINE
        high, low = quantile(2 * higher), quantile(2 * (step / _FINE - higher))
        return 1 - math.fsum(c * (own.cdf(low + at) - own.cdf(at - high)) for c, at in found)

    return max(0, bisect_right(range(_FINE), alpha, key=wrong) - 1) / _FINE


def _fewest(case: Counts) -> int:
    return max(0, case.baseline_passed + case.candidate_passed - case.baseline)


def _passes(case: Counts) -> Chances:
    """How likely each number of the candidate's passes is, from the fewest on: hypergeometric."""
    _, ours, _, theirs = case
    passed = case.baseline_passed + case.candidate_passed
    low, high = _fewest(case), min(theirs, passed)
    ways = accumulate(
        range(low, high),
        lambda ways, x: ways * (passed - x) * (theirs - x) // ((x + 1) * (ours - passed + x + 1)),
        initial=math.comb(theirs, low) * math.comb(ours, passed - low),
    )
    total = math.comb(ours + theirs, passed)
    return [each / total for each in ways]


def smallest_p(sizes: Sequence[tuple[int, int]]) -> float:
    """The smallest p that the gate can reach with so many runs a side in each case: where one side
    passes always and the other never.
    """
    return min(
        gate_p([Counts(0, m, n, n) for m, n in sizes]),
        gate_p([Counts(m, m, 0, n) for m, n in sizes]),
    )


def smallest_detectable(sizes: Sequence[tuple[int, int]], alpha: float = ALPHA) -> float | None:
    """The smallest difference of rates that the gate can tell with so many runs a side in each
    case: where one side never passes, and the other first in the largest cases, or where a pass
    adds least to the difference. Elsewhere it takes more. Of several cases another way may take a
    little less, as not all are tried. None where nothing can be told.
    """
    found = [
        _smallest_from_none(sorted(each, key=order), alpha)
        for each in (sizes, [(n, m) for m, n in sizes])
        for order in (lambda size: -sum(size), lambda size: (size[0] / sum(size), -sum(size)))
    ]
    return min((each for each in found if each is not None), default=None)


def _smallest_from_none(sizes: Sequence[tuple[int, int]], alpha: float) -> float | None:
    passed = [0] * len(sizes)
    for at, (_, most) in enumerate(sizes):
        for count in range(1, most + 1):
            passed[at] = count
            cases = [Counts(0, m, x, n) for (m, n), x in zip(sizes, passed, strict=True)]
            if is_significant(gate_p(cases), alpha):
                return difference(cases)[0]
    return None


# Costs


class Sample(NamedTuple):
    """One case: a cost of each side's runs; neither is empty."""

    baseline: tuple[float, ...]
    candidate: tuple[float, ...]


class _NullDistribution(NamedTuple):
    """The sum of the candidate's doubled ranks over all cases, if labels mean nothing."""

    mean: float
    deviation: float
    chances: Chances | None
    """Of each sum, from :attr:`lowest` on; None where it is as good as normal."""
    lowest: int

    def p(self, observed: int) -> float:
        """How likely a sum as far from the mean is."""
        far = abs(observed - self.mean) - _CLOSE
        if self.chances is not None:
            found = enumerate(self.chances, self.lowest)
            return min(1.0, math.fsum(each for at, each in found if abs(at - self.mean) >= far))
        return math.erfc(far / self.deviation / math.sqrt(2)) if self.deviation else 1.0

    @property
    def highest_unlikely(self) -> float:
        """The highest sum that no more than half of :data:`ALPHA` of all are at most."""
        if self.chances is None:
            return self.mean - Z * self.deviation
        return self.lowest - 1 + bisect_right([*accumulate(self.chances)], ALPHA / 2 * _TIED)


def rank_test(cases: Sequence[Sample]) -> tuple[float, int]:
    """The two-sided p of no difference of a cost: all ways to shuffle the labels within the cases,
    by the sum of the ranks there (Wilcoxon). Equal costs share their ranks. And the way: above 0
    where the candidate's ranks are higher than chance has them, below 0 where they are lower.
    """
    ranked = [(_doubled_ranks(case), len(case.candidate)) for case in cases]
    # Ties leave few different ranks. As small numbers these are counted in little time.
    step = math.gcd(*(each - min(ranks) for ranks, _ in ranked for each in ranks)) or 1
    ranked = [([(e - min(ranks)) // step for e in ranks], chosen) for ranks, chosen in ranked]
    observed = sum(sum(ranks[-chosen:]) for ranks, chosen in ranked)
    null = _null(tuple((tuple(sorted(ranks)), chosen) for ranks, chosen in ranked))
    far = observed - null.mean
    return null.p(observed), 0 if abs(far) < _CLOSE else 1 if far > 0 else -1


def hodges_lehmann(cases: Sequence[Sample]) -> tuple[float, Interval | None]:
    """By how much the candidate's costs are larger, as a ratio, given their logarithms: the median
    over all pairs of runs of a case (Hodges and Lehmann), with the interval that the test of
    :func:`rank_test` gives. That is None where so few runs give none.
    """
    shifts = sorted(c - b for case in cases for b in case.baseline for c in case.candidate)
    middle = median(shifts)
    ranks = [tuple(range(2, 2 * sum(map(len, case)) + 1, 2)) for case in cases]
    sizes = tuple(zip(ranks, (len(case.candidate) for case in cases), strict=True))
    least = sum(len(case.candidate) * (len(case.candidate) + 1) for case in cases)
    # A doubled sum of ranks is twice the number of pairs that the candidate wins, and `least`.
    outside = math.floor((_null(sizes).highest_unlikely - least) / 2) + 1
    if outside < 1:
        return math.exp(middle), None
    return math.exp(middle), (math.exp(shifts[outside - 1]), math.exp(shifts[-outside]))


class PerCorrect(NamedTuple):
    """By how much more the candidate spends for each CORRECT run, with what chance makes of it."""

    shift: float
    """The logarithm of the ratio, candidate ÷ baseline."""
    variance: float
    """Of that, over all ways to shuffle the labels within the cases."""
    own: float
    """So much of it a shift itself adds, by its square."""
    ways: int
    apart: float
    """How it goes with the candidate's passes, as a correlation, if labels mean nothing."""

    def interval(self, alpha: float) -> Interval | None:
        """Of the ratio, as far as shuffled labels explain it, their sum being taken for normal:
        :data:`HIGHER` of ``alpha`` lies below. None where so few runs give none.
        """
        tails = HIGHER * alpha, (1 - HIGHER) * alpha
        rooms = [quantile(2 * tail) ** -2 - self.own for tail in tails]
        if min(rooms) <= 0 or self.ways < 1 / min(tails):
            return None
        below, above = (math.sqrt(self.variance / room) for room in rooms)
        return math.exp(self.shift - below), math.exp(self.shift + above)


def per_correct(costs: Sequence[Sample], passes: Sequence[Sample]) -> PerCorrect | None:
    """What is spent for each CORRECT run, given the logarithms of what all runs cost, and a 1 for
    each that passed, else a 0. None where a side has no pass.

    The ratio is that of the costs times that of the rates of passes, each weighted by Mantel and
    Haenszel.
    """
    ours = [len(each.baseline) for each in costs]
    logs, passed = ([[*chain(*case)] for case in of] for of in (costs, passes))
    weights = [m * (len(case) - m) / len(case) for m, case in zip(ours, logs, strict=True)]
    total = math.fsum(weights)

    def means(of: Sequence[Sequence[float]]) -> list[float]:
        sides = ((fmean(case[:m]), fmean(case[m:])) for m, case in zip(ours, of, strict=True))
        return [math.fsum(map(mul, weights, side)) / total for side in zip(*sides, strict=True)]

    def joint(ones: Sequence[Sequence[float]], others: Sequence[Sequence[float]]) -> float:
        return math.fsum(map(mul, weights, map(covariance, ones, others))) / total**2

    p, q = means(passed)
    if not p or not q:
        return None
    scores = _scores(logs, passed, (p + q) / 2)
    below, above = means(scores)
    by = above - below
    left = [[*x[:m], *(each - by for each in x[m:])] for m, x in zip(ours, scores, strict=True)]
    own = sum(w * w / (len(case) - 1) for w, case in zip(weights, logs, strict=True)) / total**2
    ways = math.prod(math.comb(len(case), m) for m, case in zip(ours, logs, strict=True))
    apart = joint(scores, passed) / (math.sqrt(joint(scores, scores) * joint(passed, passed)) or 1)
    shift = by - 2 * (p - q) / (p + q) + math.log(p / q)
    # Few runs, all of which pass, show no rate of 1 (Agresti and Coull).
    rate = (sum(chain(*passed)) + 2) / (sum(map(len, passed)) + 4)
    variance = max(joint(left, left), (1 - rate) / rate / total)
    return PerCorrect(shift, variance, own, ways, apart)


def _scores(
    logs: Sequence[Sequence[float]], passed: Sequence[Sequence[float]], rate: float
) -> list[list[float]]:
    """A run's score is its cost, from the mean of its case, less its pass by the rate (the delta
    method): so it counts whether runs that fail cost more. Costs that lie :data:`_FAR` deviations
    off count as if they lay there (Huber).
    """
    off = [[x - middle for x in case] for case, middle in zip(logs, map(fmean, logs), strict=True)]
    far = _FAR * median(map(abs, chain(*off))) or math.inf
    return [
        [max(-far, min(far, x)) - is_pass / rate for x, is_pass in zip(*case, strict=True)]
        for case in zip(off, passed, strict=True)
    ]


def quantile(alpha: float) -> float:
    """Beyond which, on both sides, ``alpha`` of a normal distribution lies."""
    return NormalDist().inv_cdf(1 - max(alpha, _LEAST) / 2)


def holm(ps: Sequence[float]) -> list[float]:
    """Each p of a family, adjusted by Holm's step-down method (1979)."""
    order = sorted(range(len(ps)), key=ps.__getitem__)
    steps = accumulate(((len(ps) - at) * ps[each] for at, each in enumerate(order)), max)
    adjusted = dict(zip(order, steps, strict=True))
    return [min(1.0, adjusted[at]) for at in range(len(ps))]


def _doubled_ranks(case: Sample) -> list[int]:
    """Of all costs of a case, twice the rank of each."""
    costs = [*case.baseline, *case.candidate]
    ordered = sorted(costs)
    return [bisect_left(ordered, each) + bisect_right(ordered, each) + 1 for each in costs]


@lru_cache(64)  # costs without ties have the same ranks
def _null(cases: tuple[tuple[tuple[int, ...], int], ...]) -> _NullDistribution:
    """Of the ranks of each case, which are sorted, so many are the candidate's."""
    mean = math.fsum(chosen * sum(ranks) / len(ranks) for ranks, chosen in cases)
    variances = (
        chosen * (len(ranks) - chosen) * variance(ranks) / len(ranks) for ranks, chosen in cases
    )
    work = sum(
        (len(ranks) - ranks.count(0)) * chosen * (len(ranks) // 8 + 1) * (sum(ranks[-chosen:]) + 1)
        for ranks, chosen in cases
    )
    spans = [sum(ranks[-chosen:]) - sum(ranks[:chosen]) + 1 for ranks, chosen in cases]
    joined = sum(before * span for before, span in zip(accumulate(spans), spans[1:], strict=False))
    exact = work <= _MOST_WORK[0] and joined <= _MOST_WORK[1]
    chances = _added(_rank_sums(*case) for case in cases) if exact else None
    lowest = sum(sum(ranks[:chosen]) for ranks, chosen in cases)
    return _NullDistribution(mean, math.sqrt(math.fsum(variances)), chances, lowest)


@cache
def _rank_sums(ranks: tuple[int, ...], chosen: int) -> Chances:
    """How likely each sum of so many of the ranks is, from the smallest on."""
    # The polynomials of a generating function, each as one number: its digits, so many bytes
    # each, are the coefficients. No coefficient has more bits than there are ranks.
    size = len(ranks) // 8 + 1
    lowest = ranks.count(0)
    ways = [math.comb(lowest, taken) for taken in range(chosen + 1)]
    for rank in ranks[lowest:]:
        for taken in range(chosen, 0, -1):
            ways[taken] += ways[taken - 1] << (8 * size * rank)
    first, last = sum(ranks[:chosen]), sum(ranks[len(ranks) - chosen :])
    digits = ways[chosen].to_bytes(size * (last + 1), "little")
    total = math.comb(len(ranks), chosen)
    starts = range(size * first, len(digits), size)
    return [int.from_bytes(digits[at : at + size], "little") / total for at in starts]


def _added(cases: Iterable[Chances]) -> Chances:
    """How likely each sum over independent cases is, given the same of each, from the lowest on."""
    joint = [1.0]
    for chances in cases:
        both = [0.0] * (len(joint) + len(chances) - 1)
        # What never happens costs no time: most sums of many cases are so unlikely.
        likely = [(at, each) for at, each in enumerate(joint) if each > _NEVER]
        for by, chance in enumerate(chances):
            if chance:
                for at, each in likely:
                    both[at + by] += each * chance
        joint = both
    return joint
