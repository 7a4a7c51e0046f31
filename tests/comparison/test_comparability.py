"""What is refused as not comparable, and what has to be allowed by name."""

import json
from pathlib import Path
from typing import Any

import pytest

from drive_trace.vocabulary import EVENTS
from tests.cli.support import run, write
from tests.comparison.support import CORRECT, INCORRECT, UNGRADED, Sides, judged, known
from tests.support.client_text import triage
from tests.support.judging import NO_FIGURES, record_of

ROOT = Path(__file__).parents[2]
FACTS = (
    *("case", "judge", "prompt", "rubric", "acceptance", "calibration"),
    *("model", "bundle", "base", "provenance"),
)


def test_sides_that_are_alike_in_all_are_no_comparison(sides: Sides) -> None:
    for _ in range(20):
        known(sides, "b", cost=(900, 900))
        known(sides, "c", cost=(100, 100))
    ran = sides.compare("--output-format", "json", "--fail-on", "worse")
    assert (ran.code, ran.json["answer"], ran.json["reasons"]) == (
        3,
        "not-comparable",
        [
            "nothing varies between the sides: model, bundle and base are the same, so that "
            "neither can be better"
        ],
    )
    assert {each["fact"]: each["state"] for each in ran.json["known"]} == dict.fromkeys(
        FACTS, "same"
    )
    known(sides, "c", cost=(100, 100), model=None)  # what is not known may vary
    assert sides.allowed()["answer"] == "better"


def started_on(model: str) -> str:
    started = {**EVENTS["dispatch-start"].example, "model": model}
    return triage(ts="2026-05-28T13:00:01.123Z") * 3 + json.dumps(started) + "\n"


def test_a_manifest_is_held_against_the_models_of_dispatches(sides: Sides) -> None:
    known(sides, "b", model="claude-x", events=started_on("haiku"))
    known(sides, "c", model="claude-x", events=started_on("opus"), bundle="v2")
    found = sides.json()
    assert found["answer"] == "not-comparable"
    assert found["reasons"][0] == (
        "the model differs within a side: claude-x, haiku (dispatch-start) against claude-x, "
        "opus (dispatch-start)"
    )


@pytest.mark.parametrize("model", ["sonnet", "claude-sonnet-4", "inherited-default"])
def test_a_model_has_several_names(sides: Sides, model: str) -> None:
    for side in "bc":
        known(sides, side, model="claude-sonnet-4", bundle=side, events=started_on(model))
    assert sides.json()["answer"] == "cannot-tell"


def test_gates_that_differ_within_a_case_are_refused(sides: Sides) -> None:
    for side, command in (("b", "make test"), ("c", "true")):
        trace = known(sides, side, bundle=side)
        gating = {
            "ts": "2026-05-28T15:00:00.000Z",
            "began": "2026-05-28T15:00:00.000Z",
            "project_run_id": trace.parent.name,
            "component": "qa",
            "outcome": "pass",
            "commands": [{"command": command, "exit_code": 0}],
            "tool": "1",
        }
        with record_of(trace).open("a") as file:
            file.write(json.dumps(gating) + "\n")
    found = sides.allowed()
    assert found["answer"] == "not-comparable"
    assert found["reasons"] == ["the gates differ within a case: qa: make test against qa: true"]


def test_a_judge_of_the_family_that_did_the_work_is_said_to_be(sides: Sides) -> None:
    for side in "bc":
        known(sides, side, model="gpt-5.5", bundle=side)
    assert sides.json()["reasons"][-1] == (
        "the judge is of a family that did the work, and may be kinder to it: gpt"
    )


@pytest.mark.parametrize("key", ["model", "bundle", "base_commit"])
def test_one_thing_may_vary(sides: Sides, key: str) -> None:
    known(sides, "b")
    known(sides, "c", **{key: "another"})
    ran = sides.compare("--output-format", "json")
    assert ran.code == 0
    states = {each["fact"]: each["state"] for each in ran.json["known"]}
    assert states.pop(key.removesuffix("_commit")) == "varies"
    assert set(states.values()) == {"same"}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"model": "m2", "bundle": "v2"}, "model and bundle vary between the sides"),
        ({"judge": "o9"}, "the judge differs within a case: gpt-5.5 against gpt-5.5, o9"),
        ({"asked": "o9", "judge": "o9"}, "the judge differs within a case: gpt-5.5 against o9"),
        ({"prompt_hash": "p2"}, "the prompt differs within a case: p1 against p2"),
        ({"rubric_hash": "r2"}, "the rubric differs within a case"),
        ({"acceptance_hash": "a2"}, "the acceptance differs within a case"),
        ({"case": "y"}, "the cases differ: only one side has runs of some: x, y"),
        (NO_FIGURES, "the judge is uncalibrated"),
        (
            {"events": triage(ts="2026-05-28T13:00:00.000Z") * 3},
            "the provenance differs: native against hand-written",
        ),
    ],
)
def test_what_differs_is_refused_whatever_is_allowed(
    sides: Sides, changes: dict[str, Any], reason: str
) -> None:
    known(sides, "b")
    known(sides, "c", **changes)
    ran = sides.compare("--allow-unverified", "--output-format", "json")
    assert ran.code == 3
    found = ran.json
    assert found["answer"] == "not-comparable"
    assert [each for each in found["reasons"] if each.startswith(reason)] == found["reasons"]
    assert (found["gate"]["p"], found["costs"], found["flips"]) == (None, [], [])
    assert "Answer: not comparable" in sides.compare("--allow-unverified").out.splitlines()


