"""The command line, from outside: a change of a repository with many traces."""

import os
import re
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest

from drive_trace.vocabulary import EVENTS
from tests.cli.support import REJECTED, Ran, commit, git, run, write
from tests.support.client_text import event, graded, triage


def of(name: str, grade: str = "pass") -> str:
    """A trace of a run, with events of its own."""
    text = triage(run=name) + graded(grade, "pass", "pass", run=name)
    return text.replace('"event_id":"', f'"event_id":"{name}-')


@pytest.fixture
def change(here: Path) -> Path:
    """A branch on which one of twenty traces is touched, while main goes on with another one."""
    for number in range(20):
        write(here, f"projects/p{number}/trace.jsonl", of(f"p{number}"))
    write(here, "projects/two/trace.jsonl", of("one") + of("other"))
    commit(here)
    git(here, "checkout", "--quiet", "-b", "change")
    append(here, "projects/p3/trace.jsonl", REJECTED.replace("run-1", "p3"))
    commit(here, "change")
    git(here, "checkout", "--quiet", "main")
    append(here, "projects/p5/trace.jsonl", REJECTED.replace("run-1", "p5"))
    commit(here, "main")
    git(here, "checkout", "--quiet", "change")
    return here


def append(folder: Path, name: str, text: str) -> None:
    with (folder / name).open("a") as trace:
        trace.write(text)


def looked_at(*options: str, command: str = "score") -> list[str]:
    ran = run(command, "--format", "json", *options)
    card = ran.json if command == "score" else ran.json["scorecard"]
    return [each["run_id"] for each in card["runs"]]


def gate(*options: str) -> Ran:
    return run("score", "--require-correct", "--format", "text", *options)


def test_only_what_was_touched_is_looked_at(change: Path) -> None:
    assert looked_at("--since", "main") == ["p3"]
    assert looked_at("--since", "main", command="report") == ["p3"]
    found = run("check", "--since", "main", "--format", "json", "--severity", "error")
    assert [(each["path"], each["line"]) for each in found.json] == [("projects/p3/trace.jsonl", 3)]
    assert "20 left out: not touched since " in found.err
    assert run("check", "--since", "main", "projects/p4").code == 0
    # Of a trace with several runs, those that were touched; a broken line may be of any of them.
    append(change, "projects/two/trace.jsonl", triage(run="other", verdict="defer"))
    assert looked_at("--since", "main") == ["p3", "other"]
    append(change, "projects/two/trace.jsonl", "{\n")
    assert looked_at("--since", "main") == ["p3", "one", "other"]
    # A new file with a run of an old one: the run is judged over both.
    write(change, "projects/p7/slices/a/trace.jsonl", of("p7").replace("p7-", "x-"))
    card = run("score", "--since", "main", "--format", "json").json
    files = {each["run_id"]: [part["path"] for part in each["files"]] for each in card["runs"]}
    assert sorted(files["p7"]) == ["projects/p7/slices/a/trace.jsonl", "projects/p7/trace.jsonl"]
    # What a judge has recorded beside a trace changes its runs, too.
    write(change, "projects/p8/trace.jsonl.judgements.ndjson", "{}\n")
    assert "p8" in looked_at("--since", "main")


def test_a_change_that_touches_no_run_fails_no_gate_and_one_that_deletes_does(change: Path) -> None:
    git(change, "reset", "--quiet", "--hard", "HEAD~1")
    assert gate("--since", "main").code == 0
    git(change, "mv", "projects/p1", "projects/moved")
    commit(change, "move")
    for option in ("--since=main", "--history=main"):
        assert gate(option).code == 0, "it was moved, and is judged there"
    git(change, "rm", "--quiet", "projects/p2/trace.jsonl")
    commit(change, "delete")
    for option in ("--since=main", "--history=main"):
        ran = gate(option)
        said = 'p2/trace.jsonl: deleted, and no line is left of the run "p2" since ' in ran.err
        assert (ran.code, said, f"({option.partition('=')[0]}); git ch" in ran.err) == (
            2,
            True,
            True,
        )
        assert [run(each, option).code for each in ("check", "score", "report")] == [2, 2, 2]
        assert run("check", option, "--exclude", "p[235]/").code == 0
    assert gate("--since", "main", "--exclude", "p2/").code == 0


