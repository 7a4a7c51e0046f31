"""The event's schema version is not the one that readers know.

`schema_version` must be exactly the string `"1"`. Readers of this vocabulary reject every
other version, the number `1` included, because they cannot know what its fields mean.

**Fix.** `"1"` is suggested where that is what it says, such as `"1.0"`; in bulk for the number 1
alone. What another version means, nobody here knows.

Examples:
EVENT{"event_type":"slice-completed","schema_version":1}
… `schema_version` must be the string "1"; found 1    ^
=> Replace with "1"
EVENT{"event_type":"slice-completed","schema_version":"1"}
---
EVENT{"event_type":"slice-completed","schema_version":"1.0"}
                                                      ^^^^^
=>
EVENT{"event_type":"slice-completed","schema_version":"1"}
--- What is outside the vocabulary may have a version of its own.
EVENT{"event_type":"tool-called","schema_version":"2"}
"""

from drive_trace.linter.edits import Fixes, Level, as_json, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, shown
from drive_trace.vocabulary import SCHEMA_VERSION


def _check(subject: LineDiagnostic) -> Findings:
    diagnostic = subject.diagnostic
    found = shown(diagnostic.found)
    message = f"`schema_version` must be the string {shown(SCHEMA_VERSION)}; found {found}"
    yield subject.finding(RULE, message)


def _fixes(finding: Finding) -> Fixes:
    found = finding.cause.found
    if str(found).strip().lower() in {"1", "1.0", "v1"}:
        level = Level.IN_BULK if found == 1 else Level.BY_HAND
        yield replacing(finding, as_json(SCHEMA_VERSION), level)


RULE = Rule(Severity.ERROR, _check, fixes=_fixes, sums="", sums_by="value")
