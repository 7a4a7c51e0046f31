"""How often a comparison gives which answer, where it is known which one is right.

`python -m tests.bench.deciding dollars --write` puts a table into docs/compare.md, and so does it
with `kinds`, and with `looks`: there, sides that are alike are compared again and again. Costs are
log-normal: within a case their logarithms have a standard deviation of 0.76, and cases differ as
much again. Passes do not depend on costs, but where a row says so. Where dollars decide, all kinds
of tokens go together; else each shares half of its variance with the others. The same seed gives
the same table.
"""

import argparse
import math
import sys
from collections import Counter
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import NamedTuple

from drive_trace.comparison import answer as deciding
from drive_trace.comparison import statistics
from drive_trace.comparison.answer import Answer, CorrectShare, CostRule
from drive_trace.comparison.power import levels_for_two
from drive_trace.comparison.repeated import tally
from drive_trace.comparison.runs import ComparedRun, RunsOfCase, TokenPrices, costs_of
from drive_trace.scorecard.measures import Efficiency, Rounds, WallClock
from drive_trace.scorecard.run_score import Gate, RunScore, Verdict
from drive_trace.vocabulary import TOKEN_FIELDS

PAGE = Path(__file__).parents[2] / "docs" / "compare.md"
SEED, SPREAD = 39, 0.76
PRICE = TokenPrices(3.0, 15.0, 0.3, 3.75)
LOOKS = 15
_COUNTS = (20_000, 10_000, 400_000, 20_000)
"""Of each kind, in the middle."""


class Design(NamedTuple):
    """Cases, and the runs of each a side."""

    cases: int
    runs: int
    often: int = 1
    """So many times as many comparisons by dollars, as they take little time."""


class Truth(NamedTuple):
    """What is true of the sides."""

    what: str
    rates: tuple[float, float]
    """How often the runs of each side are CORRECT."""
    ratio: float
    """What the candidate costs, by the baseline."""
    failing: float = 1.0
    """What a run that is not CORRECT costs on either side, by one that is."""


DESIGNS = (Design(5, 6, 5), Design(60, 1), Design(20, 5))
_COSTS = (("alike", 1.0), ("twice the cost", 2.0), ("half the cost", 0.5))
TRUTHS = (
    *(Truth(f"{what}, {p:.0%} CORRECT", (p, p), by) for what, by in _COSTS for p in (0.75, 0.9)),
    Truth("half the cost, 70% against 90% CORRECT", (0.9, 0.7), 0.5),
)
FAILING = Truth("alike, 75% CORRECT, failing runs cost twice", (0.75, 0.75), 1.0, 2.0)
"""Dollars are those of all runs."""


def drawn(random: Random, design: Design, truth: Truth, shared: float) -> list[RunsOfCase]:
    """Two sides of runs; ``shared`` is how much of their variance kinds of tokens share."""
    cases = []
    for at in range(design.cases):
        middle = random.gauss(0, SPREAD)
        sides = (
            tuple(
                _run(random, middle + math.log(ratio), rate, shared, truth.failing)
                for _ in range(design.runs)
            )
            for ratio, rate in zip((1, truth.ratio), truth.rates, strict=True)
        )
        cases.append(RunsOfCase(str(at), *sides))
    return cases


def _run(random: Random, middle: float, rate: float, shared: float, failing: float) -> ComparedRun:
    verdict = Verdict.CORRECT if random.random() < rate else Verdict.INCORRECT
    middle += 0.0 if verdict is Verdict.CORRECT else math.log(failing)
    middle += random.gauss(0, SPREAD * math.sqrt(shared))
    own = (random.gauss(0, SPREAD * math.sqrt(1 - shared)) for _ in _COUNTS)
    counts = (round(n * math.exp(middle + each)) for n, each in zip(_COUNTS, own, strict=True))
    tokens = dict(zip(TOKEN_FIELDS, counts, strict=True))
    measured = Efficiency(tokens, WallClock(None, 0, 0, 0, 0), Rounds(0, 0, 0))
    gate = Gate(verdict, (), () if verdict is Verdict.CORRECT else ("qa",))
    score = RunScore("", (), None, None, gate, measured)
    return ComparedRun(score, {"case": frozenset()}, price=PRICE)


