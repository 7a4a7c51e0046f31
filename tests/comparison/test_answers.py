"""Which side is better: scenarios that were worked out by hand, and what else is told.

Fisher's p of two groups of runs is a sum of products of binomials: C(n, k) is `n over k`. Wilson's
interval of a rate of 1 in k runs begins at k / (k + z²), with z² = 3.8415, so that Newcombe's of
equal rates of 1 is ± z² / (k + z²): 0.324 for 8 runs, 0.194 for 16.
"""

import json
import math
import re
from collections.abc import Sequence
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

import drive_trace
from drive_trace.comparison.comparability import UNVERIFIABLE
from drive_trace.vocabulary import EVENTS, TOKEN_FIELDS
from tests.cli.support import write
from tests.comparison.support import CORRECT, INCORRECT, UNGRADED, Sides
from tests.support.client_text import event, tokens, triage

CHEAP = [(700 + at, None) for at in range(16)]
DEAR = [(1000 + at, None) for at in range(16)]


SCENARIOS: dict[str, tuple[str, str, str, float | None, tuple[float, float] | None, str]] = {
    "all of 4, where none was": (  # 2 / C(8, 4)
        *("4I", "4C", "better", 2 / 70, None),
        "the gate decides: 4 of 4 runs of the candidate are CORRECT, and 0 of 4 of the baseline",
    ),
    "none of 4, where all were": (
        *("4C", "4I", "worse", 2 / 70, None),
        "the gate decides: 0 of 4 runs of the candidate are CORRECT, and 4 of 4 of the baseline",
    ),
    # As a pass, 4 of 4 against none: 0.0286. As a fail, 3 of 4: 2 · C(4, 3) / C(8, 3).
    "all of 4, but one is not graded": (
        *("4I", "3C1. dear", "cannot-tell", 8 / 56, None),
        "it depends on 1 run that may be CORRECT or not: the gate says better or cannot tell",
    ),
    # As a fail, 7 of 8: 2 · C(8, 7) / C(16, 7). As a pass, 8 of 8: 2 / C(16, 8).
    "7 of 8, where none was, and one is not graded": (
        *("8I", "7C1. dear", "better", 16 / 11_440, None),
        "the gate decides: 7 of 8 runs of the candidate are CORRECT, and 0 of 8 of the baseline",
    ),
    "10 more of 16 are CORRECT, and all are dearer": (  # 2 · C(16, 10) / C(32, 10)
        *("6C10I cheap", "16C dear", "better", 2 * 8_008 / 64_512_240, None),
        "the gate decides: 16 of 16 runs of the candidate are CORRECT, and 6 of 16",
    ),
    # Newcombe's is not below -0.20. Each costs less: 2 / C(32, 16) is the least p of a cost.
    "all of 16 each, and all are cheaper": (
        *("16C dear", "16C cheap", "better", 1, (-0.1936, 0.1936)),
        "cost decides, as it is lower, and the rate of CORRECT runs is lower by 0.20 at most: "
        "input tokens × 0.70 (p < 0.0001 by Holm)",
    ),
    "all of 16 each, and all are dearer": (
        *("16C cheap", "16C dear", "worse", 1, (-0.1936, 0.1936)),
        "cost decides, as it is higher: input tokens × 1.42 (p < 0.0001 by Holm)",
    ),
    "all of 8 each, and all are cheaper": (
        *("8C dear", "8C cheap", "cannot-tell", 1, (-0.3244, 0.3244)),
        "the candidate's rate of CORRECT runs may be lower by 0.324, which is more than 0.20",
    ),
    # Simpson: 20 of 24 against 4 of 24, but in each case every run of both sides ends alike, so
    # that however labels are shuffled within it nothing changes.
    "more runs of the hard case": (
        *("20C for easy, 4I for hard", "4C for easy, 20I for hard", "cannot-tell", 1, None),
        "no cost is told by both sides",
    ),
    # 15 of 16 against 16 of 16: p = 1, so that the gate does not decide.
    "the dearer gained a run, which may be chance": (
        *("15C1I cheap", "16C dear", "worse", 1, None),
        "cost decides, as it is higher: input tokens × 1.43 (p < 0.0001 by Holm)",
    ),
    "all of 4, where none was, and nobody says who judged": (
        *("4I", "4C", "not-comparable", None, None),
        "unverifiable: judge; --allow-unverified=judge compares all the same; not said by 8 runs",
    ),
}
"""By its name each side, what has to be answered, the gate's p, Newcombe's interval, and how the
last reason begins. Of a side ``15C1I cheap for easy`` are 15 CORRECT runs and an INCORRECT one, of
that cost and case; a dot is a run that is not graded.
"""


