"""Where the share of CORRECT runs changed from month to month, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from drive_trace.comparison.statistics import ALPHA, Counts, Interval, difference, gate_p

_WITHIN = 3.84 / 2
"""Log-likelihoods that differ by less are in one 95 % interval: half of a χ² of one degree."""

_EXACT = 10_000
"""Of more runs the test is by the likelihood ratio, as the exact one takes long."""

MOST_WITHIN = 12
"""So many changes are looked for within one another: the time grows with the months alone."""

Passes = tuple[int, int]
"""How many runs of a month are CORRECT, and how many have a verdict."""


class RateChange(NamedTuple):
    """Months are told by their place."""

    first: int
    """The first month after the most likely moment ..."""
    earliest: int
    latest: int
    """... which may be from this one to that one, at 95 %."""
    counts: Counts
    """Of the months before it, and of those from it on."""
    difference: float
    interval: Interval
    p: float
    """By the exact test, of very many runs by the likelihood ratio, times the moments that were
    tried; at most 1.
    """
    tried: int


def changes(months: Sequence[Passes], alpha: float = ALPHA, start: int = 0) -> Iterator[RateChange]:
    """The changes that chance hardly explains, in order: the most likely one, and on either side of
    it those for half of ``alpha``, down to :data:`MOST_WITHIN`.
    """
    if alpha < ALPHA / 2 ** (MOST_WITHIN - 1):
        return
    found = likeliest(months)
    if found is None or found.p > alpha:
        return
    at = found.first
    yield from changes(months[:at], alpha / 2, start)
    moved = {name: getattr(found, name) + start for name in ("first", "earliest", "latest")}
    yield found._replace(**moved)
    yield from changes(months[at:], alpha / 2, start + at)


def likeliest(months: Sequence[Passes]) -> RateChange | None:
    """The moment that parts the months best, whatever chance makes of it; None for one month."""
    if len(months) < 2:
        return None
    passed, of = ([*accumulate(each, initial=0)] for each in zip(*months, strict=True))
    likely = {
        at: _likelihood(passed[at], of[at]) + _likelihood(passed[-1] - passed[at], of[-1] - of[at])
        for at in range(1, len(months))
    }
    best = max(likely, key=likely.__getitem__)
    near = [at for at, each in likely.items() if likely[best] - each <= _WITHIN]
    counts = Counts(passed[best], of[best], passed[-1] - passed[best], of[-1] - of[best])
    is_small = counts.baseline + counts.candidate <= _EXACT
    # χ² of one degree, were nothing chosen.
    gained = 2 * (likely[best] - _likelihood(passed[-1], of[-1]))
    p = gate_p([counts]) if is_small else math.erfc(math.sqrt(max(gained, 0.0) / 2))
    p = min(1.0, p * len(likely))
    return RateChange(best, near[0], near[-1], counts, *difference([counts]), p, len(likely))


def _likelihood(passed: int, of: int) -> float:
    return sum(part * math.log(part / of) for part in (passed, of - passed) if part)
