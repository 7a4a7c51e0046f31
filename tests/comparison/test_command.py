"""`compare` from outside: exit codes, options and formats."""

import json
import re
from pathlib import Path

import pytest

from drive_trace.vocabulary import EVENTS
from tests.cli.support import run, write
from tests.cli.test_hostile_text import HOSTILE, OBEYED
from tests.comparison.support import CORRECT, INCORRECT, Sides
from tests.support.client_text import apart, graded

ROOT = Path(__file__).parents[2]


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    """A candidate that is worse."""
    made = Sides(tmp_path)
    made.add("b", *[CORRECT] * 4, costs=[(1000, 10)] * 4)
    made.add("c", *[INCORRECT] * 4, costs=[(1000, 10)] * 4)
    return made


@pytest.mark.parametrize(
    ("fail_on", "code"),
    [([], 0), (["worse"], 1), (["cannot-tell"], 0), (["cannot-tell", "worse"], 1)],
)
def test_exit_code(sides: Sides, fail_on: list[str], code: int) -> None:
    options = [word for each in fail_on for word in ("--fail-on", each)]
    assert sides.compare("--allow-unverified", *options).code == code
    assert sides.compare(*options).code == 3


def test_a_side_takes_paths_until_the_next_option(sides: Sides) -> None:
    before = sorted((sides.folder / "b").iterdir())
    after = sorted((sides.folder / "c").iterdir())
    ran = run("compare", "--allow-unverified", "--candidate", *after, "--baseline", *before)
    assert "4 runs against 4 in 1 case" in ran.out
    named = ["--allow-unverified=all", f"--candidate={after[0]}", "--candidate", after[1]]
    ran = run("compare", *named, "--baseline", before[0])
    assert "2 runs against 1 in 1 case" in ran.out


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (["--baseline"], "--baseline needs a PATH"),
        (["--baseline", "--candidate", "x"], "--baseline needs a PATH"),
        (["--baseline", "x"], "Missing option '--candidate'"),
        (["--baseline", "x", "--candidate", "y", "--rank", "z"], "unexpected extra argument (z)"),
        (
            ["--baseline", "x", "--candidate", "y", "--allow-unverified", "jugde"],
            '"jugde" is none of all, case, judge',
        ),
        (
            ["--baseline", "x", "--candidate", "y", "--out", "z.CSV"],
            "compare does not write .csv; end FILE with .txt, .json, .md or .html",
        ),
    ],
)
def test_wrong_usage(options: list[str], problem: str) -> None:
    ran = run("compare", *options)
    assert ran.code == 2
    assert problem in ran.err


def test_text(sides: Sides) -> None:
    write(sides.folder / "b" / "again", "trace.jsonl", graded(*CORRECT, project_run_id="b-1"))
    said = sides.compare("--allow-unverified").out.splitlines()
    assert said[:19] == [
        "4 runs against 4 in 1 case: the least p that the gate can reach is 0.029, and",
        "  the least difference that it can show 1.000, where one side never passes.",
        "1 run of the baseline is joined over files: each repetition needs an id of its",
        "  own.",
        "The gate decides at p ≤ 0.05. Else tokens, working time or rounds decide, at p ≤",
        "  0.021, which the gate leaves: worse if higher, and better if lower and the",
        "  share of CORRECT runs is not lower by more than 0.20.",
        "",
        "Answer: worse",
        "  the gate decides: 0 of 4 runs of the candidate are CORRECT, and 4 of 4 of the",
        "    baseline (p = 0.029).",
        "",
        "Gate",
        "  difference −1.000 [−1.000, −0.307] (candidate − baseline; Newcombe: it",
        "    illustrates, the test decides), p = 0.029 (two-sided, Fisher's exact test)",
        "  side       runs  CORRECT  INCORRECT  not computable  share of CORRECT",
        "  baseline      4        4          0               0  1.000 [0.510, 1.000]",
        "  candidate     4        0          4               0  0.000 [0.000, 0.490]",
        "",
    ]
    assert "  all runs  CORRECT → INCORRECT  b-1, b-2, b-3, b-4    c-5, c-6, c-7, c-8" in said
    at = said.index("What was read")
    assert max(map(len, said[:at])) <= 80
    read = " ".join(" ".join(said[at:]).split())
    assert f"baseline 5 files {sides.folder}/b baseline 1 run joined over files b-1" in read


