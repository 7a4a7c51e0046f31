"""The command line, from outside: what was not read is part of every output."""

import gzip
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import REJECTED, run, shell, write
from tests.support.client_text import graded, triage
from tests.support.systems import POSIX_SHELL, not_on_windows

FORMATS = ("full", "concise", "json", "github", "sarif")
LATIN = triage(input_ref="caf\xe9").encode("latin-1")


pytestmark = pytest.mark.usefixtures("here")


def verdicts(*paths: str) -> list[str]:
    scored = run("score", "--format", "json", *paths).json
    return [each["verdict"] for each in scored["runs"]]


def test_a_broken_byte_costs_its_line_alone(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", graded("pass", "pass", "pass", ts="2026-05-28T14:00:00.000Z"))
    failed = graded("pass", "fail", "pass", ts="2026-05-28T15:00:00.000Z")
    for more in (b"", LATIN, b"caf\xe9\n"):
        write(tmp_path, "b/trace.jsonl", failed.encode() + more)
        assert verdicts("a", "b") == ["incorrect"]


def test_a_valid_line_with_a_broken_byte_has_a_warning_on_it(tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", triage(input_ref="caf\ufffd") + "\n" + triage(input_ref="x"))
    assert "invalid-utf8" not in run("check").out
    write(tmp_path, "trace.jsonl", LATIN)
    found = run("check", "--output-format", "json").json
    assert [(each["code"], each["severity"], each["line"]) for each in found] == [
        ("invalid-utf8", "warning", 1)
    ]
    column = LATIN.index(b"\xe9") + 1
    assert (found[0]["column"], found[0]["end_column"]) == (column, column + 1)
    assert "0xe9" in found[0]["message"]
    assert run("check").code == 0


def test_a_line_that_a_broken_byte_breaks_is_rejected(tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", triage().encode().replace(b"{", b"{\xff"))
    found = run("check", "--output-format", "json").json
    assert {each["code"] for each in found} == {"invalid-json"}
    assert (found[0]["line"], found[0]["column"]) == (1, 2)


@pytest.mark.parametrize("output_format", FORMATS)
def test_what_is_not_read_is_a_finding_in_every_format(output_format: str, tmp_path: Path) -> None:
    write(tmp_path, "good.jsonl", triage())
    ran = run("check", "--output-format", output_format, "good.jsonl", "missing.jsonl")
    assert ran.code == 2
    assert "missing.jsonl" in ran.out
    assert "unreadable-file" in ran.out
    assert "no such file or folder" in ran.out
    assert ran.err == "drive-trace: missing.jsonl: no such file or folder\n"


def test_what_is_not_read_is_a_notification_of_the_run_in_sarif() -> None:
    (log,) = run("check", "--output-format", "sarif", "missing.jsonl").json["runs"]
    assert [each["ruleId"] for each in log["results"]] == ["unreadable-file"]
    (invocation,) = log["invocations"]
    assert invocation["executionSuccessful"] is False
    (told,) = invocation["toolExecutionNotifications"]
    assert told["level"] == "error"
    assert told["message"]["text"] == "not read: no such file or folder"
    place = told["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uri"] == "missing.jsonl"


@pytest.mark.parametrize("name", ["drive-trace.toml", "drive-trace-baseline.json"])
def test_a_trace_that_is_not_checked_is_not_without_findings(name: str, tmp_path: Path) -> None:
    """A log without results would close every alert of the trace."""
    write(tmp_path, "trace.jsonl", triage())
    write(tmp_path, name, "[rules")
    ran = run("check", "--output-format", "sarif")
    (log,) = ran.json["runs"]
    assert (ran.code, [each["ruleId"] for each in log["results"]]) == (2, ["unreadable-file"])
    assert log["invocations"][0]["executionSuccessful"] is False
    said = log["results"][0]["message"]["text"]
    assert said.startswith("not read: 1 trace, as this cannot be used: is no")
    (place,) = log["results"][0]["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"].endswith(name)


def test_nothing_hides_it(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", triage().encode("utf-16"))
    assert run("check", "--write-baseline", path).code == 2
    ran = run("check", "--fail-on", "never", path)
    assert (ran.code, "error[unreadable-file]" in ran.out) == (2, True)
    write(tmp_path, "drive-trace.toml", '[rules]\nunreadable-file = "off"\n')
    ran = run("check", path)
    assert (ran.code, "error[unreadable-file]" in ran.out) == (2, True)
    write(tmp_path, "good.jsonl", triage())
    assert "`unreadable-file` cannot be set" in run("check", "good.jsonl").err


@pytest.mark.parametrize("output_format", ["table", "text", "markdown"])
def test_a_score_says_first_that_it_is_not_complete(output_format: str, tmp_path: Path) -> None:
    write(tmp_path, "good.jsonl", graded("pass", "pass", "pass"))
    ran = run("score", "--format", output_format, "good.jsonl", "missing.jsonl")
    head = ran.out[: ran.out.index("run-1")]
    assert "1 input was not read" in head
    assert "missing.jsonl" in head
    assert "no such file or folder" in head
    below = ran.out[len(head) :]
    said = "CORRECT, but 1 input not read"
    assert said in below or (output_format == "table" and "not read" in below)


def test_a_report_says_first_that_it_is_not_complete(tmp_path: Path) -> None:
    write(tmp_path, "good.jsonl", graded("pass", "pass", "pass"))
    for output_format in ("markdown", "html"):
        ran = run("report", "--format", output_format, "good.jsonl", "missing.jsonl")
        assert ran.code == 2
        assert ran.out.index("1 input was not read") < ran.out.index("CORRECT, but")
        assert "missing.jsonl" in ran.out
        for green in ('"chip correct"', '"headline correct"'):
            assert green not in ran.out
    card = run("report", "--format", "json", "good.jsonl", "missing.jsonl").json["scorecard"]
    assert card["complete"] is False
    assert card["unread"] == [{"path": "missing.jsonl", "reason": "no such file or folder"}]


def test_a_report_on_nothing_that_was_read_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    page = write(tmp_path, "report.html", "all is well")
    assert run("report", "--out", page, "missing.jsonl").code == 2
    assert "1 input was not read" in page.read_text()


def test_why_not_every_run_is_correct_is_told(tmp_path: Path) -> None:
    write(tmp_path, "a.jsonl", graded("pass", "fail", "pass") + triage(run="b\x1b"))
    ran = run("score", "--require-correct", "a.jsonl")
    assert (ran.code, ran.err.splitlines()) == (
        1,
        [
            "drive-trace: --require-correct: run-1: INCORRECT — qa failed",
            "drive-trace: --require-correct: b<U+001B>: "
            "not computable — missing: external correctness signal",
        ],
    )
    write(tmp_path, "empty.jsonl", "")
    ran = run("score", "--require-correct", "empty.jsonl")
    said = "drive-trace: empty.jsonl: holds no lines\n"
    assert (ran.code, ran.err) == (1, f"{said}drive-trace: --require-correct: there are no runs\n")


@not_on_windows(POSIX_SHELL)
def test_what_a_shell_hands_over_open_is_read(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", triage())
    script = '"$0" check --output-format concise <(cat "$1") && "$0" check /dev/stdin <"$1"'
    piped = 'cat "$1" | "$0" check /dev/stdin'
    ran = shell(f"{script} && {piped}", path, program="/bin/bash")
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.count("no findings in 1 trace") == 3


# What stands beside a file that is named

GOOD = graded("pass", "pass", "pass")
ILLEGIBLE = "no line of it names a run"
NO_RUN = {
    "an object": b"{}\n",
    "text": b"garbage\n",
    "broken bytes": b"\x9c\xff\x00\n" * 20,
    "gzip": gzip.compress(GOOD.encode()),
    "a pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n",
    "a torn line": GOOD.encode()[:100],
}


@pytest.fixture
def beside(tmp_path: Path) -> Path:
    """A file beside a/trace.jsonl, whose only run is CORRECT."""
    write(tmp_path, "drive-trace.toml", "")
    write(tmp_path, "a/trace.jsonl", GOOD)
    return tmp_path / "b/trace.jsonl"


def card(*args: str) -> tuple[int, Any, Any]:
    ran = run("score", "--require-correct", "--format", "json", *args)
    return ran.code, ran.json["runs"], ran.json["unread"]


@pytest.mark.parametrize("kind", NO_RUN)
def test_a_file_that_names_no_run_is_not_read_beside_a_file_as_in_its_folder(
    kind: str, beside: Path
) -> None:
    write(beside.parent, beside.name, NO_RUN[kind])
    reason = "is packed by gzip; unpack it" if kind == "gzip" else ILLEGIBLE
    unread = [{"path": "b/trace.jsonl", "reason": reason}]
    assert card("a/trace.jsonl") == card(".") == (2, card(".")[1], unread)
    said = run("check", "a/trace.jsonl").out
    assert f"may hold lines of the same runs: b/trace.jsonl ({reason})" in said
    for name, *options in (
        ("record", "--qa", "fail"),
        ("tokens", "--input-tokens", "1"),
        ("gate", "--component", "qa", "--run", "true"),
    ):
        target = ("--trace-file", "a/trace.jsonl", "--project-run-id", "run-1")
        ran = run(name, *target, *options)
        assert (ran.code != 0, f"b/trace.jsonl: {reason}; it may hold" in ran.err) == (True,) * 2
    assert Path("a/trace.jsonl").read_text() == GOOD
    assert run(name, *target, *options, "--only-this-file").code == 0


OTHERS = {
    "an empty file": "",
    "blank lines": "\n \n",
    "another run": triage(run="run-2"),
    "a rejected line of another run": triage(run="run-2") + REJECTED.replace("run-1", "run-3"),
    "lines of no run, of another one's file": triage(run="run-2") + "{}\ngarbage\n",
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=list(OTHERS))
def test_a_file_of_other_runs_does_not_matter(text: str, beside: Path) -> None:
    write(beside.parent, beside.name, text)
    assert card("a/trace.jsonl") == (0, card(".")[1][:1], [])
    assert "not looked at" not in run("check", "a/trace.jsonl").out


def test_a_grade_of_which_the_run_cannot_be_read_may_be_of_the_run(beside: Path) -> None:
    """As in a search of the folder, also where it stands in a file of another run."""
    later = graded("fail", "fail", "fail", ts="2026-06-01T00:00:00.000Z")
    lost = later.replace('"project_run_id":"run-1",', "")
    write(beside.parent, beside.name, triage(run="run-2") + lost)
    (scored,) = card("a/trace.jsonl")[1]
    assert [each["code"] for each in scored["caveats"]] == ["rejected-grade"]
    assert scored == card(".")[1][0]


def test_what_cannot_be_read_beside_a_file_is_called_as_from_the_current_folder(
    beside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(beside.parent, beside.name, "{}".encode("utf-16"))
    monkeypatch.chdir(beside.parents[1] / "a")
    said = "../b/trace.jsonl: is UTF-16"
    assert f"drive-trace: {said}" in run("score", "trace.jsonl").err
    target = ("--trace-file", "trace.jsonl", "--project-run-id", "run-1")
    assert said in run("record", *target, "--qa", "fail").err
    assert "../b/trace.jsonl (is UTF-16" in run("check", "trace.jsonl").out
