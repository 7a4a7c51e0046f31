"""Which files patterns mean, and what git ignores and tracks."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from drive_trace.lsp.workspace.closed_traces import TraceFolders
from drive_trace.storage.configuration import Configuration
from drive_trace.storage.files import LeftOut
from drive_trace.storage.finding import LinkOut, Omission, find_traces
from drive_trace.storage.patterns import patterns_of
from drive_trace.storage.toml_models import read_table
from tests.cli.support import commit, git
from tests.storage.support import first_on_path
from tests.support.growth import assert_linear

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
        ("[^ab].jsonl", "c.jsonl", "a.jsonl"),
        ("a/**/", "a/b/c.jsonl", "a/c.jsonl"),
        ("trace.jsonl ", "trace.jsonl", "x"),
    ],
)
def test_what_a_pattern_means(glob: str, means: str, not_: str) -> None:
    patterns = patterns_of((glob,))
    assert [path for path in means.split() if not patterns.hold(path)] == []
    assert [path for path in not_.split() if patterns.hold(path)] == []


@pytest.mark.parametrize(
    "glob", ["", "//", "!legacy", "legacy\\\\a", "../other/**", "a/../b", "# legacy", "[ab"]
)
def test_what_is_no_pattern(glob: str) -> None:
    text = f'[[overrides]]\npaths = ["{glob}"]\nrules.malformed-uuid = "off"\n'
    problems = read_table(text, Configuration)
    assert isinstance(problems, tuple)
    assert "a glob means files below the folder of the configuration" in problems[0].message


@pytest.mark.parametrize("step", ["**/", "*a", "**/a/", "a*?"])
def test_no_pattern_takes_long(step: str) -> None:
    patterns = patterns_of((step * 100 + "x",))

    def prepare(size: int) -> Callable[[], object]:
        long = "a" * size + "b"
        return lambda: patterns.hold(long)

    assert not patterns.hold("a/" * 2000 + "b")
    assert_linear(prepare, 16_000)


# What git says


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A fresh repository."""
    if shutil.which("git") is None:
        pytest.skip("there is no git to agree with")
    git(tmp_path, "init", "--quiet")
    return tmp_path


def put(root: Path, *names: str, text: str = "") -> list[str]:
    """Write files, and return their paths."""
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return [str(root / name) for name in names]


def search(folder: Path) -> tuple[list[str], dict[str, str]]:
    """What is read, and what is left out with its reason."""
    found = list(find_traces([str(folder)]))
    left_out = {each.path: each.reason for each in found if isinstance(each, LeftOut)}
    return [each for each in found if isinstance(each, str)], left_out


def test_what_git_ignores_is_left_out_as_git_reads_its_patterns(root: Path) -> None:
    names = [
        "[a]/trace.jsonl",
        "b/5/trace.jsonl",
        "b/trace.jsonl",
        "c/trace.jsonl",
        "d/trace.jsonl",
    ]
    read = put(root, "a/trace.jsonl", "b/in/trace.jsonl", "wip/drive-trace/a.jsonl")
    ignored = put(root, *names)
    put(root, ".gitignore", text="\\[a]\n/d\nwip/\n")
    put(root, "b/.gitignore", text="/trace.jsonl\n[[:digit:]]\n!in\n")
    put(root, ".git/info/exclude", text="c/*\n")
    assert search(root) == (read, dict.fromkeys(sorted(ignored), Omission.IGNORED))
    assert search(root / "d") == ([ignored[-1]], {})  # who names a folder wants it


def test_no_odd_path_keeps_git_from_saying_what_it_ignores(root: Path) -> None:
    put(root, ".gitignore", text="out\n")
    odd = put(root, ":!x/trace.jsonl", ":(glob)y/trace.jsonl", "sub/trace.jsonl")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
    ignored = put(root, "in/out/trace.jsonl", "out/trace.jsonl")
    left_out = dict.fromkeys(ignored, Omission.IGNORED)
    assert search(root) == (sorted(odd), left_out)
    (root / "link").symlink_to("in", target_is_directory=True)
    assert search(root / "link") == ([], {str(root / "link/out/trace.jsonl"): Omission.IGNORED})


