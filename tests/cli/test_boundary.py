"""No link that stands in a repository leads out of it: not to read, and not to write."""

import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from drive_trace import score
from tests.cli.support import CLEAN, Ran, on_a_terminal, run, write
from tests.support.client_text import graded
from tests.support.systems import NO_DEVICES, not_on_windows

OUT = "not read: link out of the repository"
INTO_GIT = "not read: link into .git"
ADVICE = "; exclude it to do without it"
SECRET = "TOKEN=hunter2 $(touch /tmp/ran)\n"
EMIT = ("--event", "slice-started", "--payload")
SLICE = '{"slice_slug":"retry","slice_index":1,"linear_ref":null}'

pytestmark = not_on_windows(NO_DEVICES)


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A secret beside a repository, which is the current folder."""
    write(tmp_path, "home/.bashrc", SECRET)
    write(tmp_path, "home/runs/trace.jsonl")
    write(tmp_path, "repository/.git/HEAD", "")
    write(tmp_path, "repository/.git/config", SECRET)
    write(tmp_path, "repository/good/trace.jsonl")
    monkeypatch.chdir(tmp_path / "repository")
    return tmp_path / "home"


def link(path: str, target: str | Path) -> Path:
    there = Path(path)
    there.parent.mkdir(parents=True, exist_ok=True)
    there.symlink_to(target)
    return there


def _chain(_: Path) -> Path:
    link("aside", "../home")
    return link("p/trace.jsonl", "../aside/.bashrc")


LINKS: dict[str, Callable[[Path], Path]] = {
    "a file": lambda home: link("p/trace.jsonl", home / ".bashrc"),
    "dots": lambda _: link("p/trace.jsonl", "../../home/.bashrc"),
    "dots and back": lambda _: link("p/trace.jsonl", "../../repository/../home/.bashrc"),
    "a link to a link": _chain,
    "what git keeps": lambda _: link("p/trace.jsonl", "../.git/config"),
    "a file that is not there": lambda home: link("p/trace.jsonl", home / "new"),
    "a process": lambda _: link("p/trace.jsonl", "/proc/self/environ"),
    "a folder": lambda home: link("p", home / "runs"),
    "a searched folder": lambda home: link("wip/drive-trace", home / "runs"),
}

SEARCHES: tuple[tuple[str, ...], ...] = (
    ("check",),
    ("check", "--fix"),
    ("check", "--diff"),
    ("check", "--no-ignore"),
    *(("check", "--output-format", each) for each in ("concise", "github", "json", "sarif")),
    ("check", "--write-baseline"),
    ("score",),
    ("score", "--require-correct"),
    *(("score", "--output-format", each) for each in ("table", "markdown")),
    ("report",),
    ("report", "--output-format", "html"),
    ("fleet",),
    ("compare", "--candidate", "good", "--baseline"),
)


@pytest.mark.parametrize("make", LINKS.values(), ids=list(LINKS))
def test_a_search_reads_and_writes_nothing_through_a_link(
    make: Callable[[Path], Path], home: Path
) -> None:
    made = make(home)
    before, said = _state(home), _said(made)
    for command in SEARCHES:
        ran = run(*command, ".")
        assert ran.code == 2, command
        assert said + ADVICE in ran.err, command
        assert "hunter2" not in f"{ran.out}{ran.err}"
    assert _state(home) == before
    told = run("score", "--format", "json", ".").json
    assert told["complete"] is False
    assert {"path": str(made), "reason": said + ADVICE} in told["unread"]
    assert [each.reason for each in score(".").unread] == [said + ADVICE] * len(told["unread"])
    assert f"{made}: " not in run("score", "--require-correct", "--exclude", made).err


OPENING: tuple[tuple[tuple[str, ...], str], ...] = (
    *((each, "good/trace.jsonl") for each in (*SEARCHES, ("emit", *EMIT, SLICE))),
    (("check", "--fix"), "good/.drive-trace-"),
)


@pytest.mark.parametrize("is_folder", [False, True], ids=["a file", "a folder"])
@pytest.mark.parametrize(("command", "opened"), OPENING, ids=lambda each: " ".join(each[:3]))
def test_what_becomes_a_link_when_it_is_opened_leads_nowhere(
    command: tuple[str, ...],
    opened: str,
    is_folder: bool,
    home: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """And is again what it was right after that."""
    theirs, there = home / "runs/trace.jsonl", Path("good" if is_folder else "good/trace.jsonl")
    theirs.write_text(SECRET)
    Path("good/trace.jsonl").write_text(CLEAN.replace("}", ",}"))
    before, open_now, begun = _state(home), os.open, list[str]()

    def swapped(name: str, *given: int, **more: int) -> int:
        if opened not in os.fspath(name):
            return open_now(name, *given, **more)
        begun.append(name)
        there.rename("aside")
        there.symlink_to(theirs.parent if is_folder else theirs)
        try:
            return open_now(name, *given, **more)
        finally:
            there.unlink()
            Path("aside").rename(there)

    monkeypatch.setattr(os, "open", swapped)
    path = there / "trace.jsonl" if is_folder else there
    ran = _append(command, path) if command[0] == "emit" else run(*command, ".")
    assert begun or command[0] == "fleet"  # which reads in other processes
    if is_folder or ".drive" not in opened:
        assert ran.code == 2, ran
    assert "hunter2" not in f"{ran.out}{ran.err}"
    assert {path: data for path, data in _state(home).items() if data} == before


RECORD = (
    "record",
    "--trace-file",
    "mine/trace.jsonl",
    "--project-run-id",
    "run-1",
    "--qa",
    "pass",
    ".",
)
LOOKS: tuple[tuple[str, Sequence[str]], ...] = (
    *(("provenance", (each, ".")) for each in ("check", "score", "report", "fleet")),
    *(("judgements", (each, ".")) for each in ("score", "report", "fleet")),
    *((each, RECORD) for each in ("provenance", "judgements")),
)


@pytest.mark.parametrize("in_git", [True, False])
@pytest.mark.parametrize(
    ("record", "command"), LOOKS, ids=lambda each: each if isinstance(each, str) else each[0]
)
def test_no_record_is_read_through_what_its_folder_becomes(
    command: Sequence[str], record: str, in_git: bool, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It becomes a link when the record is looked for, until the trace is opened."""
    for name in ("good", "mine"):
        write(Path(), f"{name}/trace.jsonl", graded("pass", "pass", "pass"))
    if not in_git:
        shutil.rmtree(".git")
    for folder in (Path("good"), home / "runs"):
        write(folder, f"trace.jsonl.{record}.ndjson", SECRET)
    look, open_now, swaps, names = os.lstat, os.open, list[str](), list[str]()

    def swapped(name: str, **more: int) -> os.stat_result:
        is_asked = str(name).endswith(f"good/trace.jsonl.{record}.ndjson")
        if is_asked and not Path("aside").exists():
            swaps.append(name)
            Path("good").rename("aside")
            Path("good").symlink_to(home / "runs")
        return look(name, **more)

    def opened(name: str, *given: int, **more: int) -> int:
        if str(name).endswith("good/trace.jsonl") and Path("aside").exists():
            Path("good").unlink()
            Path("aside").rename("good")
        names.append(os.path.abspath(name))  # noqa: PTH100 - what it leads to is seen when open
        return open_now(name, *given, **more)

    monkeypatch.setattr(os, "lstat", swapped)
    monkeypatch.setattr(os, "open", opened)
    run(*command)
    assert swaps
    assert str(Path.cwd() / "good/trace.jsonl") in names
    assert not [each for each in names if Path(each).is_relative_to(home)]


