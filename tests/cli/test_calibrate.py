"""A judge is trusted as far as it agreed with people, and no further."""

import json
from pathlib import Path
from typing import Any

import pytest

from drive_trace.grading.judgements import read_calibrated
from drive_trace.grading.prompts import PROMPT_VERSION, RUBRIC_HASH
from tests.cli.support import run


def rows(**tally: int) -> str:
    """``fail_pass=3`` is three human fails that the judge passes."""
    found = []
    for name, count in tally.items():
        human, _, judge = name.partition("_")
        verdict = None if judge == "none" else judge
        found += [{"human": human, "judge": verdict, "labelled_by": "Ann"}] * count
    numbered = ({"case": f"c{number}", **row} for number, row in enumerate(found))
    return "".join(f"{json.dumps(row)}\n" for row in numbered)


GOOD = rows(fail_fail=12, fail_pass=1, pass_fail=1, pass_pass=40, pass_none=2)


@pytest.fixture(autouse=True)
def _here(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DRIVE_TRACE_CONFIG", str(here / "own"))


def calibrated(text: str, *args: str) -> tuple[int, Any]:
    Path("labels").write_text(text, "utf-8")
    ran = run("calibrate", "labels", "--output-format", "json", *args)
    return ran.code, ran.json


def test_the_figures_are_there_for_programs() -> None:
    code, found = calibrated(GOOD)
    assert code == 0
    assert {name: found[name] for name in ("n", "invalid", "calibrated", "reasons")} == {
        "n": 54,
        "invalid": 2,
        "calibrated": True,
        "reasons": [],
    }
    assert found["agreement"] == pytest.approx(52 / 54)
    assert found["tpr"] == pytest.approx(12 / 13)
    assert found["tnr"] == pytest.approx(40 / 41)
    assert found["base_rate"] == pytest.approx(13 / 54)
    assert found["always_pass_agreement"] == pytest.approx(41 / 54)
    assert found["kappa"] == pytest.approx(0.8986866791744841)
    assert all(len(found[f"{name}_interval"]) == 2 for name in ("agreement", "tpr", "tnr"))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (rows(fail_pass=3, pass_pass=17), "human fails are caught is 0.000"),
        (rows(fail_fail=1, fail_pass=2, pass_pass=60), "human fails are caught is 0.061"),
        (rows(fail_fail=1, pass_pass=3), "lower bound of agreement is 0.510"),
        (rows(pass_pass=60), "there are no human fails"),
        (rows(fail_none=10, pass_none=10), "no row with a verdict"),
        (rows(pass_none=1), "no row with a verdict"),
        (rows(fail_fail=1, pass_pass=1) * 30, "with each case once"),
        (rows(fail_fail=60), "there are no human passes"),
        (rows(fail_fail=90, pass_fail=6, pass_pass=4), "human passes are kept is 0.168"),
        (rows(fail_fail=20, pass_pass=40, pass_none=16), "a verdict on 79% of the rows"),
    ],
)
def test_what_is_not_enough_is_not_calibrated(text: str, reason: str) -> None:
    code, found = calibrated(text)
    assert (code, found["calibrated"]) == (1, False)
    assert any(reason in each for each in found["reasons"])


def test_people_read_a_table() -> None:
    Path("labels").write_text(rows(fail_fail=1, fail_pass=2, pass_pass=60), "utf-8")
    ran = run("calibrate", "labels")
    assert ran.code == 1
    assert f"{'agreement':32}0.968 [0.891, 0.991] (61 of 63)" in ran.out
    assert "TPR (fails caught)" in ran.out
    assert "TNR (passes kept)" in ran.out
    assert "always-pass judge agrees on  0.952\n" in ran.out
    assert ": no number of human fails would do\n" in ran.out
    assert "reference threshold 0.80 as a point: reached" in ran.out
    assert "not calibrated:" in ran.out


def test_what_judge_needs_is_kept_with_the_users_own_settings(tmp_path: Path) -> None:
    (tmp_path / "drive-trace.toml").write_text("")
    kept = tmp_path / "own/drive-trace-calibration.json"
    assert calibrated(GOOD)[0] == 0
    assert not kept.exists()  # nobody said which model it is
    assert calibrated(GOOD, "--model", "gpt-x")[0] == 0
    found = read_calibrated(kept.read_text("utf-8"))
    assert (found.judge.model, found.n) == ("gpt-x", 54)
    assert found.lacks_of(found.judge) == ()
    # Another calibration takes its place, and nothing else loses its own.
    assert calibrated(GOOD, "--model", "gpt-y")[0] == 0
    assert read_calibrated(kept.read_text("utf-8")).judge.model == "gpt-y"
    assert run("calibrate", "labels", "--model", "gpt-y").err.endswith(": kept for judge\n")
    ran = run("calibrate", "labels", "--model", "gpt-y", "--out", "x.json")
    assert "x.json: kept for judge, which takes it as --calibration\n" in ran.err
    kept.write_text("{}")
    assert run("calibrate", "labels", "--model", "gpt-y").code == 2
    assert kept.read_text() == "{}"


