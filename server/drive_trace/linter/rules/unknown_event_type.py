"""The event type is outside the vocabulary.

The vocabulary does not know the event's type. Readers keep such events apart: they are no error,
but they count for nothing. A slip in the name of a real event therefore loses the event without a
word.

**Fix.** The event that was meant is suggested where hardly anything else can be: the name differs
in case or separators, in a letter or two of a long word, or is a known slip (`project-complete` →
`project-closed`). It is made one at a time, as it decides what counts.

Examples:
EVENT{"event_type":"slice-complete","slice_slug":"retry-queue","result":"merged","pr_ref":null}
                   ^^^^^^^^^^^^^^^^ … did you mean "slice-completed"?
=> Replace with "slice-completed"
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged","pr_ref":null}
--- Another word in the name makes it another event.
EVENT{"event_type":"dispatch-aborted"}
                   ^^^^^^^^^^^^^^^^^^ … readers keep it apart
---
EVENT{"event_type":"tool-called"}
                   ^^^^^^^^^^^^^ … readers keep it apart
---
EVENT{"event_type":"slice-completed"}
"""

from drive_trace.linter.edits import Fixes, Level, as_json, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, shown
from drive_trace.vocabulary.slips import event_meant


def _check(subject: LineDiagnostic) -> Findings:
    diagnostic = subject.diagnostic
    guess = event_meant(str(diagnostic.found))
    hint = f" — did you mean {shown(guess)}?" if guess else ""
    message = (
        f"{shown(diagnostic.found)} is not an event of the vocabulary: readers keep it apart{hint}"
    )
    yield subject.finding(RULE, message)


def _fixes(finding: Finding) -> Fixes:
    guess = event_meant(str(finding.cause.found))
    if guess is not None:
        yield replacing(finding, as_json(guess), Level.BY_HAND)


RULE = Rule(Severity.WARNING, _check, fixes=_fixes, sums="events have this name", sums_by="value")
