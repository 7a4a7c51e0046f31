"""What a side is made of: what was read of it, and what was not."""

import shlex
from pathlib import Path

import pytest

import drive_trace
from tests.cli.judging import PASS, labels
from tests.cli.support import REJECTED, Ran, run, write
from tests.comparison.support import CORRECT, INCORRECT, Sides
from tests.support.client_text import graded, triage

UNREADABLE = "1 input of the baseline was not read"
NO_RUNS = "the baseline has no runs"
FORMATS = ("text", "json", "markdown", "html")


@pytest.fixture
def sides(tmp_path: Path) -> Sides:
    """Sides that are alike."""
    made = Sides(tmp_path)
    for side in "bc":
        made.add(side, *[CORRECT] * 2)
    return made


def against(sides: Sides, *baseline: Path, output_format: str = "json") -> Ran:
    """The candidate against another baseline."""
    given = ("--allow-unverified", "--format", output_format, "--baseline", *baseline)
    return run("compare", *given, "--candidate", sides.folder / "c")


@pytest.mark.parametrize(
    ("content", "code", "reason"),
    [
        (b"\x7fELF\x02\x01\x01\0\0\xff\xfe\n\x00\x9c", 2, UNREADABLE),
        (b"not one line of JSON\n", 2, UNREADABLE),
        (b'{"name":"package"}\n[1]\n', 2, UNREADABLE),
        (triage().encode("utf-16"), 2, UNREADABLE),
        (b"", 3, NO_RUNS),
        (b"\n\n", 3, NO_RUNS),
    ],
    ids=["binary", "text", "other JSON", "UTF-16", "empty", "blank lines"],
)
def test_a_side_that_is_no_trace_is_unreadable_and_an_empty_one_has_no_runs(
    sides: Sides, content: bytes, code: int, reason: str
) -> None:
    alone = write(sides.folder / "alone", "trace.jsonl", content)
    for given in (alone, alone.parent):
        ran = against(sides, given)
        assert (ran.code, ran.json["answer"]) == (code, "not-comparable")
        assert ran.json["reasons"][0].startswith(reason)
    # Among good ones it is as unreadable, and an empty one costs nothing.
    (sides.folder / "alone").rename(sides.folder / "b" / "alone")
    among = against(sides, sides.folder / "b")
    assert (among.code, among.json["complete"]) == ((2, False) if code == 2 else (0, True))


def test_a_missing_path_is_unreadable_and_an_empty_folder_has_no_runs(sides: Sides) -> None:
    (sides.folder / "empty").mkdir()
    empty = against(sides, sides.folder / "empty")
    assert (empty.code, empty.json["reasons"]) == (3, [NO_RUNS])
    assert against(sides, sides.folder / "none").code == 2
    assert against(sides, sides.folder / "b", sides.folder / "none").code == 2


def test_what_was_read_of_each_side_is_told(sides: Sides) -> None:
    trace = sides.folder / "b/b-1/trace.jsonl"
    trace.write_text(f"{REJECTED}{{\n{trace.read_text('utf-8')}", "utf-8")
    garbage = write(sides.folder / "b/b-2", "wip/drive-trace/x.jsonl", "garbage\n")
    write(sides.folder / "b", ".hidden/trace.jsonl")
    ran = against(sides, sides.folder / "b")
    assert ran.code == 2
    reason = "no line of it names a run"
    assert f"{garbage}: {reason}\n" in ran.err
    found = ran.json["inputs"]["baseline"]
    assert found["paths"] == [str(sides.folder / "b")]
    hidden = {"path": str(sides.folder / "b/.hidden/trace.jsonl"), "reason": "in a hidden folder"}
    assert found["unread"] == [{"path": str(garbage), "reason": reason}]
    assert (found["left_out"], found["left_out_files"]) == (1, [hidden])
    lines = {each["path"]: each["rejected_lines"] for each in found["files"]}
    assert lines == {
        str(trace): [1, 2],
        str(garbage): [1],
        str(sides.folder / "b/b-2/trace.jsonl"): [],
    }
    assert ran.json["inputs"]["candidate"]["unread"] == []
    for output_format in {*FORMATS} - {"json"}:
        said = " ".join(against(sides, sides.folder / "b", output_format=output_format).out.split())
        assert "readers reject 3 lines of the baseline, which are not counted" in said
        told = ("3 lines rejected", str(trace), "not read: ", str(garbage))
        assert [each for each in told if each not in said] == []


