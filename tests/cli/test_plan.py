"""How many runs a comparison takes, before anything has run and from past runs."""

from pathlib import Path

import pytest

from tests.cli.support import run
from tests.comparison.support import CORRECT, INCORRECT, UNGRADED, Sides


@pytest.mark.parametrize("columns", [60, 80])
def test_text_is_as_wide_as_the_terminal(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    examples = Path(__file__).parents[2] / "examples/projects"
    for command in (("plan",), ("score", "--format", "text", examples)):
        shown = [line for line in run(*command).out.splitlines() if str(examples) not in line]
        assert columns - 10 < max(map(len, shown)) <= columns


def test_given_rates_say_how_many_runs_it_takes() -> None:
    said = run("plan", "--cases", "5", "--runs", "6", "--rate", "0.8").out
    said = " ".join(said.split())
    assert said.startswith("5 cases of 6 runs a side, where 0.80 of the runs are CORRECT and the ")
    assert "logarithms of costs spread by 0.76 (assumed):" in said
    given = ("--rate", "0.8", "--spread", "0.5")
    assert "assumed" not in run("plan", *given).out
    assert run("plan", *given, "--output-format", "json").json["assumed"] == []
    found = run("plan", "--cases", "5", "--runs", "6", "--output-format", "json").json
    assert found["assumed"] == ["rate", "spread"]
    first, second = found["power"]
    assert (first["what"], first["effect"], second["effect"]) == ("CORRECT runs", 0.2, 1.5)
    assert 0 < first["power"] < 0.8
    again = run("plan", "--cases", "5", "--runs", first["runs"], "--output-format", "json").json
    assert again["power"][0]["power"] >= 0.8
    assert f"for 80%, {first['runs']} runs per case and side are enough" in said
    ran = run("plan", "--cases", "1000", "--runs", "1000")
    assert (ran.code, ran.out) == (2, "")
    assert "1,000 cases of 1,000 runs are more than 10,000 runs a side" in ran.err


def test_past_runs_say_how_many_runs_it_takes(tmp_path: Path) -> None:
    made = Sides(tmp_path)
    for case in "xy":
        costs = [(1000, None), (2000, None), (4000, None)]
        made.add("b", CORRECT, CORRECT, INCORRECT, costs=costs, case=case)
    found = run("plan", tmp_path / "b", "--output-format", "json").json
    assert (found["cases"], found["runs"]) == (2, 5)
    # (4 + z² / 2) of (6 + z²), and of the logarithms of 1,000 and 2,000.
    assert found["rate"] == pytest.approx((4 + 1.9207) / (6 + 3.8415), abs=1e-4)
    assert found["spread"] == pytest.approx(0.6931 / 2**0.5, abs=1e-4)
    assert found["assumed"] == []
    told = "0.60 of the runs are CORRECT (4 of 6 graded past runs, but taken nearer to a half, as "
    assert told in " ".join(run("plan", tmp_path / "b").out.split())
    made.add("c", UNGRADED, costs=[(1, 1)])
    for past, none in [("c", "1 past run, none graded: assumed"), ("empty.jsonl", "0 past runs")]:
        (tmp_path / "empty.jsonl").touch()
        said = " ".join(run("plan", tmp_path / past).out.split())
        assert f"where 0.80 of the runs are CORRECT ({none}" in said
    for given, word in (
        ([], "1 case (nobody says of which case 1 past run came: taken for one)"),
        (
            ["--cases", "3"],
            "3 cases of 5 runs a side, where",
        ),
    ):
        assert " ".join(run("plan", tmp_path / "c", *given).out.split()).startswith(word)
    ran = run("plan", tmp_path / "none")
    assert (ran.code, "no such file" in ran.err) == (2, True)
