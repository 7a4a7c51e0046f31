"""A share of passes, corrected by the errors that a judge's calibration shows."""

import math
from random import Random

import pytest

from drive_trace.grading.calibration import Calibration, Z


def of(caught: int, fails: int, kept: int, passes: int) -> Calibration:
    return Calibration(caught, fails - caught, passes - kept, kept, 0)


def test_by_rogan_and_gladen() -> None:
    # 70 of 100 are good: 0.9 · 70 + 0.2 · 30 = 69 pass by who keeps 90 %, and catches 80 %.
    found = of(80, 100, 90, 100).corrected(69, 100)
    assert found is not None
    assert found[0] == pytest.approx(0.7)


def test_the_interval_is_that_of_lang_and_reiczigel() -> None:
    found = of(17, 20, 36, 40).corrected(41, 60)
    assert found is not None
    n, se, sp = 60 + Z**2, (36 + 1) / 42, (17 + 1) / 22
    p = (41 + Z**2 / 2) / n
    share = (p + sp - 1) / (se + sp - 1)
    se_var, sp_var = se * (1 - se) / 42, sp * (1 - sp) / 22
    spread = math.sqrt(p * (1 - p) / n + share**2 * se_var + (1 - share) ** 2 * sp_var)
    middle = share + 2 * Z**2 * (share * se_var - (1 - share) * sp_var)
    half = Z * spread / (se + sp - 1)
    assert found[1] == pytest.approx((middle - half, min(middle + half, 1)))


def test_with_a_judge_without_errors_it_is_nearly_that_of_the_runs_alone() -> None:
    from statsmodels.stats.proportion import proportion_confint

    found = of(10**6, 10**6, 10**6, 10**6).corrected(41, 60)
    assert found is not None
    assert found[0] == pytest.approx(41 / 60, abs=1e-5)
    plain = proportion_confint(41, 60, method="agresti_coull")
    assert found[1] == pytest.approx(plain, abs=1e-3)


@pytest.mark.parametrize(
    ("table", "passed", "runs"),
    [
        (of(0, 0, 40, 40), 5, 6),
        (of(10, 10, 0, 0), 5, 6),
        (of(5, 10, 5, 10), 5, 6),
        (of(2, 10, 6, 10), 5, 6),
        (of(10, 10, 10, 10), 0, 0),
    ],
    ids=["no fails", "no passes", "a coin", "worse than one", "no runs"],
)
def test_where_chance_would_judge_as_well_nothing_is_said(
    table: Calibration, passed: int, runs: int
) -> None:
    assert table.corrected(passed, runs) is None


@pytest.mark.parametrize(("kept", "caught"), [(0.7, 0.7), (0.95, 0.7), (0.8, 0.95), (0.95, 0.95)])
def test_the_interval_holds_the_truth_in_94_of_100(kept: float, caught: float) -> None:
    random, true, held, told = Random(39), 0.75, 0, 0
    for _ in range(1500):
        hits = sum(random.random() < caught for _ in range(40))
        good = sum(random.random() < kept for _ in range(80))
        passed = sum(
            random.random() < (kept if random.random() < true else 1 - caught) for _ in range(40)
        )
        found = of(hits, 40, good, 80).corrected(passed, 40)
        if found is not None:
            told += 1
            held += found[1][0] <= true <= found[1][1]
    assert held >= 0.94 * told


def test_an_interval_holds_its_value_and_has_a_width() -> None:
    for table in (of(45, 50, 45, 50), of(48, 49, 1, 1), of(17, 20, 36, 40)):
        for passed in range(61):
            found = table.corrected(passed, 60)
            if found is not None:
                value, (low, high) = found
                assert 0 <= low <= value <= high <= 1
                assert low < high
