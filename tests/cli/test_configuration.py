"""The command line, from outside: configurations."""

import os
import shutil
import sys
from pathlib import Path

import pytest

from tests.cli.support import CLEAN, REJECTED, WARNED, Ran, commit, process, run, write
from tests.support.client_text import apart, event, graded, triage

OFF = '[rules]\nunknown-value = "off"\n'


def check(*args: str | Path, stdin: str = "") -> Ran:
    return run("check", "--output-format", "concise", *args, stdin=stdin)


def codes(ran: Ran) -> list[str]:
    return [finding["code"] for finding in ran.json]


def test_severities_are_those_of_the_configuration(tmp_path: Path) -> None:
    text = '[rules]\nunknown-value = "information"\nundeclared-field = "error"\n'
    write(tmp_path, "drive-trace.toml", text)
    ran = check(write(tmp_path, "a/trace.jsonl", REJECTED + WARNED))
    assert ran.code == 1
    assert ": information[unknown-value] " in ran.out
    assert ": error[undeclared-field] " in ran.out
    assert ran.out.endswith("1 error, 1 information in 1 trace\n")
    full = run("check", tmp_path).out
    assert "information[unknown-value]" in full
    found = run("check", "--output-format", "json", tmp_path).json
    assert [each["severity"] for each in found] == ["information", "error"]
    assert check("--fail-on", "information", write(tmp_path, "b/trace.jsonl", REJECTED)).code == 1


def test_a_change_has_no_say_in_how_it_is_checked(here: Path) -> None:
    write(here, "drive-trace.toml", "")
    write(here, "sub/drive-trace.toml", '[rules]\nunknown-value = "warning"\n')
    commit(Path())
    write(here, "a/trace.jsonl", REJECTED)
    write(here, "sub/trace.jsonl", REJECTED)
    # One is changed, one is replaced by a folder, one is new, and a baseline hides all.
    write(here, "drive-trace.toml", OFF)
    (here / "sub/drive-trace.toml").unlink()
    write(here, "sub/drive-trace.toml/x", "")
    write(here, "a/drive-trace.toml", OFF)
    assert run("check").code == 0
    at = ("--trust-config-at", "HEAD")
    assert "2 traces" in run("check", *at, "--write-baseline").out
    ran = check(*at)
    assert ran.code == 1
    assert ran.out.endswith("1 error, 1 warning in 2 traces\n")
    assert run("check", *at, "--config", "a/drive-trace.toml").code == 0
    for wrong in ("nothing", "--help", "-x"):
        ran = run("check", "--trust-config-at", wrong)
        assert (ran.code, f"{wrong} is no commit that is here; fetch it" in ran.err) == (2, True)


