r"""The line is valid JSON, but not an object.

A line of a trace holds one JSON object: an event. An array, a string or a number is valid
JSON, but no event, and readers drop it.

**Fix.** The records of an array are put on lines of their own, which is safe; so is one that is
written as a string, by a suggestion. Of anything else only the writer knows what was meant.

Examples:
[{"event_type":"tool-called","tool":"grep"}]
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ … an array
=> Keep the record alone
{"event_type":"tool-called","tool":"grep"}
--- What names one of the two feeds is put back by a person, one at a time.
"{\"event_type\":\"tool-called\",\"wrote\":\"tokens-recorded\"}"
^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
=> Keep the record alone
{"event_type":"tool-called","wrote":"tokens-recorded"}
---
["correctness-recorded"]
^^^^^^^^^^^^^^^^^^^^^^^^ … found an array
---
"merged"
^^^^^^^^ … found "merged"
--- A blank line is nothing at all.
EVENT{"event_type":"slice-completed"}

EVENT{"event_type":"project-closed"}
"""

from drive_trace.linter.records import lift_out
from drive_trace.linter.rule import Findings, LineDiagnostic, Part, Place, Rule, Severity, shown


def _check(subject: LineDiagnostic) -> Findings:
    found = shown(subject.diagnostic.found)
    message = f"expected an object {{…}} with the fields of one event; found {found}"
    yield subject.finding(RULE, message, Place(Part.WHOLE))


RULE = Rule(Severity.ERROR, _check, fixes=lift_out, sums="")
