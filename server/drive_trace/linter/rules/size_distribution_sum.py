"""The sizes of a plan's dispatches do not add up to their count.

A slice's plan says how many dispatches it has, and how many of each size. The sizes should add
up to the count; where they do not, one of the two was not kept up to date.

**Fix.** The sum is suggested as the count. Which of the two is right, only the writer knows.

Examples:
EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":3,"M":2,"L":0,"XL":0}}
… S + M + L + XL is 5, but `dispatch_count` is 6                ^^^^^^^^^^^^^^^^^^^^^^^^^^
=> Change `dispatch_count` to 5
EVENT{"event_type":"plan-authored","dispatch_count":5,"dispatch_size_distribution":{"S":3,"M":2,"L":0,"XL":0}}
---
EVENT{"event_type":"plan-authored","dispatch_count":6,"dispatch_size_distribution":{"S":3,"M":2,"L":0,"XL":1}}
"""

from drive_trace.linter.edits import Fixes, Level, object_on, replacing
from drive_trace.linter.rule import Finding, Findings, Line, LineDiagnostic, Rule, Severity, shown
from drive_trace.vocabulary import SIZES

_COUNT = "dispatch_count"


def _check(subject: LineDiagnostic) -> Findings:
    line = subject.line
    count = shown(object_on(line)["dispatch_count"])
    message = f"{' + '.join(SIZES)} is {_sum(line)}, but `dispatch_count` is {count}"
    yield subject.finding(RULE, message, None, (_COUNT, "the count is given here"))


def _fixes(finding: Finding) -> Fixes:
    yield replacing(finding, str(_sum(finding.line)), Level.BY_HAND, field=_COUNT)


def _sum(line: Line) -> int:
    sizes = object_on(line)["dispatch_size_distribution"]
    return sum(int(sizes[size]) for size in SIZES)


RULE = Rule(Severity.INFORMATION, _check, fixes=_fixes)