def test_out_never_takes_the_place_of_what_cannot_be_read(sides: Sides) -> None:
    path = write(sides.folder, "garbage.html", "garbage")
    given = ("--baseline", path, "--candidate", sides.folder / "c", "--out", path)
    assert run("compare", *given).code == 2
    assert path.read_text("utf-8") == "garbage"


def test_from_nothing_to_an_answer_that_has_nothing_to_allow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "drive-trace.toml", "")
    write(tmp_path, "labels.csv", labels(12))
    write(tmp_path, "acceptance.md", "- **AC-1** Retries are bounded.\n")
    write(tmp_path, "run.diff", "diff --git a/a.ts b/a.ts\n+++ b/a.ts\n+retry(3)\n")
    assert run("calibrate", "labels.csv", "--model", "gpt-x").code == 0
    sides = Sides(tmp_path)
    for side, bundle in (("b", "v1"), ("c", "v2")):
        trace = sides.write(
            side,
            (None, None, None),
            {"case": "retry", "base_commit": "4c0ffee", "model": "sonnet", "bundle": bundle},
            events=triage(ts="2026-05-28T13:00:01.123Z") * 3,
        )
        graded_run = ("--trace-file", trace, "--project-run-id", trace.parent.name)
        for component in ("mechanical", "qa"):
            ran = run("gate", *graded_run, "--component", component, "--run", "true")
            assert ran.code == 0
        shown = ("--acceptance", "acceptance.md", "--diff", "run.diff", "--model", "gpt-x")
        replying = ("--model-command", f"cat > prompt; printf %s {shlex.quote(PASS)}")
        ran = run("judge", *graded_run, *shown, *replying, "--orchestrator-family", "claude")
        assert ran.code == 0
    found = run("compare", "--baseline", "b", "--candidate", "c", "--output-format", "json")
    assert (found.code, found.json["answer"]) == (0, "cannot-tell")
    states = {each["fact"]: each["state"] for each in found.json["known"]}
    assert states.pop("bundle") == "varies"
    assert set(states.values()) == {"same"}


def written_otherwise(traces: list[Path], old: str, new: str) -> None:
    for each in traces:
        text = each.read_text("utf-8")
        assert old in text
        each.write_text(text.replace(old, new), "utf-8")


