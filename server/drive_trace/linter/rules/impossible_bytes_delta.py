"""A spec or plan grew by more bytes than it has.

`bytes_delta` says how much longer a spec or plan has become, `byte_length` how long it is now. A
file cannot have grown by more than its length: one of the two numbers is wrong.

`bytes-delta-mismatch` does not report such a number as well.

**Fix.** None is offered: the length before is not in the event.

Examples:
EVENT{"event_type":"spec-amended","byte_length":976,"bytes_delta":9681}
… a file of 976 bytes cannot have grown by 9681                   ^^^^
--- It may have been empty before, or much longer.
EVENT{"event_type":"spec-amended","byte_length":976,"bytes_delta":976}
EVENT{"event_type":"plan-amended","byte_length":976,"bytes_delta":-15881}
"""

from drive_trace.linter.edits import object_on
from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity, shown

_LENGTH = "byte_length"


def _check(subject: LineDiagnostic) -> Findings:
    grown, length = shown(subject.diagnostic.found), shown(object_on(subject.line)[_LENGTH])
    message = f"a file of {length} bytes cannot have grown by {grown}"
    yield subject.finding(RULE, message, None, (_LENGTH, "its length now"))


RULE = Rule(Severity.WARNING, _check)
