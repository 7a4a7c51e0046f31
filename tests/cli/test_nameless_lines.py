"""Lines and files of which nobody can tell what they say of a graded run."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.support import run, write
from tests.support.client_text import event, graded
from tests.support.growth import assert_linear
from tests.support.scored import summarize_text

GRADED = graded("pass", "pass", "pass")
WORK = event(
    "brief-issued",
    dispatch_id="77ce3f13-a067-4f13-a4e0-93dbae3137ae",
    round_id="77ce3f13-a067-4f13-a4e0-93dbae3137af",
    brief_byte_length=1,
    brief_content_hash="a",
    brief_disposition="initial",
)
NAMELESS = {
    "torn": '{"event_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90","schema_version":"1"',
    "a run that is null": WORK.replace('"project_run_id":"run-1"', '"project_run_id":null'),
    "a run in a list": WORK.replace('"project_run_id":"run-1"', '"project_run_id":["run-1"]'),
    "an array": f"[{WORK.strip()}]\n",
    "wrapped": f'{{"event":{WORK.strip()}}}\n',
}


@pytest.mark.parametrize("line", NAMELESS.values(), ids=NAMELESS)
def test_a_line_below_the_grade_that_may_be_work_makes_it_stale(tmp_path: Path, line: str) -> None:
    path = write(tmp_path, "trace.jsonl", GRADED + line)
    ran = run("score", "--require-correct", path)
    assert ran.code == 1
    assert "CORRECT, but stale: 1 rejected line after the grade" in ran.out
    # Above the grade it does not.
    path = write(tmp_path, "trace.jsonl", line.rstrip() + "\n" + GRADED)
    assert run("score", "--require-correct", path).code == 0


COST = event(
    "tokens-recorded",
    input_tokens=1,
    output_tokens=1,
    cache_read_tokens=None,
    cache_write_tokens=None,
).strip()
ELSEWHERE = graded("pass", "pass", "pass").strip().replace('"run-1"', '"run-2"')
GLUED = {
    "a cost": COST,
    "a torn cost": COST[:-10],
    "another run": ELSEWHERE,
    "another run, torn": ELSEWHERE[:-10],
    "another run, before a lone carriage return": f"{ELSEWHERE}\r",
}


@pytest.mark.parametrize("start", GLUED.values(), ids=GLUED)
@pytest.mark.parametrize("behind", [graded("pass", "fail", "pass"), WORK], ids=["grade", "work"])
def test_what_was_appended_to_a_line_without_an_end_puts_the_grade_in_doubt(
    tmp_path: Path, start: str, behind: str
) -> None:
    path = write(tmp_path, "trace.jsonl", GRADED + start + behind)
    ran = run("score", "--require-correct", path)
    assert ran.code == 1
    assert "CORRECT, but " in ran.out


def test_at_the_end_of_another_file_of_the_run_it_does_too(tmp_path: Path) -> None:
    early = {"ts": "2001-01-01T00:00:00.000Z"}
    started = event("slice-started", slice_slug="x", slice_index=1, linear_ref=None, **early)
    torn = write(tmp_path, "a/trace.jsonl", started + NAMELESS["torn"])
    path = write(tmp_path, "b/trace.jsonl", GRADED)
    assert run("score", "--require-correct", torn, path).code == 1
    torn.write_text(NAMELESS["torn"] + "\n" + started)
    assert run("score", "--require-correct", torn, path).code == 0


EARLY = event(
    "slice-started", ts="2026-05-28T13:00:00.000Z", slice_slug="x", slice_index=1, linear_ref=None
).strip()
FAILED = graded("pass", "fail", "pass", ts="2026-05-28T15:00:00.000Z").strip()
BOTH = {
    "behind a torn line": f"{EARLY[:150]}{FAILED}\n",
    "behind a line without an end": f"{EARLY}{FAILED}\n",
    "in an array": f"[{EARLY},{FAILED}]\n",
    "in an object": f'{{"a":{EARLY},"b":{FAILED}}}\n',
    "with a moment of another thing": FAILED.replace(
        '"ts":"2026-05-28T15:00:00.000Z"', '"ts":null,"x":{"ts":"2026-05-28T13:00:00.000Z"}'
    )
    + "\n",
}


@pytest.mark.parametrize("line", BOTH.values(), ids=BOTH)
def test_a_failing_grade_is_not_dated_by_what_stands_before_it(tmp_path: Path, line: str) -> None:
    above = write(tmp_path, "one/trace.jsonl", line + GRADED)
    ran = run("score", "--require-correct", above)
    assert (ran.code, "CORRECT, but " in ran.out) == (1, True)
    other = write(tmp_path, "two/b/trace.jsonl", line)
    ran = run("score", "--require-correct", write(tmp_path, "two/a/trace.jsonl", GRADED), other)
    assert (ran.code, "CORRECT, but " in ran.out) == (1, True)


def test_a_link_that_makes_traces_of_what_it_leads_to_is_counted(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GRADED)
    write(tmp_path, "h/x.jsonl", graded("pass", "fail", "pass"))
    (tmp_path / "wip").mkdir()
    (tmp_path / "wip/drive-trace").symlink_to(tmp_path / "h")
    left_out = run("score", "--format", "json", str(tmp_path)).json["left_out_files"]
    assert {each["path"]: each["reason"] for each in left_out} == {
        str(tmp_path / "wip/drive-trace"): "a linked folder",
        str(tmp_path / "h/x.jsonl"): "looks like a trace, but has another name",
    }


BENT = {
    "rejected": ('"schema_version":"1"', '"schema_version":"2"'),
    "of an unknown type": ("correctness-recorded", "correctness_recorded"),
}


@pytest.mark.parametrize("other", ["other", "run-1 ", ""])
@pytest.mark.parametrize("change", BENT.values(), ids=BENT)
def test_a_grade_of_a_run_without_valid_lines_may_be_any_runs(
    tmp_path: Path, change: tuple[str, str], other: str
) -> None:
    bent = graded("pass", None, "pass").replace(*change).replace('"run-1"', f'"{other}"')
    for above, is_bare in ((GRADED, False), (bent, True)):
        lines = [GRADED, bent] if above == GRADED else [bent, GRADED]
        path = write(tmp_path, "trace.jsonl", "".join(lines))
        shown = {
            each["run_id"]: each for each in run("score", "--format", "json", path).json["runs"]
        }
        assert any(each["qualifies"] for each in shown["run-1"]["caveats"]) != is_bare
    # Where the other run has valid lines, the grade is its own.
    whole = graded("pass", "pass", "pass").replace('"run-1"', f'"{other}"')
    path = write(tmp_path, "trace.jsonl", whole.replace("0b9c", "1111") + GRADED + bent)
    shown = {each["run_id"]: each for each in run("score", "--format", "json", path).json["runs"]}
    assert not any(each["qualifies"] for each in shown["run-1"]["caveats"])


def naming(count: int) -> str:
    return "{" + ",".join(f'"project_run_id":"r{number}"' for number in range(count)) + "}\n"


@pytest.mark.parametrize(("count", "runs"), [(100, 101), (101, 1), (4_000, 1)])
def test_a_line_that_names_too_many_runs_names_none(tmp_path: Path, count: int, runs: int) -> None:
    path = write(tmp_path, "trace.jsonl", naming(count) + GRADED)
    assert len(run("score", "--format", "json", path).json["runs"]) == runs
    path = write(tmp_path, "trace.jsonl", GRADED + naming(count))
    assert run("score", "--require-correct", path).code == 1


def test_lines_that_name_many_runs_are_read_in_linear_time() -> None:
    def prepare(size: int) -> Callable[[], object]:
        lines = "".join(naming(100).replace('"r', f'"r{at}-') for at in range(size // 100))
        text = GRADED + lines + naming(size)
        return lambda: summarize_text(text)

    assert_linear(prepare, 16_000)
