"""A dispatch or round ends once. Ended again without a start between, one of the two ends is
wrong: the last one counts, and their durations are added up.

`event-after-end` reports neither such a line nor what stands between the two ends, and nothing
compares its duration with the timestamps.

**Fix.** None is offered: only who wrote them knows which end is the right one.
"""

from collections.abc import Iterable

from drive_trace.linter.entities.phases import Phase
from drive_trace.linter.rule import Example, Finding, Rule, Severity


def _check(subject: Phase) -> Iterable[Finding]:
    line, end = subject.begin, subject.previous_end
    if line is None or end is None or not subject.is_over or subject.before is not end:
        return
    if line.is_copy_of(end):
        return  # duplicate-event-id says it
    what = subject.of.entity
    message = (f"this {what} ended on line ", end, " already")
    yield subject.finding_with(RULE, line, message, end, f"the {what} ended here")


RULE = Rule(
    code="repeated-end",
    severity=Severity.WARNING,
    entity=Phase,
    check=_check,
    summary="A dispatch or round is ended twice.",
    doubts="claims",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
        … this dispatch ended on line 2 already         ^^^^
        """
    ),
    # Two dispatches at once, and one whose end was rejected.
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"D2"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"D1","result":"done"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
        """
    ),
)
