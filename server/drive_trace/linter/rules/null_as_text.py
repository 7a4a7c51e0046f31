"""A text says null, or is empty, where it should say something.

A field that may be null holds the text `"null"`, `"none"`, `"n/a"`, `""` or the like. Readers take
it for a model, a ticket or a dispatch of that name, and count it as one.

Where null is no value, an empty text says nothing: a run, a dispatch or a slice without a name.

`unknown-parent-dispatch` does not report such a text as well.

**Fix.** null, as a suggestion: something may really be called so. None where it is no value.

Examples:
EVENT{"event_type":"dispatch-start","model":"none","parent_dispatch_id":null}
… null says that the model was not recorded ^^^^^^
=>
EVENT{"event_type":"dispatch-start","model":null,"parent_dispatch_id":null}
---
EVENT{"event_type":"slice-started","orchestrator_agent_id":"N/A","linear_ref":"null"}
… "N/A" is a text here                                     ^^^^^
… "null" is a text here                                                       ^^^^^^
=>
EVENT{"event_type":"slice-started","orchestrator_agent_id":null,"linear_ref":"null"}
---
EVENT{"event_type":"triage-verdict","input_ref":""}
… "" is a text here                             ^^
=>
EVENT{"event_type":"triage-verdict","input_ref":null}
--- Nobody can call a dispatch by an empty name.
EVENT{"event_type":"dispatch-start","dispatch_name":""}
… `dispatch_name` is empty                          ^^
--- Where null is no value, these are texts like others.
EVENT{"event_type":"dispatch-start","dispatch_name":"none","subagent_type":"null"}
EVENT{"event_type":"slice-started","linear_ref":"NULL-1"}
"""

from drive_trace.linter.edits import Fixes, Level, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, shown


def _check(subject: LineDiagnostic) -> Findings:
    diagnostic = subject.diagnostic
    assert diagnostic.field is not None
    means = diagnostic.field.null_means
    message = f"{shown(diagnostic.found)} is a text here; null says that {means}"
    if means is None:
        message = f"`{diagnostic.path[-1]}` is empty: it takes a text that says something"
    yield subject.finding(RULE, message)


def _fixes(finding: Finding) -> Fixes:
    if finding.cause.field is not None and finding.cause.field.nullable:
        yield replacing(finding, "null", Level.BY_HAND, "Replace with null")


RULE = Rule(Severity.INFORMATION, _check, fixes=_fixes, sums="texts in this field say nothing")
