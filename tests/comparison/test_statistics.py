"""The statistics of a comparison, against scipy and statsmodels over random tables, and against
every way to shuffle labels.
"""

import gc
import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from random import Random
from statistics import NormalDist
from typing import Any

import pytest

from drive_trace.comparison.power import Sizes, chance_of_cost, chance_of_gate, power_of, spread_of
from drive_trace.comparison.statistics import (
    ALPHA,
    HIGHER,
    Counts,
    Sample,
    difference,
    gate_p,
    hodges_lehmann,
    holm,
    left_by_gate,
    per_correct,
    rank_test,
    smallest_detectable,
    smallest_p,
)
from drive_trace.grading.calibration import wilson


def tables(count: int, most: int = 40) -> Iterator[Counts]:
    drawn = Random(1)
    for _ in range(count):
        of = drawn.randint(1, most), drawn.randint(1, most)
        yield Counts(drawn.randint(0, of[0]), of[0], drawn.randint(0, of[1]), of[1])


def samples(count: int, most: int = 20, values: int | None = None) -> Iterator[Sample]:
    """Of a few ``values``, there are ties."""
    drawn = Random(2)
    for _ in range(count):
        sizes = drawn.randint(1, most), drawn.randint(1, most)
        sides = (
            tuple(float(drawn.randint(1, values)) if values else drawn.random() for _ in range(n))
            for n in sizes
        )
        yield Sample(*sides)


def test_one_case_is_fishers_exact_test() -> None:
    from scipy.stats import fisher_exact

    for a, m, b, n in tables(300):
        expected = fisher_exact([[a, m - a], [b, n - b]]).pvalue
        assert gate_p([Counts(a, m, b, n)]) == pytest.approx(expected, rel=1e-9)


def test_rates_have_wilsons_interval_and_their_difference_newcombes() -> None:
    from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

    for a, m, b, n in tables(300):
        assert wilson(a, m) == pytest.approx(proportion_confint(a, m, method="wilson"), abs=1e-12)
        expected = confint_proportions_2indep(b, n, a, m, method="newcomb", compare="diff")
        between, interval = difference([Counts(a, m, b, n)])
        assert between == pytest.approx(b / n - a / m)
        assert interval == pytest.approx(expected, abs=1e-9)


def test_costs_without_ties_have_mann_and_whitneys_p() -> None:
    from scipy.stats import mannwhitneyu

    for each in samples(200):
        expected = mannwhitneyu(each.candidate, each.baseline, method="exact").pvalue
        assert rank_test([each])[0] == pytest.approx(expected, rel=1e-9)


