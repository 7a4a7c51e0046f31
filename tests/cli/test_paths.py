"""The command line, from outside: the traces that paths lead to."""

from pathlib import Path

from tests.cli.support import REJECTED, git, run, write

# Paths


def test_folders_are_searched(here: Path) -> None:
    names = [
        "projects/a/slices/one/trace.jsonl",
        "projects/a/trace.jsonl",
        "projects/b/trace.jsonl",
        "trace.jsonl",
        "wip/drive-trace/direct-2026-05-28T14:00:00Z.jsonl",
        "wip/drive-trace/orphan-x.jsonl",
    ]
    for name in names:
        write(here, name, REJECTED)
    for other in (
        "wip/other.jsonl",
        "drive-trace/x.jsonl",
        "projects/a/notes.jsonl",
        "projects/a/trace.json",
        "wip/drive-trace/deep/x.jsonl",
        "node_modules/p/trace.jsonl",
        ".git/trace.jsonl",
    ):
        write(here, other, REJECTED)

    def found(*paths: str | Path) -> list[str]:
        ran = run("check", "--output-format", "json", *paths)
        return [each["path"] for each in ran.json if each["severity"] == "error"]

    assert sorted(found(here)) == [str(here / name) for name in names]
    assert found(here) == found(here)
    assert found(here / "wip") == [str(here / name) for name in names[-2:]]
    # No path is the current folder, and names are then as short as they can be.
    assert sorted(found()) == names
    assert sorted(found(".")) == names
    # Each once, also when it is given twice, as another spelling or behind a link.
    Path("link.jsonl").symlink_to("trace.jsonl")
    once = found("trace.jsonl", "./trace.jsonl", "link.jsonl", "projects/../trace.jsonl")
    assert once == ["trace.jsonl"]
    assert sorted(found("trace.jsonl", ".")) == names
    assert found("projects/b", "projects/a/trace.jsonl", "projects/a") == [
        "projects/b/trace.jsonl",
        "projects/a/trace.jsonl",
        "projects/a/slices/one/trace.jsonl",
    ]


def test_a_file_given_by_name_may_have_any_name(tmp_path: Path) -> None:
    path = write(tmp_path, "any name 🚀.log", REJECTED)
    assert [each["path"] for each in run("check", "--output-format", "json", path).json] == [
        str(path)
    ]


def test_a_search_says_what_it_leaves_out(here: Path) -> None:
    git(here, "init", "-q")
    write(here, ".gitignore", "/wip\nout/\n")
    read = ["trace.jsonl", "wip/drive-trace/orphan-x.jsonl"]
    hidden = [".worktrees/a/trace.jsonl", "out/trace.jsonl"]
    unseen = ["node_modules/p/trace.jsonl"]
    for name in (*read, *hidden, *unseen):
        write(here, name, REJECTED)
    said = (
        f"3 left out: in a hidden folder: {hidden[0]}; ignored by git: {hidden[1]}; "
        "a library, which has traces: node_modules "
        "(name a path to read it, or leave it out with --exclude)"
    )

    def found(*options: str) -> list[str]:
        ran = run("check", "--output-format", "json", *options)
        told = said if not options else ""
        if options and options != ("--no-ignore",):  # the others are copies of what is named
            told = (
                "not looked at, and may hold lines of the same runs: "
                "node_modules (a library, which has traces)"
            )
        assert ran.err == (f"drive-trace: {told}\n" if told else "")
        return sorted(each["path"] for each in ran.json)

    assert found() == read
    assert found("--no-ignore") == sorted([*read, *hidden, *unseen])
    assert found(*hidden) == hidden  # what is named is read
    assert found(".worktrees") == hidden[:1]
    assert said in run("check").out
    for command in ("score", "report"):
        card = run(command, "--format", "json").json
        card = card if command == "score" else card["scorecard"]
        assert (card["left_out"], card["complete"]) == (3, False)
        assert card["left_out_files"] == [
            {"path": hidden[0], "reason": "in a hidden folder"},
            {"path": hidden[1], "reason": "ignored by git"},
            {"path": "node_modules", "reason": "a library, which has traces"},
        ]
        assert card["unsearched_libraries"] == ["node_modules"]
        assert {each["path"] for each in card["files"]} == set(read)
        assert "3 left out: in a hidden folder" in run(command).out
        if command == "report":
            assert "3 left out: in a hidden folder" in run(command, "--format", "html").out
        everything = run(command, "--no-ignore", "--format", "json").json
        assert (everything if command == "score" else everything["scorecard"])["left_out"] == 0
    alone = run("check", "out/..", "--no-ignore", "--output-format", "json")
    assert len(alone.json) == 5
    nothing = run("score", "out/..", "--require-correct")
    assert nothing.code == 2


def test_a_folder_without_traces_is_a_warning(tmp_path: Path) -> None:
    good = write(tmp_path, "good.jsonl")
    (tmp_path / "empty").mkdir()
    for command in ("check", "score", "report"):
        alone, beside = run(command, tmp_path / "empty"), run(command, tmp_path / "empty", good)
        assert (alone.code, beside.code) == (0, 0)
        assert f"warning: {tmp_path / 'empty'}: holds no trace" in alone.err
    assert run("score", "--require-correct", tmp_path / "empty").code == 1
    assert run("score", "--format", "json", tmp_path / "empty").json["complete"] is True


def test_a_folder_with_nothing_but_what_is_left_out_says_so(tmp_path: Path) -> None:
    write(tmp_path, ".worktrees/a/trace.jsonl", REJECTED)
    ran = run("check", tmp_path)
    assert (ran.code, "holds no trace" in ran.err) == (0, True)
    assert "1 left out: in a hidden folder: " in ran.out


def test_links_to_folders_are_counted_unless_they_lead_into_what_is_searched(here: Path) -> None:
    for name in ("in/a/trace.jsonl", "out/trace.jsonl", "out2/trace.jsonl"):
        write(here, name)
    # The current folder is a repository: what leads out of one is no input that is left out.
    write(here, ".git/HEAD", "")
    for name, target in (("twice", "out"), ("back", "in/a"), ("b/up", "in"), (".hid/x", "out2")):
        link = here / "in" / name
        link.parent.mkdir(exist_ok=True)
        link.symlink_to(here / target)
    hint = "(name a path to read it, or leave it out with --exclude)"
    said = f"1 left out: a linked folder: in/twice {hint}"
    assert said in run("check", "in").out
    card = run("score", "--format", "json", "in").json
    assert card["left_out"] == 1
    assert {each["path"] for each in card["files"]} == {
        f"{each}/trace.jsonl"
        for each in ("in/a", "out", "out2")  # of one run and repository
    }
    for command in (("score",), ("report",), ("report", "--format", "html")):
        assert "1 left out: a linked folder" in " ".join(run(*command, "in").out.split())
    assert run("score", "--format", "json", "--no-ignore", "in").json["left_out"] == 2
    assert run("score", "--format", "json", "in", "out").json["left_out"] == 0
