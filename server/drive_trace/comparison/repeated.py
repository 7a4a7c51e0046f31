"""How many runs are CORRECT: of a side, of a case, of a few tries; and which cases flip."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from drive_trace.comparison.runs import ComparedRun, RunsOfCase, of_verdict
from drive_trace.comparison.statistics import Counts, Interval, Sample
from drive_trace.grading.calibration import wilson
from drive_trace.scorecard.caveats import CaveatCode
from drive_trace.scorecard.run_score import QUALIFIED, RunScore, Verdict

_UNCOUNTED_GRADES = {CaveatCode.REJECTED_GRADE, CaveatCode.LOOKALIKE_GRADE}


class Tally(NamedTuple):
    """The verdicts of some runs."""

    k: int
    correct: int
    incorrect: int
    not_computable: int
    qualified: int
    """So many of the CORRECT have a caveat that could overturn that."""
    incorrect_qualified: int
    """So many of the INCORRECT have such a caveat, and may be CORRECT."""
    failed: int
    """So many of the not computable cannot become CORRECT: a component is recorded as a fail, and
    no caveat could overturn that.
    """
    rejected: int
    """So many of those that may be CORRECT have a grade that readers reject, or no valid event."""

    @property
    def most(self) -> int:
        """How many may be CORRECT."""
        return self.correct + self.not_computable - self.failed + self.incorrect_qualified

    @property
    def least(self) -> int:
        """How many are CORRECT whatever is not known."""
        return self.correct - self.qualified

    @property
    def tries(self) -> Tries | None:
        """What a few of them come to."""
        flips = bool(self.correct and self.incorrect)
        return tries(self.k, self.least, self.most, flips=flips)

    @property
    def passed(self) -> str:
        """How many are CORRECT, for people: ``7``, or ``7 (2 with caveats)``."""
        but = f" ({self.qualified:,} with caveats)" if self.qualified else ""
        return f"{self.correct:,}{but}"

    @property
    def interval(self) -> Interval | None:
        """Wilson's, of the share of CORRECT runs, from the least to the most that may be CORRECT;
        None where there are no runs.
        """
        if not self.k:
            return None
        return wilson(self.least, self.k)[0], wilson(self.most, self.k)[1]


def tally(runs: Sequence[ComparedRun]) -> Tally:
    """Count the verdicts."""
    scores = [each.score for each in runs]
    qualified = Counter(each.verdict for each in scores if each.qualifying)
    verdicts = Counter(each.verdict for each in scores)
    return Tally(
        len(runs),
        verdicts[Verdict.CORRECT],
        verdicts[Verdict.INCORRECT],
        verdicts[Verdict.NOT_COMPUTABLE],
        qualified[Verdict.CORRECT],
        qualified[Verdict.INCORRECT],
        sum(each.verdict is Verdict.NOT_COMPUTABLE and _is_settled(each) for each in scores),
        sum(_has_rejected_grade(each) and not _is_settled(each) for each in scores),
    )


def _is_settled(score: RunScore) -> bool:
    """Whether a run cannot become CORRECT by what its caveats say."""
    return bool(score.gate.failed) and not score.qualifying


def _has_rejected_grade(score: RunScore) -> bool:
    """Whether a grade that may be the latest, or every line, is rejected or of an unknown type."""
    is_any = score.correctness is None
    found = (each for each in score.caveats if each.code in _UNCOUNTED_GRADES)
    return score.gate.uncounted is not None or any(is_any or each.qualifies for each in found)


def counted(cases: Sequence[RunsOfCase], **may_be: bool | None) -> list[Counts]:
    """How many runs pass: see :func:`passes`."""
    found = passes(cases, **may_be)
    return [Counts(round(sum(b)), len(b), round(sum(c)), len(c)) for b, c in found]


def passes(
    cases: Sequence[RunsOfCase], *, baseline: bool | None = None, candidate: bool | None = None
) -> list[Sample]:
    """For each run, 1 where it is CORRECT, else 0. What is recorded; for True what may be of a side
    at most, for False at least. A candidate must not gain by a grade that readers reject: the run
    is not CORRECT.
    """
    return [
        Sample(
            tuple(float(_passes(run.score, baseline)) for run in case.baseline),
            tuple(
                float(_passes(run.score, candidate) and not _has_rejected_grade(run.score))
                for run in case.candidate
            ),
        )
        for case in cases
    ]


def _passes(score: RunScore, may_be: bool | None) -> bool:
    if may_be:
        return not _is_settled(score)
    return score.verdict is Verdict.CORRECT and (may_be is None or not score.qualifying)


# Repeated runs of one case

_TRIES = 3


class Tries(NamedTuple):
    """What so many runs of one case and side come to, if one draws them from all."""

    k: int
    flips: bool
    """Whether some of all runs are CORRECT, and others INCORRECT."""
    any_correct: float | None
    """How likely one at least is CORRECT, pass@k (M. Chen and others, 2021); None where it is not
    known of all runs whether they are.
    """
    any_interval: Interval
    all_correct: float | None
    """How likely all are, pass^k (S. Yao and others, 2024)."""
    all_interval: Interval


def tries(of: int, least: int, most: int, *, flips: bool) -> Tries | None:
    """Of so many runs, of which at least and at most so many are CORRECT. The intervals follow from
    that of their share, and hold what is drawn, as few runs may be beyond. None of a single run.
    """
    if of < 2:
        return None
    k, low, high = min(_TRIES, of), wilson(least, of)[0], wilson(most, of)[1]
    ways, none, every = (math.comb(n, k) for n in (of, of - least, least))
    either, both = (1 - (1 - low) ** k, 1 - (1 - high) ** k), (low**k, high**k)
    if least != most:
        return Tries(k, flips, None, either, None, both)
    one, each = 1 - none / ways, every / ways
    held = [(min(a, at), max(b, at)) for (a, b), at in ((either, one), (both, each))]
    return Tries(k, flips, one, held[0], each, held[1])


# Cases that came out otherwise


class Flip(NamedTuple):
    """A case whose runs went from CORRECT to INCORRECT, or back; all texts are untrusted."""

    case: str
    before: Verdict
    after: Verdict
    baseline_runs: tuple[ComparedRun, ...]
    """Those with the verdict before."""
    candidate_runs: tuple[ComparedRun, ...]
    """Those with the verdict after."""

    @property
    def qualified(self) -> tuple[ComparedRun, ...]:
        """Those that are CORRECT, but for a caveat that could overturn it."""
        runs = (*self.baseline_runs, *self.candidate_runs)
        return tuple(each for each in runs if each.score.standing == QUALIFIED)


def change(each: Counts) -> int:
    """Above 0 where the candidate's share is larger; shares themselves have no exact doubles."""
    return each.candidate_passed * each.baseline - each.baseline_passed * each.candidate


def flips(cases: Sequence[RunsOfCase]) -> Iterator[Flip]:
    """The cases in which a run is CORRECT on one side, and INCORRECT on the other, oftener."""
    for case, by in zip(cases, map(change, counted(cases)), strict=True):
        ways = Verdict.CORRECT, Verdict.INCORRECT
        before, after = ways if by < 0 else ways[::-1]
        ours, theirs = of_verdict(case.baseline, before), of_verdict(case.candidate, after)
        if by and ours and theirs:
            yield Flip(case.name, before, after, ours, theirs)
