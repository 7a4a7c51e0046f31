"""An evals engineer's day: a suite plans runs, which are gated, judged and compared."""

import json
import os
import re
import shutil
import sys
import tomllib
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.cli.judging import calibrate
from tests.cli.support import Ran, process, run, write
from tests.scorecard.support import event
from tests.support.fixtures import trace as text_of
from tests.support.schemas import schema, strict_validator

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="gates are commands for sh")

CASES, REPETITIONS, SIDES = [f"case-{at}" for at in range(5)], 6, ("baseline", "candidate")
FEW = CASES[3:]
JUDGE = """\
n=$(wc -l < {log}); test -n "$(cat)" || exit 9
if [ $n -eq 20 ] && [ ! -e {log}.stopped ]; then touch {log}.stopped; kill -9 $PPID; exit 9; fi
echo asked >> {log}
printf '%s' '{{"reasons": ["AC-1 holds"], "intent": "pass"}}'
"""
SUITE = """\
repetitions = 6
[mechanical]
run = ["echo $PWD >> '{log}'", "test -e built"]

[qa]
result = ["junit.xml"]

[sides.baseline]
model = "claude-opus"
bundle = "v1"
base_commit = "4c0ffee"

[sides.candidate]
model = "claude-opus"
bundle = "v2"
base_commit = "4c0ffee"

[judge]
model = "gpt-x"
model_command = "exec sh judge.sh"

[prices."*"]
input = 3.0
output = 15.0
cache_read = 0.3
cache_write = 3.75

{cases}mechanical = {{ run = ["echo $PWD >> '{log}'", "test -e built && true"] }}
"""


def of_run(name: str, input_tokens: int) -> str:
    """A trace of a run that has ended."""
    started = event("dispatch-start", name, model="claude-opus", dispatch_id=f"{name}-d")
    ended = event("dispatch-end", name, dispatch_id=f"{name}-d")
    counts = {"input_tokens": input_tokens, "output_tokens": 10, "cache_read_tokens": 0}
    rounds = [event(f"round-{each}", name, dispatch_id=f"{name}-d") for each in ("start", "end")]
    cost = event("tokens-recorded", name, **counts, cache_write_tokens=0)
    return text_of(started, *rounds, ended, cost)


@pytest.fixture
def day(here: Path) -> Path:
    """Five cases of six runs a side: the candidate costs twice as much."""
    return planned(here, CASES)


@pytest.fixture
def suite(here: Path) -> Path:
    """Two of them."""
    return planned(here, FEW)


def planned(here: Path, cases: list[str]) -> Path:
    os.environ["DRIVE_TRACE_CONFIG"] = str(here / "own")
    random = Random(39)
    for side in SIDES:
        for case in cases:
            write(here, f"cases/{case}/acceptance.md", "- **AC-1** Retries are bounded.\n")
            for number in range(1, REPETITIONS + 1):
                folder = f"runs/{side}/{case}/{number}"
                cost = round(10_000 * random.lognormvariate(0, 0.3) * (1 + (side == SIDES[1])))
                write(here, f"{folder}/trace.jsonl", of_run(f"{side}-{case}-{number}", cost))
                write(here, f"{folder}/built", "")
                report = "<testsuite tests='1'><testcase name='a' classname='b'/></testsuite>"
                write(here, f"{folder}/junit.xml", report)
                write(here, f"{folder}/run.diff", "diff --git a/a b/a\n+++ b/a\n+retry(3)\n")
    tables = "".join(f"[cases.{case}]\n" for case in cases)
    write(here, "judge.sh", JUDGE.format(log=here / "asked.log"))
    write(here, "asked.log", "")
    return write(here, "suite.toml", SUITE.format(log=here / "gates.log", cases=tables))


