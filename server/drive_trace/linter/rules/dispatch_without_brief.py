"""A dispatch ended, and had no brief.

Before it is delegated, a dispatch is given a brief, and `brief-issued` records it. A dispatch
that ended without one leaves its task open, and is missing from the brief metrics.

The rule is silent while a rejected or unknown line of the run names the dispatch: the brief may be
there.

**Fix.** None is offered: the brief is not in the trace.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
… no brief was issued for it                      ^^^^
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
--- A brief may still come; and it may come late.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"brief-issued","dispatch_id":"D1"}
"""

from drive_trace.linter.phases import phases_of
from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.vocabulary import Entity


def _check(run: Run) -> Findings:
    for phase in phases_of(run, Entity.DISPATCH):
        line, end = phase.begin, phase.end
        is_whole = phase.is_open and phase.is_first and phase.is_ended
        if is_whole and line and end and not phase.has_brief and not phase.unread:
            message = ("this dispatch ended on line ", end, ", and no brief was issued for it")
            yield phase.finding(RULE, line, message, (end, "event_type", "it ended here"))


RULE = Rule(Severity.INFORMATION, _check, sums="", sums_among=("dispatch-end",))
