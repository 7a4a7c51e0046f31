"""A run whose lines stand in several files is one run, for ``check`` as for ``score``."""

import json
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from drive_trace import score as api_score
from drive_trace.analysis import Analysis, join_all
from drive_trace.commands import reading
from drive_trace.linter.rule import SameId, SharedEvents, WholeTrace
from drive_trace.linter.rules import RULES
from drive_trace.scorecard.scoring import ScoredTrace
from drive_trace.storage.other_files import run_ids_in
from drive_trace.vocabulary import EVENTS
from tests.cli.support import run, write
from tests.support.drawing import examples
from tests.support.fixtures import event_id
from tests.support.models import FAMILIES, chance_line, event_lines
from tests.support.mutating import SPELLINGS, TOKENS, changed

DISPATCH = {"dispatch_id": "d1", "parent_dispatch_id": None}


def at(minute: int, event_type: str, **payload: object) -> str:
    """An event of that minute, with an id of its own."""
    envelope = {
        "event_id": event_id(minute + 1),
        "ts": f"2026-05-28T14:{minute:02}:00.000Z",
        "project_run_id": "run-1",
    }
    values = EVENTS[event_type].example | envelope | payload
    return json.dumps(values, ensure_ascii=False, separators=(",", ":")) + "\n"


def graded_at(minute: int, mechanical: str, qa: str, intent: str) -> str:
    return at(minute, "correctness-recorded", mechanical=mechanical, qa=qa, intent=intent)


def checked(*args: Path) -> list[tuple[str, int, str]]:
    found = run("check", "--output-format", "json", *args).json
    return [(Path(each["path"]).name, each["line"], each["code"]) for each in found]


# A run in two files


def test_a_dispatch_started_in_one_file_and_ended_in_another_is_whole(tmp_path: Path) -> None:
    briefed = {"brief_content_hash": "a" * 64, "brief_disposition": "initial"}
    write(
        tmp_path,
        "wip/drive-trace/a.jsonl",
        at(0, "slice-started", slice_slug="s")
        + at(1, "dispatch-start", dispatch_id="d1", parent_dispatch_id=None)
        + at(2, "brief-issued", dispatch_id="d1", **briefed)
        + at(3, "spec-authored", spec_path="spec.md", byte_length=10)
        + at(7, "slice-completed", slice_slug="t", pr_ref="#1", result="merged"),
    )
    write(
        tmp_path,
        "wip/drive-trace/b.jsonl",
        at(4, "dispatch-end", dispatch_id="d1", wall_clock_ms=180_000)
        + at(5, "spec-amended", spec_path="spec.md", byte_length=12, bytes_delta=2)
        + at(6, "slice-completed", slice_slug="s", pr_ref="#1", result="merged")
        + at(8, "project-closed", slices_completed=2),
    )
    missed = "unknown-dispatch slice-never-started amended-before-authored"
    across = {*missed.split(), "dispatch-without-brief", "slices-completed-mismatch"}
    alone = {code for _, _, code in checked(tmp_path / "wip/drive-trace/b.jsonl")}
    # By itself, the second file begins midway, which is told once.
    assert alone & across == {"unknown-dispatch"}
    both = {code for _, _, code in checked(tmp_path)} - {"slice-never-started"}
    assert not both & across, "of t alone nobody knows a start"


