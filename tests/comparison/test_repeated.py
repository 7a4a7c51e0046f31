"""How often runs of one case come out alike: pass@k and pass^k, by their definitions."""

from itertools import combinations
from typing import Any

import pytest

from tests.comparison.support import CORRECT, INCORRECT, Sides

PASS, FAIL = CORRECT, INCORRECT


@pytest.mark.parametrize("passes", range(7))
def test_by_drawing_three_of_six_runs(sides: Sides, passes: int) -> None:
    sides.add("b", *[PASS] * passes, *[FAIL] * (6 - passes))
    sides.add("c", *[PASS] * 6)
    (case,) = sides.allowed()["cases"]
    found: Any = case["tries"]["baseline"]
    draws = [*combinations([True] * passes + [False] * (6 - passes), 3)]
    assert found["k"] == 3
    assert found["any_correct"] == pytest.approx(sum(map(any, draws)) / len(draws))
    assert found["all_correct"] == pytest.approx(sum(map(all, draws)) / len(draws))
    assert found["flips"] == (0 < passes < 6)
    low, high = case["baseline"]["interval"]
    for what, least, most in (
        ("any", 1 - (1 - low) ** 3, 1 - (1 - high) ** 3),
        ("all", low**3, high**3),
    ):
        at = found[f"{what}_correct"]
        assert found[f"{what}_interval"] == pytest.approx([min(least, at), max(most, at)])


def test_the_interval_holds_what_is_not_known(sides: Sides) -> None:
    sides.add("b", *[PASS] * 3, *[("pass", "pass", None)] * 3)
    sides.add("c", *[PASS] * 6)
    tries = sides.allowed()["cases"][0]["tries"]["baseline"]
    assert (tries["flips"], tries["any_correct"], tries["all_correct"]) == (False, None, None)
    assert tries["any_interval"][1] == tries["all_interval"][1] == 1


def test_a_single_run_repeats_nothing(sides: Sides) -> None:
    sides.add("b", PASS)
    sides.add("c", PASS)
    assert sides.allowed()["cases"][0]["tries"] == {"baseline": None, "candidate": None}
    assert "pass@k" not in sides.compare("--allow-unverified").out


def test_the_cases_that_flip_are_told(sides: Sides) -> None:
    sides.add("b", PASS, FAIL, case="easy")
    sides.add("c", PASS, PASS, case="easy")
    said = sides.compare("--allow-unverified").out
    section = said[said.index("Repeated runs") :]
    assert "easy  baseline   yes    2  1.000 [" in section
    assert "easy  candidate  no     2  1.000 [" in section