def add(sides: Sides, side: str, runs: str) -> None:
    """Runs in the words of a scenario."""
    for group in runs.split(", "):
        verdicts, _, case = group.partition(" for ")
        verdicts, _, costs = verdicts.partition(" ")
        triples = [
            {"C": CORRECT, "I": INCORRECT, ".": UNGRADED}[letter]
            for count, letter in re.findall(r"(\d+)(.)", verdicts)
            for _ in range(int(count))
        ]
        spent = {"dear": DEAR, "cheap": CHEAP, "": None}[costs]
        sides.add(side, *triples, costs=spent, case=case or None)


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_scenario_that_was_worked_out_by_hand(sides: Sides, name: str) -> None:
    baseline, candidate, answer, p, interval, reason = SCENARIOS[name]
    add(sides, "b", baseline)
    add(sides, "c", candidate)
    unasked = [each for each in UNVERIFIABLE if each != "judge" or answer != "not-comparable"]
    found = sides.json(f"--allow-unverified={','.join(unasked)}")
    assert found["answer"] == answer
    assert found["reasons"][-1].startswith(reason)
    assert found["gate"]["p"] == (None if p is None else pytest.approx(p))
    if interval is not None:
        assert found["gate"]["difference_interval"] == pytest.approx(interval, abs=1e-4)


def test_a_gate_is_told_with_all_that_it_rests_on(sides: Sides) -> None:
    add(sides, "b", "7C1I")
    add(sides, "c", "8C")
    found = sides.allowed()
    assert (found["answer"], found["reasons"][-1]) == (
        "cannot-tell",
        "no cost is told by both sides",
    )
    gate = found["gate"]
    assert gate["baseline"]["interval"] == pytest.approx([0.5291, 0.9776], abs=1e-4)
    assert gate["candidate"]["interval"] == pytest.approx([0.6756, 1], abs=1e-4)
    assert (gate["p"], gate["difference"], gate["test"]) == (1, 0.125, "fisher")
    # 0.125 - √((1 - 0.6756)² + (0.9776 - 0.875)²), and 0.125 + √((1 - 1)² + (0.875 - 0.5291)²)
    assert gate["difference_interval"] == pytest.approx([-0.2152, 0.4709], abs=1e-4)
    # 5 of 8 against none: 2 · C(8, 5) / C(16, 5) = 0.0256; 4 of 8: 2 · C(8, 4) / C(16, 4) = 0.0769.
    assert gate["smallest_detectable"] == 0.625


def test_three_runs_a_side_can_never_tell_and_that_is_said_first(sides: Sides) -> None:
    # All against none: 2 / C(6, 3) = 0.1.
    sides.add("b", *[INCORRECT] * 3)
    sides.add("c", *[CORRECT] * 3)
    gate = sides.allowed()["gate"]
    assert gate["p"] == gate["smallest_p"] == pytest.approx(0.1)
    assert gate["smallest_detectable"] is None
    said = sides.compare("--allow-unverified").out
    assert said.startswith(
        "3 runs against 3 in 1 case can never be significant: the least p that the gate\n"
        "  can reach is 0.100, and 0.05 is needed.\nThe gate decides at p ≤ 0.05. Else "
    )


