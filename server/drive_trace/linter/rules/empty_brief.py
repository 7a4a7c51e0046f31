"""A brief has the length 0.

A brief of 0 bytes tells the sub-agent nothing. Most often the length was not measured. Assertion
BD-8 compares the lengths of briefs with that of the spec, and an empty brief always passes it.

**Fix.** None is offered: measure the brief that was issued.

Examples:
EVENT{"event_type":"brief-issued","brief_byte_length":0}
… a brief of 0 bytes says nothing                     ^
---
EVENT{"event_type":"brief-issued","brief_byte_length":1}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.finding(RULE, "a brief of 0 bytes says nothing: was its length not measured?")


RULE = Rule(Severity.INFORMATION, _check, sums="briefs have no length")
