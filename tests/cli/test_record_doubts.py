"""``record`` and ``emit``: what is on the lines that readers drop, and outputs that cannot be
written.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.support import run, write
from tests.support.client_text import apart, graded, triage
from tests.support.command import COMMAND

GRADED = graded("pass", "pass", None)
FAILED = graded("fail", "fail", "fail")


def record(path: Path, *options: str) -> list[str]:
    return ["record", "--trace-file", str(path), "--project-run-id", "run-1", *options]


@pytest.mark.parametrize(
    "hidden",
    [
        triage().rstrip("\n") + FAILED,
        "garbage " + FAILED,
        "// " + FAILED,
        f"[{FAILED.strip()}]\n",
        FAILED.replace('"event_type":"correctness-recorded",', ""),
        FAILED[FAILED.index('"project_run_id"') :],
    ],
)
def test_a_grade_on_a_dropped_line_is_not_passed_over(tmp_path: Path, hidden: str) -> None:
    path = write(tmp_path, "trace.jsonl", apart(GRADED + hidden))
    before = path.read_bytes()
    ran = run(*record(path, "--intent", "pass"))
    assert ran.code == 1
    assert "line 2" in ran.err
    assert path.read_bytes() == before
    # A person who has looked at it says all three.
    assert run(*record(path, "--mechanical", "pass", "--qa", "fail", "--intent", "pass")).code == 0


def test_dropped_lines_of_other_runs_do_not_matter(tmp_path: Path) -> None:
    other = "garbage " + graded("fail", "fail", "fail", run="other")
    path = write(tmp_path, "trace.jsonl", apart(GRADED + other + "garbage\n"))
    assert run(*record(path, "--intent", "pass")).code == 0


def test_what_is_recorded_is_no_failure_whatever_becomes_of_the_output(tmp_path: Path) -> None:
    path = write(tmp_path, "trace.jsonl", GRADED)
    with Path("/dev/full").open("wb") as full:
        command = [COMMAND, *record(path, "--intent", "fail")]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 0
    assert "recorded on line 2" in done.stderr.decode()
    assert len(path.read_text("utf-8").splitlines()) == 2


@pytest.mark.parametrize("name", ["trace.txt", "trace", "TRACE.JSONL", "trace.ndjson"])
def test_a_report_takes_the_place_of_no_trace(tmp_path: Path, name: str) -> None:
    trace = write(tmp_path, "trace.jsonl", GRADED)
    other = write(tmp_path, name, "\n" + FAILED)
    ran = run("report", trace, "--out", other)
    assert ran.code == 2
    assert "must not take the place of a trace" in ran.err
    assert other.read_text("utf-8") == "\n" + FAILED


def test_a_report_goes_to_standard_output_by_its_name(tmp_path: Path) -> None:
    trace = write(tmp_path, "trace.jsonl", GRADED)
    command = [COMMAND, "report", str(trace), "--out", "/dev/stdout"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.startswith(b"# ")
