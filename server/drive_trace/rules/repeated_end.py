"""A dispatch or round ends once. Ended again without a start between, one of the two ends is
wrong: the last one counts, and their durations are added up.

This speaks alone: a second end is neither an event after the end (`event-after-end`), nor is its
duration compared with the timestamps.

**Fix.** None is offered: only who wrote them knows which end is the right one.
"""

from collections.abc import Iterable

from drive_trace.rules.base import Example, Finding, Related, Rule, Severity
from drive_trace.rules.ids import id_place
from drive_trace.rules.subjects import Step


def _check(subject: Step) -> Iterable[Finding]:
    if subject.closes and subject.follows_end and subject.before is not None:
        place, what = id_place(subject.of), subject.of.entity
        return (
            Finding(
                RULE,
                subject.line,
                place,
                (f"this {what} ended on line ", subject.before, " already"),
                related=(Related(subject.before, place, (f"the {what} ended here",)),),
            ),
        )
    return ()


RULE = Rule(
    code="repeated-end",
    severity=Severity.WARNING,
    subject=Step,
    check=_check,
    summary="A dispatch or round is ended twice.",
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