def test_a_shallow_clone_compares_with_the_commit_itself(change: Path, tmp_path: Path) -> None:
    git(change, "merge", "--quiet", "main", "--message", "as GitHub merges it to try it")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "--quiet", "--depth=1", "--branch=change", change.as_uri(), str(clone))
    git(clone, "fetch", "--quiet", "--depth=1", "origin", "main:main")
    ran = run("check", "--since", "main", "--format", "concise", clone)
    assert "/p3/trace.jsonl:3" in ran.out


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        *((each, "is no commit that is here; fetch it") for each in ("nonexistent", "--foo")),
        ("main:projects", "is no commit that is here; fetch it"),
        ("main..change", "main..change is a range of commits; name one commit"),
        ("both~1", "both may mean refs/tags/both or refs/heads/both; write it in full"),
        ("rel@2", "rel@2 may mean refs/tags/rel@2 or refs/heads/rel@2; write it in full"),
        ("abbreviated", " or a hash; write it in full"),
        ("described", " or a hash; write it in full"),
        (
            "origin",
            "origin may mean refs/tags/origin or refs/remotes/origin/HEAD; write it in full",
        ),
        ("refs/heads/gone", "refs/heads/gone is not here; fetch it"),
        ("", "the empty text names no commit; name one, such as main"),
    ],
)
def test_what_is_no_commit_or_one_of_two_is_refused(change: Path, wrong: str, says: str) -> None:
    base = git(change, "rev-parse", "main")
    git(change, "update-ref", "refs/remotes/origin/HEAD", base)
    for each in ("both", "rel@2", "deadbeef"):
        git(change, "branch", each)
    wrong = {"abbreviated": base[:8], "described": f"v1-2-g{base[:8]}"}.get(wrong, wrong)
    for each in ("both", "rel@2", "origin", "refs/heads/gone", base, base[:8], f"v1-2-g{base[:8]}"):
        git(change, "tag", each)
    for option in ("--since", "--history", "--trust-config-at"):
        ran = run("check", f"{option}={wrong}")
        assert (ran.code, ran.err.count(f"{says}\n")) == (2, 1)
    for clear in ("refs/heads/both~1", base, "deadbeef~1", "@~1"):
        assert run("check", f"--since={clear}").code == 1


def test_each_repository_says_why_it_has_no_commit(here: Path) -> None:
    for name in ("a", "b"):
        write(here, f"{name}/trace.jsonl", of(name))
        git(here / name, "init", "--quiet", "--initial-branch=main")
        commit(here / name)
        git(here / name, "tag", "both")
    git(here / "a", "branch", "both")
    write(here, "c/trace.jsonl", of("c"))
    for paths, says in (
        (("a",), "both may mean refs/tags/both or refs/heads/both; write it in full\n"),
        (("a", "b"), "read: both may mean refs/tags/both or refs/heads/both; write it in full\n"),
        (("c",), "c is in no repository of git\n"),
        ((), "the current folder is in no repository of git\n"),
    ):
        ran = run("score", "--history=both", *paths)
        assert (ran.code, says in ran.err) == (2, True), ran.err
    for option in ("--since", "--trust-config-at"):
        ran = run("check", option, "HEAD")
        assert (ran.code, "the current folder is in no repository of git" in ran.err) == (2, True)


@pytest.mark.skipif(os.name == "nt", reason="a script stands for git")
def test_a_commit_of_which_git_does_not_tell_the_refs_is_refused(
    change: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = 'case "$*" in *for-each-ref*) exit 3;; esac\nPATH=${PATH#*:} exec git "$@"\n'
    script = write(change, "bin/git", f"#!/bin/sh\n{own}")
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}{os.pathsep}{os.environ['PATH']}")
    for option in ("--since", "--history", "--trust-config-at"):
        ran = run("check", f"{option}=main")
        assert (ran.code, "git exited with 3" in ran.err) == (2, True), ran.err
    assert run("check", "--since=HEAD", "projects/p4").code == 0