def _said(made: Path) -> str:
    return INTO_GIT if ".git" in made.resolve().parts else OUT


def test_a_folder_that_holds_links_out_alone_says_that_and_no_more(home: Path) -> None:
    Path("good/trace.jsonl").unlink()
    for name in "abcd":
        link(f"{name}/trace.jsonl", home / "runs/trace.jsonl")
    link("e", home)
    for command in ("check", "score", "fleet"):
        ran = run(command)
        assert (ran.code, ran.err.count(OUT + ADVICE)) == (2, 5)
        assert "holds no trace" not in ran.err


def test_who_sees_the_findings_is_told_once_what_is_not_read(home: Path) -> None:
    link("p/trace.jsonl", home / "runs/trace.jsonl")
    for options in ((), ("--output-format", "concise")):
        shown = " ".join(on_a_terminal("check", *options, width=200).split())
        assert shown.count(OUT + ADVICE) == 1
    assert on_a_terminal("check", "--statistics", width=200).count(OUT + ADVICE) == 1


APPENDING: tuple[tuple[str, ...], ...] = (
    ("emit", *EMIT, SLICE),
    ("emit", "--dry-run", *EMIT, SLICE),
    ("record", "--qa", "pass", "--new-run"),
    ("tokens", "--input-tokens", "1", "--new-run"),
    ("gate", "--component", "qa", "--run", "true", "--new-run"),
    ("judge", "--acceptance", "a.md", "--diff", "a.diff", "--model", "m", "--model-command", "c"),
)


@pytest.mark.parametrize("make", LINKS.values(), ids=list(LINKS))
@pytest.mark.parametrize("command", APPENDING, ids=lambda each: " ".join(each[:2]))
def test_nothing_is_appended_through_a_link(
    command: tuple[str, ...], make: Callable[[Path], Path], home: Path
) -> None:
    made = make(home)
    before = _state(home)
    for path in (made / "trace.jsonl", made / "new/trace.jsonl") if made.is_dir() else (made,):
        ran = _append(command, path)
        assert (ran.code, ran.out) == (2, "")
        said = _said(path).replace("read", "written")
        assert f"{said} (--follow-links" in ran.err
    assert _state(home) == before


