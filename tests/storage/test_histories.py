"""What git vouches for: every line that a commit recorded is still there, as and where it was."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from drive_trace.storage.files import Problem
from drive_trace.storage.histories import Histories
from tests.cli.support import CLEAN, commit, git, run, write
from tests.storage.test_history import ask, many, told
from tests.support.client_text import apart, graded, tokens, triage

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

PASSED = graded("pass", "pass", "pass")
EVENTS = apart(triage() * 2 + graded("pass", "fail", "pass")).splitlines()
LATER = apart(triage(run="run-2") * 6).splitlines()
OTHER = many(7).replace("-6f1d-", "-6f2d-").splitlines()
FLIPPED = EVENTS[2].replace('"fail"', '"pass"')


class Checkout:
    """A repository with one trace."""

    def __init__(self, root: Path) -> None:
        self.root, self.path = root, root / "trace.jsonl"
        root.mkdir(exist_ok=True)
        self.commit("start", *EVENTS)

    def commit(self, subject: str, *lines: str) -> None:
        self.path.write_text("".join(f"{line}\n" for line in lines))
        commit(self.root, subject)


@pytest.fixture
def repo(tmp_path: Path) -> Checkout:
    return Checkout(tmp_path / "repo")


def append(repo: Checkout) -> None:
    repo.commit("more", *EVENTS, *LATER)


def amend(repo: Checkout) -> None:
    repo.commit("more", *EVENTS, LATER[0])
    repo.path.write_text("\n".join([*EVENTS, LATER[1]]))
    git(repo.root, "commit", "-q", "-a", "--amend", "-m", "other")


def rebase(repo: Checkout) -> None:
    git(repo.root, "checkout", "-q", "-b", "side")
    repo.commit("more", *EVENTS, LATER[0])
    git(repo.root, "checkout", "-q", "main")
    git(repo.root, "commit", "-q", "--allow-empty", "-m", "other")
    git(repo.root, "rebase", "-q", "main", "side")


def squash(repo: Checkout) -> None:
    git(repo.root, "checkout", "-q", "-b", "side")
    repo.commit("more", *EVENTS, LATER[0])
    repo.commit("other", *EVENTS, LATER[1])
    git(repo.root, "checkout", "-q", "main")
    git(repo.root, "merge", "-q", "--squash", "side")
    git(repo.root, "commit", "-q", "-m", "squashed")


def union(repo: Checkout) -> None:
    (repo.root / ".gitattributes").write_text("*.jsonl merge=union\n")
    repo.commit("attributes", *EVENTS)
    git(repo.root, "checkout", "-q", "-b", "side")
    repo.commit("theirs", *EVENTS, *LATER[:2])
    git(repo.root, "checkout", "-q", "main")
    repo.commit("ours", *EVENTS, *LATER[2:4])
    git(repo.root, "merge", "-q", "--no-ff", "-m", "both", "side")


def rename(repo: Checkout) -> None:
    moved = repo.root / "p" / "trace.jsonl"
    moved.parent.mkdir()
    git(repo.root, "mv", str(repo.path), str(moved))
    repo.path = moved
    repo.commit("moved", *EVENTS, LATER[0])


def reformat(repo: Checkout) -> None:
    repo.commit("spaces", *(line.replace(",", ", ") for line in EVENTS))


@pytest.mark.parametrize(
    "change",
    [append, amend, rebase, squash, union, rename, reformat],
    ids=lambda each: each.__name__,
)
def test_what_only_grew_is_append_only(repo: Checkout, change: Callable[[Checkout], None]) -> None:
    change(repo)
    assert not told(repo.path, "--history", "--fail-on", "warning")
    # And what the same history does to a grade later on is found.
    kept = repo.path.read_text().splitlines()
    repo.commit("Tidy ::up", *(each.replace('"fail"', '"pass"') for each in kept))
    assert not told(repo.path)
    (found,) = told(repo.path, "--history")
    assert found.startswith("3: this line was changed by commit ")
    assert found.endswith(" (Tidy <U+003A>:up), before which it was line 3")


def test_a_graft_hides_no_commit(repo: Checkout) -> None:
    repo.commit("flipped", *EVENTS[:2], FLIPPED, *EVENTS[3:])
    head = git(repo.root, "rev-parse", "HEAD")
    (repo.root / ".git/info/grafts").write_text(f"{head}\n")
    assert told(repo.path, "--history")
    (repo.root / f".git/objects/{head[:2]}/{head[2:]}").unlink()
    broken = run("check", "--history", repo.path)
    assert (broken.code, "hint:" in broken.out + broken.err) == (2, False)


def test_a_grade_that_was_flipped_among_17_edits_is_told_with_its_commit(repo: Checkout) -> None:
    lines = many(57).splitlines()
    repo.commit("many", *lines)
    lines[1:51:3] = [each.replace("-ask", f"{at}") for at, each in enumerate(lines[1:51:3])]
    lines[-1] = lines[-1].replace('"fail"', '"pass"')
    repo.commit("Reword", *lines, *LATER)
    found = told(repo.path, "--history")
    assert any(each.startswith("58: this line was changed by ") for each in found)
    assert len(found) == 1 + 16 + 1  # and what stood there at first, a grade among it
    assert sum(each.endswith("so it is with 1 more line of no feed") for each in found) == 1
    assert "history: 1 trace held against 3 commits; 0 lines not committed" in (
        run("check", "--history", repo.path).out
    )


@pytest.mark.parametrize("how", ["line", "file", "moved", "put back"])
def test_what_was_removed_or_moved_is_told(repo: Checkout, how: str) -> None:
    if how == "file":
        repo.path.unlink()
        git(repo.root, "commit", "-q", "-a", "-m", "gone")
    elif how == "moved":
        repo.commit("gone", EVENTS[2], *EVENTS[:2])
    else:
        repo.commit("gone", *EVENTS[:2])
    lines = {"file": EVENTS[:2], "moved": [EVENTS[2], *EVENTS[:2]], "line": EVENTS[:2]}
    repo.commit("later", *lines.get(how, EVENTS), *LATER)
    found = [each.partition(" commit ")[0] for each in told(repo.path, "--history")]
    assert (
        found
        == {
            "line": ["2: 1 line below this one is gone, which stood from line 3 on before"],
            "file": ["2: 1 line below this one is gone, which stood from line 3 on before"],
            "moved": ["1: this line was moved by"],
            "put back": [],
        }[how]
    )


@pytest.mark.parametrize("how", ["moved", "then", "new"])
def test_what_is_rewritten_while_its_file_moves_is_told(repo: Checkout, how: str) -> None:
    """git calls it no rename, as half of it is another one."""
    old, repo.path = repo.path, repo.root / "moved" / "trace.jsonl"
    repo.path.parent.mkdir()
    if how == "moved":
        old.rename(repo.path)
    else:
        old.unlink()
        git(repo.root, "commit", "-q", "-a", "-m", "Move")
    lines = [*EVENTS[:2], FLIPPED, *OTHER]
    if how == "new":
        repo.path.write_text("\n".join(lines))
    else:
        repo.commit("Move", *lines)
    for option in (
        "--history",
        f"--history={ask(repo.root, 'rev-list', '--max-parents=0', 'main')}",
    ):
        (found,) = told(repo.path, option)
        assert found.startswith("3: this line was changed by commit ")
        assert found.endswith(" (Move), before which it was line 3 of trace.jsonl")
        said = run("score", option, "--format", "text", repo.path).out
        assert "history rewritten: 1 line changed" in " ".join(said.split())
        assert "append-only" not in said


def test_a_file_of_the_run_that_was_removed_is_told_unless_its_lines_stand_elsewhere(
    repo: Checkout,
) -> None:
    other = repo.root / "other" / "trace.jsonl"
    other.parent.mkdir()
    other.write_text("\n".join([*OTHER[-4:], LATER[0]]))
    repo.commit("more", *EVENTS)
    other.unlink()
    repo.commit("Remove", *EVENTS)
    (found,) = told(repo.path, "--history")
    where = "which stood from line 1 on of other/trace.jsonl before commit "
    assert f"4 lines above this one are gone, {where}" in found
    assert "append-only" not in run("score", "--history", repo.path).out
    (repo.root / "third.jsonl").write_text("\n".join(OTHER))
    repo.commit("Put back", *EVENTS)
    assert not told(repo.path, "--history")
    assert "append-only" in run("score", "--history", repo.path).out


def test_a_run_that_is_gone_concerns_the_others_of_its_file(repo: Checkout) -> None:
    two = [
        *GRADED,
        *apart(triage(run="gone") + graded("fail", "fail", "fail", run="gone")).splitlines(),
    ]
    repo.commit("two", *two)
    repo.commit("one", *GRADED)
    said = " ".join(run("score", "--history=HEAD~1", "--format", "text", repo.path).out.split())
    assert "CORRECT, but lines of 1 file are gone; history rewritten: 2 lines removed" in said
    assert "history: 2 lines rewritten since" in said
    repo.commit("back", *two)
    repo.commit("reworded", two[0], *two[1:3], two[3].replace("chat-ask", "chat"), two[4])
    said = " ".join(run("score", "--history=HEAD~1", "--format", "text", repo.path).out.split())
    assert "CORRECT," not in said
    assert "append-only" not in said  # of no run of it


def test_what_is_asked_for_holds_also_where_a_configuration_turns_the_rule_off(
    repo: Checkout,
) -> None:
    repo.commit("Flip", *EVENTS[:2], FLIPPED)
    (repo.root / "drive-trace.toml").write_text('[rules]\nhistory-rewritten = "off"\n')
    assert "(Flip)" in "".join(told(repo.path, "--history"))
    assert not told(repo.path)
    assert not told(repo.path, "--history", "--ignore", "history-rewritten")


def test_a_repository_without_commits_has_no_history(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    path = tmp_path / "trace.jsonl"
    path.write_text(EVENTS[0])
    found = run("check", "--history", path)
    assert (found.code, "held against 0 commits; 1 line not committed" in found.out) == (0, True)
    assert run("check", "--history=HEAD", path).code == 2


def test_traces_of_one_commit_are_held_against_one(repo: Checkout) -> None:
    for name in ("b", "c"):
        (repo.root / name).mkdir()
        (repo.root / name / "trace.jsonl").write_text(apart(triage(run=name)))
    git(repo.root, "add", ".")
    git(repo.root, "commit", "-q", "--amend", "-m", "all at once")
    found = run("check", "--history", repo.root)
    assert "history: 3 traces held against 1 commit; 0 lines not committed" in found.out


def test_lines_that_were_never_committed_are_told_from_those_that_were(repo: Checkout) -> None:
    repo.path.write_text("\n".join([*EVENTS[:2], FLIPPED, LATER[0]]))
    found = run("check", "--history", "--output-format", "concise", repo.path)
    assert "this line was changed since it was committed, as line 3 of HEAD" in found.out
    assert "held against 1 commit; 2 lines not committed" in found.out
    other = repo.root / "new.jsonl"
    other.write_text(apart(triage(run=other.name)))
    found = run("check", "--history", other)
    assert "held against 0 commits; 1 line not committed" in found.out
    assert "history: never committed to git" in run("score", "--history", other).out


def test_a_pull_request_is_held_against_its_base(repo: Checkout) -> None:
    base = Checkout(repo.root.parent / "base")  # as a server makes it: the merge of the two
    git(base.root, "checkout", "-q", "-b", "change")
    base.commit("grade", *EVENTS, LATER[0])
    base.commit("Flip", *EVENTS[:2], FLIPPED, LATER[1])
    git(base.root, "checkout", "-q", "main")
    git(base.root, "commit", "-q", "--allow-empty", "-m", "meanwhile")
    git(base.root, "merge", "-q", "--no-ff", "-m", "merge", "change")
    grade, line = sorted(told(base.path, "--history=HEAD^1"), reverse=True)
    assert "3: this line was changed by commit" in grade
    assert "(Flip)" in grade
    assert "gone" in line  # of what the change itself had recorded first
    assert not told(base.path, "--history=HEAD")
    # What a merge dropped of the base is told where only the base had it.
    git(base.root, "checkout", "-q", "-b", "stale", "main~1")
    git(base.root, "checkout", "-q", "main")
    base.commit("graded", *EVENTS[:2], FLIPPED, LATER[1], apart(PASSED + tokens(1, 2, 3, 4)))
    git(base.root, "checkout", "-q", "stale")
    git(base.root, "merge", "-q", "-s", "ours", "-m", "merge", "main")
    assert any("in a merge after this commit" in each for each in told(base.path, "--history=main"))


*GRADED, MORE = apart(triage() + tokens(1, 2, 3, 4) + PASSED + triage()).splitlines()


@pytest.mark.parametrize(
    ("lines", "short", "is_earned"),
    [
        ([GRADED[0], GRADED[1].replace(":4}", ":5}"), GRADED[2]], "1 line changed", False),
        (GRADED[1:], "1 line removed", True),
        ([*GRADED, MORE], "", True),
    ],
    ids=["cost", "other", "append"],
)
def test_a_score_says_what_git_vouches_for(
    repo: Checkout, lines: list[str], short: str, is_earned: bool
) -> None:
    start = ask(repo.root, "rev-parse", "HEAD")
    repo.commit("grade", *GRADED)
    repo.commit("Change", *lines)
    options = ("--history=HEAD~1", "--format")
    (scored, *_) = run("score", *options, "json", repo.path).json["runs"]
    found = [each for each in scored["caveats"] if each["code"] == "rewritten-history"]
    assert [each["qualifies"] for each in found] == [not is_earned] * bool(short)
    base = ask(repo.root, "rev-parse", "HEAD~1")
    words = f"{'1 line rewritten' if short else 'append-only'} since {base[:10]} (1 commit)"
    for format_ in ("text", "table", "markdown"):
        said = " ".join(run("score", *options, format_, repo.path).out.split())
        assert f"history: {words}" in said
        assert (f"history rewritten: {short}" in said) == bool(short)
    for format_ in ("html", "markdown"):
        page = run("report", *options, format_, repo.path).out
        assert f"history: {words}" in page
    assert "history" not in run("score", "--format", "text", repo.path).out
    required = run("score", "--require-correct", "--history=HEAD~1", repo.path)
    assert required.code == (not is_earned)
    whole = run("score", "--history", "--format", "text", repo.path).out
    assert f"since {start[:10]} (3 commits)" in " ".join(whole.split())


def test_a_worktree_and_a_submodule_have_their_history(repo: Checkout) -> None:
    repo.commit("Flip", *EVENTS[:2], FLIPPED)
    tree = repo.root.parent / "tree"
    git(repo.root, "worktree", "add", "-q", "-b", "tree", str(tree))
    outer = Checkout(repo.root.parent / "outer")
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(repo.root), "inner")
    git(outer.root, *add)
    git(outer.root, "commit", "-q", "-m", "inner")
    for path in (tree / "trace.jsonl", outer.root / "inner" / "trace.jsonl"):
        assert "(Flip)" in "".join(told(path, "--history"))
    assert not told(outer.path, "--history")


def test_what_git_does_not_tell_whole_is_not_read(repo: Checkout, tmp_path: Path) -> None:
    repo.commit("more", *EVENTS, *LATER)
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", repo.root.as_uri(), str(shallow))
    for path, option, why in (
        (shallow / "trace.jsonl", "--history", "its history is cut off, as the clone is shallow"),
        (shallow / "trace.jsonl", "--history=HEAD^", "HEAD^ is no commit that is here; fetch it"),
        (repo.path, "--history=--all", "--all is no commit that is here; fetch it"),
    ):
        found = run("check", option, path)
        assert found.code == 2
        assert why in found.out + found.err
    git(shallow, "fetch", "-q", "--unshallow")
    assert run("check", "--history", shallow / "trace.jsonl").code == 0
    assert run("check", "--history=HEAD^", shallow / "trace.jsonl").code == 0


@pytest.mark.parametrize("command", ["check", "score", "report"])
def test_a_commit_that_no_repository_has_is_told_once(
    command: str, repo: Checkout, tmp_path: Path
) -> None:
    write(repo.root, "more/trace.jsonl", CLEAN)
    other = write(tmp_path / "elsewhere", "trace.jsonl", CLEAN)
    for wrong, why in (("nope", "is no commit that is here"), ("a..b", "is a range of commits")):
        ran = run(command, f"--history={wrong}", repo.root, other)
        assert (ran.code, ran.out) == (2, "")
        assert ran.err.count(f"{wrong} {why}") == 1
        assert len(ran.err.splitlines()) == 4
    # Outside of a repository nothing vouches; and one of several that has it is enough.
    for path, text, why in (
        (other, "", "it is in no repository of git"),
        ("-", CLEAN, "standard input is no file"),
    ):
        assert run(command, "--history=nope", other).code == 2
        ran = run(command, "--history", path, stdin=text)
        assert (ran.code, f"{path}: its history cannot be read: {why}" in ran.err) == (2, True)
    second = Checkout(tmp_path / "second")
    git(second.root, "tag", "base")
    ran = run(command, "--history=base", repo.path, second.path)
    assert (ran.code, bool(ran.out)) == (2, True)
    assert f"{repo.path}: its history cannot be read" in ran.err + ran.out


def test_a_history_without_a_version_is_not_read(repo: Checkout) -> None:
    repo.commit("Flip", *EVENTS[:2], FLIPPED)
    for each in (repo.root / ".git" / "objects").glob("??/*"):
        each.chmod(0o600)
        each.write_bytes(b"nothing")
    assert isinstance(Histories().of(str(repo.path)), Problem)


def test_a_rejected_line_that_a_commit_mended_is_no_secret(repo: Checkout) -> None:
    rejected = LATER[0].replace('"triage-verdict"', '"round-end"')
    repo.commit("more", *EVENTS, rejected, *LATER[1:])
    repo.commit("Mend", *EVENTS, *LATER)
    how = "(3 commits), but for 1 mended rejected line"
    assert how in " ".join(run("score", "--history", "--format", "text", repo.path).out.split())
    (held, *_) = run("score", "--history", "--format", "json", repo.path).json["runs"][0]["history"]
    assert (held["rewritten"], held["mended"]) == (0, 1)
    checked = run("check", "--history", repo.path)
    assert "0 lines not committed; 1 rejected line mended" in checked.out + checked.err
    assert "history-rewritten" not in checked.out
    repo.commit("Flip", *EVENTS[:2], FLIPPED, *LATER)  # which is told for itself
    said = " ".join(run("score", "--history", "--format", "text", repo.path).out.split())
    assert "history: 1 line rewritten since" in said
    assert how.replace("3", "4", 1) in said