def test_some_runs_are_looked_at_by_their_ids(change: Path) -> None:
    assert looked_at("--run", "p1?", "--run", "one") == [
        *(f"p1{each}" for each in range(10)),
        "one",
    ]
    assert looked_at("--run", "one", command="report") == ["one"]
    assert gate("--run", "p1").code == 0
    for command in ("check", "score", "report"):
        typo = run(command, "--run", "p1", "--run", "nobody*")
        named = (
            "--run nobody* names none of the runs that were read: one, other, p0, p1, p10, p11, "
        )
        assert (typo.code, typo.out, named in typo.err) == (2, "", True)
    none = gate("--run", "nobody", "--since", "main")
    assert (none.code, "No runs: no run was looked at" in none.out) == (1, True)
    none = run("check", "--run", "nobody*", "--since", "main")
    assert (none.code, "no run was looked at" in none.err) == (0, True)
    assert "no findings in 1 trace\n" in run("check", "--run", "p4", "--severity", "error").out
    assert run("check", "--run", "p3").code == 1
    ran = run("check", "--run", "p4", "--format", "json")
    assert {each["path"] for each in ran.json} == {"projects/p4/trace.jsonl"}


EXEMPT = """
[[score.exempt]]
runs = ["p3", "old-*"]
reason = "imported before grades"
until = %s
"""


def test_the_base_may_exempt_runs_from_the_gate_and_the_change_may_not(change: Path) -> None:
    write(change, "drive-trace.toml", EXEMPT % "2999-01-31")
    refused = gate("--since", "main")
    assert refused.code == 1
    assert "p3 is not exempt from --require-correct, as no configuration of the " in refused.out
    assert "; asked for until 2999-01-31: imported before" in refused.out
    commit(change, "exempt")
    trusted = ("--since", "main", "--trust-config-at", "HEAD")
    assert gate(*trusted).code == gate("--since", "main", "--trust-config").code == 0
    assert gate("--since", "main", "--trust-config-at", "main").code == 1
    (found,) = run("score", "--format", "json", *trusted).json["exempt"]
    assert found == {
        "run_id": "p3",
        "reason": "imported before grades",
        "until": "2999-01-31",
        "counts": True,
    }
    # It holds for what the base has: no run takes the name of an exempt one.
    write(change, "projects/old/trace.jsonl", of("old-1", "fail"))
    write(change, "drive-trace.toml", EXEMPT % "2999-01-31")
    named = gate("--since", "main", "--trust-config")
    assert (named.code, "old-1: INCORRECT" in named.err) == (1, True)
    assert (
        "is not exempt from --require-correct, as the run is not in the commit of --since;"
        in named.out
    )
    commit(change, "old")
    git(change, "mv", "projects/old", "projects/older")
    assert gate("--since", "HEAD", "--trust-config").code == 0, "it was moved"
    write(change, "drive-trace.toml", EXEMPT % "2020-01-31")
    over = gate("--since", "main", "--trust-config")
    assert (over.code, ", as the exemption ended on 2020-01-31;" in over.out) == (1, True)
    write(change, "drive-trace.toml", EXEMPT % '"soon"')
    assert "`until` must be a day such as 2027-01-31" in run("check", "projects/p4").err


def bad(name: str) -> str:
    return of(name, "fail")


def swap_the_last_two(text: str) -> str:
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:-2], lines[-1], lines[-2]])


TWO_GRADES = of("p2") + graded("fail", "pass", "pass", run="p2").replace(
    'event_id":"', 'event_id":"b-'
)


@pytest.mark.parametrize("paths", [(), ("projects/p2", "projects/p4")])
@pytest.mark.parametrize("option", ["--since=HEAD~1", "--history=HEAD~1"])
def test_a_deleted_trace_takes_no_run_away_that_another_file_has(
    change: Path, option: str, paths: tuple[str, ...]
) -> None:
    for others, said in (
        (of("p8"), 'deleted, and no line is left of the run "p2" since'),
        (of("p8") + of("p2"), "and its runs are elsewhere without some of its lines since"),
    ):
        write(change, "projects/p2/trace.jsonl", bad("p6") + bad("p2"))
        write(change, "projects/p8/trace.jsonl", others)
        commit(change, "two files of a run")
        git(change, "rm", "--quiet", "projects/p2/trace.jsonl")
        commit(change, "one of them is deleted")
        write(change, "projects/p2/readme", "")
        ran = run("check", option, *paths, "--format", "concise")
        assert (ran.code, said in ran.out) == (2, True), ran.out