def test_a_link_that_git_tracks_is_not_read_to_see_whether_it_is_gone(
    root: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "empty"
    outside.touch()
    (root / "trace.jsonl").symlink_to(outside)
    git(root, "add", ".")
    (found,) = find_traces([str(root)])
    assert isinstance(found, LinkOut)


def test_settings_of_a_user_ignore_nothing(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(root, "home/.config/git/ignore", text="*.jsonl\n")
    monkeypatch.setenv("HOME", str(root / "home"))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    read = put(root, "trace.jsonl")
    assert search(root) == (read, {})


@pytest.mark.parametrize("program", [None, "exit 128", "echo -n out/trace.jsonl; exit 2"])
def test_without_an_answer_of_git_nothing_is_ignored(
    program: str | None, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search without git finds more, and never less."""
    put(root, ".gitignore", text="out\n")
    traces = put(root, "in/trace.jsonl", "out/trace.jsonl")
    assert search(root) == (traces[:1], {traces[1]: Omission.IGNORED})
    if program is None:
        monkeypatch.setenv("PATH", "/usr/no/such/folder")
    else:
        first_on_path(root, monkeypatch, program)
    assert search(root)[0] == traces


def test_what_git_tracks_is_always_read(root: Path) -> None:
    """Also in hidden folders, and in libraries."""
    tracked = [".hidden/trace.jsonl", "node_modules/a/trace.jsonl", "out/é/trace.jsonl"]
    hidden, ignored, _ = put(root, ".hidden/b/trace.jsonl", "out/b/trace.jsonl", "node_modules/b")
    put(root, ".gitignore", text="out\n")
    read = put(root, *tracked)
    git(root, "add", "--force", *tracked)
    library = str(root / "node_modules")
    assert search(root) == (
        read,
        {hidden: Omission.HIDDEN, ignored: Omission.IGNORED, library: Omission.LIBRARY},
    )


def test_a_repository_in_another_one(root: Path) -> None:
    """A further working tree holds copies: it is left out as a whole, but not for somebody who
    stands in it.
    """
    read = put(root, "trace.jsonl")
    git(root, "add", "trace.jsonl")
    git(root, "commit", "-qm", "a")
    git(root, "worktree", "add", "-q", "trees/a")
    inner = root / "trees" / "a"
    assert search(root) == (read, {str(inner): Omission.REPOSITORY_WITH_TRACES})
    assert search(inner) == ([str(inner / "trace.jsonl")], {})


def test_an_index_that_git_cannot_read_hides_nothing_silently(root: Path) -> None:
    put(root, ".gitignore", text="out\n")
    read = put(root, "out/trace.jsonl")
    hidden = put(root, ".hidden/trace.jsonl")
    git(root, "add", "--force", "out", ".hidden")
    assert search(root) == ([*hidden, *read], {})
    for damage in (b"", b"DIRC\0\0\0\2\0\0\0\7abc", b"x" * 99):
        (root / ".git" / "index").write_bytes(damage)
        assert hidden[0] in search(root)[1]


def test_what_is_gone_is_missed_in_its_folder_and_also_by_a_sparse_checkout(root: Path) -> None:
    kept, sparse, gone = put(root, "a/trace.jsonl", "b/trace.jsonl", "c/trace.jsonl", text="{}")
    other = put(root, "c/other.txt", text="{}")[0]
    commit(root, "a")
    git(root, "update-index", "--skip-worktree", "b/trace.jsonl")
    for each in (sparse, gone, other):
        Path(each).unlink()
    assert search(root) == ([kept], {gone: Omission.DELETED, sparse: Omission.SPARSE})
    assert search(root / "a") == ([kept], {})


def test_a_name_that_the_system_refuses_ends_no_search(root: Path) -> None:
    """The index names a file that no file system can hold."""
    kept = put(root, "z/trace.jsonl", text="{}")
    commit(root, "a")
    content = subprocess.check_output(["git", "rev-parse", ":z/trace.jsonl"], cwd=root, text=True)
    tracked = "a" * 300 + "/trace.jsonl"
    git(root, "update-index", "--add", "--cacheinfo", f"100644,{content.strip()},{tracked}")
    assert search(root) == (kept, {str(root / tracked): Omission.DELETED})


@pytest.mark.parametrize("text", ["", None], ids=["emptied", "deleted"])
def test_an_editor_names_what_is_gone_and_takes_what_is_written_anew(
    text: str | None, root: Path
) -> None:
    trace = Path(*put(root, "a/trace.jsonl", text="{}\n"))
    commit(root, "a")
    trace.unlink()
    put(root, *([] if text is None else ["a/trace.jsonl"]))
    folders = TraceFolders([root])
    assert list(folders.search().values()) == [trace] * (text is not None)
    gone = Omission.DELETED if text is None else Omission.EMPTIED
    assert folders.left_out_in(root) == [LeftOut(str(trace), gone)]
    assert folders.holds(trace)
