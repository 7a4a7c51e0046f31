"""The line is valid JSON, but not an object.

A line of a trace holds one JSON object: an event. An array, a string or a number is valid
JSON, but no event, and readers drop it.

**Fix.** None is offered: only the writer knows what was meant.

Examples:
["correctness-recorded"]
^^^^^^^^^^^^^^^^^^^^^^^^ … found an array
---
"merged"
^^^^^^^^ … found "merged"
--- A blank line is nothing at all.
EVENT{"event_type":"slice-completed"}

EVENT{"event_type":"project-closed"}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Part, Place, Rule, Severity, shown


def _check(subject: LineDiagnostic) -> Findings:
    found = shown(subject.diagnostic.found)
    message = f"expected an object {{…}} with the fields of one event; found {found}"
    yield subject.finding(RULE, message, Place(Part.WHOLE))


RULE = Rule(Severity.ERROR, _check)