@pytest.mark.parametrize(
    ("baseline", "candidate", "reason"),
    [
        (
            [{}, {"model": "m2"}],
            [{"model": "m2"}],
            "the model differs within a side: m2, sonnet against m2",
        ),
        # One run that is silent does not allow away what differs.
        (
            [*[{}] * 5, {"model": None, "bundle": None}],
            [{"model": "opus", "bundle": "v2"}] * 5,
            "model and bundle vary between the sides, and only one of them may",
        ),
        ([{}], [{}, {"case": None}], "the case of some runs is known, and not that of all: c-3"),
    ],
)
def test_what_differs_within_a_side_is_refused_whatever_is_allowed(
    sides: Sides, baseline: list[dict[str, Any]], candidate: list[dict[str, Any]], reason: str
) -> None:
    for side, runs in (("b", baseline), ("c", candidate)):
        for changes in runs:
            known(sides, side, **changes)
    ran = sides.compare("--allow-unverified", "--output-format", "json")
    assert (ran.code, ran.json["reasons"]) == (3, [reason])
    if "case" in reason:
        assert_not_blamed_on_k(sides)


@pytest.mark.parametrize("fact", ["model", "bundle", "base", "prompt"])
def test_what_one_run_does_not_say_is_unverifiable(sides: Sides, fact: str) -> None:
    key = {"base": "base_commit", "prompt": "prompt_hash"}.get(fact, fact)
    path = known(sides, "b", **{key: None})
    known(sides, "c", **({"model": "opus"} if fact == "prompt" else {}))
    if fact == "prompt":
        path.with_name("trace.jsonl.judgements.ndjson").unlink()
    ran = sides.compare("--output-format", "json")
    assert ran.code == 3
    unknown = ["prompt", "calibration"] if fact == "prompt" else [fact]
    (reason,) = ran.json["reasons"]
    by = "; only the record of drive-trace judge tells the calibration" if unknown[1:] else ""
    assert reason == (
        f"unverifiable: {' and '.join(unknown)}{by}; --allow-unverified={','.join(unknown)} "
        f"compares all the same; {'some of it is ' if unknown[1:] else ''}not said by 1 run: b-1"
    )
    assert sides.compare("--allow-unverified", ",".join(unknown)).code == 0
    assert sides.compare("--allow-unverified", "case").code == 3


@pytest.mark.parametrize("record", [{"ts": "2026-05-28T21:00:00.000Z"}, {"verdict": "fail"}])
def test_a_record_of_the_judging_that_does_not_count_is_told(
    sides: Sides, record: dict[str, str]
) -> None:
    path = known(sides, "b")  # graded at 20:00
    known(sides, "c", model="opus")
    judged(path, **{"verdict": "pass", **record})
    ran = sides.compare("--output-format", "json")
    assert ran.code == 3
    unverifiable, idle = ran.json["reasons"]
    assert unverifiable.startswith("unverifiable: calibration; only the record of")
    assert idle == (
        "the record of drive-trace judge does not count for 1 run, as it is later than the grade, "
        "says something else, or cannot be true; judge again: b-1"
    )
    assert sides.json("--allow-unverified", "calibration")["answer"] == "cannot-tell"


def test_one_thing_may_vary_where_one_run_is_silent_and_that_is_allowed(sides: Sides) -> None:
    known(sides, "b")
    known(sides, "b", model=None)
    known(sides, "c", model="opus")
    assert sides.compare().code == 3
    assert sides.compare("--allow-unverified", "model").code == 0


def test_a_case_may_have_the_name_of_all_runs(sides: Sides) -> None:
    known(sides, "b", case="all runs")
    known(sides, "c", case="all runs", model="opus")
    ran = sides.compare()
    assert ran.code == 0
    assert "Nobody says" not in ran.out


def test_without_manifests_and_cases_everything_is_unverifiable(sides: Sides) -> None:
    sides.add("b", CORRECT)
    sides.add("c", CORRECT)
    ran = sides.compare()
    assert ran.code == 3
    assert "Nobody says of which case the runs are: all of a side are taken for one." in ran.out
    assert "--allow-unverified compares all the same" in ran.out
    (case,) = sides.allowed()["cases"]
    assert case["case"] == "all runs"
    found = {each["fact"]: each["state"] for each in sides.json()["known"]}
    assert found == dict.fromkeys(FACTS, "unverifiable")


