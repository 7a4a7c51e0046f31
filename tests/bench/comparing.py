"""Whether the intervals of `compare` hold what they claim, and how often it finds what is not."""

from __future__ import annotations

import math
from itertools import product
from random import Random

from drive_trace.comparison.statistics import (
    ALPHA,
    Counts,
    Sample,
    difference,
    gate_p,
    hodges_lehmann,
    rank_test,
)
from drive_trace.grading.calibration import wilson
from tests.bench.table import Heading, Row, Target

RUNS = (4, 8, 16)
_RATES = [at / 20 for at in range(21)]


def measure_statistics(draws: int) -> list[Row | Heading]:
    """What intervals miss, in percent, over true rates from 0 to 1: exactly, by adding up how
    likely each table is. Costs are drawn: lognormal, with a fixed seed.
    """
    rows: list[Row | Heading] = [Heading("statistics: what 95 % intervals miss, nominally 5 %")]
    for k in RUNS:
        rows.append(_row(f"Wilson, a rate of {k} runs", _wilson_misses(k)))
        rows.append(_row(f"Newcombe, a difference of {k} against {k}", _newcombe_misses(k)))
        rows.append(_row(f"gate, {k} against {k}: false alarms", _false_alarms(k)))
        missed, alarms = _cost_misses(k, draws)
        # Three standard errors of so many draws.
        chance = 3 * math.sqrt(ALPHA * (1 - ALPHA) / draws)
        rows.append(_row(f"Hodges–Lehmann, {k} against {k}", [missed], chance))
        rows.append(_row(f"cost, {k} against {k}: false alarms", [alarms], chance))
    return rows


def _row(what: str, shares: list[float], chance: float = 0) -> Row:
    """The mean over all rates has to be nominal; single rates may miss by what is discrete."""
    mean = 100 * sum(shares) / len(shares)
    worst = f"worst {100 * max(shares):.1f} %" if len(shares) > 1 else ""
    return Row(what, [mean], unit="%", targets=[Target(100 * (ALPHA + chance))], notes=worst)


def _chances(k: int, rate: float) -> list[float]:
    return [math.comb(k, x) * rate**x * (1 - rate) ** (k - x) for x in range(k + 1)]


def _wilson_misses(k: int) -> list[float]:
    intervals = [wilson(x, k) for x in range(k + 1)]
    return [
        sum(
            chance
            for chance, (low, high) in zip(_chances(k, rate), intervals, strict=True)
            if not low - 1e-12 <= rate <= high + 1e-12
        )
        for rate in _RATES
    ]


def _newcombe_misses(k: int) -> list[float]:
    tables = list(product(range(k + 1), repeat=2))
    intervals = [difference([Counts(a, k, b, k)])[1] for a, b in tables]
    return [
        sum(
            before[a] * after[b]
            for (a, b), (low, high) in zip(tables, intervals, strict=True)
            if not low - 1e-12 <= candidate - baseline <= high + 1e-12
        )
        for baseline, candidate in product(_RATES, repeat=2)
        for before, after in [(_chances(k, baseline), _chances(k, candidate))]
    ]


def _false_alarms(k: int) -> list[float]:
    tables = list(product(range(k + 1), repeat=2))
    told = [(a, b) for a, b in tables if gate_p([Counts(a, k, b, k)]) <= ALPHA]
    return [
        sum(chances[a] * chances[b] for a, b in told)
        for chances in (_chances(k, rate) for rate in _RATES)
    ]


def _cost_misses(k: int, draws: int) -> tuple[float, float]:
    drawn, missed, alarms = Random(k), 0, 0
    for _ in range(draws):
        sides = (tuple(drawn.gauss(0, 0.5) for _ in range(k)) for _ in range(2))
        sample = [Sample(*sides)]
        low, high = hodges_lehmann(sample)[1] or (0, math.inf)
        missed += not low <= 1 <= high
        alarms += rank_test(sample)[0] <= ALPHA
    return missed / draws, alarms / draws
