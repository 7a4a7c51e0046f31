"""Which files the patterns of a setting mean."""

from pathlib import Path

import pytest

from drive_trace.storage.finding import find_traces
from drive_trace.storage.patterns import MoreFiles

FOLDER = Path("/home/work")


@pytest.mark.parametrize(
    ("pattern", "means", "not_"),
    [
        ("logs/agent.jsonl", "logs/agent.jsonl", "agent.jsonl a/logs/agent.jsonl"),
        ("logs/*.jsonl", "logs/a.jsonl logs/.jsonl", "logs/a.log logs/b/a.jsonl"),
        ("logs/**/*.jsonl", "logs/a.jsonl logs/b/c/a.jsonl", "a.jsonl a/logs/a.jsonl"),
        ("**/*.log", "a.log b/c/a.log", "a.log/b a.logs"),
        ("logs/**", "logs/a logs/b/c", "a/logs"),
        ("run-?.log", "run-1.log", "run-.log run-10.log a/run-1.log"),
        ("run-[0-9].log", "run-1.log", "run-a.log"),
        ("{logs,out}/*.{log,txt}", "logs/a.log out/a.txt", "a.log logs/a.md"),
        ("{a,b/{c,d}}/x", "a/x b/c/x b/d/x", "c/x b/x"),
        ("./logs/a", "logs/a", "a"),
        ("/home/work/a.log", "a.log", "b/a.log"),
        ("/home/*/b/*.log", "b/a.log", "a.log"),
        ("{a", "{a", "a"),
        ("", "", "a"),
        ("logs", "logs", "logs/a"),
    ],
)
def test_what_a_pattern_means(pattern: str, means: str, not_: str) -> None:
    more = MoreFiles((pattern,))
    assert [each for each in means.split() if not more.hold(FOLDER / each, FOLDER)] == []
    assert [each for each in not_.split() if more.hold(FOLDER / each, FOLDER)] == []
    assert all(more.may_name(Path(each).name) for each in means.split())


def test_no_pattern_costs_much() -> None:
    many = MoreFiles(("{a,b}" * 40, "{" * 5000, "**/" * 100 + "{x,y}"))
    assert not many.hold(FOLDER / ("a/" * 100 + "b"), FOLDER)


def test_a_search_finds_them_beside_the_others(tmp_path: Path) -> None:
    for name in ("trace.jsonl", "logs/a.log", "logs/b.txt", "node_modules/c.log"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    found = [
        each
        for each in find_traces([str(tmp_path)], MoreFiles(("**/*.log",)))
        if isinstance(each, str)
    ]
    assert found == [str(tmp_path / "trace.jsonl"), str(tmp_path / "logs" / "a.log")]
