"""The command line, from outside: the traces that paths lead to."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.support import REJECTED, process, run, write

# Paths


def test_folders_are_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = [
        "projects/a/slices/one/trace.jsonl",
        "projects/a/trace.jsonl",
        "projects/b/trace.jsonl",
        "trace.jsonl",
        "wip/drive-trace/direct-2026-05-28T14:00:00Z.jsonl",
        "wip/drive-trace/orphan-x.jsonl",
    ]
    for name in names:
        write(tmp_path, name, REJECTED)
    for other in (
        "wip/other.jsonl",
        "drive-trace/x.jsonl",
        "projects/a/notes.jsonl",
        "projects/a/trace.json",
        "wip/drive-trace/deep/x.jsonl",
        "node_modules/p/trace.jsonl",
        ".git/trace.jsonl",
    ):
        write(tmp_path, other, REJECTED)

    def found(*paths: str | Path) -> list[str]:
        ran = run("check", "--output-format", "json", *paths)
        return [finding["path"] for finding in ran.json]

    assert sorted(found(tmp_path)) == [str(tmp_path / name) for name in names]
    assert found(tmp_path) == found(tmp_path)
    assert found(tmp_path / "wip") == [str(tmp_path / name) for name in names[-2:]]
    # No path is the current folder, and names are then as short as they can be.
    monkeypatch.chdir(tmp_path)
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


def test_traces_of_a_folder_come_in_a_steady_order(tmp_path: Path) -> None:
    names = ["a/trace.jsonl", "b/c/trace.jsonl", "b/trace.jsonl", "trace.jsonl"]
    for name in reversed(names):
        write(tmp_path, name, REJECTED)
    ran = run("check", "--output-format", "json", tmp_path)
    paths = [finding["path"] for finding in ran.json]
    assert len(paths) == len(set(paths)) == len(names)
    assert [
        files["path"] for files in run("score", "--format", "json", tmp_path).json["files"]
    ] == (paths)


def test_a_file_given_by_name_may_have_any_name(tmp_path: Path) -> None:
    path = write(tmp_path, "any name 🚀.log", REJECTED)
    assert [each["path"] for each in run("check", "--output-format", "json", path).json] == [
        str(path)
    ]


def test_a_pipe_in_a_files_place_is_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "b" / "trace.jsonl"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    write(tmp_path, "trace.jsonl", REJECTED)
    for path in (tmp_path, pipe):
        ran = process("check", "--output-format", "json", path)
        assert (ran.code, ran.err) == (2, f"drive-trace: {pipe}: it is no regular file\n")
        assert ran.json[-1]["path"] == str(pipe)
        assert process("score", path).code == 2
