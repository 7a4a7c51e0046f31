"""A run of which readers count no line is a run that is not computable, in every output.

:mod:`tests.support.damage` has more that happens to lines.
"""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import run, write
from tests.support.client_text import apart, graded, triage

GOOD = apart(triage(run="good") + graded("pass", "pass", "pass", project_run_id="good"))
BAD = apart(triage() * 37 + graded("pass", "fail", "pass"))
ALL = "not computable: all 38 lines rejected"


def each_line(change: Callable[[str], str]) -> Callable[[str], str]:
    return lambda text: "".join(f"{change(line)}\n" for line in text.splitlines())


def renamed(old: str, new: str) -> Callable[[str], str]:
    return lambda text: text.replace(old, new)


REJECTING: dict[str, Callable[[str], str]] = {
    "a field is missing": renamed('"orchestrator_agent_id":null,', ""),
    "a schema_version that is a number": renamed('"schema_version":"1"', '"schema_version":1'),
    "a ts that is a number": lambda text: re.sub(r'"ts":"[^"]*"', '"ts":1780000000', text),
    "a comma behind each line": each_line(lambda line: line + ","),
    "a semicolon behind each line": each_line(lambda line: line + ";"),
    "typographic quotes": renamed('"', "\u201d"),
    "unquoted keys": lambda text: re.sub(r'"(\w+)":', r"\1:", text),
    "capitals": renamed('"event_id"', '"EVENT_ID"'),
    "longer cuts": each_line(lambda line: line[:-12]),
    "comments": each_line(lambda line: line + " // reviewed"),
    "Python's words": renamed("null", "None"),
    "no type": lambda text: re.sub(r'"event_type":"[^"]*",', "", text),
}
UNKNOWN = {
    "a prefix before the type": lambda text: text.replace('"event_type":"', '"event_type":"x-')
}
NAMELESS = {
    "no word of it": lambda text: "0\n" * text.count("\n"),
    "another key for the run": renamed("project_run_id", "run"),
    "text of JSON": each_line(json.dumps),
}


@pytest.mark.parametrize("damage", [*REJECTING, *UNKNOWN, *NAMELESS])
def test_no_damage_to_every_line_of_a_file_makes_a_gate_pass(damage: str, tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    change = {**REJECTING, **UNKNOWN, **NAMELESS}[damage]
    damaged = write(tmp_path, "b/trace.jsonl", change(BAD))
    ran = run("score", "--require-correct", tmp_path)
    page = run("report", "--format", "html", tmp_path).out
    table = run("fleet", tmp_path, "--no-cache").out.splitlines()[0]
    assert '"headline correct"' not in page
    if damage in NAMELESS:
        assert ran.code == 2
        assert f" {damaged}: no line of it names a run " in " ".join(ran.out.split())
        assert "1 CORRECT with caveats" in table
        return
    assert ran.code == 1
    assert "1 CORRECT · 1 not computable" in " ".join(ran.out.replace(" with caveats", "").split())
    assert table.startswith("2 runs in 2 files: 1 CORRECT")
    assert table.endswith("1 not computable")
    if damage in REJECTING:
        assert f"drive-trace: --require-correct: run-1: {ALL}\n" in ran.err
    elif damage in UNKNOWN:
        assert "run-1: not computable: all 38 lines of unknown types\n" in ran.err


def test_a_run_of_rejected_lines_is_in_every_output(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    bad = write(tmp_path, "b/trace.jsonl", REJECTING["a field is missing"](BAD))
    said = run("score", tmp_path).out
    assert f"run-1\n  {ALL}\n" in said
    repair = "Repair its lines: no reader counts one of them as they are."
    assert repair in " ".join(said.split())
    assert "1 CORRECT · 1 not computable.\n" in said
    assert "not computable" in run("score", "--format", "table", tmp_path).out
    assert f"**{ALL}**" in run("score", "--format", "markdown", tmp_path).out
    markdown = run("report", tmp_path).out
    assert "**1 CORRECT · 1 not computable**" in markdown
    assert f"| `run-1` | {ALL};" in markdown
    page = run("report", "--format", "html", tmp_path).out
    assert '<div class="headline not-computable"><strong>1 CORRECT · 1 not computable<' in page
    assert "all 38 lines rejected" in page
    for shown in (
        run("score", "--format", "json", tmp_path).json,
        run("report", "--format", "json", tmp_path).json["scorecard"],
    ):
        good, lost = shown["runs"]
        assert (good["run_id"], lost["run_id"]) == ("good", "run-1")
        assert (lost["verdict"], lost["correctness"]) == ("not-computable", None)
        assert lost["rejected_lines"] == [*range(1, 39)]
        (file,) = lost["files"]
        assert (file["path"], file["events"], file["first_line"]) == (str(bad), 0, 1)
        assert shown["correct_run_ids"] == ["good"]
    _, row = run("fleet", tmp_path, "--out", "-").out.splitlines()
    found = json.loads(row)
    assert (found["run_id"], found["headline"], found["events"]) == ("run-1", ALL, 0)
    assert (found["rejected_lines"], found["is_certain"]) == (38, True)


def test_a_run_alone_of_which_no_line_counts_is_no_empty_scorecard(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", REJECTING["a field is missing"](BAD))
    ran = run("score", "--require-correct", path)
    assert (ran.code, ran.err) == (1, f"drive-trace: --require-correct: run-1: {ALL}\n")
    assert "not computable: 1 run, no valid event.\n" in ran.out
    page = run("report", "--format", "html", path).out
    assert '<div class="headline not-computable"><strong>not computable<' in page
    assert "<p>all 38 lines rejected</p>" in page
    mixed = "".join(BAD.splitlines(keepends=True)[:2]) + "\n"
    first, second = mixed.splitlines()[:2]
    path.write_text(f"{first[:-1]}\n{UNKNOWN['a prefix before the type'](second)}\n", "utf-8")
    assert "not computable: all 2 lines rejected or of unknown types\n" in run("score", path).out
    path.write_text(f"{first[:-1]}\n", "utf-8")
    assert "not computable: its only line is rejected\n" in run("score", path).out


def test_lines_of_a_run_in_two_files_are_one_run(tmp_path: Path) -> None:
    damaged = REJECTING["a field is missing"]
    write(tmp_path, "a/trace.jsonl", damaged(BAD))
    graded_in = write(tmp_path, "b/trace.jsonl", BAD)
    (scored,) = run("score", "--format", "json", tmp_path).json["runs"]
    assert scored["verdict"] == "incorrect"
    assert [each["events"] for each in scored["files"]] == [0, 38]
    graded_in.write_text(damaged(BAD), "utf-8")
    assert "not computable: all 76 lines rejected\n" in run("score", tmp_path).out


@pytest.mark.parametrize("glue", ["{0}{1}", "{0}\\n{1}", "[{0},{1}]"])
def test_runs_that_stand_only_on_one_line_with_another_are_runs(glue: str, tmp_path: Path) -> None:
    bad = graded("pass", "fail", "pass", project_run_id="bad").rstrip()
    other = graded("pass", "pass", "pass", project_run_id="other").rstrip()
    path = write(tmp_path, "trace.jsonl", apart(f"{glue.format(bad, other)}\n{GOOD}"))
    ran = run("score", "--require-correct", path)
    assert ran.code == 1
    for name in ("bad", "other"):
        assert f"{name}: not computable: its only line is rejected\n" in ran.err
