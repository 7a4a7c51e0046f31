"""Several planned looks, which together are wrong no oftener than one; and looks nobody planned."""

import math
from itertools import product
from statistics import NormalDist

import pytest

from drive_trace.comparison.power import levels, levels_for_two, spent
from tests.comparison.support import CORRECT, INCORRECT, Sides

_z = NormalDist().inv_cdf


@pytest.mark.parametrize(
    ("looks", "bounds"),
    [
        (1, [1.9600]),
        # D. L. DeMets and K. K. G. Lan, Statistics in Medicine 13 (1994); gsDesign gives the same.
        (2, [2.9626, 1.9686]),
        (5, [4.8769, 3.3569, 2.6803, 2.2898, 2.0310]),
    ],
)
def test_levels_are_those_that_others_publish(looks: int, bounds: list[float]) -> None:
    found = levels([look / looks for look in range(1, looks + 1)])
    assert [-_z(each / 2) for each in found] == pytest.approx(bounds, abs=2e-4)


@pytest.mark.parametrize("shares", [[0.5, 1.0], [0.2, 0.7, 1.0], [1 / 3, 2 / 3, 1.0]])
@pytest.mark.parametrize("alpha", [0.05, 0.1])
def test_together_they_are_wrong_as_rarely_as_one(shares: list[float], alpha: float) -> None:
    from scipy.stats import multivariate_normal

    bounds = [-_z(each / 2) for each in levels(shares, alpha)]
    covariances = [[math.sqrt(min(a, b) / max(a, b)) for b in shares] for a in shares]
    normal = multivariate_normal(cov=covariances, allow_singular=True, seed=1)
    # What lies within all bounds, by inclusion and exclusion over the corners.
    inside = sum(
        math.prod(signs) * normal.cdf([s * b for s, b in zip(signs, bounds, strict=True)])
        for signs in product((1, -1), repeat=len(shares))
    )
    assert 1 - inside == pytest.approx(alpha, abs=2e-4)
    assert spent(1.0, alpha) == pytest.approx(alpha)


@pytest.mark.parametrize("part", [0.5, 0.3, 0.1])
def test_two_tests_that_divide_each_level_are_wrong_as_rarely_as_one(part: float) -> None:
    at = levels_for_two([0.5, 1.0])
    total = sum(_crossed([share * each for each in at]) for share in (part, 1 - part))
    assert total <= 0.05 + 1e-6
    assert levels_for_two([1.0]) == pytest.approx([0.05])


def _crossed(found: list[float]) -> float:
    """How likely a difference is found at one of two looks, at a half and at the end."""
    from scipy.stats import multivariate_normal

    first, last = (-_z(each / 2) for each in found)
    normal = multivariate_normal(cov=[[1, math.sqrt(0.5)], [math.sqrt(0.5), 1]], seed=1)
    corners = product((1, -1), repeat=2)
    inside = sum(a * b * normal.cdf([a * first, b * last]) for a, b in corners)
    return float(1 - inside)


def test_the_same_sides_with_more_runs_are_not_looked_at_for_the_first_time(sides: Sides) -> None:
    sides.add("b", *[CORRECT] * 3)
    sides.add("c", *[CORRECT] * 3)
    told = "these sides were compared before, with 3 runs against 3: looks that nobody planned are"
    assert not any(told in each for each in sides.allowed()["reasons"])
    assert not any(told in each for each in sides.allowed()["reasons"])  # the same once more
    sides.add("b", *[INCORRECT] * 2)
    sides.add("c", *[CORRECT] * 2)
    assert any(each.startswith(told) for each in sides.allowed()["reasons"])


def test_another_comparison_is_no_earlier_look(sides: Sides) -> None:
    sides.add("b", CORRECT)
    (sides.folder / "c").mkdir()
    sides.allowed()  # of one side, which decides nothing
    sides.add("c", CORRECT)
    sides.allowed()
    others = Sides(sides.folder / "others")
    for side in "bc":
        others.add(side, *[CORRECT] * 2)
    assert not any("compared before" in each for each in others.allowed()["reasons"])
