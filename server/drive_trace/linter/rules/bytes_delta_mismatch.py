"""A change in length is not the difference of the two lengths.

`bytes_delta` is how much longer a spec or plan is than before: its `byte_length` minus that of
the event that wrote the file before. Where the two disagree, a change was not recorded, or one of
the three numbers is wrong.

What is rounded is let pass, up to 5 % of the difference (`tolerance-percent`).

Only events of one run are compared. The rule is silent where a rejected or unknown line of the run
that names the path stands between them.

**Fix.** The difference, as a suggestion: a length may be what is wrong.

Examples:
EVENT{"event_type":"spec-authored","byte_length":6325}
EVENT{"event_type":"spec-amended","byte_length":7624,"bytes_delta":1733}
… expected 1299, the change of `byte_length` since line 1          ^^^^
=>
EVENT{"event_type":"spec-authored","byte_length":6325}
EVENT{"event_type":"spec-amended","byte_length":7624,"bytes_delta":1299}
--- Rounded.
EVENT{"event_type":"spec-authored","byte_length":6325}
EVENT{"event_type":"spec-amended","byte_length":7624,"bytes_delta":1300}
--- Each file has its own length, and each change goes on from the one before.
EVENT{"event_type":"plan-authored","plan_path":"plan.md","byte_length":500}
EVENT{"event_type":"plan-authored","plan_path":"slices/tax/plan.md","byte_length":300}
EVENT{"event_type":"plan-amended","plan_path":"plan.md","byte_length":450,"bytes_delta":-50}
EVENT{"event_type":"plan-amended","plan_path":"plan.md","byte_length":470,"bytes_delta":20}
"""

from typing import cast

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Findings, Line, Option, Rule, SameFile, Severity, shown
from drive_trace.vocabulary import WRITERS


def _check(file: SameFile, *, tolerance_percent: float) -> Findings:
    for previous, line in file.amendments(*WRITERS):
        found, expected = line.fact("bytes_delta"), _length(line) - _length(previous)
        off = 100 * abs(cast("int", found) - expected)
        if off <= tolerance_percent * abs(expected):
            continue
        what = f"expected {shown(expected)}, the change of `byte_length` since line "
        message = (what, previous, f"; found {shown(found)}")
        before = (previous, "byte_length", "the length before")
        yield RULE.finding(line, "bytes_delta", message, before, expected=expected)


def _length(line: Line) -> int:
    return cast("int", line.fact("byte_length"))


RULE = Rule(
    Severity.INFORMATION,
    _check,
    fixes=replace_with_expected,
    options=(Option("tolerance-percent", 5, "Percent of the difference that it may be off."),),
    sums="changes in length do not add up",
)
