"""The two-tier scorecard: who is judged by what."""

import re

import pytest

from drive_trace.scorecard.run_score import Verdict, headline, what_would_change_it
from tests.scorecard.support import TRIPLES, card_markdown, card_of, event, graded, run_of
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
