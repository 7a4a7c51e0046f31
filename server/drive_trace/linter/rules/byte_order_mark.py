"""An invisible byte-order mark stands before the object.

A byte-order mark (U+FEFF) stands before the object. It cannot be seen, and some editors write it
at the start of every file; readers reject the line, so the event is lost.

**Fix.** The mark is removed, which is safe, but for a line that names one of the two feeds: there
it can change a verdict.

Examples:
\ufeff{"event_type":"tool-called"}
^ … byte-order mark
=> Remove the byte-order mark
{"event_type":"tool-called"}
---
\ufeff{"event_type":"correctness-recorded"
^
=>
{"event_type":"correctness-recorded"
--- Inside a string it is a character like any other.
EVENT{"event_type":"slice-completed","slice_slug":"\ufeffretry-queue"}
"""

from drive_trace.linter.records import repairs
from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.not_json(RULE)


RULE = Rule(Severity.ERROR, _check, fixes=repairs, sums="", sums_by="line")