@pytest.mark.parametrize("option", ["--since", "--history"])
@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (swap_the_last_two(TWO_GRADES), TWO_GRADES, "p2: INCORRECT"),
        (bad("p2"), "", "projects/p2"),
        (bad("p2"), "\n\n", "projects/p2"),
        (bad("p2"), '{"a":1}\n', "projects/p2"),
        (bad("p2") + of("kept"), of("kept"), "no line is left of 1 run: p2"),
        (bad("p2") + of("kept"), of("kept") + of("new"), "no line is left of 1 run: p2"),
        (bad("p2") + of("kept"), of("kept") + "{\n", "no line is left of 1 run: p2"),
    ],
)
def test_no_gate_turns_green_as_lines_are_moved_or_dropped(
    change: Path, before: str, after: str, says: str, option: str
) -> None:
    write(change, "projects/p2/trace.jsonl", before)
    commit(change, "before")
    write(change, "projects/p2/trace.jsonl", after)
    for commits in range(2):  # not committed, then committed
        ran = gate(f"{option}=HEAD~{commits}")
        assert (ran.code > 0, says in ran.err) == (True, True), ran.err
        commit(change, "after") if not commits else None
    if option == "--history":
        assert (bare := gate(option)).code > 0, bare.err
    if "INCORRECT" not in says:
        base = f"{option}=HEAD~1"
        checked = run("check", base, "--fail-on", "never", "--format", "concise")
        told = checked.out.count("projects/p2/trace.jsonl:1:1: error[unreadable-file]")
        assert (checked.code, told) == (2, 1), checked.out
        report = run("report", base, "--format", "json").json
        assert report["scorecard"]["complete"] is False


def test_the_whole_history_knows_runs_that_are_gone_and_how_they_are_had_again(
    change: Path,
) -> None:
    write(change, "projects/p2/trace.jsonl", of("p2") + of("<b>"))
    commit(change, "a run on the way")
    write(change, "projects/p2/trace.jsonl", of("p2"))
    commit(change, "which is dropped")
    (change / "projects/p4/trace.jsonl").unlink()
    (change / "projects/p4/trace.jsonl").symlink_to("../p6/trace.jsonl")
    write(change, "projects/p8/trace.jsonl", '{"a":1}')
    git(change, "rm", "--quiet", "projects/p7/trace.jsonl")
    commit(change, "a link, and another file")
    ran = gate("--history")
    assert ran.code == 2
    assert 'no line is left of the run "<b>" since ' in ran.err
    assert "no line is left of 3 runs: <b>, p4, p8\n" in ran.err, (
        "p7 was tidied up, as a person may"
    )
    assert 'no line is left of the run "<b>" since ' in gate("--history=HEAD~3").err
    found = run("check", "--history", "--format", "json").json
    (told,) = (each["message"] for each in found if "p8/" in each["path"])
    (command,) = re.findall(r"git (.+?) restores", told)
    git(change, *command.split())
    page = run("report", "--history", "--format", "markdown", "--exclude", "p[24]/")
    assert "no line is left" not in page.out + page.err
    page = run("report", "--history", "--format", "markdown").out
    assert '`no line is left of the run "<b>" since ' in page
    assert "not read" not in page


@pytest.mark.parametrize("became", ["", "notes.md", "trace.old"])
@pytest.mark.parametrize("is_committed", [True, False])
def test_a_run_that_came_and_went_with_its_file_is_missed(
    change: Path, became: str, is_committed: bool
) -> None:
    write(change, "projects/new/trace.jsonl", bad("new") + bad("new too"))
    commit(change, "come")
    added = git(change, "rev-parse", "HEAD")[:10]
    if became:
        git(change, "mv", "projects/new/trace.jsonl", f"projects/{became}")
    if became != "notes.md":
        write(change, f"projects/{became or 'readme'}", "other\n")
        git(change, "rm", "-r", "--quiet", "--ignore-unmatch", "projects/new")
    if is_committed:
        commit(change, "go")
    told = f"git checkout {added} -- projects/new/trace.jsonl restores it"
    others = ("--exclude", "p[35]/")
    for options in (["--history=main"], ["--history=main", "--since=main"]):
        ran = gate(*options, *others)
        assert (ran.code, ran.err.count(told)) == (2, 1), ran.err
        assert "no line is left of 2 runs: new, new too\n" in ran.err
        for command in ("check", "report"):
            assert told in run(command, *options).out
    assert gate("--history=main", *others, "--exclude", "new/").code == 0
    assert gate("--history", *others).code == 2 * (not is_committed), "files may be tidied up"


