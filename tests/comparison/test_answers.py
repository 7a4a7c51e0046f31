"""Which side is better: scenarios that were worked out by hand.

Fisher's p of two groups of runs is a sum of products of binomials: C(n, k) is `n over k`. Wilson's
interval of a rate of 1 in k runs begins at k / (k + z²), with z² = 3.8415, so that Newcombe's of
equal rates of 1 is ± z² / (k + z²): 0.324 for 8 runs, 0.194 for 16.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from drive_trace.vocabulary import EVENTS
from tests.comparison.support import CORRECT, INCORRECT, UNGRADED, Sides

CHEAP = [(700 + at, None) for at in range(16)]
DEAR = [(1000 + at, None) for at in range(16)]


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    return Sides(tmp_path)


def test_7_of_8_against_8_of_8_cannot_tell(sides: Sides) -> None:
    # Wilson: 7 of 8 is [0.5291, 0.9776], 8 of 8 is [0.6756, 1].
    # 0.125 - √((1 - 0.6756)² + (0.9776 - 0.875)²) = 0.125 - 0.3402
    # 0.125 + √((1 - 1)² + (0.875 - 0.5291)²) = 0.125 + 0.3459
    sides.add("b", *[CORRECT] * 7, INCORRECT)
    sides.add("c", *[CORRECT] * 8)
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    gate = found["gate"]
    assert gate["baseline"]["interval"] == pytest.approx([0.5291, 0.9776], abs=1e-4)
    assert gate["candidate"]["interval"] == pytest.approx([0.6756, 1], abs=1e-4)
    assert gate["difference"] == 0.125
    assert gate["difference_interval"] == pytest.approx([-0.2152, 0.4709], abs=1e-4)
    assert (gate["p"], gate["test"]) == (1, "fisher")
    # 5 of 8 against none: 2 · C(8, 5) / C(16, 5) = 0.0256; 4 of 8: 2 · C(8, 4) / C(16, 4) = 0.0769.
    assert gate["smallest_detectable"] == 0.625


def test_three_runs_a_side_can_never_tell_and_that_is_said_first(sides: Sides) -> None:
    # All against none: 2 / C(6, 3) = 0.1.
    sides.add("b", *[INCORRECT] * 3)
    sides.add("c", *[CORRECT] * 3)
    gate = sides.allowed()["gate"]
    assert gate["p"] == gate["smallest_p"] == pytest.approx(0.1)
    assert gate["smallest_detectable"] is None
    said = sides.compare("--allow-unverified").out.splitlines()
    assert said[0] == (
        "3 runs against 3 in 1 case can never be significant: the least p that the gate can reach "
        "is 0.100, and 0.05 is needed."
    )
    assert said[2] == "Answer: cannot tell"


@pytest.mark.parametrize(
    ("before", "after", "answer"),
    [(INCORRECT, CORRECT, "better"), (CORRECT, INCORRECT, "worse")],
)
def test_all_against_none_of_four_decides(
    sides: Sides, before: tuple[str, ...], after: tuple[str, ...], answer: str
) -> None:
    # 2 / C(8, 4) = 2 / 70 = 0.0286
    sides.add("b", *[before] * 4)
    sides.add("c", *[after] * 4)
    found = sides.allowed()
    assert found["answer"] == answer
    assert found["gate"]["p"] == pytest.approx(2 / 70)


def test_a_p_of_exactly_0_05_decides(sides: Sides) -> None:
    # The one of 20 runs that fails is the baseline's: 1 / 20.
    sides.add("b", INCORRECT)
    sides.add("c", *[CORRECT] * 19)
    assert sides.allowed()["answer"] == "better"


def test_the_gate_decides_whatever_it_costs(sides: Sides) -> None:
    sides.add("b", *[CORRECT] * 6, *[INCORRECT] * 10, costs=CHEAP)
    sides.add("c", *[CORRECT] * 16, costs=DEAR)
    found = sides.allowed()
    assert found["answer"] == "better"
    assert [each["metric"] for each in found["costs"]] == ["input_tokens"]
    assert found["costs"][0]["adjusted_p"] < 0.05
    assert found["costs"][0]["ratio"] > 1


@pytest.mark.parametrize("open_run", [UNGRADED, ("pass", "pass", None)])
def test_a_run_that_is_not_computable_can_take_the_answer_away(
    sides: Sides, open_run: tuple[str | None, ...]
) -> None:
    # As a pass, 4 of 4 against none: 0.0286. As a fail, 3 of 4: 2 · C(4, 3) / C(8, 3) = 0.143.
    sides.add("b", *[INCORRECT] * 4, costs=[(1, None)] * 4)
    sides.add("c", *[CORRECT] * 3)
    sides.write("c", open_run, {}, cost=(1, 1))
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    assert found["reasons"][1] == (
        "it depends on 1 run that may be CORRECT or not: the gate says better or cannot tell"
    )
    gate = found["gate"]
    assert gate["candidate"]["not_computable"] == 1
    assert gate["candidate"]["k"] == 4
    assert gate["p"] == pytest.approx(8 / 56)


def test_a_run_with_a_recorded_fail_is_not_correct_whatever_is_missing(sides: Sides) -> None:
    # 4 of 4 against none: 0.0286.
    sides.add("b", INCORRECT, INCORRECT, INCORRECT, ("fail", None, None))
    sides.add("c", *[CORRECT] * 4)
    found = sides.allowed()
    assert found["answer"] == "better"
    baseline = found["gate"]["baseline"]
    assert (baseline["not_computable"], baseline["failed"]) == (1, 1)


def test_the_share_of_ungraded_runs_is_not_zero(sides: Sides) -> None:
    sides.add("b", *[UNGRADED] * 4, costs=DEAR)
    sides.add("c", CORRECT, *[UNGRADED] * 3, costs=DEAR)
    assert sides.allowed()["gate"]["baseline"]["interval"] == pytest.approx([0, 1])
    said = sides.compare("--allow-unverified").out
    assert "0.000 to 1.000 [0.000, 1.000]" in said
    assert "0.250 to 1.000 [0.046, 1.000]" in said
    # A bar without a square: nothing is known but its ends.
    page = sides.compare("--allow-unverified", "--format", "html").out
    assert '<line x1="190.0" x2="630.0" y1="11.0" y2="11.0"/>' in page
    assert '<rect x="187.0" y="8.0"' not in page


def test_cost_that_only_some_correct_runs_tell_does_not_decide(sides: Sides) -> None:
    # 2 / C(21, 5) = 0.0001; what the other 11 cost is unknown.
    sides.add("b", *[CORRECT] * 16, costs=DEAR)
    sides.add("c", *[CORRECT] * 5, costs=CHEAP)
    sides.add("c", *[CORRECT] * 11)
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    assert found["reasons"][1].startswith("cost does not decide, as only some CORRECT runs tell it")
    (cost,) = found["costs"]
    assert cost["adjusted_p"] < 0.001
    assert cost["told"] == {"baseline": {"runs": 16, "of": 16}, "candidate": {"runs": 5, "of": 16}}
    assert "16 of 16, 5 of 16" in sides.compare("--allow-unverified").out


def test_an_answer_that_holds_either_way_stays(sides: Sides) -> None:
    # 7 of 8 against none: 2 · C(8, 7) / C(16, 7) = 0.0014; 8 of 8: 2 / C(16, 8) = 0.0002.
    sides.add("b", *[INCORRECT] * 8)
    sides.add("c", *[CORRECT] * 7)
    sides.write("c", UNGRADED, {}, cost=(1, 1))
    assert sides.allowed()["answer"] == "better"


def test_a_correct_that_a_caveat_qualifies_may_be_none(sides: Sides) -> None:
    # As above with 3 of 4: the run went on after its grade.
    sides.add("b", *[INCORRECT] * 4)
    (path, *_) = sides.add("c", *[CORRECT] * 4, costs=DEAR)
    ended = path.read_text("utf-8").splitlines()[-1]
    path.write_text(f"{path.read_text('utf-8')}{ended[:40]}\n", "utf-8")
    found = sides.allowed()
    assert found["gate"]["candidate"]["correct"] == 4
    assert found["gate"]["candidate"]["qualified"] == 1
    assert found["spent_for_each_correct"]["candidate"]["input_tokens"] == (1000 + 1003) / 2
    assert found["answer"] == "cannot-tell"


def test_cost_decides_where_the_gate_is_equal(sides: Sides) -> None:
    # 16 of 16 each: Newcombe is ± 0.1936, not below -0.20. Each of the candidate costs less: the
    # ratio of the k-th is the median, and 2 / C(32, 16) is the least p.
    sides.add("b", *[CORRECT] * 16, costs=[(2000, None)] * 16)
    sides.add("c", *[CORRECT] * 16, costs=[(1000, None)] * 16)
    found = sides.allowed()
    assert found["answer"] == "better"
    assert found["gate"]["difference_interval"] == pytest.approx([-0.1936, 0.1936], abs=1e-4)
    (cost,) = found["costs"]
    assert cost["metric"] == "input_tokens"
    assert cost["ratio"] == pytest.approx(0.5)
    assert cost["interval"] == pytest.approx([0.5, 0.5])
    assert cost["p"] == pytest.approx(2 / 601_080_390)
    assert cost["cases"] == ["all runs"]


def test_the_dearer_one_is_worse_where_the_gate_is_equal(sides: Sides) -> None:
    sides.add("b", *[CORRECT] * 16, costs=CHEAP)
    sides.add("c", *[CORRECT] * 16, costs=DEAR)
    assert sides.allowed()["answer"] == "worse"


def test_the_dearer_one_is_not_worse_where_it_is_more_often_correct(sides: Sides) -> None:
    # 15 of 16 against 16 of 16: p = 1, so that the gate does not decide.
    sides.add("b", *[CORRECT] * 15, INCORRECT, costs=CHEAP)
    sides.add("c", *[CORRECT] * 16, costs=DEAR)
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    assert "gained" in found["reasons"][-1]


def test_cost_is_silent_where_a_case_lost_correct_runs(sides: Sides) -> None:
    # 32 of 32 against 31 of 32: p = 1, and the lower bound is above -0.20.
    sides.add("b", *[CORRECT] * 16, costs=DEAR, case="easy")
    sides.add("b", *[CORRECT] * 16, costs=DEAR, case="hard")
    sides.add("c", *[CORRECT] * 16, costs=CHEAP, case="easy")
    sides.add("c", *[CORRECT] * 15, INCORRECT, costs=CHEAP, case="hard")
    found = sides.allowed()
    assert found["gate"]["difference_interval"][0] > -0.2
    assert found["costs"][0]["adjusted_p"] < 0.001
    assert found["answer"] == "cannot-tell"
    assert found["reasons"][2:] == ["CORRECT runs are lost, or may be, in 1 case: hard"]
    (flip,) = found["flips"]
    assert (flip["case"], flip["from"], flip["to"]) == ("hard", "correct", "incorrect")
    assert (len(flip["baseline_runs"]), flip["candidate_runs"]) == (16, ["c-64"])


def test_cost_is_silent_where_so_few_runs_leave_the_gate_open(sides: Sides) -> None:
    # 8 of 8 each: Newcombe's lower bound is -0.3244.
    sides.add("b", *[CORRECT] * 8, costs=DEAR)
    sides.add("c", *[CORRECT] * 8, costs=CHEAP)
    found = sides.allowed()
    assert found["costs"][0]["adjusted_p"] < 0.001
    assert found["answer"] == "cannot-tell"
    assert found["reasons"][-1].startswith(
        "the candidate's rate of CORRECT runs may be lower by 0.324"
    )


def test_costs_that_point_both_ways_do_not_decide(sides: Sides) -> None:
    sides.add("b", *[CORRECT] * 16, costs=[(1000 + at, 10) for at in range(16)])
    sides.add("c", *[CORRECT] * 16, costs=[(700 + at, 20) for at in range(16)])
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    assert found["reasons"][1].startswith("the costs do not point one way: input tokens × 0.70")


@pytest.mark.parametrize(("output", "answer"), [(None, "better"), (5, "cannot-tell")])
def test_one_more_cost_makes_each_less_significant(
    sides: Sides, output: int | None, answer: str
) -> None:
    # 12 of the baseline's 16 runs are dear, and 5 of the candidate's. The chance that the baseline
    # has 12 to 16 of the 17 is a sum of C(17, x) · C(15, 16 - x) / C(32, 16): 9,602,977 of
    # 601,080,390, and as much the other way round: p = 0.032. By Holm it is 0.064 where the output,
    # which is alike, is told as well. Of 256 pairs 12 · 11 have the ratio 1 / 2.
    for side, dear in (("b", 12), ("c", 5)):
        costs = [(2000, output)] * dear + [(1000, output)] * (16 - dear)
        sides.add(side, *[CORRECT] * 16, costs=costs)
    found = sides.allowed()
    assert found["answer"] == answer
    cost = found["costs"][0]
    assert cost["ratio"] == pytest.approx(0.5)
    assert cost["p"] == pytest.approx(2 * 9_602_977 / 601_080_390)
    assert cost["adjusted_p"] == pytest.approx(cost["p"] * len(found["costs"]))


def test_a_better_side_that_lost_a_case_is_said_to(sides: Sides) -> None:
    sides.add("b", *[INCORRECT] * 16, case="easy")
    sides.add("b", *[CORRECT] * 2, case="hard")
    sides.add("c", *[CORRECT] * 16, case="easy")
    sides.add("c", *[INCORRECT] * 2, case="hard")
    found = sides.allowed()
    assert found["answer"] == "better"
    assert found["reasons"][1:] == ["CORRECT runs are lost, or may be, in 1 case: hard"]
    assert "that it can show about 0." in sides.compare("--allow-unverified").out


def test_cases_with_other_shares_of_runs_do_not_decide(sides: Sides) -> None:
    # Simpson: 20 of 24 against 4 of 24, but in each case every run of both sides ends alike, so
    # that however labels are shuffled within it nothing changes.
    for side, easy, hard in (("b", 20, 4), ("c", 4, 20)):
        sides.add(side, *[CORRECT] * easy, case="easy")
        sides.add(side, *[INCORRECT] * hard, case="hard")
    found = sides.allowed()
    gate = found["gate"]
    assert (gate["baseline"]["correct"], gate["candidate"]["correct"]) == (20, 4)
    assert (gate["difference"], gate["p"], gate["test"]) == (0, 1, "permutation")
    assert found["answer"] == "cannot-tell"


@pytest.mark.parametrize(("cases", "answer"), [(5, "cannot-tell"), (6, "better")])
def test_a_run_a_side_in_each_of_six_cases_can_tell(sides: Sides, cases: int, answer: str) -> None:
    # Each label may be turned: 2 · (1 / 2)⁶ = 0.031, and 0.0625 in five cases.
    for at in range(cases):
        sides.add("b", INCORRECT, case=str(at))
        sides.add("c", CORRECT, case=str(at))
    found = sides.allowed()
    assert found["gate"]["p"] == found["gate"]["smallest_p"] == pytest.approx(2 / 2**cases)
    assert found["answer"] == answer
    assert len(found["flips"]) == cases


def test_the_ranker_can_reward_who_fails_the_hard_case_each_time(sides: Sides) -> None:
    # Easy runs take 30 minutes; hard ones 90 if they are CORRECT, else 150. The ranker divides the
    # CORRECT runs' mean by their share: (4 · 30 + 2 · 90) / 6 / (6 / 8) = 66.7, and 30 / (4 / 8) =
    # 60. All that was spent for each CORRECT run: 600 / 6 = 100, and 720 / 4 = 180.
    easy = {"case": "easy", "minutes": [30] * 4}
    sides.add("b", *[CORRECT] * 4, **easy)
    sides.add("b", CORRECT, CORRECT, INCORRECT, INCORRECT, case="hard", minutes=[90, 90, 150, 150])
    sides.add("c", *[CORRECT] * 4, **easy)
    sides.add("c", *[INCORRECT] * 4, case="hard", minutes=[150] * 4)
    found = sides.allowed("--rank")
    minutes = {side: each / 60_000 for side, each in found["ranker"].items()}
    assert minutes == pytest.approx({"baseline": 66.7, "candidate": 60}, abs=0.05)
    spent = found["spent_for_each_correct"]
    assert (spent["baseline"]["wall_clock_ms"], spent["candidate"]["wall_clock_ms"]) == (
        100 * 60_000,
        180 * 60_000,
    )
    assert found["answer"] == "cannot-tell"
    said = sides.compare("--allow-unverified", "--rank").out
    assert "A tie-break, and no answer" in said
    assert sides.allowed()["ranker"] is None


def test_missing_is_never_zero(sides: Sides) -> None:
    # One run without tokens: no sum over all runs is known, and the others are compared.
    sides.add("b", *[CORRECT] * 4, costs=[(1000, None), (1000, 0), (1000, None), (None, None)])
    sides.add("c", *[CORRECT] * 4, costs=[(500, 0)] * 4)
    found = sides.allowed()
    (cost, nothing) = found["costs"]
    assert (cost["metric"], cost["ratio"]) == ("input_tokens", pytest.approx(0.5))
    assert (nothing["metric"], nothing["ratio"], nothing["p"]) == ("output_tokens", None, 1)
    spent = found["spent_for_each_correct"]
    assert spent["baseline"]["input_tokens"] is None
    assert spent["candidate"]["input_tokens"] == 500


def test_a_cost_of_zero_counts_by_its_rank(sides: Sides) -> None:
    # Of 256 pairs the candidate wins 128, and loses 128: no difference at all.
    sides.add("b", *[CORRECT] * 16, costs=[(1000, None)] * 16)
    sides.add("c", *[CORRECT] * 16, costs=[(0, None)] * 8 + [(2000, None)] * 8)
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    (cost,) = found["costs"]
    assert (cost["ratio"], cost["interval"], cost["p"]) == (None, None, 1)
    assert "A cost of nothing has no ratio" in sides.compare("--allow-unverified").out
    assert "n/a" in sides.compare("--allow-unverified", "--format", "html").out


def test_what_costs_nothing_is_cheaper(sides: Sides) -> None:
    sides.add("b", *[CORRECT] * 16, costs=DEAR)
    sides.add("c", *[CORRECT] * 16, costs=[(0, None)] * 16)
    found = sides.allowed()
    assert found["answer"] == "better"
    assert found["reasons"][1].endswith("input tokens down (p < 0.0001 by Holm)")


def test_only_correct_runs_are_compared_by_their_cost(sides: Sides) -> None:
    sides.add("b", CORRECT, INCORRECT, costs=[(1000, None), (1, None)])
    sides.add("c", CORRECT, INCORRECT, costs=[(2000, None), (1, None)])
    found = sides.allowed()
    assert found["costs"][0]["ratio"] == pytest.approx(2)
    assert found["costs"][0]["interval"] is None
    assert found["spent_for_each_correct"]["candidate"]["input_tokens"] == 2001


def dispatched(*ends: int, starts: int) -> str:
    """Dispatches, of which so many started, and that claim to have taken so long (ms)."""
    lines = [{**EVENTS["dispatch-start"].example, "dispatch_id": f"d{at}"} for at in range(starts)]
    lines += [
        {**EVENTS["dispatch-end"].example, "dispatch_id": f"d{at}", "wall_clock_ms": ms}
        for at, ms in enumerate(ends)
    ]
    return "".join(json.dumps(each) + "\n" for each in lines)


def test_a_wall_clock_that_covers_a_part_of_a_run_is_none(sides: Sides) -> None:
    sides.write("b", CORRECT, {}, events=dispatched(4000, 2000, starts=2))
    sides.write("c", CORRECT, {}, events=dispatched(1500, starts=1))
    found = sides.allowed()
    (cost,) = found["costs"]
    assert (cost["metric"], cost["ratio"]) == ("wall_clock_ms", pytest.approx(0.25))
    sides.write("c", CORRECT, {}, events=dispatched(1, starts=2))
    found = sides.allowed()
    assert found["costs"][0]["ratio"] == pytest.approx(0.25)
    assert found["spent_for_each_correct"]["candidate"]["wall_clock_ms"] is None


def test_what_the_clock_says_and_what_authors_claim_are_not_compared(sides: Sides) -> None:
    sides.add("b", CORRECT, minutes=[30])
    sides.write("c", CORRECT, {}, events=dispatched(1500, starts=1))
    assert sides.allowed()["costs"] == []
    sides.add("c", CORRECT, minutes=[30])
    spent = sides.allowed()["spent_for_each_correct"]
    assert spent["baseline"]["wall_clock_ms"] == 30 * 60_000
    assert spent["candidate"]["wall_clock_ms"] is None
