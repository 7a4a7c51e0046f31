"""The package as Python programs call it, and its documentation, whose examples are run."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import BaseModel, ValidationError

import drive_trace
from tests.cli.support import write
from tests.support.client_text import event, graded, triage
from tests.support.fixtures import read

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs/python-api.md").read_text("utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", PAGE, re.DOTALL)


def printed(code: str) -> str:
    ended = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.parametrize(
    ("code", "output"), EXAMPLES, ids=["events", "lines", "runs", "sides", "pydantic"]
)
def test_an_example_of_the_page_prints_what_it_says(code: str, output: str) -> None:
    assert printed(code) == output


def test_the_package_alone_loads_nothing() -> None:
    code = (
        "import sys\nbefore = set(sys.modules)\nimport drive_trace\n"
        "print(set(sys.modules) - before)"
    )
    assert printed(code) == "{'drive_trace'}\n"


def test_the_server_does_without_pydantic() -> None:
    code = "import sys\nimport drive_trace.lsp.serving\nprint('pydantic' in sys.modules)"
    assert printed(code) == "False\n"


def test_every_name_is_there_and_on_the_page() -> None:
    for name in drive_trace.__all__:
        assert getattr(drive_trace, name).__doc__
    with pytest.raises(AttributeError, match="has no attribute 'raed'"):
        drive_trace.raed  # noqa: B018


def test_lines_are_valid_invalid_or_unknown(tmp_path: Path) -> None:
    text = read(
        """
        EVENT{"event_type":"dispatch-end","wall_clock_ms":5.0,"note":"not declared"}
        EVENT{"event_type":"dispatch-end","result":"passed","wall_clock_ms":-1}

        EVENT{"event_type":"tool-called"}
        {"event_type":
        """
    ).text
    trace = drive_trace.read(write(tmp_path, "trace.jsonl", text))
    (valid,) = trace.events
    assert (valid["event_type"], valid["wall_clock_ms"]) == ("dispatch-end", 5)
    assert "note" not in valid
    wrong, broken = trace.invalid_lines
    assert (wrong.number, len(wrong.reasons)) == (2, 2)
    assert wrong.reasons[1] == ("`wall_clock_ms` must be an integer of at least 0; found -1")
    assert wrong.text == text.splitlines()[1]
    assert (broken.number, len(broken.reasons)) == (5, 1)
    assert trace.unknown_lines == ((4, "tool-called"),)


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "trace.jsonl"
    with pytest.raises(drive_trace.UnreadableError, match=r"trace\.jsonl: no such file or folder$"):
        drive_trace.read(path)
    card = drive_trace.score(path, write(tmp_path, "other.jsonl", graded("pass", "pass", "pass")))
    assert [each.reason for each in card.unread] == ["no such file or folder"]
    (run,) = card.runs
    assert (run.verdict, run.is_earned, card.complete) == ("correct", False, False)


def test_runs_are_joined_over_files(tmp_path: Path) -> None:
    work = write(tmp_path, "trace.jsonl", triage())
    grade = write(tmp_path, "grade.jsonl", graded("pass", None, "fail"))
    (run,) = drive_trace.score(work, str(grade)).runs
    assert (run.verdict, run.gate.missing, run.gate.failed) == (
        "not-computable",
        ("qa",),
        ("intent",),
    )
    assert run.efficiency is None
    assert len(run.parts) == 2


def test_sides_are_compared_as_far_as_they_can_be_read(tmp_path: Path) -> None:
    ours = write(tmp_path, "a.jsonl", graded("pass", "pass", "pass"))
    grade = graded("pass", "pass", "fail", event_id="2", project_run_id="b")
    theirs = write(tmp_path, "b.jsonl", grade)
    cases = write(tmp_path, "cases.toml", '[cases]\nretry = ["*"]\n')
    found = drive_trace.compare([ours], str(theirs), cases=cases, allow_unverified="all")
    assert (found.answer, [case.name for case in found.cases]) == ("cannot-tell", ["retry"])
    found = drive_trace.compare([ours, tmp_path / "none"], theirs, allow_unverified=["all"])
    assert (found.answer, found.gate.p) == ("not-comparable", None)
    assert [each.reason for each in found.sides[0].unread] == ["no such file or folder"]
    with pytest.raises(drive_trace.UnreadableError, match=r"none: cannot be read"):
        drive_trace.compare(ours, theirs, cases=tmp_path / "none")
    with pytest.raises(ValueError, match='"jugde" is none of all, case'):
        drive_trace.compare(ours, theirs, allow_unverified=["jugde"])
    with pytest.raises(ValueError, match='"jugde" is none of all, case'):
        drive_trace.compare(ours, theirs, allow_unverified="jugde")


class Batch(BaseModel):
    events: list[drive_trace.TraceEvent]


def test_events_are_a_part_of_other_models() -> None:
    started = event("project-started", project_slug="s", origin="promote", has_linear_project=True)
    assert Batch.model_validate_json(f'{{"events":[{started}]}}').events[0]["origin"] == "promote"
    wrong = started.replace('"promote"', '"demote"')
    with pytest.raises(ValidationError) as caught:
        Batch.model_validate_json(f'{{"events":[{wrong}]}}')
    assert caught.value.errors()[0]["loc"] == ("events", 0, "project-started", "origin")
