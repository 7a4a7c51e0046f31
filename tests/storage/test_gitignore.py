"""Which files patterns mean: the same as for git."""

import os
import random
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from drive_trace.storage.configuration_text import read_configuration
from drive_trace.storage.files import LeftOut
from drive_trace.storage.finding import Omission, find_traces
from drive_trace.storage.patterns import Patterns, as_bytes, patterns_of
from tests.support.growth import assert_linear

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="there is no git to agree with")
Git = Callable[..., bytes]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """Runs git in a fresh repository, without the user's configuration."""
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1", "HOME": str(tmp_path)}

    def run(*args: str, stdin: bytes = b"") -> bytes:
        command = ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", *args]
        return subprocess.run(
            command, input=stdin, capture_output=True, env={**os.environ, **quiet}, check=False
        ).stdout

    run("init", "--quiet")
    return run


# The patterns of a configuration


@pytest.mark.parametrize(
    ("glob", "means", "not_"),
    [
        ("legacy/**", "legacy/a.jsonl legacy/b/c.jsonl", "x/legacy/a.jsonl legacyx/a.jsonl"),
        ("legacy", "legacy/a.jsonl x/legacy/a.jsonl legacy", "legacyx/a.jsonl x/legacy.jsonl"),
        ("legacy/", "legacy/a.jsonl x/legacy/y/a.jsonl", "legacy x/legacy"),
        ("/legacy", "legacy/a.jsonl legacy", "x/legacy/a.jsonl"),
        ("*.jsonl", "a.jsonl x/y/a.jsonl", "a.json"),
        ("trace.jsonl", "trace.jsonl a/b/trace.jsonl", "a/xtrace.jsonl"),
        (
            "projects/*/trace.jsonl",
            "projects/a/trace.jsonl",
            "projects/a/b/trace.jsonl x/projects/a/trace.jsonl",
        ),
        ("projects/*", "projects/a/trace.jsonl projects/a/b/trace.jsonl projects/x", "projects"),
        ("projects/**/trace.jsonl", "projects/trace.jsonl projects/a/b/trace.jsonl", "trace.jsonl"),
        ("**/wip/d?.jsonl", "wip/d1.jsonl a/wip/d2.jsonl", "wip/d10.jsonl wip/x/d1.jsonl"),
        ("**", "a a/b", ""),
        ("[ab].jsonl", "a.jsonl x/b.jsonl", "c.jsonl"),
        ("[!ab].jsonl", "c.jsonl", "a.jsonl"),
        ("日本/*.jsonl", "日本/é.jsonl", "日/é.jsonl"),
        ("A.jsonl", "A.jsonl", "a.jsonl"),
        # What git sees otherwise than it looks.
        ("a/**/", "a/b/c.jsonl", "a/c.jsonl"),
        ("[[:digit:]].jsonl", "1.jsonl", "d.jsonl"),
        ("[z-a].jsonl", "z.jsonl", "a.jsonl y.jsonl"),
        ("trace.jsonl ", "trace.jsonl", "x"),
    ],
)
def test_what_a_pattern_means(glob: str, means: str, not_: str) -> None:
    patterns = patterns_of((glob,))
    assert [path for path in means.split() if not patterns.hold(path)] == []
    assert [path for path in not_.split() if patterns.hold(path)] == []


@pytest.mark.parametrize(
    ("glob", "said"),
    [
        ("", "empty"),
        ("//", "empty"),
        ("!legacy", "negated"),
        ("legacy\\\\a", "separated by `/`"),
        ("../other/**", "out of the folder"),
        ("a/../b", "out of the folder"),
        ("# legacy", "can mean a file"),
        ("[legacy", "can mean a file"),
    ],
)
def test_what_is_no_pattern(glob: str, said: str) -> None:
    text = f'[[overrides]]\npaths = ["{glob}"]\nrules.malformed-uuid = "off"\n'
    problems = read_configuration(text)
    assert isinstance(problems, tuple)
    assert said in problems[0].message


@pytest.mark.parametrize("step", ["**/", "*a", "**/a/", "a*?"])
@pytest.mark.parametrize("path", ["a/", "a"])
def test_no_pattern_takes_long(step: str, path: str) -> None:
    patterns = Patterns([step * 100 + "x"])

    def prepare(size: int) -> Callable[[], object]:
        long = path * size + "b"
        return lambda: patterns.decide(long)

    assert patterns.decide(path * 2000 + "b") is None
    assert_linear(prepare, 16_000)


# The same as git

_ATOMS = "a b ab * ? ** [ab] [!a] \\a c [a-b] a*b *a* b? [[:alpha:]] []a] [\\]a] é # ! [b-a] [a"
_NAMES = "a b ab abb c é # ! [ ba ]"


def _pattern(random_: random.Random) -> str:
    atoms = _ATOMS.split()
    steps = [
        "**"
        if random_.random() < 0.2
        else "".join(random_.choices(atoms, k=random_.choice((1, 1, 2))))
        for _ in range(random_.choice((1, 1, 1, 2, 2, 3)))
    ]
    before = ("!" if random_.random() < 0.3 else "") + ("/" if random_.random() < 0.2 else "")
    return before + "/".join(steps) + ("/" if random_.random() < 0.3 else "")