def flip_as_it_moves(root: Path) -> None:
    git(root, "mv", "projects/p2", "projects/moved")
    write(root, "projects/moved/trace.jsonl", of("p2"))


def link_to_another(root: Path) -> None:
    git(root, "rm", "--quiet", "projects/p2/trace.jsonl")
    (root / "projects/p2").symlink_to("p4")


def ignore_it(root: Path) -> None:
    git(root, "rm", "--quiet", "--cached", "projects/p2/trace.jsonl")
    write(root, ".gitignore", "projects/p2/\n")


def make_it_a_repository(root: Path) -> None:
    write(root, "projects/p2/trace.jsonl", of("p2"))
    git(root, "rm", "--quiet", "--cached", "projects/p2/trace.jsonl")
    for command in (["init", "--quiet", "-b", "main"], ["add", "."]):
        git(root / "projects/p2", *command)
    commit(root / "projects/p2", "another one")


def skip_it(root: Path) -> None:
    git(root, "update-index", "--skip-worktree", "projects/p2/trace.jsonl")
    (root / "projects/p2/trace.jsonl").unlink()


def untrack_it(root: Path) -> None:
    git(root, "rm", "--quiet", "--cached", "projects/p2/trace.jsonl")


def delete_it(root: Path) -> None:
    (root / "projects/p2/trace.jsonl").unlink()


LEFT = "and its runs are elsewhere without some of its lines since"
NONE = 'and no line is left of the run "p2" since'


@pytest.mark.parametrize("paths", [(), ("projects/p2", "projects/moved")])
@pytest.mark.parametrize(
    ("vanish", "says"),
    [
        (flip_as_it_moves, f"deleted, {LEFT}"),
        (lambda root: git(root, "mv", "projects/p2/trace.jsonl", "p2.md"), f"deleted, {NONE}"),
        (link_to_another, f"replaced, {NONE}"),
        (ignore_it, f"ignored by git, {NONE}"),
        (make_it_a_repository, f"replaced, {LEFT}"),
        (skip_it, f"not checked out, though git tracks it, {NONE}"),
        (untrack_it, "not tracked by git any more since"),
        (delete_it, NONE),
    ],
)
def test_no_run_vanishes_before_or_after_it_is_committed(
    change: Path, paths: tuple[str, ...], vanish: Callable[[Path], object], says: str
) -> None:
    git(change, "checkout", "--quiet", "main")
    write(change, "projects/p2/trace.jsonl", bad("p2"))
    commit(change, "a run that failed")
    git(change, "checkout", "--quiet", "-b", "vanish")
    # What is ignored, and named, is read.
    named = {flip_as_it_moves: paths, ignore_it: ()}.get(vanish, paths[:1])
    vanish(change)
    for options in (["--history"], ["--history=main"], ["--since=main"]):
        (change / "projects/p2").mkdir(exist_ok=True) if vanish is not link_to_another else None
        for ran in (gate(*options, *named), run("check", *options, *named, "--format", "concise")):
            said = " ".join((ran.out + ran.err).split())
            assert (ran.code, says in said) == (2, True), said
        assert ran.out.count("p2/trace.jsonl:1:1:") == 1
        assert run("report", *options, *named).code == 2
        if options == ["--history"] and vanish is not skip_it:
            git(change, "add", ".") if vanish is not untrack_it else None
            git(change, "commit", "--quiet", "--message", "vanish")
    if vanish is skip_it:
        ((command, _),) = {*re.findall(r"git (checkout [^`]+?) (restores)", said)}
        git(change, *command.split())
        assert run("check", "--history", *named).code < 2
    clone = change / "clone"
    git(change, "clone", "--quiet", str(change), str(clone))
    os.chdir(clone)
    assert vanish is skip_it or run("check", "--since=origin/main").code == 2


