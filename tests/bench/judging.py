"""How often the interval of a share of passes, corrected by a judge's errors, holds the truth.

`python -m tests.bench.judging --write` puts a table into docs/compare.md. The same seed gives the
same table.
"""

import argparse
import sys
from itertools import product
from pathlib import Path
from random import Random
from statistics import fmean

from drive_trace.grading.calibration import Calibration, wilson

PAGE = Path(__file__).parents[2] / "docs" / "compare.md"
SEED, RUNS = 39, 60
LABELS = ((20, 40), (50, 100))
"""Human fails and human passes."""
RATES = (0.7, 0.8, 0.9, 0.95)
TRUE = (0.5, 0.75, 0.9)


def row(
    random: Random, times: int, labels: tuple[int, int], kept: float, caught: float
) -> tuple[str, ...]:
    """Over all true shares: how often each interval holds it, and how wide the corrected one is."""
    fails, passes = labels
    plain, held, widths = [], [], []

    def count(rate: float, of: int) -> int:
        return sum(random.random() < rate for _ in range(of))

    for true in TRUE:
        right = bare = told = 0
        for _ in range(times):
            hits, good = count(caught, fails), count(kept, passes)
            table = Calibration(hits, fails - hits, passes - good, good, 0)
            passed = sum(
                random.random() < (kept if random.random() < true else 1 - caught)
                for _ in range(RUNS)
            )
            low, high = wilson(passed, RUNS)
            bare += low <= true <= high
            found = table.corrected(passed, RUNS)
            if found is not None:  # by labels that say that chance would judge as well, nothing is
                told += 1
                right += found[1][0] <= true <= found[1][1]
                widths.append(found[1][1] - found[1][0])
        plain.append(bare / times)
        held.append(right / told)
    shares = (f"{each:.1%}" for each in (min(plain), min(held), fmean(held)))
    return f"{fails} + {passes}", f"{kept:.2f}", f"{caught:.2f}", *shares, f"{fmean(widths):.2f}"


def table(times: int) -> str:
    """In Markdown."""
    headers = ("labels of fails + passes", "passes kept", "fails caught", "without, at worst")
    headers += ("corrected, at worst", "on average", "its width")
    lines = [headers, ("---", *["---:"] * 6)]
    random = Random(SEED)
    lines += [
        row(random, times, labels, *each) for labels in LABELS for each in product(RATES, RATES)
    ]
    return "".join(f"| {' | '.join(each)} |\n" for each in lines)


def main() -> None:
    """Simulate, and print or write the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench.judging", description=__doc__)
    parser.add_argument("--times", type=int, default=2000, help="simulations of each (2,000)")
    parser.add_argument("--write", action="store_true", help="put the table into the docs")
    options = parser.parse_args()
    made = table(options.times)
    if options.write:
        mark = "<!-- simulated judges -->\n"
        before, _, after = PAGE.read_text(encoding="utf-8").split(mark)
        PAGE.write_text(f"{before}{mark}\n{made}\n{mark}{after}", encoding="utf-8")
    else:
        sys.stdout.write(made)


if __name__ == "__main__":
    main()
