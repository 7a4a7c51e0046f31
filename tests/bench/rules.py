"""What each rule that compares lines costs: judging a whole trace by it alone, parsing apart."""

from __future__ import annotations

import gc
import time
from typing import TYPE_CHECKING

from drive_trace.analysis import Analysis
from drive_trace.linter.rule import LineDiagnostic
from drive_trace.linter.rules import RULES
from drive_trace.linter.settings import DEFAULTS, RuleSettings
from tests.bench.files import FEW_DEFECTS, MOST_DEFECTS
from tests.bench.table import Heading, Row

if TYPE_CHECKING:
    from tests.bench.files import BenchFiles
    from tests.bench.floors import OrjsonLoop

ACROSS = [code for code, rule in RULES.items() if rule.looks_at is not LineDiagnostic]


def measure_rules(files: BenchFiles, unit: OrjsonLoop, repeats: int) -> list[Row | Heading]:
    """A row a rule, most expensive first: on the file with few defects, the others as notes.

    Rules that look at the same thing share most of what they cost, so that
    all together cost less than the sum. CPU time.
    """
    costs: dict[str, list[list[float]]] = {}
    for defects in (FEW_DEFECTS, 0.0, MOST_DEFECTS):
        records = files.trace(defects).read_text(encoding="utf-8").split("\n")
        analysis = Analysis(records)
        off = dict.fromkeys(ACROSS)
        idle = _judging(analysis, RuleSettings(off), repeats)
        every = _judging(analysis, DEFAULTS, repeats)
        costs.setdefault("all of them", []).append([each - min(idle) for each in every])
        for code in ACROSS:
            alone = RuleSettings(dict.fromkeys(other for other in ACROSS if other != code))
            taken = _judging(analysis, alone, repeats)
            costs.setdefault(code, []).append([max(0.0, each - min(idle)) for each in taken])
    rows = [
        Row(code, few, base=unit.samples, notes=f"clean {min(clean):.1f}, 95 % {min(most):.1f} ms")
        for code, (few, clean, most) in costs.items()
    ]
    rows.sort(key=lambda row: -row.median)
    return [Heading(f"rules between lines, CPU, {files.lines:,} lines, 1 % defects"), *rows]


def _judging(analysis: Analysis, settings: RuleSettings, repeats: int) -> list[float]:
    samples = []
    for _ in range(repeats):
        gc.collect()
        started = time.process_time()
        analysis.use(settings)
        samples.append((time.process_time() - started) * 1000)
    return samples
