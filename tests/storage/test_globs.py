"""Which files a glob means."""

from __future__ import annotations

import pytest

from drive_trace.storage.globs import glob_matches, glob_problem


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
    ],
)
def test_what_a_glob_means(glob: str, means: str, not_: str) -> None:
    assert glob_problem(glob) is None
    assert [path for path in means.split() if not glob_matches(glob, path)] == []
    assert [path for path in not_.split() if glob_matches(glob, path)] == []


@pytest.mark.parametrize(
    ("glob", "said"),
    [
        ("", "empty"),
        ("//", "empty"),
        ("!legacy", "negated"),
        ("legacy\\a", "separated by `/`"),
        ("../other/**", "out of the folder"),
        ("a/../b", "out of the folder"),
    ],
)
def test_what_is_no_glob(glob: str, said: str) -> None:
    assert said in (glob_problem(glob) or "")


def test_no_glob_takes_long() -> None:
    # Either would take longer than the test may, if every way to match were tried.
    assert not glob_matches("**/" * 200 + "x", "a/" * 200 + "b")
    assert not glob_matches("*a" * 200 + "x", "a" * 2000)