def test_a_p_of_exactly_0_05_decides(sides: Sides) -> None:
    # The one of 20 runs that fails is the baseline's: 1 / 20.
    sides.add("b", INCORRECT)
    sides.add("c", *[CORRECT] * 19)
    assert sides.allowed()["answer"] == "better"


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
    said = sides.compare("--allow-unverified", "--format", "markdown").out
    assert "0.000 to 1.000 [0.000, 1.000]" in said
    assert "0.250 to 1.000 [0.046, 1.000]" in said
    # A bar without a square: nothing is known but its ends.
    page = sides.compare("--allow-unverified", "--format", "html").out
    assert '<line x1="20.0" x2="340.0" y1="24" y2="24"/>' in page
    assert '<rect x="17.0" y="21"' not in page


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
    assert "16/16, 5/16" in sides.compare("--allow-unverified").out


def test_a_correct_that_a_caveat_qualifies_may_be_none(sides: Sides) -> None:
    # As above with 3 of 4: the run went on after its grade.
    sides.add("b", *[INCORRECT] * 4)
    (path, *_) = sides.add("c", *[CORRECT] * 4, costs=DEAR)
    tear(path)
    found = sides.allowed()
    assert found["gate"]["candidate"]["correct"] == 4
    assert found["gate"]["candidate"]["qualified"] == 1
    # What is torn may be what the run cost.
    assert found["spent_for_each_correct"]["candidate"]["input_tokens"] is None
    assert found["answer"] == "cannot-tell"
    said = sides.compare("--allow-unverified", "--format", "markdown").out
    share = "0.750 to 1.000 [0.301, 1.000]"  # Wilson's bounds of 3 of 4, and of 4 of 4
    assert f"| candidate | 4 | 4 (1 with caveats) | 0 | 0 | {share} |" in said
    assert "4 (1 with caveats) of 4 runs of the candidate are CORRECT" in said
    assert "readers reject 1 line of the candidate, which is not counted" in said


def test_an_incorrect_that_a_caveat_could_overturn_may_be_correct(sides: Sides) -> None:
    # Else 0 of 8 against 8 of 8: p = 2 / C(16, 8).
    for path in sides.add("b", *[INCORRECT] * 8):
        tear(path)
    sides.add("c", *[CORRECT] * 8)
    found = sides.allowed()
    assert found["gate"]["baseline"]["incorrect_qualified"] == 8
    assert found["gate"]["baseline"]["interval"] == pytest.approx([0, 1])
    assert found["answer"] == "cannot-tell"
    said = " ".join(sides.compare("--allow-unverified").out.split())
    assert "it depends on 8 runs that may be CORRECT or not" in said
    assert "8 INCORRECT runs may be CORRECT, as a caveat says" in said


def tear(path: Path) -> None:
    """Have the run of a trace go on after its grade: its last line is written again, in part."""
    text = path.read_text("utf-8")
    path.write_text(f"{text}{text.splitlines()[-1][:40]}\n", "utf-8")


def test_a_flip_says_which_correct_runs_a_caveat_qualifies(sides: Sides) -> None:
    (stale, *_) = sides.add("b", *[CORRECT] * 2)
    sides.add("c", *[INCORRECT] * 2)
    tear(stale)
    (flip,) = sides.allowed()["flips"]
    assert flip["baseline_runs"] == ["b-1", "b-2"]
    headline = "CORRECT, but stale: 1 rejected line after the grade"
    assert flip["qualified"] == {"b-1": headline}
    for output_format in ("text", "markdown", "html"):
        said = " ".join(sides.compare("--allow-unverified", "--format", output_format).out.split())
        assert "1 CORRECT run of these may be something else, as a caveat says" in said
        assert output_format == "text" or f"b-1 ({headline[13:]}), b-2" in said


def test_a_cost_is_told_with_all_that_it_rests_on(sides: Sides) -> None:
    # The ratio of the k-th is the median, and 2 / C(32, 16) is the least p.
    sides.add("b", *[CORRECT] * 16, costs=[(2000, None)] * 16)
    sides.add("c", *[CORRECT] * 16, costs=[(1000, None)] * 16)
    (cost,) = sides.allowed()["costs"]
    assert cost["metric"] == "input_tokens"
    assert cost["ratio"] == pytest.approx(0.5)
    assert cost["interval"] == pytest.approx([0.5, 0.5])
    assert cost["p"] == pytest.approx(2 / 601_080_390)
    assert cost["cases"] == ["all runs"]