def test_a_suite_says_what_is_planned_and_its_baseline_what_to_expect(suite: Path) -> None:
    given = ("--cases", len(FEW), "--runs", REPETITIONS, "--output-format", "json")
    before = run("plan", "--suite", suite, "--output-format", "json").json
    assert before["rate"] == 0.8, "nothing is graded"
    for trace in suite.parent.glob("runs/baseline/*/*/trace.jsonl"):
        name = json.loads(trace.read_text("utf-8").split("\n")[0])["project_run_id"]
        of_run = ("--trace-file", trace, "--project-run-id", name)
        outcome = "fail" if trace.parent.name == "1" else "pass"
        marks = [each for name in ("mechanical", "qa", "intent") for each in (f"--{name}", outcome)]
        assert run("record", *of_run, *marks).code == 0
    planned = run("plan", "--suite", suite, "--output-format", "json").json
    assert (planned["cases"], planned["runs"]) == (len(FEW), REPETITIONS)
    told = {name: str(planned[name]) for name in ("rate", "spread")}
    assert planned["power"][1]["what"] == "dollars for each CORRECT run", "it has prices"
    own = '["*"]\ninput = 3.0\noutput = 15.0\ncache_read = 0.3\ncache_write = 3.75\n'
    write(suite.parent, "own/drive-trace-prices.toml", own)
    as_options = run("plan", *given, "--rate", told["rate"], "--spread", told["spread"]).json
    assert planned["power"] == [pytest.approx(each, abs=1e-6) for each in as_options["power"]]
    # (10 + z² / 2) of (12 + z²), and as far as the costs of the baseline spread.
    assert planned["rate"] == pytest.approx((10 + 1.9207) / (12 + 3.8415), abs=1e-4)
    assert 0.1 < planned["spread"] < 0.6
    for option in (("--cases", "3"), ("--margin", "0.1"), (suite.parent,)):
        ran = run("plan", "--suite", suite, *option)
        assert (ran.code, "does not go with --suite" in ran.err) == (2, True)


def grades(here: Path) -> Counter[int]:
    """How many grades the traces have."""
    return Counter(
        path.read_text("utf-8").count('"correctness-recorded"')
        for path in here.rglob("trace.jsonl")
    )


def lines(path: Path) -> list[str]:
    return path.read_text("utf-8").splitlines()


def test_an_evals_engineers_day(day: Path) -> None:
    here = day.parent
    (here / "runs/candidate/case-0/1/trace.jsonl").unlink()
    write(here, "runs/candidate/case-0/2/trace.jsonl", "")
    open_run = event("dispatch-start", "never-ended", model="claude-opus")
    write(here, "runs/candidate/case-0/3/trace.jsonl", text_of(open_run))
    (here / "runs/candidate/case-1/1/built").unlink()

    calibrate("gpt-x")  # the first command
    said = run("suite", "status", "suite.toml")
    assert said.code == 1
    assert said.out.startswith("graded as suite.toml says: 0 of 60 planned runs\n")
    assert "  runs/candidate/case-0/1/trace.jsonl: no event recorded\n" in said.out
    assert "  runs/candidate/case-0/2/trace.jsonl: no event recorded\n" in said.out
    assert "  runs/candidate/case-0/3/trace.jsonl: never ended\n" in said.out
    assert (
        "  runs/baseline/case-0/1/trace.jsonl: not graded yet: mechanical, qa, intent\n" in said.out
    )

    gated = run("suite", "run-gates", "suite.toml")
    assert gated.code == 1, gated.err
    assert len(lines(here / "gates.log")) == 57
    assert len(set(lines(here / "gates.log"))) == 57

    # The judge's command kills drive-trace in the middle, and the same command goes on.
    assert process("suite", "judge", "suite.toml", cwd=here).code < 0
    assert len(lines(here / "asked.log")) == 20
    again = run("suite", "judge", "suite.toml")
    assert again.code == 1
    assert len(lines(here / "asked.log")) == 57
    assert grades(here) == {3: 57, 0: 2}
    named = [
        each
        for each in again.err.splitlines()
        if each.endswith(("no event recorded", "never ended"))
    ]
    assert len(named) == 3

    # Nothing is left to do, and nothing is done twice.
    for command in ("run-gates", "judge"):
        assert run("suite", command, "suite.toml").code == 1
    assert (len(lines(here / "gates.log")), len(lines(here / "asked.log"))) == (57, 57)
    assert grades(here) == {3: 57, 0: 2}

    found: Any = run("compare", "--suite", "suite.toml", "--format=json")
    answer = found.json
    assert (found.code, answer["answer"]) == (0, "cannot-tell"), json.dumps(
        answer["reasons"], indent=1
    )
    gate = answer["gate"]
    assert [(gate[each]["correct"], gate[each]["k"]) for each in SIDES] == [(30, 30), (26, 30)]
    assert [each["case"] for each in answer["cases"]] == CASES
    dead = answer["inputs"]["candidate"]["dead_runs"]
    assert {Path(each).parent.name: why for each, why in dead.items()} == {
        "1": "no event recorded",
        "2": "no event recorded",
        "3": "never ended",
    }
    text = run("compare", "--suite", "suite.toml").out
    assert (
        "2 runs of the candidate are without an event, and taken for not CORRECT; only a manifest"
        in " ".join(text.split())
    )
    assert list(here.rglob("*.run.json")) == []


