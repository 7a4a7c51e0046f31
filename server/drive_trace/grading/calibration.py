"""How far a judge agrees with people, and whether that is far enough to be trusted."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

AGREEMENT = 0.80
"""The least lower bound of agreement; as a point, the reference's own threshold."""
FAILS_CAUGHT = 0.50
"""The least lower bound of the rate at which human fails are caught."""
_Z = 1.959963984540054
"""The normal quantile of 0.975, for 95 % intervals."""
_FAR = 100_000
"""So many labels nobody has."""


class Label(NamedTuple):
    """One case, as a person and the judge graded it."""

    case: str
    human: str
    """``pass`` or ``fail``."""
    judge: str | None
    """None where the judge gave no verdict."""


class Rate(NamedTuple):
    """A share, with its 95 % Wilson interval."""

    hits: int
    of: int

    @property
    def value(self) -> float | None:
        """Between 0 and 1; None of nothing."""
        return self.hits / self.of if self.of else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Wilson's score interval without continuity correction; None of nothing."""
        return wilson(self.hits, self.of) if self.of else None

    @property
    def lower(self) -> float:
        """The lower bound; 0 of nothing."""
        return self.interval[0] if self.interval is not None else 0.0


class Calibration(NamedTuple):
    """What a judge's verdicts are worth, held against people's. A *hit* is a human fail that the
    judge calls a fail.
    """

    fail_fail: int
    """Human fail, judge fail; the other three are named alike."""
    fail_pass: int
    pass_fail: int
    pass_pass: int
    invalid: int
    """Rows without a verdict of the judge."""

    @property
    def n(self) -> int:
        """Rows with a verdict."""
        return self.fail_fail + self.fail_pass + self.pass_fail + self.pass_pass

    @property
    def agreement(self) -> Rate:
        """How often both say the same."""
        return Rate(self.fail_fail + self.pass_pass, self.n)

    @property
    def tpr(self) -> Rate:
        """How many of the human fails the judge catches."""
        return Rate(self.fail_fail, self.fail_fail + self.fail_pass)

    @property
    def tnr(self) -> Rate:
        """How many of the human passes the judge passes."""
        return Rate(self.pass_pass, self.pass_fail + self.pass_pass)

    @property
    def base_rate(self) -> float | None:
        """The share of human fails, which a judge is there to catch; None of nothing."""
        return self.tpr.of / self.n if self.n else None

    @property
    def always_pass_agreement(self) -> float | None:
        """How often a judge would agree that passes everything; None of nothing."""
        return self.tnr.of / self.n if self.n else None

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; None where chance alone would agree on everything."""
        if not self.n:
            return None
        human = self.pass_fail + self.pass_pass
        judge = self.fail_pass + self.pass_pass
        # Whole numbers: a sum of rounded shares would make a chance of 1 a little less than that.
        chance = human * judge + (self.n - human) * (self.n - judge)
        if chance == self.n**2:
            return None
        return (self.agreement.hits * self.n - chance) / (self.n**2 - chance)

    @property
    def lacks(self) -> tuple[str, ...]:
        """Why the judge is not calibrated, each in one sentence without its full stop."""
        if not self.n:
            return ("there is no row with a verdict of the judge",)
        found = []
        for what, rate, least in (
            ("agreement", self.agreement, AGREEMENT),
            ("the rate at which human fails are caught", self.tpr, FAILS_CAUGHT),
        ):
            if rate.value is None:
                found.append(f"{what} is not known, as no row is a human fail")
            elif rate.lower < least:
                found.append(
                    f"the lower bound of {what} is {rate.lower:.3f}, and has to be {least:.2f}"
                )
        kappa = self.kappa
        if kappa is None or kappa <= 0:
            shown = "not defined" if kappa is None else f"{kappa:.3f}"
            found.append(f"kappa is {shown}, and has to be above 0: chance would agree as often")
        return tuple(found)

    @property
    def is_calibrated(self) -> bool:
        """Whether the judge passes the gate."""
        return not self.lacks

    @property
    def labels_needed(self) -> tuple[str, ...]:
        """How many labels more would do, if they came out as those so far; why none would."""
        found = []
        for what, rate, least in (
            ("labels", self.agreement, AGREEMENT),
            ("labels of human fails", self.tpr, FAILS_CAUGHT),
        ):
            if rate.lower < least:
                more = _more_needed(rate, least)
                found.append(
                    f"needed, if they come out as so far: {what}: {more:,} more"
                    if more is not None
                    else f"no number of {what} would do at this rate"
                )
        return tuple(found)


def calibrate(labels: Iterable[Label]) -> Calibration:
    """Count a table."""
    counts = Counter((each.human, each.judge) for each in labels)
    return Calibration(
        fail_fail=counts["fail", "fail"],
        fail_pass=counts["fail", "pass"],
        pass_fail=counts["pass", "fail"],
        pass_pass=counts["pass", "pass"],
        invalid=counts["fail", None] + counts["pass", None],
    )


def repeats(labels: Sequence[Label]) -> Rate:
    """Of the cases with several rows, how many got the same verdict, or none, in each."""
    verdicts: dict[str, list[str | None]] = {}
    for each in labels:
        verdicts.setdefault(each.case, []).append(each.judge)
    several = [each for each in verdicts.values() if len(each) > 1]
    return Rate(sum(len(set(each)) == 1 for each in several), len(several))


def once_each(labels: Sequence[Label]) -> list[Label]:
    """Each case once: repeating a row makes an interval no narrower. Where the rows of a case
    differ, one that disagrees counts, and one without a verdict only where none has one.
    """
    found: dict[str, list[Label]] = {}
    for each in labels:
        found.setdefault(each.case, []).append(each)
    return [max(rows, key=_doubt) for rows in found.values()]


def _doubt(label: Label) -> int:
    return 0 if label.judge is None else 2 if label.judge != label.human else 1


def wilson(hits: float, of: float) -> tuple[float, float]:
    """The 95 % score interval of a binomial proportion (E. B. Wilson, 1927)."""
    share, square = hits / of, _Z * _Z
    middle = share + square / (2 * of)
    reach = _Z * math.sqrt(share * (1 - share) / of + square / (4 * of * of))
    scale = 1 + square / of
    low, high = (middle - reach) / scale, (middle + reach) / scale
    return (0.0 if hits == 0 else max(low, 0.0)), (1.0 if hits == of else min(high, 1.0))


def share(least: int, most: int, of: int) -> str:
    """The share of those of which at least and at most so many count, with its 95 % interval
    whatever the others are: ``0.50 to 0.75 [0.15, 0.95]``.
    """
    if not of:
        return "n/a"
    low, high = wilson(least, of)[0], wilson(most, of)[1]
    ends = dict.fromkeys(f"{count / of:.2f}" for count in (least, most))
    return f"{' to '.join(ends)} [{low:.2f}, {high:.2f}]"


def _more_needed(rate: Rate, least: float) -> int | None:
    hits, of = (rate.hits, rate.of) if rate.of else (1, 1)
    sizes = range(rate.of + 1, _FAR)
    enough = (size for size in sizes if wilson(hits * size // of, size)[0] >= least)
    return next((size - rate.of for size in enough), None) if hits > least * of else None