@pytest.mark.parametrize(
    ("cost", "reason", "row"),
    [
        (700_000, "0.70", "0.700 | [0.700, 0.700]"),
        (999_000, "0.999", "0.999 | [0.999, 0.999]"),
        (1_000_040, "1.00004", "1.00004 | [1.00004, 1.00004]"),
    ],
)
def test_a_ratio_has_the_digits_that_tell_it_from_1(
    sides: Sides, cost: int, reason: str, row: str
) -> None:
    sides.add("b", *[CORRECT] * 16, costs=[(1_000_000, 10)] * 16)
    sides.add("c", *[CORRECT] * 16, costs=[(cost, 10)] * 16)
    assert f": input tokens × {reason} (p < 0.0001 by Holm)" in sides.allowed()["reasons"][1]
    said = sides.compare("--allow-unverified", "--format", "markdown").out
    assert f"| input tokens | {row} |" in said
    assert "| output tokens | 1.000 | [1.000, 1.000] | 1.000 |" in said
    assert "Equal costs" not in said


def test_an_interval_with_1_beside_a_small_p_is_explained(sides: Sides) -> None:
    # The 7 of 32 runs that cost more are all the baseline's: 2 · C(16, 7) / C(32, 7) = 0.0068. Of
    # 256 pairs of runs 144 cost the same, so that the median is 1.
    sides.add("b", *[CORRECT] * 16, costs=[(2000, None)] * 7 + [(1000, None)] * 9)
    sides.add("c", *[CORRECT] * 16, costs=[(1000, None)] * 16)
    (cost,) = sides.allowed()["costs"]
    assert (cost["ratio"], cost["p"]) == (1, pytest.approx(2 * 11_440 / 3_365_856))
    assert cost["interval"] == pytest.approx([0.5, 1])
    assert sides.allowed()["reasons"][1].endswith(": input tokens down (p = 0.007 by Holm)")
    for output_format in ("text", "markdown", "html"):
        said = " ".join(sides.compare("--allow-unverified", "--format", output_format).out.split())
        assert (
            "Equal costs widen an interval, which can hold 1 though p is below 0.05: the test "
            "decides" in said
        )


def test_a_case_that_lost_correct_runs_is_named_with_them(sides: Sides) -> None:
    sides.add("b", *[CORRECT] * 16, costs=DEAR, case="easy")
    sides.add("b", *[CORRECT] * 16, costs=DEAR, case="hard")
    sides.add("c", *[CORRECT] * 16, costs=CHEAP, case="easy")
    sides.add("c", *[CORRECT] * 15, INCORRECT, costs=CHEAP, case="hard")
    found = sides.allowed()
    assert found["gate"]["difference_interval"][0] > -0.2
    assert found["costs"][0]["adjusted_p"] < 0.001
    assert found["answer"] == "better"
    assert found["reasons"][2:] == ["CORRECT runs are lost, or may be, in 1 case: hard"]
    # Of 32 runs a side one is lost: the bound is -0.157.
    assert sides.allowed("--margin", "0.15")["answer"] == "cannot-tell"
    (flip,) = found["flips"]
    assert (flip["case"], flip["from"], flip["to"]) == ("hard", "correct", "incorrect")
    assert (len(flip["baseline_runs"]), flip["candidate_runs"]) == (16, ["c-64"])


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
    said = " ".join(sides.compare("--allow-unverified").out.split())
    assert "that it can show about 0." in said


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
    sides.add("b", *[CORRECT] * 16, costs=[(1000, 1000)] * 16)
    sides.add("c", *[CORRECT] * 16, costs=[(1000, 0)] * 8 + [(1000, 2000)] * 8)
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    _, cost = found["costs"]
    assert (cost["ratio"], cost["interval"], cost["p"]) == (None, None, 1)
    assert "A cost of nothing has no ratio" in sides.compare("--allow-unverified").out
    assert "n/a" in sides.compare("--allow-unverified", "--format", "html").out