def done(here: Path) -> Ran:
    calibrate("gpt-x")
    write(here, "asked.log.stopped", "")
    assert run("suite", "run-gates", "suite.toml").code == 0
    assert run("suite", "judge", "suite.toml").code == 0
    return run("suite", "status", "suite.toml", "--format", "json")


def test_where_all_is_there_the_costs_decide(suite: Path) -> None:
    ran = done(suite.parent)
    assert ran.code == 0
    assert {each["verdict"] for each in ran.json["runs"]} == {"correct"}
    found = run("compare", "--suite", "suite.toml", "--format=json").json
    assert found["answer"] == "worse", found["reasons"]
    assert found["dollars"]["ratio"] > 1.6
    assert run("compare", "--suite", "suite.toml", "--fail-on", "worse").code == 1


def test_what_is_planned_and_not_done_yet_is_told_as_that(suite: Path) -> None:
    assert run("suite", "run-gates", "suite.toml").code == 0
    found = compared().json
    assert found["answer"] == "cannot-tell"
    assert found["reasons"][0] == (
        "24 runs lack intent; drive-trace suite judge suite.toml grades it"
    )
    states = {each["fact"]: each["state"] for each in found["known"]}
    assert (states["case"], states["judge"]) == ("same", "planned")


def test_what_went_on_after_its_grade_is_graded_again_and_nothing_else(suite: Path) -> None:
    done(suite.parent)
    trace = suite.parent / "runs/baseline/case-3/4/trace.jsonl"
    later = {"ts": "2099-01-01T00:00:00.000Z", "dispatch_id": "baseline-case-3-4-d"}
    with trace.open("a", encoding="utf-8") as file:
        file.write(text_of(event("dispatch-end", "baseline-case-3-4", **later)))
    said = run("suite", "status", "suite.toml")
    assert said.code == 1
    assert said.out.splitlines() == [
        "graded as suite.toml says: 23 of 24 planned runs",
        "  runs/baseline/case-3/4/trace.jsonl: not graded yet: mechanical, qa, intent",
    ]


def test_a_gate_that_began_before_the_last_work_is_run_again(suite: Path) -> None:
    assert run("suite", "run-gates", "suite.toml").code == 0
    trace = suite.parent / "runs/baseline/case-3/4/trace.jsonl"
    record = Path(f"{trace}.judgements.ndjson")
    text = record.read_text("utf-8")
    record.write_text(
        re.sub('"began":"[^"]*"', '"began":"2001-02-03T04:05:06.789Z"', text), "utf-8"
    )
    said = run("suite", "status", "suite.toml").out
    assert f"{trace.relative_to(suite.parent)}: not graded yet: mechanical, qa, intent" in said