def test_markdown_is_a_comment_with_the_answer_at_its_top(sides: Sides) -> None:
    said = sides.compare("--allow-unverified", "--format", "markdown").out
    assert said.startswith("4 runs against 4 in 1 case")
    assert said.splitlines()[4] == "# Drive Trace: worse"
    assert "| baseline | 4 | 4 | 0 | 0 | 1.000 [0.510, 1.000] |" in said
    assert "| `all runs` | CORRECT → INCORRECT | `b-1, b-2, b-3, b-4` |" in said


def test_markdown_fits_a_comment_however_many_cases_there_are(tmp_path: Path) -> None:
    names = [f"{at:03}{'x' * 140}" for at in range(120)]
    for side, grade in (("b", CORRECT), ("c", INCORRECT)):
        runs = (graded(*grade, project_run_id=f"{side}-{at}") for at in range(120))
        write(tmp_path, f"{side}/trace.jsonl", apart("".join(runs)))
    text = "".join(f'{name} = ["b-{at}", "c-{at}"]\n' for at, name in enumerate(names))
    cases = write(tmp_path, "cases.toml", f"[cases]\n{text}")
    given = ("--baseline", tmp_path / "b", "--candidate", tmp_path / "c", "--cases", cases)
    said = run("compare", *given, "--allow-unverified", "--format", "markdown").out
    assert len(said) < 65_536
    assert re.search(r"\n\n\*… and \d+ more rows: the JSON report has them all\.\*\n", said)


def test_html_draws_the_intervals_and_runs_nothing(sides: Sides) -> None:
    out = sides.folder / "compared.html"
    assert sides.compare("--allow-unverified", "--out", str(out)).out == ""
    page = out.read_text("utf-8")
    assert "<strong>worse</strong>" in page
    assert page.index("4 runs against 4 in 1 case") < page.index("<h1>")
    # Wilson's interval of 4 of 4 is [0.5101, 1], on an axis from 20 to 340.
    assert '<line x1="183.2" x2="340.0" y1="24" y2="24"/>' in page
    assert "default-src &#x27;none&#x27;" in page
    assert '<script type="module"></script>' in page


def test_out_never_takes_the_place_of_a_trace(sides: Sides) -> None:
    (trace, *_) = (sides.folder / "b").rglob("trace.jsonl")
    before = trace.read_bytes()
    out = sides.folder / "out.md"
    out.symlink_to(trace)
    assert sides.compare("--allow-unverified", "--out", str(out)).code == 2
    assert trace.read_bytes() == before


def test_a_bar_says_its_side_however_long_its_case_is_named(tmp_path: Path) -> None:
    made = Sides(tmp_path)
    for case in ("a-case-with-a-very-long-name" * 2, "b"):
        for side in "bc":
            made.add(side, CORRECT, case=case)
    page = made.compare("--allow-unverified", "--format", "html").out
    assert ">baseline, a-case-with-a-very-long-name" in page
    assert ">candidate, a-case-with-a-very-long-name" in page


@pytest.mark.parametrize("name", ["cases.txt", "b/b-1/trace.run.json", "drive-trace.toml"])
def test_out_never_takes_the_place_of_what_is_read(sides: Sides, name: str) -> None:
    path = write(sides.folder, name, '[cases]\nx = ["**"]\n' if name == "cases.txt" else "{}")
    options = ["--cases", path] if name == "cases.txt" else []
    before = path.read_bytes()
    ran = sides.compare("--allow-unverified", *map(str, options), "--out", str(path))
    assert (ran.code, path.read_bytes()) == (2, before)
    assert "must not take the place of what it is made from" in ran.err


