"""The command line, from outside: reports, and scores for a person at a terminal."""

import json
import os
from pathlib import Path

import pytest

from tests.cli.support import CLEAN, REJECTED, on_a_terminal, process, run, write
from tests.support.client_text import graded, tokens
from tests.support.systems import NO_DEVICES, not_on_windows

PASSED = graded("pass", "pass", "pass")
FAILED = graded("pass", "fail", "pass")


# The formats


def test_json_has_the_keys_of_the_interface(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", PASSED + REJECTED)
    shown = run("report", "--format", "json", path).json
    assert list(shown)[:3] == ["scorecard", "metrics", "assertions"]
    assert shown["scorecard"] == run("score", "--format", "json", path).json
    assert shown["version"] == shown["scorecard"]["version"] == 1
    assert set(shown["assertions"][0]) >= {"id", "title", "status", "evidence", "note"}
    assert len(shown["assertions"]) == 31
    assert shown["lines"] == {"valid": 1, "invalid": 1, "unknown": 0}
    assert shown["files"][0]["path"] == str(path)


def test_a_report_promises_no_format_that_it_does_not_have(tmp_path: Path) -> None:
    ran = run("report", "--out", tmp_path / "t.PDF", "-", stdin=PASSED)
    assert (ran.code, [*tmp_path.iterdir()]) == (2, [])
    assert "report does not write .pdf; end FILE with .txt, .json, .md or .html" in ran.err


@pytest.mark.parametrize("output_format", ["markdown", "html"])
def test_the_verdict_and_its_cause_come_first(output_format: str) -> None:
    ran = run("report", "--format", output_format, "-", stdin=FAILED + tokens(12_345, 1, 1, 1))
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.index("INCORRECT") < ran.out.index("qa failed") < ran.out.rindex("Tier 1")
    assert "12,345" not in ran.out


def test_markdown_is_the_default_and_joins_traces(tmp_path: Path) -> None:
    paths = [write(tmp_path, name, text) for name, text in (("a", PASSED), ("b", FAILED))]
    ran = run("report", *paths)
    assert ran.out.startswith("# Drive Trace report\n\n**INCORRECT — qa failed** · run `run-1`\n")
    assert ran.out.endswith("\n")
    assert not ran.out.endswith("\n\n")


def test_where_no_trace_is_there_a_report_says_that_and_no_more(tmp_path: Path) -> None:
    ran = run("report", tmp_path / "missing")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert "**Not complete: 1 input was not read" in ran.out
    assert "**No runs: no trace was read**" in ran.out
    assert "n/a" not in ran.out


def test_nothing_to_report() -> None:
    assert "No runs: the traces hold no valid event." in run("report", "-", stdin="").out


def test_html_is_utf8_whatever_the_locale_says(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", PASSED)
    environment = {**os.environ, "PYTHONUTF8": "0", "LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}
    ran = process("report", "--format", "html", path, env=environment)
    assert ran.out.startswith("<!DOCTYPE html>")
    assert ran.code == 0


# To a file


@pytest.mark.parametrize(
    ("name", "start"), [("r.html", "<!DOCTYPE"), ("r.json", "{"), ("r.md", "# "), ("r", "# ")]
)
def test_out_says_the_format(name: str, start: str, tmp_path: Path) -> None:
    path, out = write(tmp_path, "trace.jsonl", PASSED), tmp_path / name
    assert run("report", path, "--out", out) == (0, "", "")
    assert out.read_text("utf-8").startswith(start)
    assert run("report", path, "--out", out, "--format", "json").code == 0
    assert json.loads(out.read_text("utf-8"))["scorecard"]
    assert sorted(each.name for each in tmp_path.iterdir()) == sorted([name, "trace.jsonl"])


def test_out_follows_no_link_out_of_its_folder(tmp_path: Path) -> None:
    path, theirs = (write(tmp_path, "trace.jsonl", PASSED), write(tmp_path, "theirs.md", "diary"))
    (tmp_path / "tree").mkdir()
    for number, target in enumerate((theirs, "../theirs.md", "../new.md")):
        link = tmp_path / f"tree/{number}.md"
        link.symlink_to(target)
        ran = run("report", path, "--out", link)
        assert (ran.code, ran.out) == (2, "")
        assert "is not written: link out of the repository" in ran.err
    assert theirs.read_text("utf-8") == "diary"
    assert not (tmp_path / "new.md").exists()


@not_on_windows(NO_DEVICES)
def test_out_waits_for_no_pipe_and_writes_to_what_is_open(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", PASSED)
    os.mkfifo(tmp_path / "r.md")
    ran = run("report", path, "--out", tmp_path / "r.md")
    said = (
        f"drive-trace: {tmp_path / 'r.md'}: is not written: it is a pipe or a device, not a file\n"
    )
    assert ran == (2, "", said)
    told = process("report", path, "--out", "/dev/stdout")
    assert (told.code, told.err) == (0, "")
    assert told.out == run("report", path).out


def test_out_never_takes_the_place_of_a_trace(tmp_path: Path) -> None:
    path = write(tmp_path, "given.txt", PASSED)
    other = write(tmp_path, "other.jsonl", CLEAN)
    names = ("trace.txt", "trace", "TRACE.JSONL", "trace.ndjson")
    unnamed = [write(tmp_path, name, "\n" + FAILED) for name in names]
    symbolic, hard = tmp_path / "symbolic.md", tmp_path / "hard.md"
    symbolic.symlink_to(path)
    hard.hardlink_to(path)
    for out in (path, symbolic, hard, other, *unnamed, tmp_path / "new.jsonl"):
        ran = run("report", path, "--out", out)
        assert ran == (
            2,
            "",
            f"drive-trace: {out}: is not written: a report must not take the place of a trace\n",
        )
    assert path.read_text("utf-8") == PASSED
    assert other.read_text("utf-8") == CLEAN
    assert {each.read_text("utf-8") for each in unnamed} == {"\n" + FAILED}
    assert not (tmp_path / "new.jsonl").exists()


@pytest.mark.parametrize("name", ["drive-trace.toml", "other.TOML", "drive-trace-baseline.json"])
def test_out_never_takes_the_place_of_a_configuration_or_a_baseline(
    name: str, tmp_path: Path
) -> None:
    path, out = write(tmp_path, "trace.jsonl", PASSED), write(tmp_path, name, "")
    said = "is not written: a report must not take the place of a configuration or a baseline"
    assert run("report", path, "--out", out) == (2, "", f"drive-trace: {out}: {said}\n")
    assert out.read_text("utf-8") == ""


def test_out_that_cannot_be_written(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", PASSED)
    for out, why in (
        (tmp_path, "it is a folder"),
        (tmp_path / "none" / "r.md", "no such file or folder"),
        (path / "r.md", "Not a directory"),
    ):
        ran = run("report", path, "--out", out)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == f"drive-trace: {out}: is not written: {why}\n"


def test_what_cannot_be_read_is_told_and_the_rest_reported(tmp_path: Path) -> None:
    path, out = write(tmp_path, "trace.jsonl", PASSED), tmp_path / "r.md"
    ran = run("report", tmp_path / "missing", path, "--out", out)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert out.exists()
    out.unlink()
    assert run("report", tmp_path / "missing", "--out", out).code == 2
    assert "no trace was read" in out.read_text()


def test_the_installed_command(tmp_path: Path) -> None:
    path, out = write(tmp_path, "trace.jsonl", PASSED), tmp_path / "r.html"
    assert process("report", path, "--out", out) == (0, "", "")
    assert process("report", path, "--format", "html").out == out.read_text("utf-8")
    assert process("report", path, "--out", "/dev/null").code == 0


# At a terminal


def seen(*arguments: str | Path, **environment: str) -> str:
    """What a terminal of 80 columns gets."""
    return on_a_terminal(*arguments, **environment).replace("\r\n", "\n")


def test_a_terminal_gets_a_table_in_colour(tmp_path: Path) -> None:
    first = write(tmp_path, "a.jsonl", PASSED + tokens(1_900_000, 42_000, None, None))
    second = write(tmp_path, "b.jsonl", graded("pass", "failed", "pass"))
    said = seen("score", first, second)
    assert "\x1b[32m" not in said
    for each in ("CORRECT, but 1 correctness line", "rejected (line 1), not counted"):
        assert f"\x1b[33m\x1b[1m{each}\x1b[0m" in said
    assert "\x1b[32m\x1b[1mCORRECT\x1b[0m" in seen("score", first)
    bare = seen("score", first, second, NO_COLOR="1")
    assert "\x1b" not in bare
    assert bare == run("score", "--format", "table", first, second).out
    lines = bare.splitlines()
    told = "run-1 CORRECT, but 1 correctness line 1.9M in · 42k out · 1 rejected"
    assert " ".join(lines[1].split()) == told
    assert f"  {first}" in lines
    assert f"  {second}" in lines
    assert "not counted" in bare
    assert max(len(line) for line in lines if str(tmp_path) not in line) <= 80


def test_what_is_no_terminal_gets_text_without_colour(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", PASSED)
    assert process("score", path).out == run("score", "--format", "text", path).out
    assert "\x1b" not in process("score", "--format", "table", path).out


def test_only_correct_is_green(tmp_path: Path) -> None:
    for text in (FAILED, CLEAN, graded("pass", None, "pass")):
        path = write(tmp_path, "trace.jsonl", text + tokens(1, 2, 3, 4))
        said = seen("score", path)
        assert "\x1b[32m" not in said
        assert "hidden" in said


def test_a_file_that_names_no_run_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", "garbage\n")
    ran = run("report", path)
    assert ran.code == run("score", path).code == 2
    assert "Not complete: 1 input was not read as a trace" in ran.out
    assert "1 line rejected (line 1)" in ran.out