def test_a_grade_without_a_record_of_the_suites_is_graded_again(suite: Path) -> None:
    done(suite.parent)
    trace = suite.parent / "runs/candidate/case-3/4/trace.jsonl"
    trace.write_text(of_run("candidate-case-3-4", 1000), "utf-8")
    Path(f"{trace}.judgements.ndjson").unlink()
    with trace.open("a", encoding="utf-8") as file:  # as whoever is judged can
        grade = dict.fromkeys(("mechanical", "qa", "intent"), "pass")
        file.write(text_of(event("correctness-recorded", "candidate-case-3-4", **grade)))
    said = run("suite", "status", "suite.toml")
    assert f"{trace.relative_to(suite.parent)}: not graded yet: mechanical, qa, intent" in said.out
    (trace.parent / "built").unlink()
    run("suite", "run-gates", "suite.toml")
    assert '"mechanical":"fail"' in lines(trace)[-1]


@pytest.mark.parametrize(
    ("was", "now", "lacks"),
    [
        ('"test -e built"]', '"false"]', "mechanical"),
        ('"junit.xml"', '"other.xml"', "qa"),
        ('"gpt-x"', '"gpt-y"', "intent"),
    ],
)
def test_what_another_gate_or_judge_has_graded_is_graded_again(
    suite: Path, was: str, now: str, lacks: str
) -> None:
    done(suite.parent)
    write(suite.parent, suite.name, suite.read_text("utf-8").replace(was, now))
    said = run("suite", "status", "suite.toml")
    assert said.code == 1
    assert f"  runs/baseline/case-3/1/trace.jsonl: not graded yet: {lacks}\n" in said.out


def test_a_candidate_is_no_better_by_a_baseline_that_is_gone(suite: Path) -> None:
    done(suite.parent)
    for case in FEW:
        for number in (3, 4, 5, 6):
            (suite.parent / f"runs/baseline/{case}/{number}/trace.jsonl").unlink()
    found = run("compare", "--suite", "suite.toml", "--format", "json").json
    assert found["answer"] == "cannot-tell", found["reasons"]
    for trace in suite.parent.glob("runs/baseline/*/*/trace.jsonl"):
        trace.unlink()
    ran = run("compare", "--suite", "suite.toml", "--format", "json")
    assert ran.code == 3
    assert ran.json["reasons"][0] == "the baseline has no run that left an event and ended"


def test_a_judge_of_the_candidates_family_judges_no_baseline_in_vain(suite: Path) -> None:
    text = suite.read_text("utf-8").replace(
        'model = "claude-opus"\nbundle = "v2"', 'model = "gpt-y"\nbundle = "v1"'
    )
    write(suite.parent, suite.name, text)
    calibrate("gpt-x")
    ran = run("suite", "judge", suite.name)
    assert (ran.code, "judge and orchestrator are of one family, gpt" in ran.err) == (2, True)
    assert len(lines(suite.parent / "asked.log")) == 1


def test_a_manifest_in_a_runs_folder_breaks_nothing(suite: Path) -> None:
    done(suite.parent)
    write(suite.parent, "runs/candidate/case-3/1/trace.run.json", '{"case": "other"}')
    assert run("suite", "status", "suite.toml").code == 0
    assert run("compare", "--suite", "suite.toml").code == 3


def test_no_diff_is_a_link_out_of_its_folder(suite: Path) -> None:
    secret = write(suite.parent / "elsewhere", "secret", "diff --git a/a b/a\n+secret\n")
    diff = suite.parent / "runs/baseline/case-3/1/run.diff"
    diff.unlink()
    diff.symlink_to(secret)
    calibrate("gpt-x")
    write(suite.parent, "asked.log.stopped", "")
    assert run("suite", "run-gates", "suite.toml").code == 0
    ran = run("suite", "judge", "suite.toml")
    assert ran.code == 1
    assert ran.err.endswith("runs/baseline/case-3/1/trace.jsonl: not graded yet: intent\n")
    assert len(lines(suite.parent / "asked.log")) == 23


