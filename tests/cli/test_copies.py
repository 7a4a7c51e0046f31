"""Events that stand in several files count once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import run, write
from tests.scorecard.support import PASSED, event
from tests.support.fixtures import trace

DISPATCH, OTHER = "d-1", "d-2"
EVENTS = (
    event("dispatch-start", dispatch_id=DISPATCH),
    event("round-start", dispatch_id=DISPATCH, round_id="r-1", event_id="e-1"),
    event("round-start", dispatch_id=DISPATCH, round_id="r-2", event_id="e-2"),
    event("dispatch-end", dispatch_id=DISPATCH, wall_clock_ms=60_000, event_id="e-3"),
    PASSED,
)
MORE = event("round-start", dispatch_id=OTHER, round_id="r-3", event_id="e-4")


def efficiency(folder: Path) -> tuple[float, int]:
    (shown,) = run("score", "--format", "json", folder).json["runs"]
    found = shown["efficiency"]
    return found["rounds_per_dispatch"], found["wall_clock_ms"]


def caveats(folder: Path) -> Any:
    (shown,) = run("score", "--format", "json", folder).json["runs"]
    return shown["caveats"]


def metrics(folder: Path) -> object:
    return run("report", "--format", "json", folder).json["metrics"]


@pytest.fixture
def once(tmp_path: Path) -> Path:
    write(tmp_path, "once/a/trace.jsonl", trace(*EVENTS))
    return tmp_path / "once"


def test_a_copied_trace_counts_once_and_is_named(tmp_path: Path, once: Path) -> None:
    first = write(tmp_path, "twice/a/trace.jsonl", trace(*EVENTS))
    copy = write(tmp_path, "twice/b/trace.jsonl", trace(*EVENTS).replace("\n", " \r\n"))
    twice = tmp_path / "twice"
    assert efficiency(twice) == efficiency(once) == (2.0, 60_000)
    assert metrics(twice) == metrics(once)
    card = run("score", "--format", "json", twice).json
    (caveat,) = card["runs"][0]["caveats"]
    assert (caveat["code"], caveat["qualifies"]) == ("copied-events", False)
    assert caveat["lines"] == [{"path": str(copy), "line": 1}]
    assert str(first) in caveat["message"]
    assert run("score", "--require-correct", twice).code == 0
    # The card of all CORRECT runs together says the same.
    assert card["efficiency"]["rounds_per_dispatch"] == 2.0


def test_other_events_of_the_run_in_another_file_count(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    write(tmp_path, "b/trace.jsonl", trace(MORE))
    assert efficiency(tmp_path) == (1.5, 60_000)
    (shown,) = run("score", "--format", "json", tmp_path).json["runs"]
    assert shown["caveats"] == []


def test_metrics_count_an_event_once_also_where_only_some_are_copies(
    tmp_path: Path, once: Path
) -> None:
    write(once, "more/trace.jsonl", trace(MORE))
    write(tmp_path, "both/a/trace.jsonl", trace(*EVENTS))
    write(tmp_path, "both/more/trace.jsonl", trace(*EVENTS, MORE))
    assert metrics(tmp_path / "both") == metrics(once)


def test_a_partial_copy_counts_once_too(tmp_path: Path) -> None:
    first = write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    # The other file has a line more in between, and what is copied is written with white space.
    spaced = trace(*EVENTS[:4]).replace('","', '", "')
    second = write(tmp_path, "b/trace.jsonl", trace(MORE) + spaced)
    assert efficiency(tmp_path) == (1.5, 60_000)
    (caveat,) = caveats(tmp_path)
    assert (caveat["code"], caveat["lines"]) == (
        "copied-events",
        [{"path": str(second), "line": 2}],
    )
    assert (
        f"4 events count once, which stand in several files, as in {first} and"
        in (caveat["message"])
    )
    write(tmp_path, "once/a/trace.jsonl", trace(*EVENTS))
    write(tmp_path, "once/b/trace.jsonl", trace(MORE))
    shown = run("report", "--format", "json", tmp_path / "a", tmp_path / "b").json
    once = run("report", "--format", "json", tmp_path / "once").json
    assert shown["metrics"] == once["metrics"]


def test_a_copy_without_dispatches_is_named(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", trace(PASSED))
    write(tmp_path, "b/trace.jsonl", trace(PASSED))
    assert [each["code"] for each in caveats(tmp_path)] == ["copied-events"]


@pytest.mark.parametrize("copied_to", ["0", "b"])
def test_copied_work_after_the_grade_makes_it_stale_once(tmp_path: Path, copied_to: str) -> None:
    late = [
        event("round-start", round_id=name, ts="2030-01-01T00:00:00.000Z", event_id=name)
        for name in ("late-1", "late-2")
    ]
    write(tmp_path, "a/trace.jsonl", trace(PASSED, *late))
    write(tmp_path, f"{copied_to}/trace.jsonl", trace(*late))
    stale, copied = caveats(tmp_path)
    assert stale["message"].startswith("stale: 2 events after the grade")
    assert copied["code"] == "copied-events"
    assert run("score", "--require-correct", tmp_path).code == 1


def test_one_id_for_two_events_is_said_and_both_count(tmp_path: Path) -> None:
    write(tmp_path, "a/trace.jsonl", trace(*EVENTS))
    other = event("round-start", dispatch_id=OTHER, round_id="r-9", event_id="e-1")
    write(tmp_path, "b/trace.jsonl", trace(other))
    assert efficiency(tmp_path) == (1.5, 60_000)
    (caveat,) = caveats(tmp_path)
    assert (caveat["code"], caveat["qualifies"]) == ("conflicting-event-id", False)
    assert [each["line"] for each in caveat["lines"]] == [2, 1]
    for command in ("score", "report"):
        said = " ".join(run(command, tmp_path).out.split())
        assert "1 event with the id of another in another file, and both count" in said
