"""The two-tier scorecard: what a run cost, and when nothing is said of it."""

import pytest

from drive_trace.scorecard.card import to_json
from drive_trace.scorecard.render import markdown, text
from drive_trace.trace.times import milliseconds_between
from tests.scorecard.support import PASSED, card_of, event, graded, run_of
from tests.support.fixtures import trace

# Tier 2


def test_wall_clock_is_from_the_first_start_to_the_first_close() -> None:
    run = run_of(
        event("project-started", ts="2026-05-28T14:00:00.000Z"),
        event("project-started", ts="2026-05-28T14:10:00.000Z"),
        event("dispatch-end", wall_clock_ms=5),
        event("project-closed", ts="2026-05-28T14:30:00.250Z"),
        event("project-closed", ts="2026-05-28T19:00:00.000Z"),
        PASSED,
    )
    assert run.measured.wall_clock_ms == 30 * 60_000 + 250


@pytest.mark.parametrize(
    "lines",
    [
        (event("project-started"),),
        (event("project-closed"),),
        (event("project-started", ts="yesterday"), event("project-closed")),
        (event("project-started"), event("project-closed", ts="2026-13-45T99:00:00Z")),
        (event("project-started"), event("project-closed", ts="2026-05-27T14:00:00.000Z")),
        (),
    ],
)
def test_without_both_ends_it_is_the_sum_of_the_dispatches(lines: tuple[str, ...]) -> None:
    ends = (event("dispatch-end", wall_clock_ms=1500), event("dispatch-end", wall_clock_ms=5e2))
    assert run_of(*lines, *ends).measured.wall_clock_ms == 2000
    assert run_of(*lines, PASSED).measured.wall_clock_ms is None


@pytest.mark.parametrize(
    ("start", "end", "milliseconds"),
    [
        ("2026-05-28T14:00:00.000Z", "2026-05-28T14:00:00.001Z", 1),
        ("2026-05-28T14:00:00Z", "2026-05-28T16:00:00+02:00", 0),
        ("2026-05-28T14:00:01.000Z", "2026-05-28T14:00:00.000Z", -1000),
        ("2026-05-28T14:00:00.0009Z", "2026-05-28T14:00:00.001Z", 1),
        ("2026-05-28T14:00:00.000Z", "soon", None),
        ("", "2026-05-28T14:00:00.000Z", None),
    ],
)
def test_durations(start: str, end: str, milliseconds: int | None) -> None:
    assert milliseconds_between(start, end) == milliseconds


def test_rework_is_the_mean_of_rounds_over_the_dispatches_that_had_one() -> None:
    run = run_of(
        event("dispatch-start", dispatch_id="d-1"),
        event("dispatch-start", dispatch_id="d-2"),
        event("dispatch-start", dispatch_id="d-without-rounds"),
        event("round-start", dispatch_id="d-1"),
        event("round-start", dispatch_id="d-1", round_number=2),
        event("round-start", dispatch_id="d-2"),
        PASSED,
    )
    assert run.measured.rounds_per_dispatch == 1.5
    assert run_of(event("dispatch-start"), PASSED).measured.rounds_per_dispatch is None


def test_a_run_is_measured_by_its_own_events() -> None:
    card = card_of(
        trace(
            event("project-started", run="other", ts="2026-05-28T01:00:00.000Z"),
            event("round-start", run="other", dispatch_id="d-9"),
            event("round-start", run="other", dispatch_id="d-9", round_number=2),
            event("dispatch-end", run="other", wall_clock_ms=99),
            event("project-closed", run="other", ts="2026-05-28T23:00:00.000Z"),
            event("round-start", dispatch_id="d-1"),
            event("dispatch-end", dispatch_id="d-1", wall_clock_ms=1),
            PASSED,
        )
    )
    assert card.correct == (card.runs[1],)
    assert card.efficiency is not None
    for measured in (card.runs[1].measured, card.efficiency):
        assert measured.wall_clock_ms == 1
        assert measured.rounds_per_dispatch == 1


def test_a_run_in_several_files_is_measured_over_all_of_them() -> None:
    card = card_of(
        trace(
            event("project-started", ts="2026-05-28T14:00:00.000Z"),
            event("round-start", dispatch_id="d-1"),
            event("round-start", dispatch_id="d-2"),
        ),
        trace(
            event("round-start", dispatch_id="d-1", round_number=2),
            event("project-closed", ts="2026-05-28T14:01:00.000Z"),
            PASSED,
        ),
    )
    assert card.runs[0].measured.wall_clock_ms == 60_000
    assert card.runs[0].measured.rounds_per_dispatch == 1.5


def test_tokens_are_summed_over_correct_runs_and_null_stays_null() -> None:
    card = card_of(
        trace(
            *(
                event("tokens-recorded", run=run, input_tokens=read, cache_write_tokens=None)
                for run, read in (("a", 1), ("b", 20), ("wrong", 300), ("ungraded", 4000))
            ),
            graded("pass", "pass", "pass", run="a"),
            graded("pass", "pass", "pass", run="b"),
            graded("pass", "pass", "pass", run="no tokens"),
            graded("pass", "fail", "pass", run="wrong"),
        )
    )
    assert [run.run_id for run in card.correct] == ["a", "b", "no tokens"]
    assert card.correct_tokens["input_tokens"] == 21
    assert card.correct_tokens["cache_write_tokens"] is None


@pytest.mark.parametrize(
    ("lines", "reason"),
    [
        ([event("tokens-recorded")], "no correctness signal was recorded"),
        ([graded("pass", None, "pass")], "no run was graded CORRECT"),
        (
            [graded("pass", "fail", "pass"), event("project-closed", run="b")],
            "no run was graded CORRECT",
        ),
        ([PASSED, event("project-closed", run="b")], None),
    ],
)
def test_why_there_is_no_tier_2(lines: list[str], reason: str | None) -> None:
    card = card_of(trace(*lines))
    assert card.hidden_reason == reason
    assert (card.efficiency is None) == (reason is not None)
    assert to_json(card)["efficiency_hidden"] == reason
    if reason:
        assert f"Efficiency hidden: {reason}." in text(card)
        assert f"- Efficiency hidden: {reason}." in markdown(card)
