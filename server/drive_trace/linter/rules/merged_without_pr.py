"""A slice was merged without a pull request.

A slice delivers one pull request, and `merged` says that it was merged. Without `pr_ref` nobody
finds what was merged, and the slice cannot be compared with its pull request.

**Fix.** None is offered: the number of the pull request is not in the trace.

Examples:
EVENT{"event_type":"slice-completed","result":"merged","pr_ref":null}
… the slice was merged, but no pull request is named            ^^^^
--- What was given up may have had none.
EVENT{"event_type":"slice-completed","result":"abandoned","pr_ref":null}
EVENT{"event_type":"slice-completed","result":"merged","pr_ref":"#481"}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.finding(RULE, "the slice was merged, but no pull request is named")


RULE = Rule(Severity.INFORMATION, _check, sums="")
