"""A retro's trigger class and whether it is the final one disagree.

A retro's `is_mandatory_final` is true exactly when its `trigger_class` is `mandatory-final`.
Where the two disagree, nobody can tell whether the final retro was held.

**Fix.** The value that goes with the trigger class is suggested, and for a retro that claims to be
the final one, the trigger class that goes with it.

Examples:
EVENT{"event_type":"retro-landed","trigger_class":"drift-event","is_mandatory_final":true}
… must be false where `trigger_class` is "drift-event"                               ^^^^
=> Replace with false
EVENT{"event_type":"retro-landed","trigger_class":"drift-event","is_mandatory_final":false}
---
EVENT{"event_type":"retro-landed","trigger_class":"drift-event","is_mandatory_final":true}
                                                                                     ^^^^
=> Change `trigger_class` to "mandatory-final"
EVENT{"event_type":"retro-landed","trigger_class":"mandatory-final","is_mandatory_final":true}
---
EVENT{"event_type":"retro-landed","is_mandatory_final":false}
                                                       ^^^^^ … must be true where
=>
EVENT{"event_type":"retro-landed","trigger_class":"mandatory-final","is_mandatory_final":true}
---
EVENT{"event_type":"retro-landed","trigger_class":"mandatory-final","is_mandatory_final":true}
EVENT{"event_type":"retro-landed","trigger_class":"drift-event","is_mandatory_final":false}
"""

from drive_trace.linter.edits import Fixes, Level, as_json, object_on, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, shown

_CLASS = "trigger_class"


def _check(subject: LineDiagnostic) -> Findings:
    line, diagnostic = subject
    trigger = shown(object_on(line)["trigger_class"])
    expected = shown(not diagnostic.found)
    message = f"`is_mandatory_final` must be {expected} where `trigger_class` is {trigger}"
    yield subject.finding(RULE, message, None, (_CLASS, "the trigger class is given here"))


def _fixes(finding: Finding) -> Fixes:
    found = finding.cause.found
    yield replacing(finding, as_json(not found), Level.BY_HAND)
    if found:
        yield replacing(finding, '"mandatory-final"', Level.BY_HAND, field=_CLASS)


RULE = Rule(Severity.WARNING, _check, fixes=_fixes)