def test_what_is_named_is_read_and_with_an_option_written(home: Path) -> None:
    theirs = home / "runs/trace.jsonl"
    made = link("p/trace.jsonl", theirs)
    comma = CLEAN.replace("}", ",}")
    theirs.write_text(comma)
    assert run("check", made).code == 1
    ran = run("check", "--fix", made)
    assert (ran.code, "not written: link out of the repository; name it" in ran.err) == (2, True)
    assert theirs.read_text() == comma
    assert run("check", "--fix", "--follow-links", made).code == 0
    assert theirs.read_text() == CLEAN
    assert _append(("emit", "--follow-links", *EMIT, SLICE), made).code == 0
    assert theirs.read_text().startswith(CLEAN)
    assert theirs.read_text() != CLEAN
    assert made.is_symlink()


@pytest.mark.usefixtures("home")
def test_devices_and_what_the_system_makes_up_are_never_read() -> None:
    for target in ("/proc/self/environ", "/dev/zero", "/proc/self/status"):
        made = link("p/x.jsonl", target)
        for path in (made, target):
            ran = run("check", path)
            assert (ran.code, "it is a pipe or a device, not a file" in ran.err) == (2, True)
            assert "PATH=" not in f"{ran.out}{ran.err}"
        made.unlink()


@pytest.mark.parametrize(
    "name", ["drive-trace.toml", "drive-trace-baseline.json", "trace.run.json"]
)
def test_what_stands_beside_a_trace_is_no_link_out_of_the_repository(name: str, home: Path) -> None:
    link(f"good/{name}", home / ".bashrc")
    command = ("compare", "--candidate", ".", "--baseline", ".") if "run" in name else ("check",)
    ran = run(*command)
    assert (ran.code, f"{name}: {OUT}" in ran.err) == (2, True)
    assert "hunter2" not in f"{ran.out}{ran.err}"
    if command == ("check",):
        assert run("check", "--write-baseline").code == 2
    assert (home / ".bashrc").read_text() == SECRET


def test_links_within_a_repository_and_above_one_are_followed(home: Path) -> None:
    repository = Path.cwd()
    link("again/trace.jsonl", "../good/trace.jsonl")
    link("folder", "good")
    (home / "shortcut").symlink_to(repository)
    for path in (Path(), repository, home / "shortcut", Path("good/../again")):
        ran = run("check", path)
        # One file is one trace, however many links lead to it.
        assert (ran.code, ran.out.splitlines()[0]) == (0, "no findings in 1 trace")
    for path in ("again/trace.jsonl", "folder/trace.jsonl", home / "shortcut/folder/new.jsonl"):
        assert _append(("emit", *EMIT, SLICE), path).code == 0


def test_without_a_repository_the_folder_that_is_named_is_the_boundary(tmp_path: Path) -> None:
    write(tmp_path, "secret", SECRET)
    write(tmp_path, "tree/a/trace.jsonl")
    made = tmp_path / "tree/b/trace.jsonl"
    made.parent.mkdir()
    made.symlink_to("../a/trace.jsonl")
    assert run("check", tmp_path / "tree").code == 0
    assert OUT in run("check", tmp_path / "tree/b").err
    made.unlink()
    made.symlink_to("../../secret")
    assert OUT in run("check", "--fix", tmp_path / "tree").err
    assert _append(("emit", *EMIT, SLICE), made).code == 2
    assert (tmp_path / "secret").read_text() == SECRET


@pytest.mark.parametrize("here", ["", "real/inner", "real", "/"])
def test_a_link_above_what_is_named_never_counts(
    here: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "real/inner/trace.jsonl")
    (tmp_path / "linked").symlink_to("real")
    monkeypatch.chdir(tmp_path / here)
    named = os.path.relpath(tmp_path) + "/linked/inner/trace.jsonl"
    for path in (tmp_path / "linked/inner/trace.jsonl", named):
        assert _append(("emit", *EMIT, SLICE), path).code == 0


def test_a_hard_link_is_not_told_apart(home: Path) -> None:
    # git makes none: SECURITY.md says so.
    Path("p").mkdir()
    os.link(home / ".bashrc", "p/trace.jsonl")
    assert OUT not in run("check", ".").err


@pytest.mark.skipif(os.name != "nt", reason="only Windows has junctions, which need no right")
def test_a_junction_leads_nowhere_out(home: Path) -> None:
    subprocess.run(["cmd", "/c", "mklink", "/J", "p", str(home / "runs")], check=True)
    assert OUT in run("check", ".").err


def _append(command: tuple[str, ...], path: str | Path) -> Ran:
    name, *options = command
    return run(name, "--trace-file", path, "--project-run-id", "run-1", *options)


def _state(home: Path) -> dict[Path, bytes]:
    """All that is outside of the repository, and what git keeps."""
    files = [*home.rglob("*"), Path(".git/config")]
    return {each: each.read_bytes() for each in files if each.is_file()}
