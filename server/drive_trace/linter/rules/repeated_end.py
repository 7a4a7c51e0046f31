"""A dispatch or round is ended twice.

A dispatch or round ends once. Ended again without a start between, one of the two ends is
wrong: the last one counts, and their durations are added up.

`event-after-end` reports neither such a line nor what stands between the two ends, and nothing
compares its duration with the timestamps.

**Fix.** None is offered: only who wrote them knows which end is the right one.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
… this dispatch ended on line 2 already         ^^^^
--- Two dispatches at once, and one whose end was rejected.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1","result":"done"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
"""

from drive_trace.linter.phases import phases
from drive_trace.linter.rule import Findings, Rule, Run, Severity


def _check(run: Run) -> Findings:
    for phase in phases(run):
        line, end = phase.begin, phase.previous_end
        if line is None or end is None or not phase.is_over or phase.before is not end:
            continue
        if not line.is_copy_of(end):  # else duplicate-event-id says it
            what = phase.of.entity
            message = (f"this {what} ended on line ", end, " already")
            ended = (end, phase.of.field, f"the {what} ended here")
            yield phase.finding(RULE, line, message, ended)


RULE = Rule(Severity.WARNING, _check, distrusts="claims")
