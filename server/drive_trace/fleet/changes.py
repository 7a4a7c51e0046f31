"""Where the share of CORRECT runs changed from month to month, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from drive_trace.comparison.statistics import ALPHA, Counts, Interval, difference, gate_p

_WITHIN = 3.84 / 2
"""Log-likelihoods that differ by less are in one 95 % interval: half of a χ² of one degree."""

_EXACT = 10_000
"""Of more runs the test is by the likelihood ratio, as the exact one takes long."""

Passes = tuple[int, int]
"""How many runs of a month are CORRECT, and how many have a verdict."""


class Change(NamedTuple):
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


def changes(months: Sequence[Passes], alpha: float = ALPHA, start: int = 0) -> Iterator[Change]:
    """The changes that chance hardly explains, in order: the most likely one, and on either side of
    it those for half of ``alpha``.
    """
    found = likeliest(months)
    if found is None or found.p > alpha:
        return
    at = found.first
    yield from changes(months[:at], alpha / 2, start)
    moved = {name: getattr(found, name) + start for name in ("first", "earliest", "latest")}
    yield found._replace(**moved)
    yield from changes(months[at:], alpha / 2, start + at)


def likeliest(months: Sequence[Passes]) -> Change | None:
    """The moment that parts the months best, whatever chance makes of it; None for one month."""
    likely = {
        at: _likelihood(months[:at]) + _likelihood(months[at:]) for at in range(1, len(months))
    }
    if not likely:
        return None
    best = max(likely, key=likely.__getitem__)
    near = [at for at, each in likely.items() if likely[best] - each <= _WITHIN]
    counts = Counts(*_sum(months[:best]), *_sum(months[best:]))
    is_small = counts.baseline + counts.candidate <= _EXACT
    gained = 2 * (likely[best] - _likelihood(months))  # χ² of one degree, were nothing chosen
    p = gate_p([counts]) if is_small else math.erfc(math.sqrt(max(gained, 0.0) / 2))
    p = min(1.0, p * len(likely))
    return Change(best, near[0], near[-1], counts, *difference([counts]), p, len(likely))


def _sum(months: Sequence[Passes]) -> Passes:
    return sum(passed for passed, _ in months), sum(of for _, of in months)


def _likelihood(months: Sequence[Passes]) -> float:
    passed, of = _sum(months)
    return sum(part * math.log(part / of) for part in (passed, of - passed) if part)
