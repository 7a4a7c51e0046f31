"""Writes down what the package says of the conformance sets, the examples, and after random edits:
the same on every Python. ``python -m tests.wasm.everything_said FILE``, in the checkout.
"""

import gc
import io
import json
import random
import sys
from collections.abc import Iterator
from contextlib import redirect_stdout
from itertools import islice
from pathlib import Path
from typing import Any

from drive_trace.analysis import Analysis
from drive_trace.commands import cli
from drive_trace.report.contents import report_on
from drive_trace.report.contents import to_json as report_to_json
from drive_trace.scorecard.card import to_json
from drive_trace.trace.document import Point
from tests.support.scored import read_log, score_of

ROOT = Path(__file__).parents[2]
CASES = ROOT / "tests/conformance"
EXAMPLES = ("examples/projects", "examples/wip")
ONE, OTHER = "examples/projects/checkout-retry", "examples/projects/search-index"
EDITS = 200
COMMANDS = (
    *(("check", f"--output-format={each}", *EXAMPLES) for each in ("full", "json", "sarif")),
    *(("score", f"--format={each}", *EXAMPLES) for each in ("text", "markdown", "json")),
    *(("report", f"--format={each}", *EXAMPLES) for each in ("markdown", "json", "html")),
    *(("export", "--to", each, ONE) for each in ("otlp", "perfetto")),
    ("compare", "--baseline", ONE, "--candidate", OTHER, "--cases", "tests/wasm/cases.toml"),
    ("compare", "--baseline", ONE, "--candidate", OTHER, "--allow-unverified", "all"),
)
"""What people call, on the examples."""
_PIECES = (
    '"',
    "{",
    "}",
    ",",
    "\\",
    "\n",
    "null",
    "0",
    '"qa":"pass"',
    "\U0001f600",
    "\ud800",
    "1e3",
)


def told(analysis: Analysis) -> dict[str, Any]:
    """All that an analysis says, as data."""
    findings = [
        {
            "code": finding.rule.code,
            "where": [analysis.where(finding).record, *analysis.where(finding).span],
            "message": analysis.message(finding.message),
            "fixes": [
                [fix.title, fix.level.name, [[*each.span, each.text] for each in fix.edits]]
                for fix in analysis.fixes(finding)
            ],
        }
        for finding in analysis.findings()
    ]
    lines = [line.status.value for line in analysis.document.lines]
    return {"lines": lines, "findings": findings, "score": to_json(score_of(analysis))}


def everything() -> Iterator[object]:
    """One thing after the other."""
    for case in _cases("lines.jsonl"):
        yield told(Analysis(case["raw"] + "\n"))
    for depth in (3, 300, 1000, 1025, 100_000):
        yield told(Analysis('{"run":' * depth + "1" + "}" * depth))
    traces = [case["text"] for case in _cases("traces.jsonl")]
    traces += [path.read_text("utf-8") for path in sorted((ROOT / "examples").rglob("*.jsonl"))]
    for text in traces:
        yield told(Analysis(text)), report_to_json(report_on([read_log(text)]))
    yield from _edited(traces)
    yield from map(run, COMMANDS)


def _cases(name: str) -> Iterator[dict[str, Any]]:
    yield from map(json.loads, filter(None, (CASES / name).read_text("utf-8").split("\n")))


def _edited(traces: list[str]) -> Iterator[object]:
    rng = random.Random(40)
    longest = sorted(traces, key=len)[-10:]
    for text in longest:
        analysis = Analysis(text)
        for _ in range(EDITS // len(longest)):
            lines = analysis.document.lines
            start = rng.randrange(len(lines))
            end = min(start + rng.choice((0, 0, 0, 1)), len(lines) - 1)
            columns = [rng.randint(0, len(lines[each].text)) for each in (start, end)]
            if start == end:
                columns.sort()
                columns[1] = min(columns[1], columns[0] + rng.randrange(8))
            added = "".join(rng.choices(_PIECES, k=rng.randrange(3)))
            analysis.edit(Point(start, columns[0]), Point(end, columns[1]), added)
            yield told(analysis)


def run(command: tuple[str, ...]) -> tuple[object, str]:
    """A command's exit code and its output."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", newline="")
    code: object = 0
    with redirect_stdout(out):
        try:
            cli(command, prog_name="drive-trace")
        except SystemExit as end:
            code = end.code
    out.flush()
    assert isinstance(out.buffer, io.BytesIO)
    return code, out.buffer.getvalue().decode()


def write(path: str, only: int | None = None) -> int:
    """Write all of it down, a line for each thing, or the first ones only. Gives their number."""
    gc.disable()
    count = 0
    with Path(path).open("w", encoding="utf-8", newline="\n") as file:
        for each in islice(everything(), only):
            file.write(json.dumps(each) + "\n")
            count += 1
    return count


if __name__ == "__main__":
    print(f"Python said {write(sys.argv[1])} things")  # noqa: T201
