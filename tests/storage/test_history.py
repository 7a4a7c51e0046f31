"""What git has of a trace: lines that were changed or removed since, and what git must not run."""

import hashlib
import json
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest

from drive_trace.storage.finding import find_traces
from drive_trace.storage.git import CommittedTraces, committed_records, tree_state
from drive_trace.storage.histories import Histories
from drive_trace.trace.history import History
from tests.cli.support import Ran, commit, git, run
from tests.storage.support import first_on_path
from tests.support.client_text import apart, graded, triage
from tests.support.systems import NO_MODES, NO_SCRIPTS, not_on_windows

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")

FAILED = graded("pass", "fail", "pass")
TEXT = triage() + FAILED


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A trace that is committed, below the root of its repository."""
    path = tmp_path / "projects" / "it's" / "trace.jsonl"
    path.parent.mkdir(parents=True)
    path.write_text(TEXT)
    commit(tmp_path, "trace")
    return path


def ask(folder: Path, *arguments: str) -> str:
    """What git answers."""
    found = subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    return found.stdout.decode().strip()


def check(path: Path, *options: str) -> Ran:
    return run("check", "--output-format", "concise", *options, path)


def told(path: Path, *options: str) -> list[str]:
    """The findings on rewritten lines: line and message."""
    found = [each for each in check(path, *options).out.splitlines() if "[history-rewr" in each]
    return [f"{each.split(':')[1]}: {each.partition('rewritten] ')[2]}" for each in found]


def many(count: int) -> str:
    """Events with ids of their own, a failed grade last."""
    return apart(triage() * count + FAILED)


def test_a_flipped_grade_is_told_among_many_edits(path: Path) -> None:
    assert not told(path)
    lines = many(57).splitlines()
    path.write_text("\n".join(lines))
    git(path.parent, "commit", "-q", "-am", "more")
    lines[1:51:3] = [each.replace("-ask", f"{at}") for at, each in enumerate(lines[1:51:3])]
    lines[-1] = lines[-1].replace('"fail"', '"pass"')
    path.write_text("\n".join(lines))
    found = told(path)
    assert [each.partition(":")[0] for each in found] == [*map(str, range(2, 50, 3)), "58"]
    lines = [each.replace("-ask", f"-{at}") for at, each in enumerate(lines)]
    path.write_text("\n".join(lines))
    found = told(path)
    assert len(found) == 17
    assert found[-1] == "58: this line was changed since it was committed, as line 58 of HEAD"
    assert check(path, "--fail-on", "warning").code == 1
    assert found[-2].endswith("line 16 of HEAD; so it is with 41 more lines of no feed")


@pytest.mark.parametrize("layout", ["spaces", "joined", "keys"])
def test_what_is_laid_out_anew_is_no_rewriting(path: Path, layout: str) -> None:
    lines = many(57).splitlines()
    if layout == "joined":  # as they were committed, objects went over several lines
        pretty = [json.dumps(json.loads(each), indent=1) for each in lines]
        path.write_text("\n".join([*pretty[:3], *lines[3:]]))
        git(path.parent, "commit", "-q", "-am", "pretty")
    else:
        path.write_text("\n".join(lines))
        git(path.parent, "commit", "-q", "-am", "more")
        lines = [json.dumps(json.loads(each), sort_keys=layout == "keys") for each in lines]
    path.write_text("\n".join(lines))
    assert not told(path)
    path.write_text("\n".join([*lines[:2], *lines[3:]]))
    assert len(told(path)) == 1


def test_a_line_that_was_moved_is_told(path: Path) -> None:
    lines = apart(triage() + graded("pass", "pass", "pass") + FAILED).splitlines()
    path.write_text("\n".join(lines))
    git(path.parent, "commit", "-q", "-am", "more")
    path.write_text("\n".join([lines[0], lines[2], lines[1], triage(run="new")]))
    assert told(path) == ["3: this line was moved since it was committed, as line 2 of HEAD"]


def test_a_feed_of_which_no_word_is_lost_may_be_mended(path: Path) -> None:
    one, two, other = apart(FAILED + graded("pass", "pass", "pass") + triage()).splitlines()
    path.write_text(f"12: {one}{two}\n{other.replace('}', ',}')}\n")
    git(path.parent, "commit", "-q", "-am", "glued")
    path.write_text(f"{one}\n{two}\n{other.replace('chat', 'a chat')}\n")
    assert not told(path)
    path.write_text(f"{two}\n")
    assert told(path) == ["1: 2 lines above this one are gone, which HEAD has from line 1 on"]


def test_a_rejected_line_may_be_mended_but_a_grade(path: Path) -> None:
    broken = triage().replace("}\n", ",}\n") + graded("pass", "failed", None)
    path.write_text(broken)
    git(path.parent, "commit", "-q", "-am", "broken")
    assert check(path, "--fix").out.count("history-rewritten") == 0
    path.write_text(path.read_text().replace('"failed"', '"pass"'))
    assert check(path).out.count("history-rewritten") == 1


@pytest.mark.parametrize("kind", ["no repository", "not committed", "no commit", "standard input"])
def test_without_a_commit_there_is_nothing_to_compare(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "trace.jsonl"
    path.write_text(TEXT)
    if kind != "no repository":
        git(tmp_path, "init", "-q")
    if kind == "not committed":
        (tmp_path / "other").write_text("")
        git(tmp_path, "add", "other")
        git(tmp_path, "commit", "-q", "-m", "other")
    assert committed_records("-" if kind == "standard input" else str(path)) is None


def test_git_is_not_asked_about_each_trace_that_is_as_committed(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a b", "new", "ü"):
        (tmp_path / "projects" / name).mkdir()
        (tmp_path / "projects" / name / "trace.jsonl").write_text(TEXT)
    git(tmp_path, "add", "--all", ":!projects/new")
    git(tmp_path, "commit", "-q", "-m", "more")
    first_on_path(tmp_path, monkeypatch, f'echo >> {tmp_path}/ran; exec {shutil.which("git")} "$@"')
    assert "[history-rewritten]" not in check(tmp_path).out
    # For what it tracks, what it ignores and what was committed.
    assert (tmp_path / "ran").read_text() == "\n" * 3
    for each in tmp_path.glob("projects/*/trace.jsonl"):
        each.write_text(triage(run="other") + FAILED)
    assert check(tmp_path).out.count("[history-rewritten]") == 3


def test_a_git_that_does_not_answer_is_not_asked_again(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_on_path(tmp_path, monkeypatch, f"echo >> {tmp_path}/ran; exec sleep 60")
    monkeypatch.setattr("drive_trace.storage.git._PATIENCE", 0.5)
    committed = CommittedTraces()
    assert [committed.records(str(path), [""]) for _ in range(2)] == [None, None]
    assert (tmp_path / "ran").read_text() == "\n"


@not_on_windows(NO_MODES)
def test_a_damaged_object_hides_no_other_trace(path: Path, tmp_path: Path) -> None:
    (tmp_path / "trace.jsonl").write_text(TEXT + triage(run="other"))
    commit(tmp_path, "other")
    name = ask(tmp_path, "rev-parse", "HEAD:trace.jsonl")
    damaged = tmp_path / ".git" / "objects" / name[:2] / name[2:]
    damaged.chmod(0o600)
    damaged.write_bytes(b"nothing")
    committed, now = CommittedTraces(), FAILED.split("\n")
    assert committed.records(str(tmp_path / "trace.jsonl"), now) is None
    assert committed.records(str(path), now) == TEXT.split("\n")


@not_on_windows(NO_SCRIPTS)
def test_a_repository_runs_nothing(path: Path, tmp_path: Path) -> None:
    witness = tmp_path / "witness"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {witness}\nexec cat\n")
    script.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "core.alternateRefsCommand",
        "diff.x.textconv",
        "diff.x.command",
        "diff.external",
        "gpg.program",
        "filter.x.smudge",
        "filter.x.clean",
        "filter.x.process",
        "alias.cat-file",
        "alias.ls-files",
        "credential.helper",
    ):
        git(tmp_path, "config", key, f"!{script}" if key.startswith("alias") else str(script))
    for key in ("log.showSignature", "diff.orderFile", "log.follow"):
        git(tmp_path, "config", key, "true")
    git(tmp_path, "config", "extensions.partialClone", "origin")
    git(tmp_path, "config", "remote.origin.url", f"ext::{script}")
    git(tmp_path, "config", "protocol.ext.allow", "always")
    (tmp_path / ".gitattributes").write_text("* filter=x diff=x\n")
    for hook in ("post-index-change", "reference-transaction"):
        shutil.copy(script, tmp_path / ".git" / "hooks" / hook)
    assert committed_records(str(path)) == [*TEXT.split("\n")]
    tree = ask(tmp_path, "rev-parse", "HEAD^{tree}")
    signed = f"tree {tree}\nauthor a <> 1 +0000\ncommitter a <> 1 +0000\ngpgsig x\n\nsigned\n"
    (tmp_path / "signed").write_text(signed)
    commit = ask(tmp_path, "hash-object", "-w", "-t", "commit", "signed")
    git(tmp_path, "reset", "-q", "--soft", commit)
    git(tmp_path, "add", "signed")
    witness.unlink()  # these were hooks and filters of this test's own git
    for since in ("", "HEAD"):
        found = Histories(since).of(str(path))
        assert isinstance(found, History), found
        assert found.since == commit
    missing = next((tmp_path / ".git" / "objects").glob("??/*"))
    missing.unlink()  # now git would like to fetch
    committed_records(str(path))
    (tmp_path / ".gitignore").write_text("projects\n")
    assert str(path) in find_traces([str(tmp_path)])  # as git says that it is tracked
    (tmp_path / "signed").write_text("compared with what git tracks")
    assert tree_state(str(tmp_path), str(path)) == (commit, False)
    assert not witness.exists()


@pytest.mark.parametrize("hidden", ["", "submodule.lib.ignore", "status.showUntrackedFiles"])
def test_no_setting_hides_that_a_tree_was_changed(hidden: str, path: Path, tmp_path: Path) -> None:
    library = tmp_path / "lib"
    git(tmp_path, "init", "-q", "lib")
    (library / "code.py").write_text("1")
    commit(library, "library")
    (tmp_path / ".gitmodules").write_text('[submodule "lib"]\npath = lib\nurl = ./lib\n')
    commit(tmp_path, "all")
    if hidden:
        git(tmp_path, "config", hidden, "all" if "ignore" in hidden else "no")

    def is_clean() -> bool | None:
        return tree_state(str(path.parent), str(path))[1]

    path.write_text(TEXT + FAILED)
    assert is_clean() is True
    (library / "code.py").touch()
    assert is_clean() is True
    (library / "code.py").write_text("2")
    assert is_clean() is False
    git(library, "commit", "-qam", "another")
    assert is_clean() is False
    git(tmp_path, "commit", "-qam", "all")
    assert is_clean() is True
    (tmp_path / "conftest.py").write_text("")
    assert is_clean() is False


def test_committed_files_that_look_like_a_repository_are_files(
    path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a folder with these git finds this repository, and runs what it names."""
    folder, witness = path.parent, tmp_path / "witness"
    (folder / "code.py").write_text("1")
    (folder / "drive-trace.toml").write_text("[rules]\n")
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / ".gitattributes").write_text("* filter=x\n")
    clean = f"touch {witness}; cat"
    (folder / "config").write_text(
        "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\n"
        f'[filter "x"]\nclean = {json.dumps(clean)}\n'
    )
    for each in ("refs", "objects"):
        (folder / each).mkdir()
        (folder / each / "keep").write_text("")
    commit(tmp_path, "all")
    base = ask(tmp_path, "rev-parse", "HEAD")
    exempt = '[[score.exempt]]\nruns = ["*"]\nreason = "known"\nuntil = 2099-01-01\n'
    blob = _put(folder, b"blob", exempt.encode())
    tree = _put(folder, b"tree", b"100644 drive-trace.toml\0" + bytes.fromhex(blob))
    who = "a <a@b> 1 +0000"
    _put(folder, b"commit", f"tree {tree}\nauthor {who}\ncommitter {who}\n\nx\n".encode(), base)
    (folder / "code.py").write_text("2")
    witness.unlink(missing_ok=True)
    monkeypatch.chdir(tmp_path)
    forged = ("--require-correct", "--trust-config-at", base)
    assert run("score", *forged, ".").code == 1
    gate = ("gate", "--trace-file", path, "--project-run-id", "run-1", "--component", "qa")
    assert run(*gate, "--run", "true", "--cwd", folder).code == 0
    record = path.with_name(f"{path.name}.judgements.ndjson").read_text().splitlines()[-1]
    assert (json.loads(record)["commit"], json.loads(record)["clean"]) == (base, False)
    assert not witness.exists()


def _put(folder: Path, kind: bytes, data: bytes, name: str = "") -> str:
    """Write an object as git keeps it, by default under its own name."""
    raw = b"%s %d\0" % (kind, len(data)) + data
    name = name or hashlib.sha1(raw, usedforsecurity=False).hexdigest()
    place = folder / "objects" / name[:2] / name[2:]
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(zlib.compress(raw))
    return name
