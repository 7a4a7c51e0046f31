"""A brief has the length 0.

A brief of 0 bytes tells the sub-agent nothing. Most often the length was not measured. Assertion
BD-8 compares the lengths of briefs with that of the spec, and an empty brief always passes it. So
it is with a brief whose hash is the sha256 of the empty text: a file was hashed that was not
written yet, or an empty variable.

**Fix.** None is offered: measure the brief that was issued.

Examples:
EVENT{"event_type":"brief-issued","brief_byte_length":0}
… a brief of 0 bytes says nothing                     ^
---
EVENT{"brief_content_hash":"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855","event_type":"brief-issued"}
… the sha256 of the empty  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"brief-issued","brief_byte_length":1}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    message = "a brief of 0 bytes says nothing: was its length not measured?"
    if "brief_byte_length" not in subject.diagnostic.names:
        message = "this is the sha256 of the empty text: what was hashed was not the brief"
    yield subject.finding(RULE, message)


RULE = Rule(Severity.INFORMATION, _check, sums="briefs have no length")