def call(run_id: str, verdict: str | None, *, held: bool | None = None, **more: Any) -> str:
    judge = {"model": "gpt-x", "prompt_version": PROMPT_VERSION, "rubric_hash": RUBRIC_HASH}
    judge |= {"schema_held": held}
    hashes = dict.fromkeys(("prompt_hash", "acceptance_hash", "diff_hash"), "0" * 64)
    judged = {"judging": run_id, "project_run_id": run_id, "judge": judge, "verdict": verdict}
    ts = "2026-05-28T14:00:00.000Z"
    return json.dumps({"judgement_version": "1", "ts": ts, **judged, **hashes, **more}) + "\n"


def test_the_verdicts_may_come_from_a_record_of_judgements() -> None:
    Path("labels").write_text(rows(fail_none=13, pass_none=42), "utf-8")
    verdicts = ["fail"] * 12 + ["pass"] * 41
    record = "".join(call(f"c{number}", each) for number, each in enumerate(verdicts))
    # One call was malformed first, one judge disagrees with itself, and one run was not judged.
    record += call("c53", None) + call("c53", "pass", attempt=2)
    record += call("c0", "fail", repeats=2, judging="x") + call(
        "c0", "pass", repeats=2, repeat=2, judging="x"
    )
    Path("record").write_text(record, "utf-8")
    ran = run("calibrate", "labels", "--judgements", "record")
    assert ran.code == 0
    assert "54 with a verdict, 2 without" in ran.out
    assert "1 of 57 calls gave no verdict" in ran.err
    kept = read_calibrated(Path("own/drive-trace-calibration.json").read_text("utf-8"))
    assert (kept.judge.model, kept.n) == ("gpt-x", 54)


def test_the_form_of_the_replies_is_part_of_who_judged() -> None:
    Path("labels").write_text(rows(fail_none=13, pass_none=41), "utf-8")
    verdicts = ["fail"] * 12 + ["pass"] * 42
    calls = [call(f"c{number}", each, held=True) for number, each in enumerate(verdicts)]
    # Where the model could not be reached, nobody knows what would have held its reply.
    unreached = call("c53", None, judging="c53", attempt=1)
    Path("record").write_text("".join([*calls[:-1], unreached, calls[-1]]), "utf-8")
    assert run("calibrate", "labels", "--judgements", "record").code == 0
    kept = read_calibrated(Path("own/drive-trace-calibration.json").read_text("utf-8"))
    assert kept.judge.schema_held is True
    Path("record").write_text("".join([*calls, call("c0", "fail", held=False)]), "utf-8")
    ran = run("calibrate", "labels", "--judgements", "record")
    assert (ran.code, "the verdicts are of 2 judges" in ran.err) == (2, True)


def test_the_records_of_many_runs_are_those_in_a_folder() -> None:
    Path("labels").write_text(rows(fail_none=13, pass_none=41), "utf-8")
    verdicts = ["fail"] * 12 + ["pass"] * 42
    for number, each in enumerate(verdicts):
        path = Path(f"runs/{number}/trace.jsonl.judgements.ndjson")
        path.parent.mkdir(parents=True)
        path.write_text(call(f"c{number}", each), "utf-8")
    ran = run("calibrate", "labels", "--judgements", "runs")
    assert (ran.code, "54 with a verdict, 0 without" in ran.out) == (0, True)
    Path("none").mkdir()
    ran = run("calibrate", "labels", "--judgements", "none")
    assert ran.code == 2
    assert "none: holds no record of judgements (*.judgements.ndjson)" in ran.err


def test_a_judge_is_worth_what_all_its_judgings_are_not_the_best_of_them() -> None:
    Path("labels").write_text(rows(fail_none=13, pass_none=40), "utf-8")
    right = ["fail"] * 13 + ["pass"] * 40
    wrong = [call(f"c{number}", "pass", judging=f"first {number}") for number in range(13)]
    # Texts of another offset sort before what is earlier.
    later = {"ts": "2026-05-28T13:00:00.000-05:00"}
    calls = [call(f"c{number}", each, **later) for number, each in enumerate(right)]
    Path("record").write_text("".join([*calls, *wrong]), "utf-8")
    ran = run("calibrate", "labels", "--judgements", "record")
    assert ran.code == 1
    assert "66 with a verdict, 0 without" in ran.out
    assert "0 of 66 calls gave no verdict" in ran.err
    assert not Path("own/drive-trace-calibration.json").exists()


def test_a_calibration_follows_no_link_out_of_its_folder(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "drive-trace-calibration.json").write_text("")
    (tmp_path / "x.json").symlink_to(other / "drive-trace-calibration.json")
    Path("labels").write_text(GOOD, "utf-8")
    assert run("calibrate", "labels", "--model", "m", "--out", "x.json").code == 2
    assert (other / "drive-trace-calibration.json").read_text() == ""


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("case,human\na,maybe\n", "line 2"),
        ("case,human,judge,judge\na,pass,pass,fail\n", "line 1: a column stands there twice"),
        ("case,human\na,pass\na,fail\n", 'line 3: the case "a" has another label above'),
        ("", "has no row"),
        ("case,human\na,pass\n", "no row has `judge`"),
        ('{"case":"a","human":"pass"}\n', "name their --judgements"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(text: str, message: str) -> None:
    Path("labels").write_text(text, "utf-8")
    ran = run("calibrate", "labels")
    assert (ran.code, ran.out) == (2, "")
    assert message in ran.err


def test_who_labelled_is_said_where_nobody_does() -> None:
    Path("labels").write_text("case,human,judge\na,pass,pass\nb,fail,fail\n", "utf-8")
    assert "2 rows without labelled_by: taken for a person's" in run("calibrate", "labels").err