def answered(
    cases: list[RunsOfCase],
    *,
    by_dollars: bool,
    level: float = statistics.ALPHA,
    looks: int = 1,
) -> tuple[Answer, bool]:
    """The answer, and whether the gate decided."""
    sides = [[run for case in cases for run in case[side]] for side in (1, 2)]
    counts = deciding.counted(cases)
    p = statistics.gate_p(counts)
    gate = CorrectShare(*map(tally, sides), None, None, p, "", None, None)
    rule = CostRule(by_dollars=by_dollars, level=level, look=(1, looks))
    dollars, alpha = deciding.dollars_of(cases, rule)
    if not by_dollars:
        dollars, alpha = None, statistics.left_by_gate(counts, level)
    rule, costs = rule._replace(alpha=alpha), () if by_dollars else costs_of(cases)
    by_cost, why = deciding.cost_answer(rule, costs, dollars, cases)
    found = deciding.final_answer(gate, by_cost, why, cases, level)[0]
    return found, statistics.is_significant(p, level)


def rows(times: int, *, by_dollars: bool) -> Iterator[tuple[str, ...]]:
    """A row for each design and truth: the shares of its answers. Sides that are alike are compared
    more often, as those answers are few.
    """
    for design in DESIGNS:
        for truth in (*TRUTHS, *[FAILING] * by_dollars):
            random, shared = Random(SEED), 1.0 if by_dollars else 0.5
            count = (times if truth.ratio == 1 else times // 5) * design.often**by_dollars
            found = Counter(
                answered(drawn(random, design, truth, shared), by_dollars=by_dollars)
                for _ in range(count)
            )
            by_gate = sum(n for (_, gate), n in found.items() if gate)
            by_cost = found[Answer.WORSE, False], found[Answer.BETTER, False]
            shares = (f"{each / count:.1%}" for each in (by_gate, *by_cost, by_gate + sum(by_cost)))
            yield f"{design.cases} × {design.runs}", truth.what, f"{count:,}", *shares


def looked_at(times: int) -> Iterator[tuple[str, ...]]:
    """A row for each design and rate: how often alike sides are told apart at one of 15 looks."""
    for design, rate in product((Design(1, 60), Design(5, 15)), (0.5, 0.75, 0.9)):
        random, found = Random(SEED), Counter[str]()
        step = design.runs // LOOKS
        planned = levels_for_two([look / LOOKS for look in range(1, LOOKS + 1)])
        ways = {
            "as if each were the only one": (1, [statistics.ALPHA] * LOOKS),
            "as planned": (LOOKS, planned),
        }
        truth = Truth("alike", (rate, rate), 1.0)
        for _ in range(times):
            cases = drawn(random, design, truth, 1.0)
            for way, (looks, at) in ways.items():
                for look, level in enumerate(at, 1):
                    part = [RunsOfCase(n, b[: look * step], c[: look * step]) for n, b, c in cases]
                    answer, by_gate = answered(part, by_dollars=True, level=level, looks=looks)
                    if answer is not Answer.CANNOT_TELL:
                        found[way] += 1
                        found[f"{way}, by the gate"] += by_gate
                        break
        shares = (f"{found[w + by] / times:.1%}" for w in ways for by in (", by the gate", ""))
        yield f"{design.cases} × {step} to {design.runs}", f"{rate:.0%}", f"{times:,}", *shares


def table_of_looks(times: int) -> str:
    """In Markdown."""
    headers = ("cases × runs a side", "CORRECT", "comparisons", "gate alone, looks not planned")
    headers += ("any answer", "gate alone, planned", "any answer")
    lines = [headers, ("---", *["---:"] * 6), *looked_at(times)]
    return "".join(f"| {' | '.join(each)} |\n" for each in lines)


def table(times: int, *, by_dollars: bool) -> str:
    """In Markdown."""
    headers = ("cases × runs a side", "truth", "comparisons")
    headers += ("the gate decides", "worse by cost", "better by cost", "any answer")
    lines = [headers, ("---", "---", *["---:"] * 5), *rows(times, by_dollars=by_dollars)]
    return "".join(f"| {' | '.join(each)} |\n" for each in lines)


def main() -> None:
    """Simulate, and print or write a table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.deciding", description=__doc__)
    parser.add_argument("by", choices=["dollars", "kinds", "looks"], help="what decides")
    parser.add_argument(
        "--times", type=int, default=2000, help="comparisons of alike sides (2,000)"
    )
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    made = (
        table_of_looks(options.times)
        if options.by == "looks"
        else table(options.times, by_dollars=options.by == "dollars")
    )
    if options.write:
        mark = f"<!-- simulated by {options.by} -->\n"
        before, _, after = PAGE.read_text(encoding="utf-8").split(mark)
        PAGE.write_text(f"{before}{mark}\n{made}\n{mark}{after}", encoding="utf-8")
    else:
        sys.stdout.write(made)


if __name__ == "__main__":
    main()