@pytest.mark.parametrize("paths", [(), ("projects/p4",), ("projects/p4/trace.jsonl",)])
@pytest.mark.parametrize("option", ["--since", "--history"])
@pytest.mark.parametrize("text", [None, of("p9")])
def test_no_part_of_a_run_vanishes_with_its_other_file(
    change: Path, paths: tuple[str, ...], option: str, text: str | None
) -> None:
    path = write(change, "projects/p8/trace.jsonl", bad("p4").replace("p4-", "x-"))
    others = write(change, "projects/p9/trace.jsonl", of("p9"))
    commit(change, "a run in two files")
    write(change, "projects/p8/trace.jsonl", text) if text else path.unlink()
    others.unlink()
    for commits in range(2):  # not committed, then committed
        base = f"{option}=HEAD~{commits}"
        for command in (("check", "--format", "concise"), ("report",), ("score",)):
            ran = run(*command, base, *paths)
            said = " ".join((ran.out + ran.err).split())
            told = "and its runs are elsewhere" if not text else "p8/trace.jsonl"
            assert (ran.code, told in said) == (2, True), said
            assert "without some of its lines since" in said
        assert run("check", base, "--exclude", "p[89]/", *paths).code < 2
        if not commits:
            commit(change, "one of them goes")
    # What was moved with all its lines is all there.
    git(change, "reset", "--quiet", "--hard", "HEAD~1")
    git(change, "mv", "projects/p8", "projects/moved")
    assert run("check", f"{option}=HEAD", *paths).code < 2


def test_a_change_does_not_choose_what_it_is_compared_with(
    change: Path, monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory
) -> None:
    says = (
        'new/trace.jsonl:1:1: error[unreadable-file] deleted, and no line is left of the run "new"'
    )
    git(change, "checkout", "--quiet", "-b", "old", "main~1")
    with monkeypatch.context() as late:  # git tells the latest common commit first
        late.setenv("GIT_COMMITTER_DATE", "2038-01-01T00:00:00")
        write(change, "old.md", "")
        commit(change, "old")
    git(change, "checkout", "--quiet", "main")
    write(change, "projects/new/trace.jsonl", bad("new"))
    commit(change, "a run that failed")
    git(change, "checkout", "--quiet", "-b", "vanish", "old")
    git(change, "merge", "--quiet", "--strategy=ours", "--message=without it", "main")
    for number in range(3):
        write(change, "notes.md", f"{number}")
        commit(change, "on top")
    git(change, "checkout", "--quiet", "-b", "merged", "main")
    git(change, "merge", "--quiet", "--message=old", "old")
    git(change, "checkout", "--quiet", "vanish")
    for option in ("--since=merged", "--history=merged"):  # there are two merge bases
        ran = run("check", option, "--format", "concise")
        assert (ran.code, says in ran.out) == (2, True), ran.out
    # A shallow clone may have an older one.
    tree = git(change, "rev-parse", "HEAD^{tree}")
    older = git(change, "commit-tree", "-p", "main~1", "-m", "older", tree)
    both = git(change, "commit-tree", "-p", "HEAD", "-p", older, "-m", "both", tree)
    git(change, "reset", "--quiet", both)
    clone = tmp_path_factory.mktemp("clone") / "clone"
    git(change, "clone", "--quiet", "--depth=3", "--branch=vanish", change.as_uri(), str(clone))
    git(clone, "fetch", "--quiet", "--depth=2", "origin", "main:main")
    assert git(clone, "merge-base", "main", "HEAD") == git(clone, "rev-parse", "main~1")
    monkeypatch.chdir(clone)
    ran = run("check", "--since=main", "--format", "concise")
    assert (ran.code, says in ran.out) == (2, True), ran.out


