"""The two-tier scorecard: rejected lines are never silent."""

import pytest

from drive_trace.scorecard.caveats import FEEDS, Uncounted, rejected_phrase
from drive_trace.scorecard.render import lens_title, markdown, text
from drive_trace.scorecard.run_score import headline
from tests.scorecard.support import (
    PASSED,
    card_markdown,
    card_of,
    event,
    graded,
    json_of,
    run_of,
)
from tests.support.fixtures import trace

# Rejected lines


@pytest.mark.parametrize(
    ("rejected", "phrase"),
    [
        ([], None),
        ([(12, "correctness-recorded")], "1 correctness line rejected (line 12), not counted"),
        (
            [(3, "correctness-recorded"), (9, "correctness-recorded")],
            "2 correctness lines rejected (lines 3, 9), not counted",
        ),
        ([(3, "tokens-recorded")], "1 token line rejected (line 3), not counted"),
        ([(3, "round-start")], "1 line rejected (line 3), not counted"),
        ([(3, None), (4, "x")], "2 lines rejected (lines 3, 4), not counted"),
        (
            [(1, None), (2, "tokens-recorded"), (3, "correctness-recorded")],
            "1 correctness line rejected (line 3), 1 token line rejected (line 2), "
            "1 other line rejected (line 1), not counted",
        ),
        (
            [(line, "dispatch-end") for line in range(1, 8)],
            "7 lines rejected (lines 1, 2, 3 and 4 more), not counted",
        ),
    ],
)
def test_what_was_rejected(rejected: list[tuple[int, str | None]], phrase: str | None) -> None:
    lines = [Uncounted(*each, feed=each[1] if each[1] in FEEDS else None) for each in rejected]
    assert rejected_phrase(lines) == phrase


def test_a_rejected_line_is_said_wherever_the_verdict_is() -> None:
    lines = (PASSED, graded("pass", "failed", "pass"))
    card, run = card_of(trace(*lines)), run_of(*lines)
    phrase = "1 correctness line rejected (line 2), not counted"
    for said in (lens_title(run), card_markdown(run), text(card), markdown(card)):
        assert said.index("CORRECT") < said.index(phrase)
    (shown,) = json_of(card)["runs"]
    assert shown["rejected_lines"] == [2]


def test_a_rejected_line_says_in_which_file_it_stands() -> None:
    card = card_of(trace(PASSED), trace(event("round-start"), graded("pass", "failed", "pass")))
    phrase = "1 correctness line rejected (line 2), not counted"
    assert f"  ! b.jsonl: {phrase}.\n" in text(card)
    assert f"⚠ `b.jsonl`: {phrase}." in markdown(card)
    assert [each["rejected_lines"] for each in json_of(card)["runs"][0]["files"]] == [[], [2]]


def test_a_rejected_line_of_a_run_that_stands_in_another_file_is_said_of_that_run() -> None:
    card = card_of(trace(PASSED), trace(graded("pass", "failed", "pass"), "no json"))
    (run,) = card.runs
    assert headline(run.gate) == "CORRECT"
    assert "1 correctness line rejected (line 1), not counted" in lens_title(run)
    assert "  ! b.jsonl: 1 correctness line rejected (line 1), not counted.\n" in text(card)
    assert "b.jsonl, in no known run: 1 line rejected (line 2), not counted." in text(card)
    shown = json_of(card)
    assert shown["runs"][0]["rejected_lines"] == [1]
    assert shown["runs"][0]["files"][1] == {
        "path": "b.jsonl",
        "first_line": 1,
        "events": 0,
        "rejected_lines": [1],
    }
    assert [each["rejected_lines"] for each in shown["files"]] == [[], [2]]


def test_a_rejected_line_does_not_change_the_order_of_runs() -> None:
    card = card_of(
        trace(event("correctness-recorded", run="b", qa="failed"), event("round-start", run="a")),
        trace(event("round-start", run="b")),
    )
    assert [run.run_id for run in card.runs] == ["a", "b"]
    assert [part.path for part in card.runs[1].parts] == ["a.jsonl", "b.jsonl"]


def test_a_rejected_line_of_no_run_is_said_of_its_file() -> None:
    card = card_of(trace(PASSED, "no json", graded("pass", "passed", "pass", run=None)))
    assert card.runs[0].rejected == ()
    phrase = "1 correctness line rejected (line 3), 1 other line rejected (line 2), not counted"
    assert f"a.jsonl, in no known run: {phrase}." in " ".join(text(card).split())
    assert f"- `a.jsonl`, in no known run: {phrase}." in markdown(card)
    assert json_of(card)["files"][0]["rejected_lines"] == [2, 3]