@needs_git
def test_random_trees_are_ignored_as_git_ignores_them(tmp_path: Path, git: Git) -> None:
    random_ = random.Random(13)
    names = _NAMES.split()
    for _ in range(60):
        tree = tmp_path / "tree"
        tree.mkdir()
        for _ in range(12):
            folder = tree.joinpath(*random_.choices(names, k=random_.choice((0, 1, 2))))
            if not any(each.is_file() for each in (folder, *folder.parents)):
                folder.mkdir(parents=True, exist_ok=True)
                if not (folder / "trace.jsonl").exists():
                    (folder / "trace.jsonl").touch()
                if random_.random() < 0.3:
                    lines = [_pattern(random_) for _ in range(random_.choice((1, 2, 4)))]
                    (folder / ".gitignore").write_text("\n".join(lines), "utf-8")
        (tmp_path / ".git" / "info" / "exclude").write_text(_pattern(random_), "utf-8")
        found = list(find_traces([str(tmp_path)]))
        ours = {each.path for each in found if isinstance(each, LeftOut)}
        paths = [str(path) for path in tree.rglob("trace.jsonl")]
        asked = "\0".join(paths).encode()
        theirs = git("check-ignore", "-z", "--stdin", stdin=asked).decode().split("\0")
        assert ours == set(theirs) - {""}
        shutil.rmtree(tree)


@needs_git
def test_what_git_tracks_is_always_read(tmp_path: Path, git: Git) -> None:
    """Also in hidden folders, and in libraries."""
    tracked = [".hidden/trace.jsonl", "node_modules/a/trace.jsonl", "out/é/trace.jsonl"]
    left_out = [".hidden/b/trace.jsonl", "out/b/trace.jsonl"]
    for name in (*tracked, *left_out, "node_modules/trace.jsonl"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text("out\n")
    git("add", "--force", *tracked)
    found = list(find_traces([str(tmp_path)]))
    assert {each for each in found if isinstance(each, str)} == {
        str(tmp_path / name) for name in tracked
    }
    assert {each.path for each in found if isinstance(each, LeftOut)} == {
        str(tmp_path / name) for name in (*left_out, "node_modules")
    }


@needs_git
def test_a_repository_in_another_one(tmp_path: Path, git: Git) -> None:
    """A further working tree holds copies: it is left out as a whole, but not for somebody who
    stands in it.
    """
    for name in ("trace.jsonl",):
        (tmp_path / name).touch()
        git("add", name)
    git("commit", "-qm", "a")
    git("worktree", "add", "-q", "trees/a")
    inner = tmp_path / "trees" / "a" / "trace.jsonl"
    assert list(find_traces([str(tmp_path)])) == [
        str(tmp_path / "trace.jsonl"),
        LeftOut(str(inner.parent), Omission.REPOSITORY),
    ]
    assert list(find_traces([str(inner.parent)])) == [str(inner)]


@needs_git
def test_what_git_does_not_say_is_left_out_and_named(tmp_path: Path, git: Git) -> None:
    """Without an answer of git, nothing counts as tracked; a gate fails on what is ignored."""
    (tmp_path / ".gitignore").write_text("out\n")
    trace = tmp_path / "out" / "trace.jsonl"
    trace.parent.mkdir()
    trace.touch()
    git("add", "--force", "out")
    assert list(find_traces([str(tmp_path)])) == [str(trace)]
    for damage in (b"", b"DIRC\0\0\0\2\0\0\0\7abc", b"x" * 99):
        (tmp_path / ".git" / "index").write_bytes(damage)
        assert list(find_traces([str(tmp_path)]))[1:] == [LeftOut(str(trace), Omission.IGNORED)]


def test_bytes_are_what_a_pattern_counts() -> None:
    assert Patterns(["??"]).decide(as_bytes("é"))
    assert Patterns.of_file("\ufeff/é\r\n".encode()).decide(as_bytes("é/"))


def test_a_file_with_more_patterns_than_anybody_writes_leaves_nothing_out(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "HEAD").touch()
    trace = tmp_path / "out" / "trace.jsonl"
    trace.parent.mkdir()
    trace.touch()
    for text, is_read in (
        ("# as a person writes it\n\n" * 1000 + "a\n" * 3999 + "out\n", True),
        ("a\n" * 4000 + "out\n", False),
        ("a" * 70_000 + "\nout\n", False),
    ):
        (tmp_path / ".gitignore").write_text(text)
        found = list(find_traces([str(tmp_path)]))
        assert (found[-1] == LeftOut(str(trace), Omission.IGNORED)) == is_read
        unread = LeftOut(str(tmp_path / ".gitignore"), Omission.PATTERNS)
        assert (found == [str(trace), unread]) != is_read


@needs_git
def test_a_name_that_the_system_refuses_ends_no_search(tmp_path: Path, git: Git) -> None:
    """The index names a file below a library that no file system can hold."""
    (tmp_path / "node_modules").mkdir()
    tracked = "node_modules/" + "a" * 300 + "/trace.jsonl"
    blob = git("hash-object", "-w", "--stdin").decode().strip()
    git("update-index", "--add", "--cacheinfo", f"100644,{blob},{tracked}")
    assert git("ls-files").decode().strip() == tracked
    trace = tmp_path / "z" / "trace.jsonl"
    trace.parent.mkdir()
    trace.touch()
    library = LeftOut(str(tmp_path / "node_modules"), Omission.LIBRARY)
    assert list(find_traces([str(tmp_path)])) == [str(trace), library]