def test_nobody_is_asked_who_judged_what_nobody_graded(sides: Sides) -> None:
    sides.add("b", UNGRADED, minutes=[1])
    sides.add("c", UNGRADED, minutes=[1])
    states = {each["fact"]: each["state"] for each in sides.json()["known"]}
    assert {states[each] for each in ("judge", "rubric", "calibration")} == {"not asked"}
    assert states["model"] == "unverifiable"


def test_several_tasks_without_cases_are_told_as_that(sides: Sides) -> None:
    for side in "bc":
        for task in ("a1", "a2"):
            known(sides, side, acceptance_hash=task)
    ran = sides.compare("--output-format", "json")
    assert ran.code == 3
    (reason,) = (each for each in ran.json["reasons"] if "acceptance" in each)
    assert reason.startswith(
        "runs of one case have several acceptance criteria, alike on both sides; tell their cases "
        "by --cases, by manifests or by --suite: "
    )
    assert reason.endswith("a1, a2")


def test_one_run_on_both_sides_is_no_comparison(sides: Sides) -> None:
    known(sides, "b")
    folder = sides.folder / "b"
    ran = run("compare", "--baseline", folder, "--candidate", folder, "--output-format", "json")
    assert ran.code == 3
    assert ran.json["reasons"] == ["the same events are on both sides, in 1 run: b-1"]


def copied(path: Path, to: str) -> None:
    """A copy of a run under another id, with the manifest."""
    folder = path.parent.parent.parent / to
    folder.mkdir(parents=True)
    for each in path.parent.iterdir():
        text = each.read_text("utf-8").replace(path.parent.name, folder.name)
        (folder / each.name).write_text(text, "utf-8")


def test_runs_of_the_baseline_under_other_ids_are_no_candidate(sides: Sides) -> None:
    for at in range(8):
        copied(sides.write("b", CORRECT, {}), f"c/copy-{at}")
        sides.write("b", INCORRECT, {})
    found = sides.allowed()
    assert (found["answer"], found["reasons"]) == (
        "not-comparable",
        ["the same events are on both sides, in 8 runs: copy-0, copy-1, copy-2 and 5 more"],
    )


@pytest.mark.parametrize("output_format", ["text", "markdown", "html", "json"])
def test_a_copied_run_is_one_run_and_the_copies_are_named(sides: Sides, output_format: str) -> None:
    for _ in range(8):
        sides.write("b", INCORRECT, {})
    path = sides.write("c", CORRECT, {})
    for at in range(15):
        copied(path, f"c/copy-{at:02}")
    found = sides.allowed()
    assert found["answer"] == "cannot-tell"
    assert (found["gate"]["candidate"]["k"], found["gate"]["candidate"]["qualified"]) == (1, 1)
    assert found["inputs"]["candidate"]["copied_runs"] == [f"copy-{at:02}" for at in range(15)]
    said = sides.compare("--allow-unverified", "--format", output_format).out
    assert "copy-00" in said
    if output_format != "json":
        assert "15 runs of the candidate are left out: a run with the events of another" in (
            " ".join(said.replace("\\", "").split())
        )


def test_a_case_may_be_that_of_a_copy_alone(sides: Sides) -> None:
    sides.write("b", INCORRECT, {})
    copied(sides.write("c", CORRECT, {}), "c/copy")
    path = write(sides.folder, "cases.toml", '[cases]\neasy = ["b-1", "c-2"]\nhard = ["copy"]\n')
    ran = sides.compare("--allow-unverified", "--cases", str(path))
    assert (ran.code, ran.err) == (0, "")


def test_what_cannot_be_read_is_no_run_less(sides: Sides) -> None:
    known(sides, "b")
    known(sides, "c")
    paths = ("--baseline", sides.folder / "b", sides.folder / "none.jsonl")
    ran = run("compare", *paths, "--candidate", sides.folder / "c", "--output-format", "json")
    assert ran.code == 2
    assert ran.json["answer"] == "not-comparable"
    assert ran.json["reasons"] == [
        f"1 input of the baseline was not read: {sides.folder / 'none.jsonl'}"
    ]
    assert ran.err.endswith("none.jsonl: no such file or folder\n")


def test_a_side_without_runs_is_not_comparable_and_nothing_else_is_said(sides: Sides) -> None:
    sides.add("b", CORRECT)
    (sides.folder / "c").mkdir()
    ran = sides.compare("--output-format", "json")
    assert (ran.code, ran.json["reasons"]) == (3, ["the candidate has no runs"])
    assert_not_blamed_on_k(sides)


def assert_not_blamed_on_k(sides: Sides) -> None:
    assert sides.compare().out.startswith("Answer: not comparable\n")
    markdown = sides.compare("--output-format", "markdown").out
    assert markdown.startswith("# Drive Trace: not comparable\n")
    assert "<header><h1>" in sides.compare("--output-format", "html").out
