"""`record` and `tokens`, from outside: what counts so far is kept, what is named is changed."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from drive_trace.storage import appending, files
from tests.cli.support import Ran, run, write
from tests.support.client_text import apart, event, graded, tokens, triage
from tests.support.systems import not_on_windows

GRADES = ("mechanical", "qa", "intent")
AGENT = ("orchestrator_agent_id",)
COUNTS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")

ALONE = "pass --only-this-file if it is the only one"


def record(trace: Path, *arguments: str | Path, run_id: str = "run-1") -> Ran:
    return run("record", "--trace-file", trace, "--project-run-id", run_id, *arguments)


def add_tokens(trace: Path, *arguments: str | Path, stdin: str = "") -> Ran:
    target = ("--trace-file", trace, "--project-run-id", "run-1")
    return run("tokens", *target, *arguments, stdin=stdin)


def started(ts: str) -> str:
    """Work of the run."""
    called = {"dispatch_name": "implementer", "subagent_type": "generalPurpose"}
    ids = {"dispatch_id": "77ce3f13-a067-4f13-a4e0-93dbae3137ae", "parent_dispatch_id": None}
    return event("dispatch-start", ts=ts, model=None, **called, **ids)


def last(trace: Path, names: tuple[str, ...]) -> list[Any]:
    """The components of the last event."""
    text = trace.read_text()
    assert text.endswith("\n")
    event = json.loads(text.splitlines()[-1])
    return [event[name] for name in names]


def verdict(trace: Path) -> Any:
    return run("score", "--format", "json", trace).json["runs"][0]["verdict"]


def refused(trace: Path, ran: Ran, before: str) -> str:
    assert (ran.code, ran.out) == (1, "")
    assert trace.read_text() == before
    assert ran.err.endswith(f"drive-trace: nothing was written to {trace}\n") or "--new" in ran.err
    return ran.err


# Grades


def test_components_are_added_one_by_one(trace: Path) -> None:
    ran = record(trace, "--qa", "pass")
    assert ran == (
        0,
        "run-1: not computable — missing: mechanical, intent\n"
        "  recorded: qa pass (line 2)\n"
        "  not recorded: mechanical, intent\n",
        "",
    )
    assert record(trace, "--intent", "fail").code == 0
    assert last(trace, GRADES) == [None, "pass", "fail"]
    ran = record(trace, "--mechanical", "pass")
    assert ran.out == (
        "run-1: INCORRECT — intent failed\n"
        "  recorded: mechanical pass (line 4)\n"
        "  kept: qa pass, intent fail (line 3)\n"
    )
    ran = record(trace, "--intent", "pass")
    assert ran.out == (
        "run-1: CORRECT\n"
        "  recorded: intent pass (was fail) (line 5)\n"
        "  kept: mechanical pass, qa pass (line 4)\n"
    )
    assert last(trace, GRADES) == ["pass", "pass", "pass"]
    assert verdict(trace) == "correct"
    # The same again is a new grade: work may have gone on since.
    assert record(trace, "--intent", "pass").code == 0
    assert len(trace.read_text().splitlines()) == 6
    assert "erased-verdict" not in run("check", trace).out


def test_only_the_runs_own_grades_are_merged(trace: Path) -> None:
    with trace.open("a") as file:
        file.write(graded("pass", "pass", None))
        file.write(graded("fail", "fail", "fail", project_run_id="run-2"))
        file.write(triage())
    assert record(trace, "--intent", "pass").code == 0
    assert last(trace, GRADES) == ["pass", "pass", "pass"]


def test_the_runs_agent_is_named_where_it_has_one(trace: Path) -> None:
    assert record(trace, "--qa", "pass").code == 0
    assert last(trace, AGENT) == [None]
    with trace.open("a") as file:
        file.write(triage(orchestrator_agent_id="agent 7"))
        file.write(triage(run="run-2", orchestrator_agent_id="agent 8"))
    assert record(trace, "--qa", "fail").code == 0
    assert last(trace, AGENT) == ["agent 7"]
    assert add_tokens(trace, "--input-tokens", "5").code == 0
    assert last(trace, AGENT) == ["agent 7"]
    with trace.open("a") as file:
        file.write(triage(orchestrator_agent_id="agent 9"))
    assert record(trace, "--qa", "pass").code == 0
    assert last(trace, AGENT) == [None]


def test_an_unknown_run_is_refused_but_for_new_run(trace: Path) -> None:
    before = trace.read_text()
    said = refused(trace, record(trace, "--qa", "pass", run_id="run1"), before)
    assert 'no valid event of the run "run1" — did you mean "run-1"?' in said
    assert "--new-run takes it all the same" in said
    assert record(trace, "--qa", "pass", "--new-run", run_id="run1").code == 0
    assert last(trace, GRADES) == [None, "pass", None]


def test_a_trace_that_is_not_there(tmp_path: Path) -> None:
    trace = tmp_path / "projects" / "trace.jsonl"
    assert record(trace, "--qa", "pass") == (
        2,
        "",
        f"drive-trace: {trace}: no such file or folder\n",
    )
    assert not trace.parent.exists()
    assert record(trace, "--qa", "pass", "--new-run").code == 0
    assert last(trace, GRADES) == [None, "pass", None]


REJECTED = [
    graded("pass", "failed", None),
    graded("pass", "fail", "pass")[:-9],
    graded("pass", "fail", "pass", project_run_id=7),
    graded("pass", "fail", "pass").replace("}", ",}"),
]


@pytest.mark.parametrize("rejected", REJECTED)
def test_a_later_grade_that_was_rejected_is_not_passed_over(trace: Path, rejected: str) -> None:
    before = graded("pass", "pass", None) + rejected
    trace.write_text(before)
    said = refused(trace, record(trace, "--intent", "pass"), before)
    assert "1 correctness line rejected (line 2), not counted: only line 1 counts so far" in said
    assert "(mechanical, qa are not given)" in said
    # Whoever says everything anew leaves nothing out.
    ran = record(trace, "--intent", "pass", "--qa", "fail", "--mechanical", "pass")
    assert ran.code == 0
    assert "1 correctness line rejected (line 2), not counted\n" in ran.out
    assert last(trace, GRADES) == ["pass", "fail", "pass"]
    # From then on it is older than what counts.
    assert record(trace, "--qa", "pass").code == 0


def test_a_grade_before_or_of_another_run_may_be_rejected(trace: Path) -> None:
    with trace.open("a") as file:
        file.write(graded("pass", "failed", None) + graded("pass", "fail", None))
        # A run with an event of its own: else its id may be one that was bent.
        file.write(triage(project_run_id="run-2"))
        file.write(graded("pass", "failed", None, project_run_id="run-2"))
    assert record(trace, "--qa", "pass").code == 0
    assert last(trace, GRADES) == ["pass", "pass", None]


def test_a_first_grade_that_was_rejected(trace: Path) -> None:
    before = triage() + graded("pass", "failed", None)
    trace.write_text(before)
    assert "nothing counts so far" in refused(trace, record(trace, "--qa", "pass"), before)


@pytest.fixture
def slices(trace: Path, tmp_path: Path) -> Path:
    """Another file of the run, in the same repository, which has graded all of it."""
    write(tmp_path, ".git/HEAD", "")
    return write(tmp_path, "slices/a/trace.jsonl", graded("pass", "pass", "pass"))


def test_a_folder_that_is_only_called_git_is_no_repository(tmp_path: Path, slices: Path) -> None:
    trace = write(tmp_path, "shop/trace.jsonl")
    (trace.parent / ".git").mkdir()
    ran = record(trace, "--intent", "fail")
    assert f"kept: mechanical pass, qa pass (line 1 of {slices})" in ran.out


def test_a_grade_in_another_file_of_the_run_is_kept(trace: Path, slices: Path) -> None:
    ran = record(trace, "--intent", "fail")
    assert (ran.code, last(trace, GRADES)) == (0, ["pass", "pass", "fail"])
    assert ran.out.splitlines()[0] == "run-1: INCORRECT — intent failed"
    assert "intent fail (was pass)" in ran.out
    assert f"kept: mechanical pass, qa pass (line 1 of {slices})" in ran.out
    # What was recorded now is the latest.
    assert run("score", "--format", "json", trace.parent).json["runs"][0]["decided_by"] == {
        "path": str(trace),
        "line": len(trace.read_text().splitlines()),
    }


def test_a_whole_grade_does_not_erase_what_another_file_of_the_run_says(
    trace: Path, slices: Path
) -> None:
    def emitted(*options: str) -> Ran:
        grade = '{"mechanical":"pass","qa":null,"intent":"fail"}'
        target = ("--trace-file", trace, "--project-run-id", "run-1")
        return run("emit", *target, "--event", "correctness-recorded", "--payload", grade, *options)

    before = trace.read_text()
    for option in ((), ("--dry-run",)):
        ran = emitted(*option)
        assert (ran.code, ran.out, trace.read_text()) == (1, "", before)
        assert f'`qa` was "pass" on line 1 of {slices}; this null would erase it' in ran.err
    assert emitted("--only-this-file").code == 0
    # What cannot be read may have graded it, too.
    slices.unlink()
    slices.symlink_to(slices.name)
    before = trace.read_text()
    ran = emitted()
    assert (ran.code, trace.read_text()) == (2, before)
    assert f"{slices}: " in ran.err
    assert "--only-this-file" in ran.err


def test_only_this_file_counts_where_that_is_asked_for(trace: Path, slices: Path) -> None:
    ran = record(trace, "--intent", "fail", "--only-this-file")
    assert (ran.code, last(trace, GRADES)) == (0, [None, None, "fail"])
    assert "only this file was looked at" in ran.out
    assert record(trace, "--qa", "pass", "--only-this-file", slices).code == 2


def test_without_a_repository_the_files_are_those_of_the_configuration(
    trace: Path, tmp_path: Path
) -> None:
    write(tmp_path, "slices/a/trace.jsonl", graded("pass", "pass", "pass"))
    configuration = tmp_path / "drive-trace.toml"
    configuration.unlink()
    alone = record(trace, "--intent", "fail")
    assert (alone.code, last(trace, GRADES)) == (0, [None, None, "fail"])
    assert alone.err == (
        f"drive-trace: {trace}: only this file was looked at, as it stands in no repository and no "
        f"drive-trace.toml is above it; {ALONE}\n"
    )
    target = ("--trace-file", trace, "--project-run-id", "run-1")
    assert ALONE in run("gate", *target, "--component", "qa", "--run", "true").err
    assert record(trace, "--intent", "fail", "--only-this-file").err == ""
    trace.write_text(triage())
    configuration.touch()
    assert record(trace, "--intent", "fail").err == ""
    assert last(trace, GRADES) == ["pass", "pass", "fail"]


def test_a_copy_of_a_grade_that_was_replaced_is_not_merged(trace: Path, tmp_path: Path) -> None:
    first = graded("pass", "pass", "pass")
    trace.write_text(first + graded("pass", "fail", "pass", ts="2026-05-28T13:00:00.000Z"))
    write(tmp_path, "b/trace.jsonl", first)
    assert verdict(tmp_path) == "incorrect"
    before = trace.read_text()
    ran = record(trace, "--intent", "pass")
    assert "is a copy of one that another file of the run replaces" in refused(trace, ran, before)
    costs = (
        tokens(1, 1, 1, 1, ts="2026-05-28T15:00:00.000Z"),
        tokens(99, 1, 1, 1, ts="2026-05-28T13:00:00.000Z"),
    )
    trace.write_text(before + "".join(costs))
    (tmp_path / "b/trace.jsonl").write_text(first + costs[0])
    assert "is a copy of one" in add_tokens(trace, "--output-tokens", "7").err
    trace.write_text(before)
    assert record(trace, "--mechanical", "pass", "--qa", "fail", "--intent", "pass").code == 0
    assert verdict(tmp_path) == "incorrect"


def test_the_latest_grade_of_all_files_is_kept(trace: Path, tmp_path: Path) -> None:
    write(tmp_path, "b/trace.jsonl", graded("pass", None, None))
    write(tmp_path, "c/trace.jsonl", graded(None, None, "fail", project_run_id="run-2"))
    old = graded("fail", "fail", "fail", ts="2001-01-01T00:00:00.000Z")
    write(tmp_path, "d/trace.jsonl", old)
    assert record(trace, "--qa", "pass", tmp_path).code == 0
    assert last(trace, GRADES) == ["pass", "pass", None]


def test_of_two_grades_of_one_moment_neither_is_kept(trace: Path, tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", graded("fail", None, None))
    write(tmp_path, "b/trace.jsonl", graded("pass", None, None))
    before = trace.read_text()
    said = refused(trace, record(trace, "--qa", "pass", tmp_path), before)
    assert "a/trace.jsonl: line 1 may be later than what counts, and differs" in said
    assert "(mechanical, intent are not given)" in said
    everything = ("--mechanical", "fail", "--qa", "pass", "--intent", "pass")
    assert record(trace, *everything, tmp_path).code == 0


def test_nothing_is_recorded_that_would_not_count(trace: Path, slices: Path) -> None:
    """As where another file of the run has a grade, or a cost, of the future."""
    future = {"ts": "2999-01-01T00:00:00.000Z"}
    slices.write_text(graded("fail", "pass", "pass", **future) + tokens(1, 2, 3, 4, **future))
    before = trace.read_text()
    for ran, line, called in (
        (record(trace, "--mechanical", "pass"), 1, "grade"),
        (add_tokens(trace, "--input-tokens", "5"), 2, "cost"),
    ):
        assert refused(trace, ran, before).splitlines()[0] == (
            f'drive-trace: {slices}: line {line} has the ts "2999-01-01T00:00:00.000Z", which is '
            f"later than now: a {called} recorded now would not count; a clock was wrong, so "
            "correct that ts by hand"
        )
    # In one file the last one counts, whatever its ts.
    assert record(slices, "--mechanical", "pass").code == 0


@pytest.mark.parametrize("where", ["this file", "another file"])
def test_what_is_kept_of_a_stale_grade_is_told(
    trace: Path, slices: Path, tmp_path: Path, where: str
) -> None:
    graded_file = trace if where == "this file" else slices
    slices.write_text("")
    graded_file.write_text(graded("pass", "pass", "pass"))
    write(tmp_path, "later/trace.jsonl", apart(started(ts="2026-05-29T14:00:00.000Z") * 3))
    place = "line 1" if where == "this file" else f"line 1 of {slices}"
    if where == "another file":
        trace.write_text(triage())
    ran = record(trace, "--intent", "pass")
    assert ran.out.splitlines()[0] == "run-1: CORRECT"
    assert ran.err == (
        f"drive-trace: kept mechanical pass and qa pass ({place}), which was stale: 3 events after "
        "the grade; record them again if they were checked again\n"
    )
    # All three are from now.
    whole = ("--mechanical", "pass", "--qa", "pass", "--intent", "pass")
    assert record(trace, *whole).err == ""


def test_the_verdict_is_the_one_that_score_gives(trace: Path, slices: Path) -> None:
    """Work of the future stays later than what is recorded now."""
    slices.write_text(started(ts="2999-01-01T00:00:00.000Z"))
    whole = ("--mechanical", "pass", "--qa", "pass", "--intent", "pass")
    ran = record(trace, *whole)
    assert ran.out.splitlines()[0] == "run-1: CORRECT, but stale: 1 event after the grade"
    assert "CORRECT, but stale: 1 event after the grade" in run("score", trace.parent).out


def test_a_rejected_grade_of_no_run_without_a_ts_is_part_of_the_verdict(
    trace: Path, slices: Path
) -> None:
    """It may grade this run, in a file that does not name it otherwise."""
    rejected = graded("fail", "fail", "fail", project_run_id=7, ts=None)
    slices.write_text(triage(run="other") + rejected)
    whole = ("--mechanical", "pass", "--qa", "pass", "--intent", "pass")
    said = "CORRECT, but 1 correctness line rejected, which may be of this run"
    assert record(trace, *whole).out.splitlines()[0] == f"run-1: {said}"
    assert said in run("score", trace.parent).out


# Which files are looked at


def test_what_a_search_leaves_out_is_told_where_it_may_hold_the_run(
    trace: Path, slices: Path, tmp_path: Path
) -> None:
    slices.write_text("")
    write(tmp_path, ".other/trace.jsonl", triage(run="another"))
    assert record(trace, "--qa", "pass").err == ""
    hidden = write(tmp_path, ".worktrees/a/trace.jsonl")
    said = f"drive-trace: {hidden} (in a hidden folder): not looked at, and may hold the run, too\n"
    assert record(trace, "--qa", "pass").err == said
    assert add_tokens(trace, "--input-tokens", "5").err == said
    whole = '{"mechanical":"pass","qa":"pass","intent":null}'
    target = ("--trace-file", trace, "--project-run-id", "run-1", "--event", "correctness-recorded")
    assert run("emit", *target, "--payload", whole).err == said
    # What is named is looked at.
    assert record(trace, "--qa", "pass", hidden).err == ""


def test_a_link_to_a_folder_is_told(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    there = tmp_path_factory.mktemp("elsewhere")
    link = trace.parent / "slices"
    link.symlink_to(there)
    ran = record(trace, "--qa", "pass")
    out = f"{link}: not read: link out of the repository; exclude it to do without it"
    said = f"{out}; it may hold the run, too"
    assert ran.code == 2
    assert ran.err.startswith(f"drive-trace: {said} (--only-this-file does without it)\n")
    assert record(trace, "--qa", "pass", "--only-this-file").code == 0


@pytest.mark.parametrize("root", ["", ".."])
def test_a_repository_with_the_home_folder_in_it_is_not_searched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, root: str
) -> None:
    home = tmp_path / "people" / "me"
    monkeypatch.setenv("HOME", str(home))
    repository = (home / root).resolve()
    write(repository, ".git/HEAD", "")
    write(home, "other/trace.jsonl", graded("fail", "fail", "fail"))
    near = write(home, "shop/slices/trace.jsonl", graded("pass", "pass", None))
    trace = write(home, "shop/trace.jsonl")
    ran = record(trace, "--intent", "pass")
    assert ran.out.splitlines()[::2] == [
        "run-1: CORRECT",
        f"  kept: mechanical pass, qa pass (line 1 of {near})",
    ]
    only = f"looked at, as {repository} has the home folder in it\n"
    assert ran.err == f"drive-trace: {trace}: only its folder was {only}"
    at_home = write(home, "trace.jsonl")
    ran = record(at_home, "--intent", "pass")
    assert ran.err == f"drive-trace: {at_home}: only this file was {only}"
    # A repository further in is as any other.
    write(home, "shop/.git/HEAD", "")
    assert record(trace, "--intent", "pass").err == ""


def test_files_of_other_runs_are_read_once_and_not_locked(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = write(tmp_path, "a/trace.jsonl", triage(run="other", input_ref="a \\u0000 b"))
    opened: list[str] = []
    locked: list[tuple[int, int]] = []

    def note(path: str | Path, **how: bool) -> Any:
        opened.append(str(path))
        return open_regular(path, **how)

    def note_lock(handle: int, *_: object) -> None:
        locked.append((os.fstat(handle).st_dev, os.fstat(handle).st_ino))

    open_regular = files.open_regular
    monkeypatch.setattr(files, "open_regular", note)
    monkeypatch.setattr(appending, "lock", note_lock)
    assert record(trace, "--qa", "pass").code == 0
    assert opened.count(str(other)) == 1
    written = (trace, trace.with_name(f"{trace.name}.provenance.ndjson"))
    assert locked == [(each.stat().st_dev, each.stat().st_ino) for each in written]


@not_on_windows("made unreadable with a link to itself")
def test_a_file_of_the_run_that_cannot_be_read_has_nothing_recorded(
    trace: Path, slices: Path
) -> None:
    slices.unlink()
    slices.symlink_to(slices.name)
    before = trace.read_text()
    ran = record(trace, "--intent", "pass")
    assert (ran.code, ran.out, trace.read_text()) == (2, "", before)
    assert f"{slices}: " in ran.err
    assert "--only-this-file" in ran.err
    assert f"nothing was written to {trace}" in ran.err
    assert record(trace, "--intent", "pass", "--only-this-file").code == 0


def test_a_rejected_grade_after_the_deciding_one_in_any_file_is_not_passed_over(
    trace: Path, slices: Path
) -> None:
    slices.write_text(graded("pass", "pass", None) + graded("pass", "failed", None))
    ran = record(trace, "--intent", "pass")
    assert ran.code == 1
    assert f"{slices}: 1 correctness line rejected (line 2), not counted: only line 1" in ran.err
    assert record(trace, "--mechanical", "pass", "--qa", "fail", "--intent", "pass").code == 0
    # From then on it is older than what counts.
    assert record(trace, "--intent", "fail").code == 0
    assert last(trace, GRADES) == ["pass", "fail", "fail"]


def test_a_path_that_cannot_be_read_has_nothing_recorded(trace: Path, tmp_path: Path) -> None:
    before = trace.read_text()
    ran = record(trace, "--qa", "pass", tmp_path / "missing")
    assert (ran.code, ran.out) == (2, "")
    assert "missing: no such file or folder" in ran.err
    assert f"nothing was written to {trace}" in ran.err
    assert trace.read_text() == before


def test_a_grade_with_a_broken_byte_is_merged_as_readers_have_it(trace: Path) -> None:
    before = triage().encode() + graded("pass", None, None, by="\xe9").encode("latin-1")
    trace.write_bytes(before)
    ran = record(trace, "--qa", "pass")
    assert (ran.code, ran.err) == (0, "")
    assert "recorded: qa pass (line 3)" in ran.out
    assert "kept: mechanical pass (line 2)" in ran.out
    assert trace.read_bytes().startswith(before)


def test_a_run_whose_id_has_a_broken_byte_is_named_as_readers_have_it(trace: Path) -> None:
    trace.write_bytes(graded("pass", "pass", None, run="caf\xe9").encode("latin-1"))
    ran = run(
        *("record", "--trace-file", trace, "--project-run-id", "caf\ufffd", "--intent", "pass")
    )
    assert (ran.code, ran.out.splitlines()[0]) == (0, "caf\ufffd: CORRECT")


def test_nothing_is_recorded_in_utf16(trace: Path) -> None:
    before = triage().encode("utf-16")
    trace.write_bytes(before)
    for new in ([], ["--new-run"]):
        ran = record(trace, "--qa", "pass", "--only-this-file", *new)
        assert (ran.code, ran.out) == (2, "")
        assert f"{trace}: is UTF-16; save it as UTF-8\n" in ran.err
    assert trace.read_bytes() == before


def test_a_grade_whose_line_was_not_ended_counts(trace: Path) -> None:
    trace.write_text(graded("pass", "pass", None).rstrip("\n"))
    ran = record(trace, "--intent", "pass")
    assert ran.code == 0
    assert "line 1 was not ended by a newline, so one was put before the new event\n" in ran.err
    assert "recorded: intent pass (line 2)" in ran.out
    assert verdict(trace) == "correct"


@pytest.mark.parametrize(
    "said",
    [
        # There is no way to set a component back.
        *("record", "record --qa passed", "record --qa null", "record --qa=", "record --new-run"),
        "record --tests pass",
        *("tokens", "tokens --usage - --input-tokens 5", "tokens --input-tokens=-5"),
        "tokens --input-tokens many",
    ],
)
def test_what_cannot_be_meant_is_wrong_usage(trace: Path, said: str) -> None:
    ran = run(*said.split(), "--trace-file", trace, "--project-run-id", "run-1")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("Usage: ")
    assert trace.read_text() == triage()


# Tokens


def test_figures_replace_and_are_not_added_up(trace: Path) -> None:
    assert add_tokens(trace, "--input-tokens", "1000", "--output-tokens", "10").code == 0
    ran = add_tokens(trace, "--output-tokens", "20", "--cache-read-tokens", "0")
    assert ran == (
        0,
        "run-1: tokens recorded\n"
        "  recorded: output_tokens 20 (was 10), cache_read_tokens 0 (line 3)\n"
        "  kept: input_tokens 1,000 (line 2)\n"
        "  not recorded: cache_write_tokens\n",
        "",
    )
    assert last(trace, COUNTS) == [1000, 20, 0, None]


def test_figures_after_rejected_ones(trace: Path) -> None:
    before = tokens(1, 2, 3, 4) + tokens(1, 2, 3, -4)
    trace.write_text(before)
    said = refused(trace, add_tokens(trace, "--input-tokens", "5"), before)
    assert "1 token line rejected (line 2)" in said


def test_figures_of_other_files_are_kept(trace: Path, tmp_path: Path) -> None:
    other = write(tmp_path, "a/trace.jsonl", tokens(1, 2, 3, None))
    ran = add_tokens(trace, "--input-tokens", "5", other)
    assert ran.code == 0
    assert f"kept: output_tokens 2, cache_read_tokens 3 (line 1 of {other})" in ran.out


def test_figures_that_another_file_has_are_not_appended_again(trace: Path, tmp_path: Path) -> None:
    other = write(tmp_path, "a/trace.jsonl", tokens(1, 2, 3, None))
    before = trace.read_text()
    ran = add_tokens(trace, "--input-tokens", "1", "--output-tokens", "2", other)
    assert (ran.code, trace.read_text()) == (0, before)
    note = f"the same figures count already (line 1 of {other}): nothing is appended"
    assert ran.err == f"drive-trace: {trace}: {note}\n"
    assert "the same tokens count already" in ran.out
    assert f"recorded: input_tokens 1, output_tokens 2 (line 1 of {other})" in ran.out
    assert add_tokens(trace, "--input-tokens", "4", other).code == 0
    assert trace.read_text() != before


def test_a_usage_log_is_not_read_without_end(trace: Path, tmp_path: Path) -> None:
    usage = tmp_path / "usage.jsonl"
    with usage.open("wb") as file:
        file.truncate((256 << 20) + 1)
    ran = add_tokens(trace, "--usage", str(usage))
    assert (ran.code, ran.out) == (2, "")
    assert ran.err == f"drive-trace: {usage}: line 1 has more than 256 MB\n"
    assert trace.read_text() == triage()