def test_at_a_planned_look_only_its_repetitions_are_due(suite: Path) -> None:
    text = suite.read_text("utf-8").replace("repetitions = 6", "repetitions = 6\nlooks = 3")
    write(suite.parent, suite.name, text)
    done(suite.parent)
    for side in SIDES:
        for case in FEW:
            for number in (3, 4, 5, 6):
                (suite.parent / f"runs/{side}/{case}/{number}/trace.jsonl").unlink()
    options = ("--suite", "suite.toml", "--format", "json")
    first = run("compare", *options, "--look", "1").json
    assert (first["gate"]["candidate"]["k"], first["gate"]["candidate"]["correct"]) == (4, 4)
    assert first["rule"]["look"] == [1, 3]
    assert first["rule"]["level"] == pytest.approx(0.0000604, abs=1e-6)
    last = run("compare", *options).json
    assert (last["gate"]["candidate"]["k"], last["gate"]["candidate"]["correct"]) == (12, 4)
    shown = run("compare", "--suite", "suite.toml", "--look", "2").out
    assert "Look 2 of 3, as planned. The gate decides at p ≤ 0.0089." in " ".join(shown.split())
    assert run("compare", *options, "--look", "4").err.endswith("suite.toml plans 3 looks\n")


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("", "1:1: `repetitions` is missing here: expected an integer of at least 1"),
        (
            'repetitions = "six"',
            '1:15: `repetitions` must be an integer of at least 1 and at most 1,000; found "six"',
        ),
        ("repetitions = 6\nlook = 2", "2:1: `look` is no key here: did you mean `looks`?"),
        (
            "repetitions = 6\nmargin = 2",
            "2:10: `margin` must be a number of more than 0 and less than 1; found 2",
        ),
        ("repetitions = 6\nlooks = 7", "1:1: `looks` is 7, and `repetitions` 6: each look"),
        ('repetitions = 6\nruns = "x/{side}"', "1:1: `runs` needs {side}, {case} and {run}"),
        ('repetitions = 6\ntrace = "../x"', "2:9: `trace` must be a relative path like cases/shop"),
        ("[", "1:2: is not TOML: "),
    ],
)
def test_a_suite_that_is_wrong_is_told_with_its_place(suite: Path, line: str, problem: str) -> None:
    text = suite.read_text("utf-8").replace("repetitions = 6\n", f"{line}\n")
    write(suite.parent, suite.name, text)
    for command in (("suite", "status", "suite.toml"), ("compare", "--suite", "suite.toml")):
        ran = run(*command)
        assert (ran.code, ran.out) == (2, "")
        assert f"suite.toml:{problem}" in ran.err


def test_all_mistakes_of_a_suite_are_told_at_once(here: Path) -> None:
    text = """\
repetitions = 1
[sides.baseline]
model = "a"
[sides.candidate]
model = "a"
[cases."a b"]
mechanical = { run = ["", 3], timeout = -1 }
[judge]
api = "\\u001b[31m"
"""
    write(here, "suite.toml", text)
    said = run("suite", "status", "suite.toml").err.splitlines()
    assert [each.removeprefix("drive-trace: suite.toml:") for each in said] == [
        "2:2: `sides` have to differ in one of `model`, `bundle` and `base_commit`",
        '6:8: `a b` must be of letters, digits, `.`, `_` and `-`; found "a b"',
        '7:23: an item must be some text without U+0000; found ""',
        "7:27: an item must be some text without U+0000; found 3",
        "7:41: `timeout` must be a number of more than 0 and at most 1,000,000,000; found -1",
        "8:2: `model` is missing here: expected a word without U+0000",
        '9:7: `api` must be "openai" or "anthropic"; found "<U+001B>[31m"',
    ]


def test_a_suite_is_as_its_schema_says(suite: Path) -> None:
    validator = strict_validator(schema("suite"))
    found = tomllib.loads(suite.read_text("utf-8"))
    assert validator.is_valid(found)
    assert not validator.is_valid({**found, "repetition": 6})
    assert not validator.is_valid({**found, "trace": "../x"})


@pytest.mark.parametrize("option", ["--baseline", "--cases", "--prices", "--margin"])
def test_what_a_suite_says_nobody_says_otherwise(suite: Path, option: str) -> None:
    ran = run("compare", "--suite", suite, option, "0.3")
    assert ran.code == 2
    assert f"{option} does not go with --suite, which says it" in ran.err


