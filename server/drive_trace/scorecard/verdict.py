"""Tier 1: the correctness gate."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from drive_trace.text.wording import are, listed
from drive_trace.vocabulary import CORRECTNESS_FIELDS

if TYPE_CHECKING:
    from drive_trace.scorecard.run_score import Recorded

NO_SIGNAL = "external correctness signal"
"""What is missing where no correctness-recorded event was appended."""

NOT_GRADED = "not computable: not graded"
"""The verdict then, where there is little room to name the input."""


class Verdict(StrEnum):
    """What the gate says of a run. Null outranks fail."""

    CORRECT = "correct"
    INCORRECT = "incorrect"
    NOT_COMPUTABLE = "not-computable"


class Gate(NamedTuple):
    """The verdict with its reasons."""

    verdict: Verdict
    missing: tuple[str, ...]
    """What is missing, in the order mechanical, qa, intent."""
    failed: tuple[str, ...]
    """The components recorded as fail, whatever the verdict."""
    uncounted: str | None = None
    """What became of the lines of a run without a valid event: ``all 38 lines rejected``."""

    @property
    def is_ungraded(self) -> bool:
        """Whether nothing is known against the run but that nobody graded it."""
        return self.missing == (NO_SIGNAL,) and self.uncounted is None


def judge(recorded: Recorded | None, uncounted: str | None = None) -> Gate:
    """Apply the gate to the correctness event that counts; for ``uncounted`` see :class:`Gate`."""
    if recorded is None:
        return Gate(Verdict.NOT_COMPUTABLE, (NO_SIGNAL,), (), uncounted)
    missing = tuple(name for name in CORRECTNESS_FIELDS if recorded.values[name] is None)
    failed = tuple(name for name in CORRECTNESS_FIELDS if recorded.values[name] == "fail")
    if missing:
        return Gate(Verdict.NOT_COMPUTABLE, missing, failed)
    return Gate(Verdict.INCORRECT if failed else Verdict.CORRECT, (), failed)


def headline(gate: Gate) -> str:
    """The verdict in a few words: ``not computable — missing: qa, intent``."""
    if gate.verdict is Verdict.CORRECT:
        return "CORRECT"
    if gate.verdict is Verdict.INCORRECT:
        return f"INCORRECT — {', '.join(gate.failed)} failed"
    if gate.uncounted is not None:
        return f"not computable: {gate.uncounted}"
    return f"not computable — missing: {', '.join(gate.missing)}"


def cause(gate: Gate) -> str:
    """Why the verdict is what it is, in a few words: ``missing: qa, intent``."""
    if gate.verdict is Verdict.CORRECT:
        return f"{listed(CORRECTNESS_FIELDS)} passed"
    return gate.uncounted or headline(gate).partition(" — ")[2]


def what_would_change_it(gate: Gate) -> str:
    """What has to be recorded for another verdict, in one sentence."""
    failed, missing = listed(gate.failed), listed(gate.missing)
    if gate.verdict is Verdict.CORRECT:
        return "A later correctness-recorded with a fail or a null in it would change the verdict."
    if gate.verdict is Verdict.INCORRECT:
        return (
            f"It becomes CORRECT only when {failed} "
            f"{are(len(gate.failed))} recorded again as pass"
            f"{', with the other components repeated' if len(gate.failed) < 3 else ''}."
        )
    if gate.uncounted is not None:
        return "Repair its lines: no reader counts one of them as they are."
    if gate.is_ungraded:
        return "Record mechanical, qa and intent: the run is CORRECT when all three pass."
    if gate.failed:
        return (
            f"Recording {missing} alone cannot make it CORRECT: {failed} failed, "
            "and must be recorded again."
        )
    return (
        f"It becomes CORRECT when {missing} {are(len(gate.missing))} recorded "
        f"as pass, and INCORRECT on a fail"
        f"{'; the other components must be repeated' if len(gate.missing) < 3 else ''}."
    )
