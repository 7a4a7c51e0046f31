"""The two-tier scorecard: who is judged by what."""

import re

import pytest

from drive_trace.scorecard.run_score import Verdict, headline, what_would_change_it
from tests.scorecard.support import PASSED, TRIPLES, card_markdown, card_of, event, graded, run_of
from tests.support.fixtures import trace

COMPONENTS = ("mechanical", "qa", "intent")


# Tier 1


@pytest.mark.parametrize("triple", TRIPLES)
def test_the_verdict_of_every_triple(triple: tuple[str | None, ...]) -> None:
    gate = run_of(graded(*triple)).gate
    values = dict(zip(COMPONENTS, triple, strict=True))
    assert gate.missing == tuple(name for name in COMPONENTS if values[name] is None)
    assert gate.failed == tuple(name for name in COMPONENTS if values[name] == "fail")
    if None in triple:
        assert gate.verdict is Verdict.NOT_COMPUTABLE
        assert headline(gate) == f"not computable — missing: {', '.join(gate.missing)}"
    elif "fail" in triple:
        assert gate.verdict is Verdict.INCORRECT
        assert headline(gate) == f"INCORRECT — {', '.join(gate.failed)} failed"
    else:
        assert gate.verdict is Verdict.CORRECT
        assert headline(gate) == "CORRECT"


def test_without_a_correctness_event_the_signal_itself_is_missing() -> None:
    gate = run_of(event("project-started"), event("tokens-recorded")).gate
    assert gate.verdict is Verdict.NOT_COMPUTABLE
    assert headline(gate) == "not computable — missing: external correctness signal"


@pytest.mark.parametrize(
    ("triple", "sentence"),
    [
        (
            ("pass", "pass", "pass"),
            "A later correctness-recorded with a fail or a null in it would change the verdict.",
        ),
        (
            ("pass", "fail", "pass"),
            "It becomes CORRECT only when qa is recorded again as pass, "
            "with the other components repeated.",
        ),
        (
            ("fail", "fail", "fail"),
            "It becomes CORRECT only when mechanical, qa and intent are recorded again as pass.",
        ),
        (
            ("pass", "pass", None),
            "It becomes CORRECT when intent is recorded as pass, and INCORRECT on a fail; "
            "the other components must be repeated.",
        ),
        (
            (None, None, None),
            "It becomes CORRECT when mechanical, qa and intent are recorded as pass, "
            "and INCORRECT on a fail.",
        ),
        (
            ("pass", "fail", None),
            "Recording intent alone cannot make it CORRECT: qa failed, and must be recorded again.",
        ),
        (
            ("fail", "fail", None),
            "Recording intent alone cannot make it CORRECT: mechanical and qa failed, "
            "and must be recorded again.",
        ),
    ],
)
def test_what_would_change_the_verdict(triple: tuple[str | None, ...], sentence: str) -> None:
    run = run_of(graded(*triple))
    assert what_would_change_it(run.gate) == sentence
    assert sentence in card_markdown(run)


def test_what_would_give_an_ungraded_run_a_verdict() -> None:
    said = what_would_change_it(run_of(event("project-started")).gate)
    assert said == "Record mechanical, qa and intent: the run is CORRECT when all three pass."


@pytest.mark.parametrize("triple", TRIPLES)
def test_what_would_change_the_verdict_does_change_it(triple: tuple[str | None, ...]) -> None:
    before = run_of(graded(*triple)).gate
    named = set(re.findall("mechanical|qa|intent", what_would_change_it(before)))
    if before.verdict is not Verdict.CORRECT:
        assert named == {*before.missing, *before.failed}
        mended = ["pass" if name in named else old for name, old in zip(COMPONENTS, triple)]  # noqa: B905
        assert run_of(graded(*mended)).gate.verdict is Verdict.CORRECT


# The event that counts


def test_the_last_event_of_a_file_counts_as_a_whole() -> None:
    run = run_of(
        graded("pass", "pass", "pass", ts="2026-05-28T18:00:00.000Z"),
        event("tokens-recorded", input_tokens=10, output_tokens=20),
        event("tokens-recorded", input_tokens=None, output_tokens=5),
        graded(None, "fail", None, ts="2026-05-28T09:00:00.000Z"),
    )
    assert headline(run.gate) == "not computable — missing: mechanical, intent"
    assert run.correctness is not None
    assert run.correctness.line == 4
    assert run.tokens is not None
    assert (run.tokens.values["input_tokens"], run.tokens.values["output_tokens"]) == (None, 5)


def test_a_rejected_or_unknown_line_replaces_nothing() -> None:
    run = run_of(
        PASSED,
        graded("pass", "failed", "pass"),
        graded("pass", "fail", "pass", schema_version="2"),
        event("correctness-recorde", mechanical="fail", qa="fail", intent="fail"),
    )
    assert run.gate.verdict is Verdict.CORRECT
    assert [rejected.line for rejected in run.rejected] == [2, 3]


def test_runs_come_in_first_seen_order_and_are_judged_apart() -> None:
    card = card_of(
        trace(
            event("project-started", run="b"),
            graded("pass", "pass", "pass", run="a"),
            graded("pass", "fail", "pass", run="b"),
            event("project-started", run="c"),
        )
    )
    assert [(run.run_id, str(run.gate.verdict)) for run in card.runs] == [
        ("b", "incorrect"),
        ("a", "correct"),
        ("c", "not-computable"),
    ]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("2026-05-28T15:00:00.000Z", "2026-05-28T14:00:00.000Z", Verdict.INCORRECT),
        ("2026-05-28T14:00:00.000Z", "2026-05-28T15:00:00.000Z", Verdict.CORRECT),
        ("2026-05-28T14:00:00.000Z", "2026-05-28T14:00:00.000Z", Verdict.CORRECT),
    ],
)
def test_between_files_the_latest_counts_and_on_a_tie_the_later_file(
    first: str, second: str, verdict: Verdict
) -> None:
    card = card_of(
        trace(graded("pass", "fail", "pass", ts=first)),
        trace(event("project-started"), graded("pass", "pass", "pass", ts=second)),
    )
    (run,) = card.runs
    assert run.gate.verdict is verdict
    assert run.correctness is not None
    where = ("a.jsonl", 1) if verdict is Verdict.INCORRECT else ("b.jsonl", 2)
    assert (run.correctness.path, run.correctness.line) == where
    assert [part.path for part in run.parts] == ["a.jsonl", "b.jsonl"]


def test_within_a_file_the_last_counts_before_files_are_compared() -> None:
    card = card_of(
        trace(
            graded("pass", "fail", "pass", ts="2026-05-28T20:00:00.000Z"),
            graded("pass", None, "pass", ts="2026-05-28T10:00:00.000Z"),
        ),
        trace(graded("pass", "pass", "pass", ts="2026-05-28T11:00:00.000Z")),
    )
    assert card.runs[0].gate.verdict is Verdict.CORRECT


def test_the_two_feeds_may_come_from_different_files() -> None:
    card = card_of(trace(event("tokens-recorded", input_tokens=7)), trace(PASSED))
    (run,) = card.runs
    assert run.efficiency is not None
    assert run.efficiency.tokens["input_tokens"] == 7