def test_what_costs_nothing_is_cheaper(sides: Sides) -> None:
    sides.add("b", *[CORRECT] * 16, costs=[(1000, each) for each, _ in DEAR])
    sides.add("c", *[CORRECT] * 16, costs=[(1000, 0)] * 16)
    found = sides.allowed()
    assert found["answer"] == "better"
    assert found["reasons"][1].endswith("output tokens down (p < 0.0001 by Holm)")


def test_the_copied_line_of_another_cost_is_not_believed(sides: Sides) -> None:
    for _ in range(16):
        sides.write("b", CORRECT, {}, events=tokens(1000, 1000, 1000, 1000))
        path = sides.write("c", CORRECT, {}, events=tokens(1, 1, 1, 1) + tokens(5000, 1, 1, 1))
        first = path.read_text("utf-8").splitlines()[0]
        path.write_text(f"{path.read_text('utf-8')}{first}\n", "utf-8")
    assert sides.allowed()["answer"] == "cannot-tell"


def test_a_night_is_no_work(sides: Sides) -> None:
    # The same two dispatches, side by side; the candidate's run is closed five hours later.
    for side, hour in (("b", 14), ("c", 19)):
        for _ in range(16):
            started = {"project_slug": "x", "origin": "promote", "has_linear_project": False}
            closed = {"dod_status": "all-met", "slices_completed": 0, "final_retro_done": True}
            lines = event("project-started", **started) + dispatched(4000, 9000, starts=2)
            lines += event("project-closed", ts=f"2026-05-28T{hour}:30:00.000Z", **closed)
            sides.write(side, CORRECT, {}, events=lines)
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    costs = {each["metric"]: each for each in found["costs"]}
    assert (costs["working_ms"]["ratio"], costs["working_ms"]["decides"]) == (1, True)
    assert costs["wall_clock_ms"]["ratio"] == pytest.approx(11)
    assert not costs["wall_clock_ms"]["decides"]
    assert found["spent_for_each_correct"]["candidate"]["working_ms"] == 9000
    assert sides.allowed("--time", "clock")["answer"] == "worse"


CACHED = {"b": (1_000_000, 5000, 0, 0), "c": (20_000, 5000, 40_000_000, 0)}
PRICES = "[sonnet]\ninput = 3\noutput = 15\ncache_read = 0.3\ncache_write = 3.75\n"


def cached(sides: Sides, *, without: str = "") -> None:
    """Runs that read the cache in place of the input: 3.075 dollars against 12.135."""
    for side, counts in CACHED.items():
        for at in range(16):
            told = tuple(
                None if without == side and at == 0 and not each else each for each in counts
            )
            sides.write(side, CORRECT, {"model": "sonnet", "bundle": side}, events=tokens(*told))


def test_less_input_for_more_cache_reads_is_not_better(sides: Sides) -> None:
    cached(sides)
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    assert found["dollars"] is None
    # Wilson's middle of 16 of 16 is 0.90.
    passes, cost = found["power"]
    assert passes == {"what": "CORRECT runs", "effect": 0.2, "power": passes["power"], "runs": 71}
    assert cost["what"] == "input tokens"
    assert 0.95 < cost["power"] < 1  # they do not spread, but how many pass is left to chance
    said = " ".join(sides.compare("--allow-unverified").out.split())
    told = f"found in {passes['power']:.0%} of such comparisons"
    assert f"{told}; for 80%, 71 runs per case and side are enough" in said
    assert "input tokens × 0.02 (p < 0.0001 by Holm) and cache reads up" in found["reasons"][1]


