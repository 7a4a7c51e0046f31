"""The command line, from outside: what looks like a trace and is not read, and what is no trace."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

import drive_trace
from tests.cli.support import REJECTED, Ran, commit, git, run, write
from tests.support.client_text import graded

GOOD = graded("pass", "pass", "pass", ts="2026-05-28T14:00:00.000Z")
FAILED = graded("pass", "fail", "pass", ts="2026-05-28T15:00:00.000Z")
SPANS = '{"resourceSpans":[{"scope":"a"}]}\n\n{"resourceSpans":[{"scope":"event_type"}]}\n'
OTHER_NAME = "looks like a trace, but has another name"
UNTRUSTED = "excluded by a drive-trace.toml that is not trusted"
NO_TRACE = "not a trace, as no record has event_type, project_run_id or schema_version"
QUOTED = FAILED.removesuffix("\n")
SPELLED = (
    {"log": f"{QUOTED}\n", "stream": "stdout"},
    {"a": [{"log": json.dumps({"message": QUOTED})}]},
    {"log": str(json.loads(QUOTED))},
    {"log": "event_type=correctness-recorded qa=fail"},
    {"eventType": "correctness-recorded", "projectRunId": "run-1"},
    {"Schema-Version": "1", "QA": "fail"},
    {"PROJECT_RUN_ID": "run-1"},
    {"project run id": "run-1"},
    {"event_\u200btype": "correctness-recorded"},
    {"attributes.event_type": "correctness-recorded"},
)
"""Events that somebody has wrapped, or whose keys were renamed."""


pytestmark = pytest.mark.usefixtures("here")


def gate(*options: str) -> Ran:
    return run("score", "--require-correct", "--format", "json", *options)


def left_out(found: Ran) -> dict[str, str]:
    card = found.json
    assert card["left_out"] == len(card["left_out_files"])
    return {each["path"]: each["reason"] for each in card["left_out_files"]}


# Traces that a search does not know by name


def test_a_trace_under_another_name_fails_the_gate(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    assert gate().code == 0
    moved = write(tmp_path, "b/qa-trace-1.jsonl", FAILED)
    for name in ("data.jsonl", "trace.jsonl.judgements.ndjson"):
        write(tmp_path, f"b/{name}", '{"event_type":"x"}\n')
    ran = gate()
    assert (ran.code, ran.json["complete"], ran.json["unread"]) == (2, False, [])
    assert left_out(ran) == {"b/qa-trace-1.jsonl": OTHER_NAME}
    assert "1 left out: looks like a trace, but has another name: b/qa-trace-1.jsonl" in ran.err
    (scored,) = ran.json["runs"]
    assert [each["qualifies"] for each in scored["caveats"]] == [True]
    assert "CORRECT, but 1 input not read" in run("score").out
    # To exclude it, to name it and to rename it are what a person can do.
    excluded = gate("--exclude", "qa-*")
    assert (excluded.code, left_out(excluded)) == (0, {"b/qa-trace-1.jsonl": "excluded"})
    assert gate(".", "b/qa-trace-1.jsonl").json["runs"][0]["verdict"] == "incorrect"
    moved.rename(tmp_path / "b" / "trace.jsonl")
    assert gate().json["runs"][0]["verdict"] == "incorrect"


@pytest.mark.parametrize(
    "name",
    [
        *("trace.JSONL", "x.ndjson", "trace.json", "trace.jsonl.bak", "trace.txt"),
        *("old-JSONL.gone", "trace.jsonl (deleted)"),
    ],
)
@pytest.mark.parametrize("blanks", [0, 1 << 16, 70_000, 1 << 18])
def test_a_trace_moved_to_another_ending_fails_the_gate(
    name: str, blanks: int, tmp_path: Path
) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, f"b/{name}", " " * blanks + FAILED)
    ran = gate()
    assert (ran.code, left_out(ran)) == (2, {f"b/{name}": OTHER_NAME})


def test_every_command_says_so_on_one_line(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "b/qa-trace-1.jsonl", REJECTED)
    said = "1 left out: looks like a trace, but has another name: b/qa-trace-1.jsonl"
    lines = run("check").out.splitlines()
    assert [said in each for each in lines] == [False] * (len(lines) - 1) + [True]
    checked = run("check", "--output-format", "json")
    (finding,) = checked.json
    assert (finding["code"], finding["severity"]) == ("unreadable-file", "warning")
    assert (finding["path"], finding["message"]) == (
        "b/qa-trace-1.jsonl",
        f"not read: {OTHER_NAME}",
    )
    for options, code in (((), 0), (("--fail-on", "warning"), 1)):
        assert run("check", *options).code == code
        assert run("check", "--exclude", "qa-*", *options).code == 0
    for output_format in ("json", "github", "sarif"):
        ran = run("check", "--output-format", output_format)
        assert (ran.code, said in ran.err) == (0, True)
    assert said in " ".join(run("score", "--format", "text").out.split())
    assert run("score").code == 0
    for output_format in ("markdown", "html"):
        page = run("report", "--format", output_format).out
        assert "1 left out: looks like a trace, but has another name" in page
        assert '"headline correct"' not in page
    scanned = run("fleet", "--no-cache")
    assert (scanned.code, said in scanned.err) == (0, True)
    assert json.loads(run("fleet", "--no-cache", "--out", "-").out)["caveats"] != []


@pytest.mark.parametrize("side", ["--baseline", "--candidate"])
def test_sides_with_a_trace_that_is_not_read_are_not_compared(side: str, tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "b/trace.jsonl", graded("pass", "pass", "pass", run="run-2"))
    sides = ("--baseline", "a", "--candidate", "b")
    command = ("compare", *sides, "--allow-unverified", "--output-format", "json")
    assert run(*command).json["complete"] is True
    folder = sides[sides.index(side) + 1]
    write(tmp_path, f"{folder}/sample-trace.jsonl", REJECTED)
    ran = run(*command)
    assert (ran.code, ran.json["answer"], ran.json["complete"]) == (2, "not-comparable", False)
    found = ran.json["inputs"][side.removeprefix("--")]
    named = [{"path": f"{folder}/sample-trace.jsonl", "reason": OTHER_NAME}]
    assert (found["unread"], found["left_out_files"]) == ([], named)
    assert "1 input of the " in str(ran.json["reasons"])
    assert " was not read" in str(ran.json["reasons"])
    assert run(*command, "--exclude", "sample-*").json["complete"] is True


def test_a_gate_fails_on_what_nobody_excluded(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    write(tmp_path, ".gitignore", "out/\n")
    write(tmp_path, "in/trace.jsonl", GOOD)
    write(tmp_path, "out/trace.jsonl", FAILED)
    assert left_out(gate()) == {"out/trace.jsonl": "ignored by git"}
    assert (gate().code, gate("--exclude", "/out").code, gate("in").code) == (2, 0, 2)
    assert left_out(gate("in")) == {"out/trace.jsonl": "ignored by git"}
    write(tmp_path, "out/trace.jsonl", FAILED.replace("run-1", "run-2"))
    assert (gate().code, gate("in").code) == (2, 0)
    write(tmp_path, ".old/trace.jsonl", FAILED)
    assert gate("--exclude", "/out").code == 2
    assert gate("--exclude", "/out", "--exclude", ".old").code == 0
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    shutil.rmtree(tmp_path / ".old")
    linked = gate("in")
    assert (linked.code, left_out(linked)) == (2, {"in/link": "a linked folder"})
    excluded = gate("in", "--exclude", "in/link/")
    assert (excluded.code, left_out(excluded)) == (0, {"in/link": "excluded"})


def test_a_library_is_named_and_fails_a_gate_if_a_trace_is_in_it(tmp_path: Path) -> None:
    write(tmp_path, "trace.jsonl", GOOD)
    write(tmp_path, "node_modules/p/index.js")
    write(tmp_path, "node_modules/q/trace.jsonl", SPANS)
    ran = gate()
    assert (ran.code, ran.err, left_out(ran)) == (0, "", {})
    assert ran.json["unsearched_libraries"] == ["node_modules"]
    assert "node_modules" not in run("score").out + run("check").out
    write(tmp_path, "node_modules/p/trace.jsonl", FAILED)
    ran = gate()
    assert (ran.code, left_out(ran)) == (2, {"node_modules": "a library, which has traces"})
    assert ran.json["unsearched_libraries"] == ["node_modules"]
    assert gate("--exclude", "node_modules").code == 0


@pytest.mark.parametrize("kind", ["worktree", "submodule"])
def test_another_repository_inside_is_not_searched(kind: str, tmp_path: Path) -> None:
    write(tmp_path, ".git/HEAD", "ref: refs/heads/main\n")
    write(tmp_path, "trace.jsonl", GOOD)
    write(tmp_path, "inner/README.md")
    mark = ".git" if kind == "worktree" else ".git/HEAD"
    write(tmp_path, f"inner/{mark}", "gitdir: ../.git/worktrees/inner\n")
    write(tmp_path, ".git/worktrees/inner/HEAD", "ref: refs/heads/inner\n")
    ran = gate()
    assert (ran.code, left_out(ran)) == (0, {"inner": "another repository"})
    assert ran.json["runs"][0]["caveats"] == []
    assert "1 left out: another repository: inner" in run("check").out
    write(tmp_path, "inner/wip/drive-trace/a.jsonl", FAILED)
    ran = gate()
    assert (ran.code, left_out(ran)) == (2, {"inner": "another repository, which has traces"})
    assert gate("--exclude", "inner/").code == 0
    assert len(gate(".", "inner").json["files"]) == len(gate("--no-ignore").json["files"]) == 2


def _moved_to_a_log(trace: Path) -> None:
    trace.rename(trace.with_name("x.log"))


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize("folder", [".svn", ".hg", ".hidden", "CVS"])
def test_a_tracked_trace_is_read_in_a_folder_of_any_name(folder: str, tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, f"b/{folder}/trace.jsonl", FAILED)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    assert gate().code == 1


GONE: dict[str, tuple[Callable[[Path], object], str]] = {
    "deleted": (Path.unlink, "deleted, though git tracks it"),
    "renamed": (_moved_to_a_log, "deleted, though git tracks it"),
    "emptied": (lambda trace: trace.write_text(""), "emptied, though git tracks its content"),
    "blanked": (
        lambda trace: trace.write_text("\ufeff\n \n"),
        "emptied, though git tracks its content",
    ),
}


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize(("damage", "reason"), GONE.values(), ids=list(GONE))
def test_a_committed_trace_that_is_gone_fails_the_gate(
    damage: Callable[[Path], object], reason: str, tmp_path: Path
) -> None:
    good = write(tmp_path, "a/trace.jsonl", GOOD)
    gone = write(tmp_path, "b/trace.jsonl", FAILED)
    write(tmp_path, "c/trace.jsonl", "")
    commit(tmp_path, "traces")
    assert left_out(gate()) == {}
    damage(gone)
    ran = gate()
    assert (ran.code, left_out(ran)) == (2, {"b/trace.jsonl": reason})
    assert "CORRECT, but 1 input not read" in run("score").out
    assert f"1 left out: {reason}: b/trace.jsonl" in run("check").out
    concise = run("check", "--output-format", "concise").out
    assert f"warning[unreadable-file] not read: {reason}" in concise
    assert gate("--exclude", "b").code == 0
    # Who adds to the run must not do without what it held.
    feed = ("--trace-file", good, "--component", "qa", "--run", "true")
    recorded = run("gate", "--project-run-id", "run-1", *feed)
    assert (recorded.code, f"b/trace.jsonl: {reason}" in recorded.err) == (3, True)
    assert good.read_text() == GOOD
    assert run("gate", "--project-run-id", "another", "--new-run", *feed).code == 0
    git(tmp_path, "commit", "-q", "-a", "-m", "gone")
    assert left_out(gate()) == {}


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize("linked", ["file", "folder"])
def test_a_committed_trace_behind_a_link_to_another_fails_the_gate(
    linked: str, tmp_path: Path
) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    for folder in "bc":
        write(tmp_path, f"{folder}/trace.jsonl", FAILED)
    commit(tmp_path, "traces")
    for folder in "bc":
        if linked == "folder":
            shutil.rmtree(tmp_path / folder)
            (tmp_path / folder).symlink_to("a")
        else:
            (tmp_path / folder / "trace.jsonl").unlink()
            (tmp_path / folder / "trace.jsonl").symlink_to("../a/trace.jsonl")
    said = "a link to something else, though git tracks its content"
    named = {f"{folder}/trace.jsonl": said for folder in "bc"}
    for path in (".", "a", "a/trace.jsonl", "b", "b/trace.jsonl"):
        ran = gate(path)
        assert (ran.code, left_out(ran)) == (2, named), path
    write(tmp_path, "a/trace.jsonl", GOOD.replace("run-1", "another"))
    assert (gate("b/trace.jsonl").code, [*left_out(ran)]) == (2, [*named]), "of whatever run"
    for commits in range(2):  # not committed, then committed
        for option in (f"--since=HEAD~{commits}", f"--history=HEAD~{commits}"):
            for paths in ((), ("b", "c/trace.jsonl")):
                found = run("check", option, *paths, "--format", "json")
                missed = [each["path"] for each in found.json if each["severity"] == "error"]
                assert (found.code, [each for each in missed if "a/" not in each]) == (2, [*named])
                assert len(missed) == len({*missed})
        commit(tmp_path, "links") if not commits else None


def test_a_link_out_of_the_repository_is_told_once(tmp_path: Path) -> None:
    trace = write(tmp_path, "b/trace.jsonl", GOOD)
    commit(tmp_path, "traces")
    trace.unlink()
    trace.symlink_to(tmp_path.parent / "elsewhere")
    for commits in range(3):  # not committed, then committed
        options = [f"--history=HEAD~{commits - 1}"] * bool(commits)
        (found, *_, last) = run("check", *options, "--format", "concise").out.splitlines()
        assert ("link out of the repository" in found, "b/trace.jsonl:1" in last) == (True, False)
        assert ("git checkout" in found) == bool(commits)
        commit(tmp_path, "link") if commits == 1 else None


def test_a_committed_trace_that_moved_behind_a_link_is_not_missed(tmp_path: Path) -> None:
    """As what keeps large files elsewhere makes of them."""
    trace = write(tmp_path, "b/trace.jsonl", GOOD)
    commit(tmp_path, "traces")
    trace.rename(tmp_path / "b" / "kept")
    trace.symlink_to("kept")
    for command in (gate, lambda: run("check", "--history"), lambda: run("check", "--since=HEAD")):
        ran = command()
        assert (ran.code, "not read" in ran.out) == (0, False), ran.out


def _moved_to_a_backup(trace: Path) -> None:
    trace.rename(trace.with_name("trace.jsonl.bak"))


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
@pytest.mark.parametrize(
    ("damage", "named"),
    [
        *((damage, {"b/trace.jsonl": reason}) for damage, reason in GONE.values()),
        (
            _moved_to_a_backup,
            {"b/trace.jsonl": GONE["deleted"][1], "b/trace.jsonl.bak": OTHER_NAME},
        ),
    ],
    ids=[*GONE, "backed up"],
)
def test_a_trace_that_is_gone_fails_the_gate_of_another_file_of_its_run(
    damage: Callable[[Path], object], named: dict[str, str], tmp_path: Path
) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "c/trace.jsonl", graded("pass", "pass", "pass", run="run-2"))
    gone = write(tmp_path, "b/trace.jsonl", FAILED)
    commit(tmp_path, "traces")
    assert gate("a/trace.jsonl").json["runs"][0]["verdict"] == "incorrect"
    damage(gone)
    for path in ("a/trace.jsonl", "a", "."):
        ran = gate(path)
        assert (ran.code, left_out(ran)) == (2, named)
        card = drive_trace.score(path)
        assert (card.all_earned, dict(card.left_out.missed)) == (False, named)
    assert left_out(gate("a/trace.jsonl", "b")) == named, "each once"
    absolute = gate(str(tmp_path / "a"))
    assert {*left_out(absolute)} == {str(tmp_path / each) for each in named}
    assert gate("a", "--exclude", "b").code == 0
    assert gate("c").code == 0, "another run"
    assert "b/trace.jsonl (" in " ".join(run("check", "a/trace.jsonl").out.split())
    if gone.exists():
        assert left_out(gate("a/trace.jsonl", "b/trace.jsonl")) == named


def test_a_copy_under_another_name_holds_no_more_than_the_file_that_was_read(
    tmp_path: Path,
) -> None:
    write(tmp_path, "drive-trace.toml", "")
    write(tmp_path, "a/trace.jsonl", GOOD)
    copy = write(tmp_path, "b/trace.jsonl.bak", GOOD)
    ran = gate("a")
    assert (ran.code, left_out(ran)) == (0, {})
    copy.write_text(GOOD.replace("pass", "fail"))
    ran = gate("a")
    assert (ran.code, left_out(ran)) == (2, {"b/trace.jsonl.bak": OTHER_NAME})


@pytest.mark.parametrize("mark", [".git", "pyvenv.cfg"])
def test_an_empty_file_hides_no_trace(mark: str, tmp_path: Path) -> None:
    write(tmp_path, ".git/HEAD", "ref: refs/heads/main\n")
    write(tmp_path, "trace.jsonl", GOOD)
    write(tmp_path, "b/lib/trace.jsonl", FAILED)
    assert gate().code == 1
    write(tmp_path, f"b/{mark}", "")
    assert (gate().code, gate().json["runs"][0]["verdict"]) == (1, "incorrect")


@pytest.mark.skipif(shutil.which("git") is None, reason="there is no git")
def test_a_mark_of_a_repository_hides_nothing_that_git_tracks(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "b/trace.jsonl", FAILED)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    write(tmp_path, "b/.git", "gitdir: nowhere\n")
    assert gate().json["runs"][0]["verdict"] == "incorrect"


def test_repositories_in_a_folder_that_is_none_are_searched(tmp_path: Path) -> None:
    for name in "ab":
        write(tmp_path, f"{name}/.git/HEAD", "ref: refs/heads/main\n")
        write(tmp_path, f"{name}/trace.jsonl", graded("pass", "pass", "pass", run=name))
    assert [each["run_id"] for each in gate().json["runs"]] == ["a", "b"]


# Files that are called trace.jsonl and are something else


def test_a_file_of_somebody_elses_is_named_and_fails_nothing(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "otel/trace.jsonl", SPANS)
    write(tmp_path, ".otel/trace.jsonl", SPANS)
    ran = gate()
    assert (ran.code, ran.json["complete"], ran.json["unread"]) == (0, True, [])
    assert left_out(ran) == {"otel/trace.jsonl": NO_TRACE, ".otel/trace.jsonl": NO_TRACE}
    assert [each["path"] for each in ran.json["files"]] == ["a/trace.jsonl"]
    checked = run("check")
    assert (checked.code, checked.out.splitlines()[0]) == (0, "no findings in 1 trace")
    said = f"{NO_TRACE}: otel/trace.jsonl"
    assert f"1 left out: {said}\n" in run("check", "otel/trace.jsonl").out
    for command in ("score", "report"):
        ran = run(command)
        assert (ran.code, "CORRECT, but" in ran.out) == (0, False)
        assert "not a trace" in ran.out
    for _ in range(2):  # from the cache, too
        assert (scanned := run("fleet")).code == 0
        assert "2 left out: not a trace, as no record has " in scanned.err
        assert "1 run in 1 file: 1 CORRECT" in scanned.out
    compared = run("compare", "--baseline", ".", "--candidate", "otel", "--format", "json")
    assert compared.json["inputs"]["candidate"]["left_out_files"] == [
        {"path": "otel/trace.jsonl", "reason": NO_TRACE}
    ]


@pytest.mark.parametrize(
    "text",
    [
        '{"a":1}\n{"b":{"event_type":"x"}}\n',
        '{"a":1}\n{"project_run\\u005fid":"x"}\n',
        '{"a":1}\nnot json\n',
        '{"a":1}\n[]\n',
        "{}\n",
        '{"a":1}\n{"a":1\n',
        *(f"{json.dumps(each)}\n" for each in SPELLED),
    ],
)
def test_everything_else_of_that_name_is_a_trace(text: str, tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "b/trace.jsonl", text)
    ran = gate()
    assert left_out(ran) == {}
    assert [each["path"] for each in ran.json["files"]] == ["a/trace.jsonl", "b/trace.jsonl"]
    assert run("check").code == 1


@pytest.mark.parametrize(
    "record",
    [
        {"resourceSpans": [{"schemaUrl": "x", "attributes": [{"key": "event_type"}]}]},
        {"messages": [{"role": "user", "content": 'Of which event type: "click", or other?'}]},
        {"messages": [{"role": "user", "content": "schema version: 2"}], "version": "schema"},
        {"event": "type", "prevent_type": 1, "type": "event"},
    ],
)
def test_what_has_nothing_of_an_event_is_no_trace(record: object, tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "b/trace.jsonl", f"{json.dumps(record)}\n" * 2)
    ran = gate()
    assert (ran.code, left_out(ran)) == (0, {"b/trace.jsonl": NO_TRACE})


def test_a_run_that_was_wrapped_stays_in_a_gate(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    for at, record in enumerate(SPELLED):
        write(tmp_path, f"b{at}/trace.jsonl", f"{json.dumps(record)}\n")
    ran = gate()
    assert (ran.code, left_out(ran)) == (2, {})
    named = {each["path"] for each in ran.json["unread"]}
    assert named == {f"b{at}/trace.jsonl" for at in range(len(SPELLED))}


def test_it_hinders_nobody_who_records(tmp_path: Path) -> None:
    write(tmp_path, "drive-trace.toml", "")
    trace = write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "otel/trace.jsonl", SPANS)
    write(tmp_path, "b/qa-trace.jsonl", FAILED)
    ran = run("record", "--trace-file", trace, "--project-run-id", "run-1", "--qa", "fail")
    assert ran.code == 0
    assert "otel" not in ran.err
    said = f"b/qa-trace.jsonl ({OTHER_NAME}): not looked at, and may hold the run, too"
    assert said in ran.err


@pytest.mark.parametrize(
    "command",
    [
        ("record", "--qa", "fail"),
        ("tokens", "--input-tokens", "1", "--output-tokens", "1"),
        ("gate", "--component", "qa", "--run", "true"),
    ],
    ids=lambda each: each[0],
)
def test_who_records_may_exclude_too(command: tuple[str, ...], tmp_path: Path) -> None:
    write(tmp_path, "drive-trace.toml", "")
    trace = write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "b/trace.jsonl").write_bytes("{}".encode("utf-16"))
    write(tmp_path, "c/qa-trace.jsonl", FAILED)
    name, *options = command
    options += ["--trace-file", trace, "--project-run-id", "run-1"]
    ran = run(name, *options)
    assert (ran.code != 0, "b/trace.jsonl: is UTF-16" in ran.err) == (True, True)
    excluding = run(name, *options, "--exclude", "b/", "--exclude", "qa-*")
    assert (excluding.code, "qa-trace" in excluding.err) == (0, False)


# What a configuration excludes


def test_a_configuration_excludes_and_a_gate_does_not_believe_it(tmp_path: Path) -> None:
    write(tmp_path, "drive-trace.toml", 'exclude = ["old/", "*-copy.jsonl"]\n')
    write(tmp_path, "trace.jsonl", GOOD)
    write(tmp_path, "old/trace.jsonl", REJECTED)
    write(tmp_path, "wip/drive-trace/x-copy.jsonl", FAILED)
    named = {"old/trace.jsonl": UNTRUSTED, "wip/drive-trace/x-copy.jsonl": UNTRUSTED}
    assert left_out(gate()) == named
    assert (gate().code, gate("--exclude", "old", "--exclude", "*-copy.jsonl").code) == (2, 0)
    checked = run("check")
    assert (checked.code, f"2 left out: {UNTRUSTED}: old/trace.jsonl" in checked.out) == (0, True)
    assert run("check", "--no-config").code == 1
    # What is named is the user's own.
    named = run("check", "--config", "drive-trace.toml", "--output-format", "json")
    assert "excluded by a trusted drive-trace.toml: old/trace.jsonl" in named.err
    write(tmp_path, "other.toml", "")
    assert run("check", "--config", "other.toml").code == 1
    for command in (("score",), ("report",), ("report", "--format", "html")):
        assert UNTRUSTED in " ".join(run(*command).out.split())
    assert UNTRUSTED in run("fleet", "--no-cache").err
    # What is named is read.
    assert run("check", "old/trace.jsonl").code == 1


def test_python_says_the_same(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", GOOD)
    write(tmp_path, "b/qa-trace.jsonl", FAILED)
    card = drive_trace.score(".")
    assert (card.complete, card.all_earned) == (False, False)
    assert [tuple(each) for each in card.left_out.missed] == [("b/qa-trace.jsonl", OTHER_NAME)]
    assert drive_trace.score(".", exclude=["b/"]).all_earned
    compared = drive_trace.compare("a", "b", exclude=["a/"])
    assert [each.path for each in compared.sides[1].left_out.missed] == ["b/qa-trace.jsonl"]
    assert [[*map(tuple, each.not_read)] for each in compared.sides] == [
        [],
        [("b/qa-trace.jsonl", OTHER_NAME)],
    ]
    assert compared.sides[0].unread == ()