def test_work_in_one_file_makes_a_grade_in_another_stale(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", graded_at(1, "pass", "pass", "pass"))
    work = at(2, "dispatch-start", **DISPATCH)
    write(tmp_path, "b/trace.jsonl", work)
    (found,) = [
        each
        for each in run("check", "--output-format", "json", tmp_path).json
        if each["code"] == "stale-verdict"
    ]
    assert (Path(found["path"]).parent.name, found["line"]) == ("a", 1)
    where = tmp_path / "b/trace.jsonl"
    assert f"up to line 1 of {where}: grade it again" in found["message"]
    (scored,) = run("score", "--format", "json", tmp_path).json["runs"]
    assert [each["code"] for each in scored["caveats"]] == ["stale"]


def test_what_happens_at_one_moment_in_two_files_is_in_no_wrong_order(tmp_path: Path) -> None:
    ended = at(2, "dispatch-end", **DISPATCH) + at(2, "project-closed")
    started = at(0, "dispatch-start", **DISPATCH)
    write(tmp_path, "a/trace.jsonl", started + ended)
    in_it = at(2, "round-start", dispatch_id="d1") + at(2, "round-end", dispatch_id="d1")
    write(tmp_path, "b/trace.jsonl", in_it)
    assert not {"event-after-end", "work-after-close"} & {code for _, _, code in checked(tmp_path)}


@pytest.mark.parametrize("is_first", [True, False])
def test_a_run_may_stand_in_standard_input_and_in_a_file(tmp_path: Path, is_first: bool) -> None:
    work = write(tmp_path, "trace.jsonl", at(2, "dispatch-start", **DISPATCH))
    paths = ("-", work) if is_first else (work, "-")
    graded = graded_at(1, "pass", "pass", "pass")
    (scored,) = run("score", "--format", "json", *paths, stdin=graded).json["runs"]
    assert {each["path"] for each in scored["files"]} == {"-", str(work)}
    assert [each["code"] for each in scored["caveats"]] == ["stale"]


def test_a_file_that_is_gone_when_runs_are_joined_is_an_unread_input(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grade = write(tmp_path, "a/trace.jsonl", graded_at(2, "pass", "pass", "pass"))
    write(tmp_path, "b/trace.jsonl", at(1, "dispatch-start", **DISPATCH))
    read = reading.disk.with_judgements

    def then_gone(*args: Any) -> Any:
        grade.unlink(missing_ok=True)
        return read(*args)

    monkeypatch.setattr(reading.disk, "with_judgements", then_gone)
    ran = run("score", "--require-correct", tmp_path)
    assert ran.code == 1
    assert "changed while runs were joined" in " ".join(ran.out.split())


def test_a_later_grade_in_another_file_is_no_conflict(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", graded_at(1, "pass", "fail", "pass"))
    write(tmp_path, "b/trace.jsonl", graded_at(2, "pass", "pass", "pass"))
    assert [code for _, _, code in checked(tmp_path)] == ["superseded-feed"]


def test_one_file_of_a_run_is_checked_with_the_others(tmp_path: Path) -> None:
    """As before a commit: the others are found around it, and only looked at."""
    write(tmp_path, "drive-trace.toml", "")
    write(tmp_path, "wip/drive-trace/a.jsonl", at(1, "dispatch-start", **DISPATCH) + "{\n")
    ended = at(2, "dispatch-end", dispatch_id="d1")
    named = write(tmp_path, "wip/drive-trace/b.jsonl", ended)
    write(tmp_path, "other/trace.jsonl", ended.replace("run-1", "run-2"))
    assert not {code for _, _, code in checked(named)} & {"unknown-dispatch", "invalid-json"}
    (tmp_path / "wip/drive-trace/a.jsonl").unlink()
    assert ("b.jsonl", 1, "unknown-dispatch") in checked(named)
    (tmp_path / "wip/drive-trace/a.jsonl").symlink_to("/etc/passwd")
    ran = run("check", named)
    assert "a.jsonl (not read: link out of the repository" in " ".join(ran.out.split())


def test_a_copied_event_of_another_run_hides_nothing(tmp_path: Path) -> None:
    """Nor does one that differs in what it names."""
    write(
        tmp_path,
        "a.jsonl",
        at(1, "dispatch-start", **DISPATCH) + at(2, "dispatch-end", dispatch_id="d1"),
    )
    other = at(2, "dispatch-end", dispatch_id="d9") + at(5, "project-closed")
    b = write(tmp_path, "b.jsonl", other)
    found = [each for each in checked(tmp_path / "a.jsonl", b) if each[0] == "b.jsonl"]
    assert ("b.jsonl", 1, "unknown-dispatch") in found


def test_a_copy_has_the_findings_of_its_lines_and_no_more(tmp_path: Path) -> None:
    text = at(1, "dispatch-end", dispatch_id="d1") + at(2, "dispatch-end", dispatch_id="d1")
    write(tmp_path, "a/trace.jsonl", text)
    write(tmp_path, "b/trace.jsonl", text)
    found = run("check", "--output-format", "json", tmp_path).json
    by_file = {
        name: {each["code"] for each in found if Path(each["path"]).parent.name == name}
        for name in "ab"
    }
    assert by_file["a"] >= {"unknown-dispatch"}
    assert by_file["b"] == by_file["a"] | {"copied-events"}


# Some of the files of a run


@pytest.fixture
def in_two(here: Path) -> Path:
    """The folder of a run in a/ and b/, with another run in b/, as the current one."""
    write(here, "drive-trace.toml", "")
    ended = at(4, "dispatch-end", dispatch_id="d1") + at(5, "project-closed")
    grade = graded_at(3, "pass", "pass", "pass")
    write(here, "a/trace.jsonl", at(1, "dispatch-start", **DISPATCH) + grade)
    write(here, "b/trace.jsonl", at(1, "dispatch-start", **DISPATCH) + ended)
    write(here, "b/c/trace.jsonl", at(6, "project-closed").replace("run-1", "run-2") + ended)
    return here


@pytest.mark.parametrize("path", ["a/trace.jsonl", "a", "b/trace.jsonl", "."])
def test_the_score_of_a_file_is_that_of_its_folder(in_two: Path, path: str) -> None:
    score = run("score", "--format", "json", path)
    everywhere = {
        each["run_id"]: each for each in run("score", "--format", "json", ".").json["runs"]
    }
    ids = ["run-1", "run-2"] if path == "." else ["run-1"]
    assert score.json["runs"] == [everywhere[each] for each in ids]
    others = {"a/trace.jsonl", "b/trace.jsonl", "b/c/trace.jsonl"} - {path, f"{path}/trace.jsonl"}
    said = f"drive-trace: read, too, for the same runs: {', '.join(sorted(others, key=len))}\n"
    assert score.err == ("" if path == "." else said)
    assert [each.run_id for each in api_score(path).runs] == ids


@pytest.mark.parametrize("path", ["a/trace.jsonl", "a", "b/trace.jsonl"])
@pytest.mark.parametrize("output_format", ["json", "markdown", "html"])
def test_the_report_on_a_file_is_on_its_runs_in_all_files(
    in_two: Path, path: str, output_format: str
) -> None:
    other = in_two / "b/c/trace.jsonl"
    of_another, *own = other.read_text().splitlines(keepends=True)
    rejected = of_another.replace('"dod_status":', '"dod_status_now":')
    other.write_text("".join([of_another, *own, rejected]))
    report = run("report", "--format", output_format, path)
    score = run("score", "--format", "json", path)
    assert report.err == score.err != ""
    assert [each for each in ("run-2", "dod_status_now", "not checked") if each in report.out] == []
    if output_format == "json":
        assert report.json["scorecard"] == score.json
        other.write_text("".join(["\n", *own]))
        alone = run("report", "--format", "json", ".").json
        same = ("metrics", "assertions", "lines", "warning")
        assert [report.json[key] for key in same] == [alone[key] for key in same]


@pytest.mark.parametrize("path", ["a/trace.jsonl", "a", "b", "b/trace.jsonl"])
def test_a_folder_is_checked_as_its_files_are_among_all(in_two: Path, path: str) -> None:
    def found(at: str) -> list[tuple[str, int, str]]:
        there = run("check", "--output-format", "json", at).json
        return [
            (each["path"], each["line"], each["code"])
            for each in there
            if each["path"].startswith(path)
        ]

    assert found(path)
    assert found(path) == found(".")


def test_other_files_are_called_as_from_the_current_folder(
    in_two: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(in_two / "a")
    out = run("check", "trace.jsonl", "--output-format", "concise").out
    assert "up to line 2 of ../b/c/trace.jsonl" in out


def test_fixes_are_counted_once_files_are_joined(tmp_path: Path) -> None:
    write(tmp_path, "drive-trace.toml", "")
    near = {"dispatch_id": "dispatch-one", "parent_dispatch_id": None}
    ended = at(3, "dispatch-end", dispatch_id="dispatch-onn", wall_clock_ms=120_000)
    named = write(tmp_path, "a/trace.jsonl", at(2, "dispatch-start", **near) + ended)
    assert "more can be fixed in an editor" in run("check", "--fix", named).out
    started = at(1, "dispatch-start", **near | {"dispatch_id": "dispatch-onn"})
    write(tmp_path, "b/trace.jsonl", started)
    assert run("check", "--fix", named).out.endswith("0 findings were fixed\n")


def test_what_is_too_much_beside_a_file_is_named(in_two: Path) -> None:
    write(in_two, "b/d/trace.jsonl", at(5, "project-closed") * 20_000)
    said = "not looked at, and may hold lines of the same runs: b/d/trace.jsonl (too much beside"
    assert said in run("check", "a/trace.jsonl").out
    assert said not in run("check", ".").out


@pytest.mark.parametrize("output_format", ["table", "text", "markdown"])
def test_few_of_many_files_are_listed(tmp_path: Path, output_format: str) -> None:
    for number in range(12):
        write(tmp_path, f"{number:02}/trace.jsonl", at(number, "project-closed"))
    out = run("score", "--format", output_format, tmp_path).out
    assert (out.count("trace.jsonl"), "and 2 more" in out) == (10, True)


# The ids of the runs in a file

R = at(1, "project-closed", project_run_id="r").rstrip("\n")
R_KEY = '"project_run_id":"r"'
IN_A_NOTE = R.replace(R_KEY, f'"note":{{"project_run_id":"x"}},{R_KEY}')
HIDDEN = {
    "in another field": IN_A_NOTE,
    "below the same first one": IN_A_NOTE.replace('"r"', '"q"') + "\n" + IN_A_NOTE,
    "behind a value": R.replace(R_KEY, f'"dispatch_name":"project_run_id",{R_KEY}'),
    "behind the same key": R.replace(R_KEY, f'"project_run_id":"x",{R_KEY}'),
    "in a value": R.replace(R_KEY, f'"\\"project_run_id":"x",{R_KEY}'),
    "in an escaped key": R.replace(R_KEY, '"project\\u005frun_id":"r"'),
    "behind a plain key": R.replace(R_KEY, '"project_run_id":"x","project_run_\\u0069d":"r"'),
    "in a key of an unreadable line": R.replace(R_KEY, R_KEY.replace("_", "\\u005F"))[:-1],
    "with white space": R.replace(R_KEY, '"project_run_id"\t :\r "r"'),
}


@pytest.mark.parametrize("text", HIDDEN.values(), ids=list(HIDDEN))
def test_no_valid_line_hides_its_run_from_the_others(text: str, tmp_path: Path) -> None:
    assert "r" in run_ids_in([*text.split("\n"), ""])
    write(tmp_path, "drive-trace.toml", "")
    grade = graded_at(0, "pass", "pass", "pass").replace("run-1", "r")
    write(tmp_path, "a/trace.jsonl", grade)
    write(tmp_path, "b/trace.jsonl", f"{text}\n")
    (scored,) = run("score", "--format", "json", tmp_path / "a").json["runs"]
    assert len(scored["files"]) == 2


@st.composite
def spelled_lines(draw: st.DrawFn) -> str:
    """A line of any spelling, with more keys and values that name runs, and perhaps a mistake."""
    event = dict(draw(st.sampled_from(list(EVENTS.values()))).example)
    event["project_run_id"] = draw(st.sampled_from(["r", "s", "é", 'a"b', "\n"]))
    event = draw(changed(st.just(event), most=2))
    text = draw(SPELLINGS).of(event)
    more = [
        '"project_run_id":"x",',
        '"note":{"project_run_id":"x"},',
        '"note":"project_run_id",',
        '"project_run\\u005Fid":"y",',
        '"project_run_id":1,',
        '"\\"project_run_id":"x",',
        '"a":"\\",',
        '"a":"project_run_id":"b,',
        '"project_run_id":"\\x",',
    ]
    for _ in range(draw(st.integers(0, 2))):
        places = [place.end() for place in re.finditer(r"[{,]", text)] or [0]
        place = draw(st.sampled_from(places))
        text = text[:place] + draw(st.sampled_from(more)) + text[place:]
    if draw(st.integers(0, 3)) == 0:
        place = draw(st.integers(0, len(text)))
        rest = text[place + draw(st.integers(0, 9)) :]
        text = text[:place] + draw(TOKENS | st.just("")) + rest
    return text.replace("\n", " ")


@given(st.lists(spelled_lines() | event_lines(), max_size=5))
@settings(max_examples=examples(300), suppress_health_check=list(HealthCheck))
def test_the_runs_in_the_score_of_a_file_are_among_those_that_it_is_joined_by(
    records: list[str],
) -> None:
    doubled = [*records, *records]
    scored = {each.run_id for each in ScoredTrace(doubled).summary().runs}
    assert scored <= run_ids_in(doubled)


# A run in any layout

LAYOUTS = 500
OF_A_FILE = {
    code for code, rule in RULES.items() if rule.looks_at in (SameId, WholeTrace, SharedEvents)
}
LINE_OF = re.compile(r"(line )\d+( of [^ :;,]+)?")


def random_run(chance: Random, run_id: str) -> list[str]:
    """Lines of one run; each is later than the one above it."""
    lines = []
    for minute in range(chance.randrange(3, 30)):
        values = json.loads(chance_line(chance, chance.choice(FAMILIES)))
        moment = f"2026-05-28T{10 + minute // 60}:{minute % 60:02}:00.000Z"
        values |= {"ts": moment, "project_run_id": run_id}
        values["event_id"] = f"{minute:08}-8f0d-4c1b-9a3e-{run_id[-4:]:0>12}"
        lines.append(json.dumps(values, ensure_ascii=False, separators=(",", ":")))
    return lines


def layouts(folder: Path) -> None:
    """Each run whole, and over one to five files."""
    chance = Random(20260528)
    for number in range(LAYOUTS):
        lines = random_run(chance, f"run-{number:04}")
        write(folder, f"whole/{number:04}/trace.jsonl", "".join(f"{each}\n" for each in lines))
        count = chance.randrange(1, 6)
        files: dict[int, str] = {}
        for line in lines:
            file = chance.randrange(count)
            files[file] = f"{files.get(file, '')}{line}\n"
        for file, text in files.items():
            write(folder, f"spread/{number:04}/{file}/trace.jsonl", text)


def found_in(folder: Path) -> Counter[tuple[object, ...]]:
    """What is found in all traces, told or not: the text of the line, what it is, and where on it,
    wherever that line is.
    """
    paths = sorted(folder.rglob("trace.jsonl"))
    analyses = [Analysis(each.read_text("utf-8"), path=str(each)) for each in paths]
    join_all([*map(str, paths)], analyses)
    return Counter(
        (
            each.line.text,
            each.rule.code,
            LINE_OF.sub(r"\1N", analysis.message(each.message)),
            analysis.where(each).span,
        )
        for analysis in analyses
        for each in analysis.findings()
        if each.rule.code not in OF_A_FILE
    )


def scores_of(folder: Path) -> dict[str, Any]:
    """By run what its score says, but for where the lines are and what is said of files."""
    same = ("verdict", "missing_inputs", "correctness", "tokens", "efficiency")
    return {
        each["run_id"]: {key: each[key] for key in same}
        | {
            "caveats": {  # each once, though it is told file by file
                caveat["code"]: any(
                    other["qualifies"]
                    for other in each["caveats"]
                    if other["code"] == caveat["code"]
                )
                for caveat in each["caveats"]
                if caveat["code"] != "contradicting-grades"  # one that the latest grade replaces
            }
        }
        for each in run("score", "--format", "json", folder).json["runs"]
    }


def test_check_and_score_say_the_same_in_every_layout(tmp_path: Path) -> None:
    layouts(tmp_path)
    assert found_in(tmp_path / "spread") == found_in(tmp_path / "whole")
    assert scores_of(tmp_path / "spread") == scores_of(tmp_path / "whole")
