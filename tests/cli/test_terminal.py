"""What a person at a terminal sees of `check`, and what they can choose."""

import json
import re
from itertools import pairwise
from pathlib import Path

import click
import pytest

from drive_trace.linter.rules import RULES
from drive_trace.text.spans import terminal_columns
from tests.cli.support import CLEAN, REJECTED, WARNED, on_a_terminal, run, write
from tests.support.client_text import graded, triage

COLOURS = re.compile(r"\x1b\[[0-9;]*[mK]")


# Frames


@pytest.mark.parametrize("width", [60, 80, 200])
@pytest.mark.parametrize("before", ["", "x" * 300, "日本" * 90], ids=["near", "far", "wide"])
@pytest.mark.parametrize("after", ["", "y" * 300], ids=["end", "more"])
def test_a_frame_fits_the_terminal(width: int, before: str, after: str, tmp_path: Path) -> None:
    text = triage(input_ref=before, verdict="direct-chance", severity=after)
    path = write(tmp_path, "trace.jsonl", text)
    shown = COLOURS.sub("", on_a_terminal("check", path, width=width, NO_COLOR="1"))
    blocks = [block.split("\r\n") for block in shown.split("\r\n\r\n")]
    (frame,) = [block for block in blocks if "unknown-value" in block[0]]
    line, carets = frame[2], frame[3]
    assert terminal_columns(line) <= width
    assert terminal_columns(carets) <= width
    if before and after:
        assert terminal_columns(line) >= width - 1
    start = len(line[: line.index('"direct-chance"')])
    assert carets.index("^") == terminal_columns(line[:start])
    assert carets.count("^") == len('"direct-chance"')


def test_a_mark_that_is_wider_than_the_terminal_is_cut(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", triage(verdict="z" * 300))
    shown = on_a_terminal("check", path, width=60, NO_COLOR="1").split("\r\n")
    (carets,) = [line for line in shown if "^" in line]
    assert len(carets) <= 60
    assert all(terminal_columns(line) <= 60 for line in shown if line.startswith("1 | "))


def test_a_diff_marks_what_changed_within_a_line(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", f"{CLEAN.strip()[:-1]},}}\n")
    shown = on_a_terminal("check", "--diff", path, width=400)
    assert "\x1b[31m\x1b[7m,\x1b[0m" in shown
    plain = on_a_terminal("check", "--diff", path, width=400, NO_COLOR="1")
    assert "\x1b" not in plain
    assert run("check", "--diff", path).out.startswith(f"--- {path}\n")


# Colours


