"""A plan is amended for a change of which it counts none.

A `plan-amended` whose `reason` is that dispatches were added, removed or resized counts them in
`dispatches_added`, `dispatches_removed` or `dispatches_resized`. Where that is 0, the reason or the
count is wrong, and the plan's churn is told wrongly.

Where it is null, `kind-mismatch` looks at it.

**Fix.** None is offered: which of the two is wrong, only the writer knows.

Examples:
EVENT{"event_type":"plan-amended","reason":"dispatch-added","dispatches_added":0}
… such a change is the reason                                                  ^
---
EVENT{"event_type":"plan-amended","reason":"dispatch-added","dispatches_added":2}
EVENT{"event_type":"plan-amended","reason":"scope-shift","dispatches_added":0}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    count = subject.diagnostic.path[-1]
    message = f"`{count}` is 0, but such a change is the reason of the amendment"
    yield subject.finding(RULE, message, None, ("reason", "the reason"))


RULE = Rule(Severity.INFORMATION, _check)