def test_prices_make_dollars_for_each_correct_run_of_tokens(sides: Sides, tmp_path: Path) -> None:
    cached(sides)
    prices = write(tmp_path, "prices.toml", PRICES)
    found = sides.allowed("--prices", str(prices))
    assert (found["answer"], found["by_cost"]) == ("worse", "worse")
    assert found["reasons"][1].startswith("cost decides, as it is higher: dollars for each CORRECT")
    spent = [found["spent_for_each_correct"][side]["dollars"] for side in ("baseline", "candidate")]
    assert spent == [pytest.approx(3.075), pytest.approx(12.135)]
    assert found["dollars"]["ratio"] == pytest.approx(12.135 / 3.075)
    assert found["dollars"]["told"]["candidate"] == {"runs": 16, "of": 16}
    # All cost the same on a side, and all are CORRECT, which may be (32 + 2) of (32 + 4) of runs.
    low, high = found["dollars"]["interval"]
    variance = 2 / 34 / 8
    for end, tail in ((low, 2 / 3), (high, 1 / 3)):
        z = NormalDist().inv_cdf(1 - 0.05 * tail)
        reach = math.sqrt(variance / (1 / z**2 - 1 / 31))
        assert abs(math.log(end * 3.075 / 12.135)) == pytest.approx(reach, abs=1e-4)
    for output_format, shown in (
        ("text", f"3.946  [{low:.3f}, {high:.3f}]   16/16, 16/16"),
        ("html", "3.946"),
    ):
        said = sides.compare("--allow-unverified", "--prices", prices, "--format", output_format)
        assert "Dollars for each CORRECT run, candidate ÷ baseline" in said.out
        assert shown in said.out


def test_only_the_users_own_prices_count(
    sides: Sides, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cached(sides)
    for folder in (tmp_path, tmp_path / "c"):
        write(folder, "drive-trace-prices.toml", PRICES)
    assert sides.allowed()["dollars"] is None
    write(tmp_path / "own", "drive-trace-prices.toml", PRICES.replace("[sonnet]", "['*']"))
    monkeypatch.setenv("DRIVE_TRACE_CONFIG", str(tmp_path / "own"))
    assert sides.allowed()["answer"] == "worse"
    assert drive_trace.compare(tmp_path / "b", tmp_path / "c", allow_unverified=["all"]).dollars


@pytest.mark.parametrize(
    ("text", "without"), [(PRICES.replace("sonnet", "opus"), ""), (PRICES, "b")]
)
def test_dollars_that_are_not_known_are_not_small(
    sides: Sides, tmp_path: Path, text: str, without: str
) -> None:
    cached(sides, without=without)
    found = sides.allowed("--prices", str(write(tmp_path, "prices.toml", text)))
    assert found["answer"] == "cannot-tell"
    runs = "1 run" if without else "32 runs"
    assert found["reasons"][1].startswith(f"the dollars of {runs} are not known: ")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("sonnet = 3", "1:10: `sonnet` must be a table; found 3"),
        ("[a]\ninput = 1\n", "1:2: `cache_read` is missing here"),
        (
            PRICES.replace("= 3", "= -3", 1),
            "2:9: `input` must be a number of at least 0 and at most 1,000,000; found -3",
        ),
        (
            PRICES.replace("= 3", "= 3e9", 1),
            "2:9: `input` must be a number of at least 0 and at most 1,000,000; found ",
        ),
        ("[a", "1:3: is not TOML: "),
        (None, "cannot be read: no such file or folder"),
    ],
)
def test_wrong_prices_are_told(
    sides: Sides, tmp_path: Path, text: str | None, problem: str
) -> None:
    path = tmp_path / "prices.toml"
    if text is not None:
        path.write_text(text, "utf-8")
    sides.add("b", CORRECT)
    sides.add("c", CORRECT)
    ran = sides.compare("--prices", str(path))
    assert ran.code == 2
    assert f"{path}: {problem}" in ran.err or f"{path}:{problem}" in ran.err


def test_a_higher_cost_fails_where_it_is_asked_for(sides: Sides) -> None:
    # 16 of 16 against 6 of 16: the gate decides, and all are dearer.
    sides.add("b", *[CORRECT] * 6, *[INCORRECT] * 10, costs=CHEAP)
    sides.add("c", *[CORRECT] * 16, costs=DEAR)
    found = sides.allowed()
    assert (found["answer"], found["by_cost"]) == ("better", "worse")
    assert sides.compare("--allow-unverified", "--fail-on", "worse").code == 0
    assert sides.compare("--allow-unverified", "--fail-on", "cost-worse").code == 1