@pytest.mark.parametrize(
    ("options", "env", "is_coloured"),
    [
        ([], {}, False),
        (["--color", "always"], {}, True),
        ([], {"FORCE_COLOR": "1"}, True),
        ([], {"CLICOLOR_FORCE": "1"}, True),
        ([], {"CLICOLOR_FORCE": "0"}, False),
        ([], {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (["--color", "always"], {"NO_COLOR": "1"}, True),
        (["--color", "never"], {"FORCE_COLOR": "1"}, False),
        (["--color", "auto"], {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_in_a_pipe(
    options: list[str],
    env: dict[str, str],
    is_coloured: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    for name, value in env.items():
        monkeypatch.setenv(name, value)
    path = write(tmp_path, "trace.jsonl", REJECTED)
    for arguments in (["check", path], ["check", "--statistics", path]):
        assert ("\x1b[" in run(*arguments, *options).out) == is_coloured


def test_a_dumb_terminal_has_no_colours(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", REJECTED)
    assert "\x1b[" in on_a_terminal("check", path)
    assert "\x1b" not in on_a_terminal("check", path, TERM="dumb")


# What is shown


@pytest.fixture
def two(tmp_path: Path) -> Path:
    """A rejected line, and one with a warning and a safe fix."""
    broken = f"{CLEAN.strip()[:-1]},}}\n".replace("run-1", "run-2")
    write(tmp_path, "a/trace.jsonl", REJECTED)
    write(tmp_path, "b/trace.jsonl", WARNED + broken)
    return tmp_path


def codes(*args: str | Path) -> set[str]:
    found = run("check", *args, "--output-format", "json").json
    return {each["code"] for each in found}


def test_what_can_be_fixed_is_marked_and_counted(two: Path) -> None:
    lines = run("check", two, "--output-format", "concise").out.splitlines()
    assert [line for line in lines if "[invalid-json] [*] " in line]
    assert lines[-1] == "[*] 1 fixable with --fix"


def test_rules_are_selected_and_ignored(two: Path) -> None:
    every = codes(two)
    assert codes(two, "--select", "undeclared-field") == {"undeclared-field"}
    assert codes(two, "--select", "undeclared-field,invalid-json") == {
        "undeclared-field",
        "invalid-json",
    }
    assert codes(two, "--ignore", "undeclared-field") == every - {"undeclared-field"}
    assert run("check", two, "--select", "undeclared-field").code == 0
    assert codes(two / "missing", "--select", "undeclared-field") == {"unreadable-file"}
    wrong = run("check", two, "--ignore", "undeclared-fields")
    assert wrong.code == 2
    assert 'no rule is called "undeclared-fields"; did you mean "undeclared-field"?' in wrong.err


def test_less_severe_findings_are_hidden_and_still_counted(two: Path) -> None:
    ran = run(
        "check", two, "--severity", "error", "--fail-on", "warning", "--output-format", "json"
    )
    assert {each["severity"] for each in ran.json} == {"error"}
    shown = run("check", two / "b", "--severity", "error", "--fail-on", "warning")
    assert shown.code == 1
    assert "1 finding below --severity error not shown" in shown.out


def test_statistics(two: Path) -> None:
    lines = run("check", two, "--statistics").out.splitlines()
    assert [line.split()[:3] for line in lines[:-2]] == [
        ["1", "invalid-json", "error"],
        ["1", "undeclared-field", "warning"],
        ["1", "unknown-value", "error"],
    ]
    assert "[*]" in lines[0]
    as_json = run("check", two, "--statistics", "--output-format", "json").json
    assert as_json[0] == {"code": "invalid-json", "severity": "error", "count": 1, "fixable": 1}
    assert run("check", two, "--statistics", "--output-format", "sarif").code == 2


def test_a_search_excludes_what_is_not_wanted(two: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(two)
    assert codes("--exclude", "a") == {"undeclared-field", "invalid-json"}
    assert codes("--exclude", "a/*", "--exclude", "/b/") == set()
    assert codes("--exclude", "a", "a/trace.jsonl") == {"unknown-value"}


def test_quiet_shows_the_findings_alone(two: Path) -> None:
    ran = run("check", two, "--quiet", "--output-format", "concise")
    assert len(ran.out.splitlines()) == 3
    assert run("check", "-q", "-", stdin=CLEAN) == (0, "", "")


def test_reading_from_a_terminal_is_said() -> None:
    assert "reading standard input, which is a terminal" in on_a_terminal(
        "check", "-", typed="\x04"
    )


@pytest.mark.parametrize("command", ["score", "report", "explain"])
def test_formats_have_one_name(command: str, tmp_path: Path) -> None:
    path = [] if command == "explain" else [write(tmp_path, "trace.jsonl")]
    outs = [run(command, *path, name, "json").out for name in ("--output-format", "--format")]
    assert outs[0] == outs[1]
    assert json.loads(outs[0])


@pytest.mark.parametrize("code", ["missing-field", "time-goes-back", "bytes-delta-mismatch"])
def test_the_page_of_a_rule_fits_a_narrow_terminal(code: str) -> None:
    """But for what stands in an example without a place to break it."""
    lines = [click.unstyle(each) for each in on_a_terminal("explain", code, width=70).splitlines()]
    assert all(len(each) <= 70 for each in lines if "{…" not in each)
    page = run("explain", code).out
    assert {*" ".join(lines).split()} >= {*page.partition("Example.")[0].split()}
    (text, marks) = next(both for both in pairwise(lines) if "^" in both[1])
    was, were = next(both for both in pairwise(page.splitlines()) if "^" in both[1])
    marked = slice(were.index("^"), were.rindex("^") + 1)
    assert text[marks.index("^") : marks.rindex("^") + 1] == was[marked][: marks.count("^")]


def test_paths_of_a_fleet_fit_a_narrow_terminal(here: Path) -> None:
    path = f"{'long/' * 12}ab/trace.jsonl"
    write(here, path)
    said = [click.unstyle(each) for each in on_a_terminal("fleet", path, width=80).splitlines()]
    assert max(map(len, said)) <= 80
    assert f"      {path}" in said, "it stands below its run, whole"
    assert f"run-1  {path}" in run("fleet", path).out


@pytest.mark.parametrize("command", ["score", "fleet", "compare"])
def test_tables_of_runs_fit_a_narrow_terminal_and_leave_no_reason_out(
    here: Path, command: str
) -> None:
    for name in ("trace.jsonl", "other.jsonl"):
        grade = graded("pass", "pass", "pass", run=name)
        write(here, name, grade + triage(run=name) + REJECTED.replace("run-1", name))
    sides = ["--baseline", "trace.jsonl", "--candidate", "other.jsonl"]
    shown = on_a_terminal(command, *(sides if command == "compare" else ["trace.jsonl"]), width=60)
    lines = [click.unstyle(each) for each in shown.splitlines()]
    assert max(len(each) for each in lines if "--allow" not in each) <= 60
    assert "…" not in shown


@pytest.mark.parametrize("arguments", [["explain"], ["check", "--statistics", "trace.jsonl"]])
def test_tables_of_rules_fit_a_narrow_terminal(here: Path, arguments: list[str]) -> None:
    write(here, "trace.jsonl", REJECTED + WARNED)
    lines = [click.unstyle(each) for each in on_a_terminal(*arguments, width=60).splitlines()]
    rows = [each for each in lines if "undeclared-field" in each]
    assert max(map(len, lines)) <= 60
    if arguments == ["explain"]:
        said = " ".join(each[44:].strip() for each in lines)
        assert RULES["undeclared-field"].summary in said, "nothing is left out"
    else:
        assert rows[0].endswith("…"), "what is left out is marked"