def test_standard_input_is_one_side_alone() -> None:
    ran = run("compare", "--baseline", "-", "--candidate", "-")
    assert (ran.code, ran.out) == (2, "")
    assert "- is on both sides, and is read once" in ran.err


def test_facts_are_shown_without_a_verdict_and_per_run(sides: Sides) -> None:
    halt = json.dumps(EVENTS["falsified-assumption"].example) + "\n"
    sides.write("c", INCORRECT, {}, events=halt * 2)
    found = sides.allowed()["differences"]
    assert found["halts on falsified assumptions"] == {
        "baseline": 0,
        "candidate": 2,
        "per_run": {"baseline": 0, "candidate": 0.4},
    }
    unknown = {"baseline": None, "candidate": None}
    assert found["briefs reissued"] == {**unknown, "per_run": unknown}
    said = " ".join(sides.compare("--allow-unverified").out.split())
    assert "halts on falsified assumptions 0 0.00 2 0.40" in said


def test_a_rate_is_none_of_a_run_whatever_it_is(sides: Sides) -> None:
    for side, verdict in (("b", "satisfied"), ("c", "another-round-needed")):
        events = [
            {**EVENTS["round-start"].example, "round_number": 1},
            {**EVENTS["round-end"].example, "verdict": verdict},
        ]
        sides.write(side, CORRECT, {}, events="".join(f"{json.dumps(each)}\n" for each in events))
    accepted = sides.allowed()["differences"]["dispatches accepted in round 1"]
    assert (accepted["baseline"], accepted["candidate"]) == (1, 0)
    assert accepted["per_run"] == {"baseline": None, "candidate": None}
    said = " ".join(sides.compare("--allow-unverified").out.split())
    assert "dispatches accepted in round 1 100% n/a 0% n/a" in said
    for name in ("compared.html", "compared.md"):
        sides.compare("--allow-unverified", "--out", str(sides.folder / name))
        assert "100%" in (sides.folder / name).read_text("utf-8")


def test_the_documentation_shows_what_is_said(tmp_path: Path) -> None:
    made = Sides(tmp_path)
    made.add("b", *[CORRECT] * 7, INCORRECT)
    made.add("c", *[CORRECT] * 8)
    said = made.compare("--allow-unverified").out
    shown = Path(ROOT, "docs/compare.md").read_text("utf-8").split("```text\n")[1].split("```")[0]
    assert said.startswith(shown)


@pytest.mark.parametrize("text", [each for each in HOSTILE if "\n" not in each])
@pytest.mark.parametrize("output_format", ["text", "json", "markdown", "html"])
def test_no_name_is_a_command_of_a_runner_or_markup(
    tmp_path: Path, text: str, output_format: str
) -> None:
    made = Sides(tmp_path)
    name = f"{text}<b>"[:150]
    for side in "bc":
        made.add(side, CORRECT, case=name, model=f"{name}{side}", judge=name)
        made.add(side, CORRECT if side == "b" else INCORRECT, case=f"{name}2", model=name + side)
    for allowed in ([], ["--allow-unverified"]):
        ran = made.compare(*allowed, "--output-format", output_format)
        lines = (ran.out + ran.err).splitlines()
        assert lines
        assert [line for line in lines if OBEYED.search(line)] == []
        assert output_format != "html" or "<b>" not in ran.out


def test_a_side_of_very_many_runs_is_refused(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "many.jsonl",
        "".join(graded(None, None, None, project_run_id=f"r{at}") for at in range(1001)),
    )
    ran = run("compare", "--baseline", path, "--candidate", path)
    assert (ran.code, ran.err) == (2, "drive-trace: the baseline has more than 1,000 runs\n")