def test_twice_the_cost_is_worse_though_a_case_gained_a_run(sides: Sides) -> None:
    # 5 cases of 6 runs a side; in one the candidate has one run more.
    for at in range(5):
        costs = [(1000 + 300 * each, None) for each in range(6)]
        lost = INCORRECT if at == 0 else CORRECT
        sides.add("b", lost, *[CORRECT] * 5, costs=costs, case=str(at))
        twice = [(2 * each, None) for each, _ in costs]
        sides.add("c", *[CORRECT] * 6, costs=twice, case=str(at))
    assert sides.allowed()["answer"] == "worse"
    assert sides.compare("--allow-unverified", "--fail-on", "worse").code == 1


def test_only_correct_runs_are_compared_by_their_cost(sides: Sides) -> None:
    sides.add("b", CORRECT, INCORRECT, costs=[(1000, None), (1, None)])
    sides.add("c", CORRECT, INCORRECT, costs=[(2000, None), (1, None)])
    found = sides.allowed()
    assert found["costs"][0]["ratio"] == pytest.approx(2)
    assert found["costs"][0]["interval"] is None
    assert found["spent_for_each_correct"]["candidate"]["input_tokens"] == 2001


def ended(ms: int) -> str:
    return f"2026-05-28T14:00:{ms / 1000:06.3f}Z"


def dispatched(*ends: int, starts: int) -> str:
    """Dispatches, of which so many started, and that claim to have taken so long (ms), as their
    times say.
    """
    lines = [
        {**EVENTS["dispatch-start"].example, "dispatch_id": f"d{at}", "ts": ended(0)}
        for at in range(starts)
    ]
    lines += [
        {
            **EVENTS["dispatch-end"].example,
            "dispatch_id": f"d{at}",
            "wall_clock_ms": ms,
            "ts": ended(ms),
        }
        for at, ms in enumerate(ends)
    ]
    return "".join(json.dumps(each) + "\n" for each in lines)


SHORT = dispatched(4000, starts=1).replace('"wall_clock_ms": 4000', '"wall_clock_ms": 4')
BEFORE = tokens(10, 10, None, None, ts="2026-05-28T13:59:00.000Z") + dispatched(4000, starts=1)
LATER = triage(ts="2026-05-28T15:00:00.000Z")
NOT_BELIEVED: dict[str, tuple[dict[str, Any], dict[str, Any], Sequence[str]]] = {
    "token counts of 0": ({"cost": (9, 9)}, {"events": tokens(0, 0, 0, 0)}, TOKEN_FIELDS),
    "or of null": ({"cost": (9, 9)}, {"events": tokens(0, None, 0, None)}, TOKEN_FIELDS),
    "tokens before the work was over": ({"cost": (99, None)}, {"events": BEFORE}, TOKEN_FIELDS),
    "a time across one that goes back": (
        *({"minutes": 30}, {"minutes": 0, "events": LATER}),
        ("working_ms", "wall_clock_ms"),
    ),
    "a wall-clock of nothing": ({"minutes": 30}, {"minutes": 0}, ["wall_clock_ms"]),
    "a duration that the times contradict": (
        *({"events": dispatched(4000, starts=1)}, {"events": SHORT}),
        ("wall_clock_ms",),
    ),
}
"""A cost of the baseline's runs, and one of the candidate's, which is lower and doubted."""


@pytest.mark.parametrize("name", NOT_BELIEVED)
def test_a_cost_that_is_not_believed_decides_nothing(sides: Sides, name: str) -> None:
    ours, theirs, doubted = NOT_BELIEVED[name]
    for _ in range(16):
        sides.write("b", CORRECT, {}, **ours)
        sides.write("c", CORRECT, {}, **theirs)
    found = sides.allowed("--time", "clock")
    assert found["answer"] == "cannot-tell"
    assert {*doubted}.isdisjoint(each["metric"] for each in found["costs"])
    runs = found["inputs"]["candidate"]["doubted"]
    assert {key: len(ids) for key, ids in runs.items()} == dict.fromkeys(doubted, 16)
    spent = found["spent_for_each_correct"]["candidate"]
    assert {spent[each] for each in doubted} == {None}
    titles = {"input_tokens": "input tokens", "wall_clock_ms": "wall-clock"}
    said = " ".join(sides.compare("--allow-unverified").out.split())
    assert all(f"{what} doubted: 16 runs" in said for key, what in titles.items() if key in doubted)


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
