"""The command line, from outside: scores."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import CLEAN, run, write
from tests.support.client_text import event, graded, tokens, triage
from tests.support.snapshots import Snapshots

# Scores


def score(*paths: Path, **options: str) -> Any:
    return run("score", "--format", "json", *paths).json


def test_a_score_in_json(tmp_path: Path, snapshots: Snapshots) -> None:
    path = write(
        tmp_path,
        "trace.jsonl",
        event("project-started", project_slug="x", origin="promote", has_linear_project=False)
        + tokens(1_900_000, 42_000, None, 0)
        + graded("pass", "pass", "pass")
        + graded("pass", "passed", "pass")
        + triage(run="other")
        + event("made-up", "other")
        + "{\n",
    )
    said = json.dumps(score(path), indent=2).replace(json.dumps(str(path)), '"trace.jsonl"')
    snapshots.check("score/as-json.json", said + "\n")


@pytest.mark.parametrize(
    ("triple", "verdict", "missing", "headline"),
    [
        (("pass", "pass", "pass"), "correct", [], "CORRECT"),
        (("pass", "fail", "fail"), "incorrect", [], "INCORRECT — qa, intent failed"),
        (("fail", None, "pass"), "not-computable", ["qa"], "not computable — missing: qa"),
    ],
)
def test_verdicts(
    triple: Sequence[str | None], verdict: str, missing: list[str], headline: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "trace.jsonl", tokens(12_345, None, None, None) + graded(*triple))
    (only,) = score(path)["runs"]
    assert (only["verdict"], only["missing_inputs"]) == (verdict, missing)
    for output_format in ("text", "markdown"):
        shown = run("score", "--format", output_format, path).out
        assert headline in shown
        assert ("12,345" in shown) == (verdict == "correct")
    assert only["tokens"]["input_tokens"] == 12_345
    assert (only["efficiency"] is None) == (verdict != "correct")


def test_no_trace_scores_nothing() -> None:
    ran = run("score", "-", stdin="")
    assert (ran.code, ran.err) == (0, "")
    assert run("score", "--format", "json", "-", stdin="").json["runs"] == []


def test_a_run_is_joined_from_several_files(tmp_path: Path) -> None:
    early, late = "2026-05-28T14:00:00.000Z", "2026-05-29T14:00:00.000Z"
    first = write(
        tmp_path,
        "first.jsonl",
        graded("pass", "pass", "pass", ts=late) + tokens(1, 1, 1, 1, ts=early),
    )
    second = write(
        tmp_path,
        "second.jsonl",
        triage(run="run-2")
        + graded("fail", "fail", "fail", ts=early)
        + tokens(2, 2, 2, 2, ts=early),
    )
    for paths in ((first, second), (second, first)):
        joined = {each["run_id"]: each for each in score(*paths)["runs"]}["run-1"]
        assert joined["verdict"] == "correct"  # the later verdict, wherever it stands
        assert joined["decided_by"] == {"path": str(first), "line": 1}
        assert [each["path"] for each in joined["files"]] == [str(path) for path in paths]
        # On a tie the later path.
        assert joined["tokens"]["input_tokens"] == (2 if paths[1] == second else 1)
    shown = run("score", first, second).out
    assert f"  Files:\n  {first}\n  {second}\n" in shown
    # Within a file the last event counts, whatever its time.
    path = write(
        tmp_path,
        "one.jsonl",
        graded("pass", "pass", "pass", ts=late) + graded("fail", "pass", "pass", ts=early),
    )
    assert score(path)["runs"][0]["verdict"] == "incorrect"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (graded("pass", "pass", "pass"), 0),
        (f"[\n{graded('pass', 'pass', 'pass')}]\n", 0),  # what ends an array is no work
        (f"[\n{graded('pass', 'pass', 'pass')},{triage()}]\n", 1),
        (graded("pass", "pass", "pass") + triage(run="ungraded"), 1),
        (graded("pass", "fail", "pass"), 1),
        (graded("pass", None, "pass"), 1),
        (CLEAN, 1),
        ("", 1),
    ],
)
def test_require_correct(text: str, code: int) -> None:
    for output_format in ("text", "markdown", "json"):
        arguments = ["score", "--format", output_format, "-"]
        assert run(*arguments, stdin=text).code == 0
        assert run(*arguments, "--require-correct", stdin=text).code == code


def test_require_correct_does_not_hide_what_cannot_be_read(tmp_path: Path) -> None:
    good = write(tmp_path, "good.jsonl", graded("pass", "pass", "pass"))
    ran = run("score", "--require-correct", good, tmp_path / "missing")
    assert ran.code == 2
    assert "drive-trace: --require-correct: run-1: CORRECT, but 1 input not read" in ran.err