@pytest.mark.parametrize("are_added", [False, True])
@pytest.mark.parametrize("option", ["--history", "--history=main"])
def test_no_repository_that_is_made_inside_vouches_for_what_the_outer_one_tracks(
    change: Path, option: str, are_added: bool
) -> None:
    git(change, "checkout", "--quiet", "main")
    write(change, "projects/p2/trace.jsonl", bad("p2"))
    commit(change, "a run that failed")
    git(change, "checkout", "--quiet", "-b", "flip")
    write(change, "projects/p2/trace.jsonl", of("p2"))
    commit(change, "flip")
    inner = change / "projects/p2"
    git(inner, "init", "--quiet", "-b", "main")
    commit(inner, "another one") if are_added else None
    for path in (".", "projects", *(["projects/p2"] * are_added)):
        found = run("check", option, path, "--format", "concise").out
        assert "p2/trace.jsonl:" in found
        assert "history-rewritten" in found
        assert "another repository" not in found
        assert gate(option, path).code == 1
    write(change, "projects/p2/trace.jsonl", of("other"))
    for each in (run("check", option), gate(option)):
        assert (each.code, "no line is left of 1 run: p2" in each.err) == (2, True)
    write(inner, "wip/drive-trace/a.jsonl", of("other"))
    assert "another repository, which has traces" in run("check", "--format", "concise").out


@pytest.mark.parametrize("option", ["--history", "--history=main", "--since=main"])
@pytest.mark.parametrize("text", [of("p6"), of("p2").replace('"p2"', '"new"')])
def test_a_run_is_missed_as_another_one_is_written_over_it(
    change: Path, text: str, option: str
) -> None:
    write(change, "projects/p2/trace.jsonl", text)
    for is_first in (True, False):  # not committed, then committed
        for ran in (run("check", option), gate(option), run("report", option)):
            assert (ran.code, "no line is left of 1 run: p2" in ran.err) == (2, True), ran.err
        for options in ((), ("--run", "p2")):
            ran = run("check", option, *options)
            (command,) = {*re.findall(r"git (show \S+) has it", ran.out)}
            assert (ran.code, git(change, *command.split())) == (2, of("p2").strip())
        commit(change, "over") if is_first else None


@pytest.mark.parametrize("option", ["--history=main", "--since=main"])
@pytest.mark.parametrize("is_link", [False, True])
def test_a_run_that_is_asked_for_is_missed_with_its_file(
    change: Path, is_link: bool, option: str
) -> None:
    path = change / "projects/p2/trace.jsonl"
    path.unlink()
    if is_link:
        path.symlink_to(change.parent)  # which is in no repository
    commit(change, "go")
    ran = run("check", option, "--run", "p2")
    base = git(change, "merge-base", "main", "HEAD")[:10]
    assert f"since {base} ({option[:-5]}); git checkout {base} -- projects/p2" in ran.out
    assert (ran.code, run("check", option, "--run", "p2-typo").code) == (2, 2)
    assert "names none" not in ran.err


@pytest.mark.parametrize("moved", ["", of("p2"), of("p2", "fail")])
@pytest.mark.parametrize("option", ["--history=main", "--history"])
def test_a_run_that_was_appended_is_missed_as_the_file_goes(
    change: Path, moved: str, option: str
) -> None:
    append(change, "projects/p2/trace.jsonl", graded("fail", "pass", "pass", run="new"))
    commit(change, "come")
    git(change, "rm", "--quiet", "projects/p2/trace.jsonl")
    if moved:
        write(change, "projects/moved/trace.jsonl", moved)
    commit(change, "go")
    if moved or option == "--history=main":
        for ran in (run("check", option), gate(option)):
            said = " ".join((ran.out + ran.err).split())
            assert (ran.code, 'the run "new" since' in said or '"new", "p2" since' in said) == (
                2,
                1,
            )
            ((command, how),) = {*re.findall(r"git (\S+ [-a-z0-9~:./ ]+) (has|restores) it", said)}
            assert how == ("has" if moved else "restores"), "no line is to stand twice"
            shown = git(change, *command.split())
            assert '"new"' in (shown or (change / "projects/p2/trace.jsonl").read_text())
            git(change, "reset", "--quiet", "--hard")


