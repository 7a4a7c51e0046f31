"""A plan's count of dispatches does not follow from the change.

After an amendment a slice's plan has as many dispatches as before, with those that were added and
without those that were removed. Where `dispatch_count` is another number, a change was not
recorded, or one of the four numbers is wrong, and the plan's churn is told wrongly.

Only events of one run are compared. The rule is silent where a count is null, and where a rejected
or unknown line of the run that names the path stands between them.

**Fix.** The count that follows, as a suggestion: what was added or removed may be what is wrong.

Examples:
EVENT{"event_type":"plan-authored","dispatch_count":3}
EVENT{"event_type":"plan-amended","dispatch_count":3,"dispatches_added":2,"dispatches_removed":1}
… expected 4: 3 on line 1, 2 added, 1 removed      ^
=>
EVENT{"event_type":"plan-authored","dispatch_count":3}
EVENT{"event_type":"plan-amended","dispatch_count":4,"dispatches_added":2,"dispatches_removed":1}
--- Nothing was counted.
EVENT{"event_type":"plan-authored","dispatch_count":3}
EVENT{"event_type":"plan-amended","dispatch_count":4,"dispatches_added":null}
--- Another plan.
EVENT{"event_type":"plan-authored","dispatch_count":3,"plan_path":"plan.md"}
EVENT{"event_type":"plan-amended","dispatch_count":9,"dispatches_added":1,"plan_path":"b/plan.md"}
"""

from typing import cast

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Findings, Rule, SameFile, Severity


def _check(file: SameFile) -> Findings:
    for previous, line in file.amendments("plan_path"):
        given = (previous.fact(_COUNT), line.fact(_ADDED), line.fact(_REMOVED), line.fact(_COUNT))
        if None in given:
            continue
        before, added, removed, found = cast("tuple[int, ...]", given)
        expected = before + added - removed
        if found != expected >= 0:
            what = f", {added:,} added, {removed:,} removed; found {found:,}"
            message = (f"expected {expected:,}: {before:,} on line ", previous, what)
            there = (previous, _COUNT, "the count before")
            yield RULE.finding(line, _COUNT, message, there, expected=expected)


_COUNT, _ADDED, _REMOVED = "dispatch_count", "dispatches_added", "dispatches_removed"
RULE = Rule(
    Severity.INFORMATION,
    _check,
    fixes=replace_with_expected,
    sums="counts of dispatches do not add up",
)
