"""A cost that may stand on a line which readers do not count is not known, and wins nothing."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import run
from tests.support.runs import PASS, Recorder, write

RUNS = 16
DAMAGES: dict[str, Callable[[str], str]] = {
    "torn": lambda line: line[: len(line) // 2] + "\n",
    "another schema_version": lambda line: line.replace('n":"1"', 'n":"2"'),
    "another type": lambda line: line.replace("-recorded", "_recorded").replace("-start", "_start"),
    "of no run": lambda _: "@@\n",
}


def compared(folder: Path, damage: Callable[[str], str], *costs: dict[str, list[int]]) -> str:
    """The answer where each run of the candidate has lost lines to a damage."""
    recorder = Recorder()
    for side, cost in zip("bc", costs, strict=True):
        for number in range(RUNS):
            lines = recorder.run(f"{side}-{number}", PASS, **cost)
            lines = lines if side == "b" else [damage(line) for line in lines]
            write(folder / side / str(number) / "trace.jsonl", lines)
    sides = ("--baseline", folder / "b", "--candidate", folder / "c", "--allow-unverified")
    fail_on = ("--fail-on", "worse", "--fail-on", "cannot-tell")
    ran = run("compare", *sides, *fail_on, "--format", "json")
    assert (ran.code == 0) == (ran.json["answer"] == "better")
    return str(ran.json["answer"])


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_tokens_that_may_be_lost_are_not_told(tmp_path: Path, damage: Callable[[str], str]) -> None:
    costs: tuple[dict[str, list[int]], ...] = ({"tokens": [1_000]}, {"tokens": [100, 9_000]})
    assert compared(tmp_path / "whole", str, *costs) == "worse"
    assert compared(tmp_path / "torn", _on('"input_tokens":9000', damage), *costs) == "cannot-tell"


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_rounds_that_may_be_lost_are_not_told(tmp_path: Path, damage: Callable[[str], str]) -> None:
    costs: tuple[dict[str, list[int]], ...] = ({"rounds": [2, 2]}, {"rounds": [3]})
    # Less time, and more rounds: the costs do not point one way.
    assert compared(tmp_path / "whole", str, *costs) == "cannot-tell"
    later = _on('"round_number":2', damage, '"round_number":3')
    assert compared(tmp_path / "torn", later, *costs) == "cannot-tell"


def test_a_side_does_not_win_by_what_is_left_of_its_costs(tmp_path: Path) -> None:
    # Fewer rounds, and more tokens: the costs do not point one way, until one of them is torn.
    costs: tuple[dict[str, list[int]], ...] = (
        {"rounds": [3], "tokens": [1_000]},
        {"rounds": [1], "tokens": [9_000]},
    )
    torn = _on("tokens-recorded", DAMAGES["another type"])
    assert compared(tmp_path, torn, *costs) == "cannot-tell"


def test_a_copied_cost_does_not_take_the_answer_away(tmp_path: Path) -> None:
    costs: tuple[dict[str, list[int]], ...] = ({"tokens": [1_000]}, {"tokens": [9_000]})
    twice = _on("tokens-recorded", lambda line: line * 2)
    assert compared(tmp_path, twice, *costs) == "cannot-tell"
    sides = ("--baseline", tmp_path / "b", "--candidate", tmp_path / "c", "--allow-unverified")
    ran = run("compare", *sides, "--fail-on", "worse")
    assert ran.code == 1
    assert "a cost of the candidate is doubted" in ran.err


def _on(sign: str, damage: Callable[[str], str], other: str = "\n\n") -> Callable[[str], str]:
    return lambda line: damage(line) if sign in line or other in line else line
