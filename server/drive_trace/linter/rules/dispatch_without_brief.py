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

from drive_trace.linter.courses import courses
from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.trace.line import name_of
from drive_trace.vocabulary import DISPATCH


def _check(run: Run) -> Findings:
    for course in courses(run, DISPATCH):
        line, end = (*course.bounds, None, None)[:2]
        is_whole = course.starts(line) and course.ends(end)
        has_brief = any(name_of(each) == "brief-issued" for each in course.lines)
        if line and end and is_whole and not has_brief and not course.unread:
            message = ("this dispatch ended on line ", end, ", and no brief was issued for it")
            yield course.finding(RULE, line, message, (end, "event_type", "it ended here"))


RULE = Rule(Severity.INFORMATION, _check, sums="", sums_among=("dispatch-end",))