def test_a_gate_that_failed_early_is_the_same_gate(suite: Path) -> None:
    (suite.parent / "runs/candidate/case-3/1/built").unlink()
    text = suite.read_text("utf-8").replace('"test -e built"]', '"test -e built", "true"]')
    write(suite.parent, suite.name, text)
    done(suite.parent)
    found = run("compare", "--suite", "suite.toml", "--format", "json").json
    assert found["answer"] == "worse", found["reasons"]
    assert found["gate"]["candidate"]["correct"] == 11


def test_a_judges_errors_are_corrected(suite: Path) -> None:
    done(suite.parent)
    judged = run("compare", "--suite", "suite.toml", "--format", "json").json["judged"]
    # 12 of 12 passed by a judge that catches 12 of 13 fails and keeps 40 of 40 passes.
    assert (judged["baseline"]["passed"], judged["baseline"]["of"]) == (12, 12)
    assert judged["baseline"]["corrected"] == 1.0
    low, high = judged["baseline"]["corrected_interval"]
    assert low < judged["baseline"]["interval"][0] + 0.1 < high == 1.0
    said = run("compare", "--suite", "suite.toml").out
    assert "Intent, and the judge's errors" in said
    # Of a judge that nobody calibrated, or of another one, nothing is said.
    calibrate("other")
    assert run("compare", "--suite", "suite.toml", "--format", "json").json["judged"] is None


def edited(suite: Path, was: str, now: str) -> None:
    text = suite.read_text("utf-8")
    assert was in text
    write(suite.parent, suite.name, text.replace(was, now))


def compared() -> Any:
    return run("compare", "--suite", "suite.toml", "--format", "json")


@pytest.mark.parametrize(
    ("was", "now", "said"),
    [
        ('"test -e built"]', '"false"]', "drive-trace suite run-gates suite.toml grades it"),
        ('"gpt-x"', '"gpt-y"', "drive-trace suite judge suite.toml grades it"),
        ('[qa]\nresult = ["junit.xml"]\n', "", "something else than the suite's [qa]"),
        (
            '[judge]\nmodel = "gpt-x"\nmodel_command = "exec sh judge.sh"\n',
            "",
            "graded by something else than the suite's [judge]",
        ),
    ],
)
def test_what_the_suite_has_not_graded_is_not_compared(
    suite: Path, was: str, now: str, said: str
) -> None:
    done(suite.parent)
    edited(suite, was, now)
    assert run("suite", "status", "suite.toml").code == 1
    ran = compared()
    assert (ran.code, ran.json["answer"]) == (3, "not-comparable")
    assert said in ran.json["reasons"][0]
    assert "runs/baseline/case-3/1/trace.jsonl" in ran.json["reasons"][0]


def test_other_acceptance_criteria_are_judged_by_again(suite: Path) -> None:
    done(suite.parent)
    write(suite.parent, "cases/case-3/acceptance.md", "- **AC-1** Retries are not bounded.\n")
    said = run("suite", "status", "suite.toml").out
    assert "12 of 24 planned runs" in said
    assert "case-4" not in said
    assert compared().code == 3
    assert run("suite", "judge", "suite.toml").code == 0
    assert compared().code == 0
    (suite.parent / "cases/case-3/acceptance.md").unlink()
    assert compared().code == 3
    ran = run("suite", "judge", "suite.toml")
    assert ran.code == 2
    assert ran.err == (
        "drive-trace: suite.toml: [cases.case-3]: cases/case-3/acceptance.md: cannot be read: "
        "no such file or folder\n"
    )


def test_each_planned_trace_has_one_run(suite: Path) -> None:
    done(suite.parent)
    trace = suite.parent / "runs/candidate/case-3/4/trace.jsonl"
    with trace.open("a", encoding="utf-8") as file:
        for number in range(40):
            grade = dict.fromkeys(("mechanical", "qa", "intent"), "pass")
            file.write(of_run(f"more-{number}", 100))
            file.write(text_of(event("correctness-recorded", f"more-{number}", **grade)))
    said = run("suite", "status", "suite.toml")
    assert said.code == 2
    assert "candidate/case-3/4/trace.jsonl: has 41 runs, and one is planned\n" in said.out
    ran = compared()
    assert ran.code == 3
    assert ran.json["reasons"][0].startswith("1 planned trace cannot count, as drive-trace")