DAMAGE = {
    "no other line": ("", '"fail"', '"failed"'),
    "other events": (triage(), '"fail"', '"failed"'),
    "a lookalike": (triage(), "correctness-recorded", "correctness_recorded"),
    "every line": (triage(), '"schema_version":"1"', '"schema_version":"2"'),
    "an earlier pass": (graded("pass", "pass", "pass"), '"fail"', '"failed"'),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_candidate_gains_nothing_by_grades_that_readers_reject(
    tmp_path: Path, damage: str
) -> None:
    before, old, new = DAMAGE[damage]
    made = Sides(tmp_path)
    made.add("b", *[CORRECT] * 20, *[INCORRECT] * 20)
    made.add("c", *[CORRECT] * 10)
    bad = [made.write("c", INCORRECT, {}, events=before) for _ in range(30)]
    assert made.allowed()["answer"] == "worse"
    written_otherwise(bad, old, new)
    found = made.allowed("--fail-on", "worse")
    gate = found["gate"]["candidate"]
    assert (found["answer"], gate["k"], gate["rejected"]) == ("worse", 40, 30)
    assert found["reasons"][1].startswith("30 runs of the candidate count as not CORRECT")
    assert made.compare("--allow-unverified", "--fail-on", "worse").code == 1


def test_a_baseline_loses_nothing_by_grades_that_readers_reject(tmp_path: Path) -> None:
    made = Sides(tmp_path)
    good = made.add("b", *[CORRECT] * 20, *[INCORRECT] * 20)[:20]
    made.add("c", *[CORRECT] * 10, *[INCORRECT] * 30)
    fails = ("--allow-unverified", "--fail-on", "worse")
    assert made.compare(*fails).code == 1
    written_otherwise(good, '"pass"', '"passed"')
    ran = made.compare(*fails)
    assert ran.code == 1
    assert made.allowed()["answer"] == "cannot-tell"
    assert ran.err == "drive-trace: --fail-on: nobody can tell while 20 lines cannot be counted\n"
    assert made.compare("--allow-unverified").code == 0


# The other files of the runs, which nobody named


@pytest.fixture
def searched(sides: Sides, monkeypatch: pytest.MonkeyPatch) -> Sides:
    """The same in the current folder, in which other files of the runs are looked for."""
    monkeypatch.chdir(sides.folder)
    write(sides.folder, "drive-trace.toml", "")
    return sides


def named(*options: str) -> Ran:
    """The first run of each side, by its file."""
    given = ("--baseline", "b/b-1/trace.jsonl", "--candidate", "c/c-3/trace.jsonl")
    return run("compare", "--allow-unverified", "--format", "json", *given, *options)


FAILED_LATER = graded("pass", "pass", "fail", run="c-3", ts="2026-06-01T00:00:00.000Z")


def test_a_run_that_is_named_is_judged_over_all_its_files(searched: Sides) -> None:
    assert named().json["gate"]["candidate"]["correct"] == 1
    write(searched.folder, "later/trace.jsonl", FAILED_LATER + triage(run="another"))
    ran = named()
    assert (ran.json["gate"]["candidate"]["k"], ran.json["gate"]["candidate"]["incorrect"]) == (
        1,
        1,
    )
    assert ran.err == "drive-trace: read, too, for the same runs: later/trace.jsonl\n"
    paths = [each["path"] for each in ran.json["inputs"]["candidate"]["files"]]
    assert paths == ["c/c-3/trace.jsonl", "later/trace.jsonl"]
    assert named("--exclude", "later").json["gate"]["candidate"]["correct"] == 1
    api = drive_trace.compare("b/b-1/trace.jsonl", "c/c-3/trace.jsonl", allow_unverified=["all"])
    assert api.gate.candidate.incorrect == 1


def test_a_run_done_again_under_its_id_is_no_other_file_of_it(searched: Sides) -> None:
    """What one side has is of that side alone."""
    candidate = searched.folder / "c/c-3/trace.jsonl"
    candidate.write_text(candidate.read_text().replace("c-3", "b-1"))
    ran = named()
    assert (ran.code, ran.err) == (0, "")
    files = {
        side: [each["path"] for each in read["files"]] for side, read in ran.json["inputs"].items()
    }
    assert files == {"baseline": ["b/b-1/trace.jsonl"], "candidate": ["c/c-3/trace.jsonl"]}
    write(searched.folder, "later/trace.jsonl", FAILED_LATER.replace("c-3", "b-1"))
    ran = named()
    said = "later/trace.jsonl: holds a run that both sides have: name it on one of them"
    assert (ran.code, ran.err.count(said)) == (2, 1)
    assert ran.json["answer"] == "not-comparable"
    assert named("--exclude", "later").code == 0
    assert named("--candidate", "later/trace.jsonl").json["gate"]["candidate"]["incorrect"] == 1


def test_what_may_hold_a_run_and_cannot_be_read_makes_sides_not_comparable(searched: Sides) -> None:
    write(searched.folder, "later/trace.jsonl", "garbage\n")
    ran = named()
    assert (ran.code, ran.json["answer"]) == (2, "not-comparable")
    assert ran.err == "drive-trace: later/trace.jsonl: no line of it names a run\n"
    write(searched.folder, "later/trace.jsonl", triage(run="another"))
    assert (named().code, named().err) == (0, "")