@pytest.mark.parametrize(
    ("appended", "code"),
    [
        (bad("p2 too"), 2),
        (graded("fail", "pass", "pass", run="p2"), 1),
        (graded("fail", "pass", "pass", run=None), 1),
    ],
)
def test_what_a_commit_put_back_was_touched(change: Path, appended: str, code: int) -> None:
    git(change, "reset", "--quiet", "--hard", "HEAD~1")
    append(change, "projects/p2/trace.jsonl", appended)
    commit(change, "come")
    git(change, "checkout", "--quiet", "main", "--", "projects/p2")
    commit(change, "go")
    assert gate("--since=main").code == 0
    for options in (["--history=HEAD~2"], ["--since=main", "--history=main"]):
        assert gate(*options).code == code
        assert "[history-rewritten]" in run("check", *options, "--format", "concise").out
    report = run("report", "--since=main", "--history=main", "--format", "markdown").out
    assert "rewritten" in report


def test_what_has_nothing_in_common_with_head_is_compared_with(change: Path) -> None:
    git(change, "checkout", "--quiet", "--orphan", "root")
    write(change, "projects/p2/trace.jsonl", bad("p2"))
    commit(change, "root")
    ran = gate("--history=main")
    assert ran.code == 1
    assert "p5: CORRECT, but history rewritten: 1 line removed" in ran.err
    git(change, "checkout", "--quiet", "main", "--", ".")
    commit(change, "as it was")
    assert "unreadable" not in run("check", "--history=main").out


def test_a_configuration_with_errors_fails_the_check_whatever_was_touched(change: Path) -> None:
    git(change, "reset", "--quiet", "--hard", "HEAD~1")
    write(change, "drive-trace.toml", "nonsense = 1\n")
    commit(change, "break")
    ran = run("check", "--since", "main", "--format", "concise")
    assert (ran.code, ran.out.count("drive-trace.toml:1:1: error[unreadable-file]")) == (2, 1)


def test_a_configuration_fails_the_check_on_a_trace_that_is_gone(change: Path) -> None:
    git(change, "reset", "--quiet", "--hard", "HEAD~1")
    write(change, "drive-trace.toml", 'fail-on = "warning"\n')
    (change / "projects/p2/trace.jsonl").unlink()
    assert run("check", "--exclude", "p[35]/").code == 1
    assert run("check", "--since", "HEAD").code == 2, "git is asked"


def test_what_git_does_not_list_counts_as_not_read(change: Path) -> None:
    for each in (change / ".git" / "objects").glob("??/*"):
        if zlib.decompress(each.read_bytes()).startswith(b"tree "):
            each.unlink()
    ran = gate("--since", "main")
    assert (ran.code, "git exited with 128" in ran.err) == (2, True)


@pytest.mark.parametrize(
    ("origin", "page"),
    [
        ("git@github.com:acme/shop.git", "https://github.com/acme/shop/blob/"),
        ("https://gitlab.com/acme/a/shop", "https://gitlab.com/acme/a/shop/-/blob/"),
        ("https://SECRET@github.com/acme/shop.git", "https://github.com/acme/shop/blob/"),
        ("https://ci:SECRET@gitlab.com/a/shop.git", "https://gitlab.com/a/shop/-/blob/"),
        ("https://github.com:SECRET@evil.example/acme/shop", None),
        ("https://a@b:SECRET@github.com/acme/shop", None),
        ("https://evil.example/acme/shop", None),
    ],
)
def test_a_page_leads_to_a_spec_as_the_pushed_commit_has_it(
    here: Path, origin: str, page: str | None
) -> None:
    spec = {**EVENTS["spec-authored"].example, "spec_path": "projects/p/spec.md", "run": "p"}
    del spec["event_type"], spec["project_run_id"]
    write(here, "projects/p/trace.jsonl", event("spec-authored", **spec))
    write(here, "projects/p/spec.md", "# spec")
    git(here, "init", "--quiet", "--initial-branch=main")
    commit(here, "base")
    git(here, "remote", "add", "origin", origin)
    made = ("report", "--format", "html", "projects/p")
    assert " at " not in run(*made).out.partition('class="events"')[2].partition("</table>")[0]
    git(here, "update-ref", "refs/remotes/origin/main", "HEAD")
    ran = run(*made)
    assert ("/blob/" in ran.out) == (page is not None)
    assert "SECRET" not in ran.out + ran.err
    if page is not None:
        assert re.search(rf'href="{page}[0-9a-f]{{40}}/projects/p/spec\.md"[^>]*> at ', ran.out)