def test_no_run_stands_in_two_planned_traces(suite: Path) -> None:
    done(suite.parent)
    for number in (1, 2):
        write(suite.parent, f"runs/candidate/case-3/{number}/trace.jsonl", of_run("same", number))
    said = run("suite", "status", "suite.toml").out
    assert said.count("has the run of another planned trace: each needs an id of its own") == 2
    assert compared().code == 3


@pytest.mark.parametrize(
    ("was", "now", "others"),
    [("repetitions = 6", "repetitions = 5", 4), ("[cases.case-3]\n", "", 12)],
)
def test_runs_that_are_no_longer_planned_are_named_first(
    suite: Path, was: str, now: str, others: int
) -> None:
    done(suite.parent)
    assert not any("not planned" in each for each in compared().json["reasons"])
    edited(suite, was, now)
    said = run("suite", "status", "suite.toml")
    assert f"not planned, and on disk: {others} runs: runs/baseline/case-3/" in said.out
    assert compared().json["reasons"][0].startswith(f"{others} runs on disk are not planned")


def test_a_look_that_nobody_planned_is_told(suite: Path) -> None:
    edited(suite, "repetitions = 6", "repetitions = 6\nlooks = 2")
    done(suite.parent)
    again = "these sides were compared before"
    first = run("compare", "--suite", "suite.toml", "--look", "1").out
    assert again not in first
    assert again not in run("compare", "--suite", "suite.toml", "--look", "1").out
    assert again not in run("compare", "--suite", "suite.toml").out
    # The same look, of other runs.
    trace = suite.parent / "runs/candidate/case-3/1/trace.jsonl"
    text = trace.read_text("utf-8")
    trace.write_text(of_run("another", 1000), "utf-8")
    run("suite", "run-gates", "suite.toml")
    run("suite", "judge", "suite.toml")
    assert again in run("compare", "--suite", "suite.toml", "--look", "1").out
    trace.write_text(text, "utf-8")
    # One look in place of several.
    edited(suite, "looks = 2", "looks = 1")
    assert again in run("compare", "--suite", "suite.toml").out


def test_what_is_not_comparable_is_no_look(suite: Path) -> None:
    done(suite.parent)
    later = suite.parent / "runs/candidate/case-3/6/trace.jsonl"
    text = later.read_text("utf-8")
    later.write_text("", "utf-8")
    edited(suite, '"gpt-x"', '"gpt-y"')
    assert compared().code == 3
    later.write_text(text, "utf-8")
    edited(suite, '"gpt-y"', '"gpt-x"')
    assert not any("compared before" in each for each in compared().json["reasons"])


@pytest.mark.parametrize("broken", ['{"event": "dispatch-st\n', "\ufffd\x00\n", None])
def test_a_broken_trace_does_not_stop_the_others(suite: Path, broken: str | None) -> None:
    trace = suite.parent / "runs/baseline/case-3/1/trace.jsonl"
    trace.unlink()
    if broken is None:
        trace.symlink_to(trace.name)
    else:
        trace.write_text(broken, "utf-8")
    calibrate("gpt-x")
    write(suite.parent, "asked.log.stopped", "")
    for command in ("run-gates", "judge"):
        ran = run("suite", command, "suite.toml")
        assert ran.code == 2, ran.err
        assert "  runs/baseline/case-3/1/trace.jsonl: not read: " in ran.err
        assert "23 of 24 planned runs\n" in ran.err
        assert "nothing was left to do" not in ran.err
        assert "nothing was left to do\n" in run("suite", command, "suite.toml").err
    said = run("suite", "status", "suite.toml")
    assert said.code == 2
    assert said.out.startswith("graded as suite.toml says: 23 of 24 planned runs\n")