def test_the_interval_of_a_ratio_holds_what_the_test_does_not_reject() -> None:
    from scipy.stats import mannwhitneyu

    for each in samples(200):
        ratio, interval = hodges_lehmann([each])
        shifts = sorted(c - b for b in each.baseline for c in each.candidate)
        middle = (shifts[(len(shifts) - 1) // 2] + shifts[len(shifts) // 2]) / 2
        assert ratio == pytest.approx(math.exp(middle))
        if interval is None:
            assert 2 / math.comb(sum(map(len, each)), len(each.baseline)) > ALPHA
            continue
        low, high = map(math.log, interval)
        for at, is_inside in ((low, True), (high, True), (low, False), (high, False)):
            outwards = 1e-9 if at == high else -1e-9
            moved = at + (-outwards if is_inside else outwards)
            p = mannwhitneyu([c - moved for c in each.candidate], each.baseline, method="exact")
            assert (p.pvalue > ALPHA) == is_inside


@pytest.mark.parametrize("sizes", [(100, 16), (200, 16), (1000, 1000)])
def test_costs_of_many_runs_that_are_nearly_all_equal_have_an_exact_p(
    sizes: tuple[int, int],
) -> None:
    # Which of all runs is the dear one is left to chance.
    ours, theirs = sizes
    each = Sample((1.0,) * ours, (*(1.0,) * (theirs - 1), 2.0))
    p = theirs / (ours + theirs)
    assert rank_test([each]) == (pytest.approx(p if ours != theirs else 1), 1)
    # The mean of two cases lies between; what happens in both is least likely.
    assert rank_test([each, each])[0] == pytest.approx(p * p if ours != theirs else 0.5)


def test_the_way_of_a_cost_is_that_of_its_test() -> None:
    # In most pairs the two are equal.
    each = Sample((1.0,) * 4 + (2.0,) * 12, (1.0,) * 12 + (2.0,) * 4)
    p, way = rank_test([each])
    assert (p < ALPHA, way) == (True, -1)
    assert rank_test([Sample((1.0, 2.0), (1.0, 2.0))]) == (1, 0)


def test_many_costs_have_the_normal_p() -> None:
    from scipy.stats import mannwhitneyu

    drawn = Random(3)
    each = Sample(*(tuple(drawn.gauss(at, 1) for _ in range(150)) for at in (0.2, 0)))
    options = {"method": "asymptotic", "use_continuity": False}
    expected = mannwhitneyu(each.candidate, each.baseline, **options).pvalue
    assert rank_test([each])[0] == pytest.approx(expected, rel=1e-6)
    ratio, interval = hodges_lehmann([each])
    assert interval is not None
    assert interval[0] < ratio < interval[1]


def test_a_gate_leaves_of_its_level_what_whole_counts_do_not_use() -> None:
    from scipy.stats import fisher_exact, hypergeom, norm

    for a, m, b, n in tables(50, 20):
        chance = hypergeom(m + n, a + b, n)
        counts = range(max(0, a + b - m), min(n, a + b) + 1)
        p = {x: fisher_exact([[a + b - x, m - a - b + x], [x, n - x]]).pvalue for x in counts}
        left = [x for x in counts if p[x] > ALPHA * (1 + 1e-7)]
        used = 1 - sum(map(chance.pmf, left))
        assert left_by_gate([Counts(a, m, b, n)]) == pytest.approx(ALPHA - used, abs=1e-12)
        if chance.std() < 1e-9:
            continue
        # A cost that goes with the passes answers where the gate has not.
        level = left_by_gate([Counts(a, m, b, n)], ALPHA, -0.6)
        high, low = norm.isf(level * HIGHER), norm.ppf(level * (1 - HIGHER))
        costs = {x: norm(-0.6 * (x - chance.mean()) / chance.std(), 0.8) for x in left}
        wrong = sum(chance.pmf(x) * (costs[x].sf(high) + costs[x].cdf(low)) for x in left)
        assert used + wrong == pytest.approx(ALPHA, abs=1e-4)


def test_the_cost_for_each_correct_run_is_held_against_all_shuffles_of_labels() -> None:
    import numpy as np

    drawn, sizes, weights = Random(7), [(2, 4), (3, 3)], np.array([8 / 6, 1.5]) / (8 / 6 + 1.5)
    for _ in range(60):
        costs, passes = (
            [Sample(*(tuple(draw() for _ in range(k)) for k in each)) for each in sizes]
            for draw in (lambda: drawn.gauss(0, 1), lambda: float(drawn.random() < 0.8))
        )
        found = per_correct(costs, passes)
        p, q = (weights @ [np.mean(each[side]) for each in passes] for side in (0, 1))
        if not p or not q:
            assert found is None
            continue
        assert found is not None
        off = [np.concatenate(each) - np.mean(np.concatenate(each)) for each in costs]
        far = 2.5 * 1.4826 * np.median(np.abs(np.concatenate(off)))
        hits = [np.concatenate(each) for each in passes]
        scores = [x.clip(-far, far) - 2 * y / (p + q) for x, y in zip(off, hits, strict=True)]
        shift = found.shift - math.log(p / q) + 2 * (p - q) / (p + q)
        left = [
            x - shift * (np.arange(m + n) >= m) for x, (m, n) in zip(scores, sizes, strict=True)
        ]
        assert np.isclose(over_labels(left, sizes, weights)[0], 0), "the shift is what is found"
        score, passed, rest = (over_labels(each, sizes, weights) for each in (scores, hits, left))
        assert found.ways == len(score) == 15 * 20
        floor = (np.concatenate(hits).sum() + 2) / 16
        least = (1 - floor) / floor / (8 / 6 + 1.5)
        assert found.variance == pytest.approx(max(rest.var(), least))
        if passed.std() > 1e-9:
            assert found.apart == pytest.approx(np.corrcoef(score, passed)[0, 1])
        # What stands at its end is as far from what is found as the level says.
        interval = found.interval(0.4)
        assert interval is not None
        z = (found.shift - math.log(interval[0])) / math.sqrt(found.variance)
        assert z / math.sqrt(1 + z * z * found.own) == pytest.approx(
            NormalDist().inv_cdf(1 - 0.4 * HIGHER)
        )
        assert found.interval(0.001) is None, "few runs give none at a low level"


def over_labels(values: Any, sizes: Sequence[tuple[int, int]], weights: Any) -> Any:
    """The weighted difference of means over all ways to choose the candidate's, as it is first."""
    import numpy as np

    of_case = []
    for each, (m, n) in zip(values, sizes, strict=True):
        ways = [[*way] for way in combinations(range(m + n - 1, -1, -1), n)]
        of_case.append(np.array([each[w].mean() - (each.sum() - each[w].sum()) / m for w in ways]))
    return np.add.outer(weights[0] * of_case[0], weights[1] * of_case[1]).ravel()


def test_a_family_of_ps_is_adjusted_by_holm(monkeypatch: pytest.MonkeyPatch) -> None:
    from statsmodels.stats.multitest import multipletests

    # It does so at each call, which takes longer than all else in this file.
    monkeypatch.setattr(gc, "collect", lambda: 0)
    drawn = Random(4)
    for _ in range(100):
        ps = [drawn.random() ** 3 for _ in range(drawn.randint(1, 6))]
        assert holm(ps) == pytest.approx(multipletests(ps, method="holm")[1])


def shuffled(sizes: list[tuple[int, int]]) -> Iterator[list[set[int]]]:
    """Every way to choose which runs of each case are the candidate's."""
    ways = [[set(each) for each in combinations(range(m + n), n)] for m, n in sizes]
    return (list(each) for each in product(*ways))


def test_several_cases_count_every_way_to_shuffle_labels_within_them() -> None:
    drawn = Random(5)
    for _ in range(20):
        cases = [
            Counts(drawn.randint(0, m), m, drawn.randint(0, n), n)
            for m, n in ((3, 2), (2, 3), (2, 2))
        ]
        ways = [
            sum(
                len(chosen & set(range(case.baseline_passed + case.candidate_passed)))
                for case, chosen in zip(cases, each, strict=True)
            )
            for each in shuffled([(case.baseline, case.candidate) for case in cases])
        ]
        observed = ways.count(sum(case.candidate_passed for case in cases))
        as_unlikely = sum(ways.count(each) <= observed for each in ways)
        assert gate_p(cases) == pytest.approx(as_unlikely / len(ways))


def test_costs_with_ties_count_every_way_to_shuffle_labels_within_cases() -> None:
    for first, second in zip(samples(20, 4, 3), samples(40, 3, 4), strict=False):
        cases = [first, second]
        ranks = [
            [
                sum(other < each for other in costs) + sum(other <= each for other in costs)
                for each in costs
            ]
            for costs in ((*case.baseline, *case.candidate) for case in cases)
        ]
        sizes = [(len(case.baseline), len(case.candidate)) for case in cases]
        ways = [
            sum(ranks[at][each] for at, chosen in enumerate(way) for each in chosen)
            for way in shuffled(sizes)
        ]
        mean = sum(ways) / len(ways)
        own = [set(range(m, m + n)) for m, n in sizes]
        observed = sum(ranks[at][each] for at, chosen in enumerate(own) for each in chosen)
        far = abs(observed - mean) - 1e-9
        expected = sum(abs(each - mean) >= far for each in ways) / len(ways)
        assert rank_test(cases)[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "sizes",
    [
        *([(3, 3)], [(8, 8)], [(5, 9)], [(7, 3)]),
        *([(2, 2), (3, 3)], [(2, 3), (4, 2)], [(1, 6), (4, 4)]),
    ],
)
def test_no_table_shows_less_than_the_smallest_effect(sizes: list[tuple[int, int]]) -> None:
    every = [[Counts(a, m, b, n) for a, b in product(range(m + 1), range(n + 1))] for m, n in sizes]
    found = [(gate_p(cases), abs(difference(cases)[0])) for cases in product(*every)]
    assert smallest_p(sizes) == pytest.approx(min(p for p, _ in found))
    told = [effect for p, effect in found if p <= ALPHA]
    smallest = smallest_detectable(sizes)
    assert smallest == (pytest.approx(min(told)) if told else None)


@pytest.mark.parametrize(
    ("sizes", "rate", "margin"),
    [
        ([(16, 16)], 0.8, 0.4),
        ([(30, 10)], 0.5, 0.4),
        ([(6, 6)] * 5, 0.75, 0.3),
        ([(1, 1)] * 60, 0.8, 0.2),
    ],
)
def test_the_power_of_a_gate_is_how_often_it_decides(
    sizes: list[tuple[int, int]], rate: float, margin: float
) -> None:
    drawn, decided, times = Random(7), 0, 300
    for _ in range(times):
        cases = [
            Counts(
                sum(drawn.random() < rate for _ in range(m)),
                m,
                sum(drawn.random() < rate - margin for _ in range(n)),
                n,
            )
            for m, n in sizes
        ]
        decided += gate_p(cases) <= ALPHA
    # It promises no more than three standard errors above what is simulated.
    assert -0.2 < chance_of_gate(sizes, rate, margin) - decided / times < 0.09


@pytest.mark.parametrize("by_dollars", [True, False])
@pytest.mark.parametrize(
    ("sizes", "spread", "ratio"),
    [
        *(([(6, 6)] * 5, 0.76, 1.6), ([(1, 1)] * 60, 0.76, 1.6), ([(20, 10)], 0.76, 1.6)),
        *(([(1, 1)] * 5, 0.1, 3), ([(3, 3)], 0.1, 3)),
        ([(6, 6)] * 104, 0.76, 1.6),  # more ways than a double holds
    ],
)
def test_the_power_of_a_cost_is_how_often_it_is_told(
    sizes: list[tuple[int, int]], spread: float, ratio: float, *, by_dollars: bool
) -> None:
    drawn, told, times, rate = Random(8), 0, 300 if len(sizes) < 100 else 3, 0.8
    for _ in range(times):
        costs, passes = [], []
        for m, n in sizes:
            sides = [
                [drawn.gauss(at, spread) for _ in range(k)]
                for at, k in ((0, m), (math.log(ratio), n))
            ]
            passed = [[drawn.random() < rate for _ in side] for side in sides]
            passes.append(Sample(*(tuple(map(float, side)) for side in passed)))
            if not by_dollars:
                sides = [
                    [x for x, p in zip(*each, strict=True) if p]
                    for each in zip(sides, passed, strict=True)
                ]
            if all(sides):
                costs.append(Sample(*map(tuple, sides)))
        if by_dollars:
            found = per_correct(costs, passes)
            interval = found and found.interval(ALPHA)
            told += bool(interval and interval[0] > 1)
        else:
            p, way = rank_test(costs)
            told += p <= ALPHA and way > 0
    expected = chance_of_cost(sizes, rate, spread, ratio, by_dollars=by_dollars)
    assert expected == pytest.approx(told / times, abs=0.12)


def test_enough_runs_are_the_fewest_that_show_it_in_80_percent() -> None:
    def chance(sizes: Sizes) -> float:
        return chance_of_gate(sizes, 0.8, 0.2)

    found = power_of("CORRECT runs", 0.2, [(3, 3)] * 4, chance).runs
    assert found is not None
    assert chance([(found, found)] * 4) >= 0.8 > chance([(found - 1, found - 1)] * 4)
    # statsmodels has one case: Cohen's h, without a correction, so that it asks for fewer runs.
    from statsmodels.stats.power import NormalIndPower
    from statsmodels.stats.proportion import proportion_effectsize

    effect = proportion_effectsize(0.8, 0.6)
    least = NormalIndPower().solve_power(effect, alpha=ALPHA, power=0.8)
    whole = power_of("CORRECT runs", 0.2, [(3, 3)], chance).runs
    assert whole == pytest.approx(least, rel=0.15)
    assert whole > least
    assert power_of("CORRECT runs", 0.001, [(3, 3)], lambda _: 0.1).runs is None


def test_the_spread_of_costs_is_within_cases_and_apart_from_the_sides() -> None:
    import numpy as np

    drawn = np.random.default_rng(1)
    cases = []
    for at in range(200):
        base = drawn.normal(0, 3)
        sides = (tuple(drawn.normal(base + 2 * side, 0.5, 1 + at % 3)) for side in (0, 1))
        cases.append(Sample(*sides))
    assert spread_of(cases) == pytest.approx(0.5, rel=0.1)
    assert spread_of([Sample((1.0,), ())]) is None
    one = drawn.normal(0, 1, 9)
    assert spread_of([Sample(tuple(one), ())]) == pytest.approx(np.std(one, ddof=1))


def test_intervals_of_several_cases_hold_the_truth() -> None:
    # By chance 95 of 100; with a fixed seed, so that it is the same each time.
    drawn = Random(6)
    rates, sizes, held = (0.9, 0.5, 0.7), ((8, 4), (4, 8), (6, 6)), 0
    for _ in range(2000):
        cases = [
            Counts(
                sum(drawn.random() < rate for _ in range(m)),
                m,
                sum(drawn.random() < rate for _ in range(n)),
                n,
            )
            for rate, (m, n) in zip(rates, sizes, strict=True)
        ]
        low, high = difference(cases)[1]
        held += low <= 0 <= high
    assert held / 2000 > 0.94
