"""A number is smaller than its field allows.

A number is smaller than its field allows: counts start at 0, round numbers and slice
indices at 1. Readers reject the event.

**Fix.** None is offered: only the writer knows the right number.

Examples:
EVENT{"event_type":"dispatch-end","wall_clock_ms":-1}
                                                  ^^ … an integer of at least 0; found -1
---
EVENT{"event_type":"round-start","round_number":0}
                                                ^ … at least 1
---
EVENT{"event_type":"dispatch-end","wall_clock_ms":-0}
---
EVENT{"event_type":"spec-amended","bytes_delta":-120}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.wrong_value(RULE)


RULE = Rule(Severity.ERROR, _check)