@pytest.mark.parametrize(
    ("more", "told"),
    [
        ('family = "nonesuch"', "`family` is one of "),
        ('base_url = "http://x"', "`base_url` is for `api`"),
        ('orchestrator_family = "gpt"', "judge and orchestrator are of one family, gpt"),
        ('labelling_rule = "other"', "the judge is not calibrated: its labels follow another rule"),
    ],
)
def test_a_judge_that_may_not_judge_is_told_once(suite: Path, more: str, told: str) -> None:
    calibrate("gpt-x")
    edited(suite, 'model = "gpt-x"', f'model = "gpt-x"\n{more}')
    ran = run("suite", "judge", "suite.toml")
    assert (ran.code, lines(suite.parent / "asked.log")) == (2, [])
    assert ran.err.count("suite.toml: [judge]: ") == 1
    assert f"drive-trace: suite.toml: [judge]: {told}" in ran.err
    assert "Usage" not in ran.err


def test_a_judge_without_a_key_is_told_once(suite: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    calibrate("gpt-x")
    edited(suite, 'model_command = "exec sh judge.sh"', 'api = "openai"')
    ran = run("suite", "judge", "suite.toml")
    assert ran.code == 2
    assert ran.err.count("there is no key in the environment variable OPENAI_API_KEY") == 1


@pytest.mark.parametrize(
    ("was", "now", "told"),
    [
        ('"test -e built"]', '"a\\u0000b"]', "an item must be some text without U+0000"),
        ('"test -e built"]', '"# later"]', "`mechanical` has a command to `run` that runs nothing"),
        (
            "repetitions = 6",
            'repetitions = 6\nmodel = "x"',
            "`model` is no key here: expected `cases`, `repetitions`, `sides`",
        ),
        (
            "repetitions = 6\n",
            'repetitions = 12\nruns = "{side}/{case}1{run}"\ncases."case-31" = {}\n',
            "`runs` has one folder for several runs",
        ),
    ],
)
def test_a_suite_that_cannot_work_is_refused(suite: Path, was: str, now: str, told: str) -> None:
    edited(suite, was, now)
    ran = run("suite", "run-gates", "suite.toml")
    assert ran.code == 2
    assert told in ran.err


def test_prices_of_ones_own_that_are_broken_do_not_matter_to_a_suite(suite: Path) -> None:
    write(suite.parent, "own/drive-trace-prices.toml", "[")
    assert run("suite", "status", "suite.toml").code == 1
    assert done(suite.parent).code == 0


def test_of_many_runs_the_first_are_named_and_all_are_counted(suite: Path) -> None:
    said = run("suite", "status", "suite.toml").out.splitlines()
    assert said[0] == "graded as suite.toml says: 0 of 24 planned runs"
    assert said[21:] == [
        "  and 4 more; in all",
        "  24 runs: not graded yet: mechanical, qa, intent",
    ]


def test_a_run_that_did_not_end_is_said_not_to_have_ended(suite: Path) -> None:
    done(suite.parent)
    trace = suite.parent / "runs/candidate/case-3/1/trace.jsonl"
    kept = [each for each in lines(trace) if '"dispatch-end"' not in each]
    trace.write_text("\n".join(kept) + "\n", "utf-8")
    text = " ".join(run("compare", "--suite", "suite.toml").out.split())
    assert "1 run of the candidate is without an end, and taken for not CORRECT." in text


def test_what_a_suite_misses_is_told_before_anything_runs(suite: Path) -> None:
    shutil.rmtree(suite.parent / "runs")
    ran = run("suite", "run-gates", "suite.toml")
    assert ran.code == 1
    told = "no run has left a trace yet\ndrive-trace: gated as suite.toml says: 0 of 24 planned"
    assert told in ran.err
    assert "nothing was left to do" not in ran.err
    (suite.parent / f"cases/{FEW[0]}/acceptance.md").unlink()
    ran = run("suite", "status", "suite.toml")
    assert (ran.code, ran.out) == (2, "")
    assert f"suite.toml: [cases.{FEW[0]}]: " in ran.err
