"""A dispatch or round is started twice.

A dispatch or round starts once. Started again under the same id, it was either appended twice,
or is another one that was given an id which was taken: its rounds, briefs and durations are then
counted together with the first one's. To go on with a dispatch, start a new one and name the old
one as its `parent_dispatch_id`.

`event-after-end` does not report such a line as well.

**Fix.** None is offered: either the line is a copy, or the events after it need an id of their
own.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
… this dispatch was started on line 1 already     ^^^^
---
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-start","round_id":"R1","round_number":2}
… this round was started on line 1 already  ^^^^
--- A dispatch that goes on with another one has an id of its own; and each run has its own ids.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D1","project_run_id":"search-index"}
"""

from drive_trace.linter.phases import phases
from drive_trace.linter.rule import Findings, Rule, Run, Severity


def _check(run: Run) -> Findings:
    for phase in phases(run):
        line, previous = phase.begin, phase.previous_start
        if line is None or previous is None or not phase.is_open:
            continue
        if not line.is_copy_of(previous):  # else duplicate-event-id says it
            what = phase.of.entity
            own = " already: a new one needs its own id"
            started = (previous, phase.of.field, f"the {what} started here")
            message = (f"this {what} was started on line ", previous, own)
            yield phase.finding(RULE, line, message, started)


RULE = Rule(Severity.WARNING, _check)