@pytest.mark.skipif(sys.platform == "win32", reason="a script stands for git")
def test_git_is_asked_as_often_for_many_traces_as_for_few(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree, log = tmp_path / "tree", tmp_path / "log"
    for number in range(20):
        write(tree, f"{number}/trace.jsonl", REJECTED)
    write(tree, "drive-trace.toml", OFF)
    write(tree, "7/drive-trace.toml", "")
    monkeypatch.chdir(tree)
    commit(Path())
    script = f'#!/bin/sh\necho "$@" >> "{log}"\nexec "{shutil.which("git")}" "$@"\n'
    write(tmp_path, "bin/git", script).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    counts = []
    for folders in ("67", range(20)):
        log.write_text("")
        paths = [f"{each}/trace.jsonl" for each in folders]  # each folder would be a search
        ran = process("check", "--trust-config-at", "HEAD", *paths)
        assert (ran.code, ran.out.count("error[unknown-value]")) == (1, 1)
        counts.append(log.read_text().count("\n"))
    assert counts[0] == counts[1]


def test_the_scorecard_knows_no_configuration(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", graded("pass", "pass", "pass") + REJECTED)
    before = run("score", "--format", "json", path)
    write(tmp_path, "drive-trace.toml", OFF)
    run("check", "--write-baseline", path)
    assert run("score", "--format", "json", path) == before
    assert before.json["runs"][0]["rejected_lines"] == [2]


OVERRIDE = '[[overrides]]\npaths = ["legacy"]\nrules.unknown-value = "off"\n'


@pytest.mark.parametrize(
    ("path", "text"), [("legacy/drive-trace.toml", OFF), ("drive-trace.toml", OVERRIDE)]
)
def test_each_trace_has_its_own_and_its_overrides(path: str, text: str, tmp_path: Path) -> None:
    write(tmp_path, path, text)
    for name in ("legacy/trace.jsonl", "trace.jsonl"):
        write(tmp_path, name, REJECTED)
    ran = run("check", "--output-format", "json", tmp_path)
    assert [each["path"] for each in ran.json] == [str(tmp_path / "trace.jsonl")]


def test_an_option(tmp_path: Path) -> None:
    ids = {"dispatch_id": "d", "dispatch_name": "D", "subagent_type": "t", "model": "m"}
    text = event(
        "dispatch-start", ts="2026-05-28T14:00:00.000Z", parent_dispatch_id=None, **ids
    ) + event(
        "dispatch-end",
        ts="2026-05-28T14:01:00.000Z",
        dispatch_id="d",
        result="completed",
        wall_clock_ms=70_000,
    )
    path = write(tmp_path, "trace.jsonl", apart(text))

    def found() -> bool:
        return "wall-clock-exceeds-timestamps" in codes(
            run("check", "--output-format", "json", path)
        )

    assert found()
    rule = "[rules.wall-clock-exceeds-timestamps]\ntolerance-ms ="
    for tolerance, is_found in ((10_001, False), (100, True)):
        write(tmp_path, "drive-trace.toml", f"{rule} {tolerance}\n")
        assert found() is is_found


def test_rules_are_named_by_globs_and_groups_too(here: Path) -> None:
    write(here, "trace.jsonl", apart(REJECTED + WARNED))

    def severities(*rules: str) -> dict[str, str]:
        write(here, "drive-trace.toml", "\n".join(["[rules]", *rules]))
        found = run("check", "--output-format", "json").json
        return {each["code"]: each["severity"] for each in found}

    both = {"unknown-value": "error", "undeclared-field": "warning"}
    assert severities() == both
    assert severities("warning = 'off'") == {"unknown-value": "error"}
    # What names fewer rules decides, wherever it stands.
    assert severities("unknown-value = 'hint'", "'unknown-*' = 'warning'", "all = 'off'") == {
        "unknown-value": "hint"
    }
    assert severities("'un*' = 'information'", "error = 'off'") == dict.fromkeys(
        both, "information"
    )
    write(here, "drive-trace.toml", "")
    for chosen, expected in (
        (["--select", "un*-field"], ["undeclared-field"]),
        (["--select", "error"], ["unknown-value"]),
        (["--select", "all", "--ignore", "warning,nothing-*"], None),
        (["--ignore", "*-value,warning"], []),
    ):
        ran = run("check", "--format", "json", *chosen)
        if expected is None:
            assert (ran.code, 'no rule is called "nothing-*"' in ran.err) == (2, True)
        else:
            assert codes(ran) == expected


def test_it_says_when_a_check_fails(here: Path) -> None:
    write(here, "a/trace.jsonl", WARNED)
    write(here, "b/trace.jsonl", REJECTED)
    for of_a, of_b, options, code in (
        ("", "", [], 1),
        ("", "fail-on = 'never'", [], 0),
        ("fail-on = 'warning'", "fail-on = 'never'", [], 1),
        ("fail-on = 'warning'", "fail-on = 'never'", ["--fail-on", "error"], 1),
        ("fail-on = 'warning'", "", ["--fail-on", "never"], 0),
    ):
        write(here, "a/drive-trace.toml", of_a)
        write(here, "b/drive-trace.toml", of_b)
        assert check(*options).code == code, (of_a, of_b, options)
    write(here, "a/drive-trace.toml", "fail-on = 'warn'")
    assert '`fail-on` must be "error", "warning", ' in check("a").out


def test_what_it_calls_unfixable_is_for_a_person(here: Path) -> None:
    text = triage().replace(",", ", ", 1) + triage(run="2")[:-2] + ",}\n"
    path = write(here, "trace.jsonl", text)
    write(here, "drive-trace.toml", "unfixable = ['not-*']")
    found = run("check", "--format", "json").json
    assert {each["code"]: [fix["safe"] for fix in each["fixes"]] for each in found} == {
        "not-compact": [False],
        "invalid-json": [True],
    }
    check("--fix", "--unsafe-fixes")
    assert path.read_text() == text.replace(",}", "}")
    write(here, "drive-trace.toml", "unfixable = ['not-compat']")
    assert "1:14: error[unreadable-file]" in check().out


def test_standard_input_can_have_a_name(here: Path) -> None:
    write(here, "a/drive-trace.toml", OVERRIDE)
    name = "a/legacy/trace.jsonl"
    text = REJECTED + WARNED
    ran = check("-", "--stdin-filename", name, stdin=text)
    assert (ran.code, ran.out.count(f"{name}:2:")) == (0, 1)
    write(here, name, text)
    check("--write-baseline", name)
    assert check("-", "--stdin-filename", name, stdin=text).out.startswith("no findings")
    fixed = check("-", "--stdin-filename", name, "--fix", stdin=text[:-1])
    assert (fixed.out, (here / name).read_text()) == (text, text)
    assert check("--stdin-filename", name).code == 2
    ran = check("-", "--stdin-filename", "projects/pay/trace.jsonl", stdin=WARNED)
    assert 'promises the run "pay"' in ran.out


def test_standard_input_has_that_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "drive-trace.toml", OFF)
    (tmp_path / "a").mkdir()
    monkeypatch.chdir(tmp_path / "a")
    assert check("-", stdin=REJECTED).code == 0
    assert check("--no-config", "-", stdin=REJECTED).code == 1


def test_one_can_be_given(tmp_path: Path) -> None:
    given = write(tmp_path, "ci/strict.toml", '[rules]\nundeclared-field = "error"\n')
    write(tmp_path, "drive-trace.toml", '[rules]\nundeclared-field = "off"\n')
    path = write(tmp_path, "trace.jsonl", WARNED)
    assert check(path).out == "no findings in 1 trace\n"
    assert check("--config", given, path).code == 1
    assert "warning[undeclared-field]" in check("--no-config", path).out


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("[rules]\nunknow-value = 'off'", ":2:1", "`unknow-value` is no rule — did you mean"),
        ("[rules]\nunknown-value = 'warn'", ":2:17", "`unknown-value` must be "),
        ("[rules\n", ":1:7", "is not TOML: "),
        (b"# \xff", "", "is not UTF-8 (byte 0xff)"),
    ],
)
def test_one_that_cannot_be_used_is_told_once(
    text: str | bytes, place: str, said: str, tmp_path: Path
) -> None:
    path = write(tmp_path, "a/drive-trace.toml", text)
    for name in ("a/1/trace.jsonl", "a/2/trace.jsonl", "b/trace.jsonl"):
        write(tmp_path, name, REJECTED)
    ran = run("check", "--output-format", "json", tmp_path)
    assert ran.code == 2
    assert ran.err.startswith(f"drive-trace: {path}{place}: {said}")
    assert ran.err.count("\n") == 1
    assert [(each["path"], each["code"]) for each in ran.json] == [
        (str(tmp_path / "b/trace.jsonl"), "unknown-value"),
        (str(path), "unreadable-file"),
    ]
    told = ran.json[1]
    assert told["message"].startswith(f"not read: 2 traces, as this cannot be used: {said}")
    assert f":{told['line']}:{told['column']}" == (place or ":1:1")
    assert check("--no-config", tmp_path).err == ""


def test_a_given_one_that_is_not_there(tmp_path: Path) -> None:
    gone = tmp_path / "gone.toml"
    ran = check("--config", gone, write(tmp_path, "trace.jsonl", CLEAN))
    said = f"{gone}: cannot be read: no such file or folder\n"
    assert (ran.code, ran.err) == (2, f"drive-trace: {said}")
    assert "gone.toml:1:1: error[unreadable-file] not read: 1 trace, as this cannot" in ran.out


def test_its_words_cannot_speak_to_the_terminal(tmp_path: Path) -> None:
    write(tmp_path, "a\x1b[31m/drive-trace.toml", "[rules]\n'\u202e' = 1\n")
    ran = check(write(tmp_path, "a\x1b[31m/trace.jsonl", triage()))
    assert ran.err.replace("\n", "").isprintable()
