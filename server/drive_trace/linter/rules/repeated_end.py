"""A dispatch or round is ended twice.

A dispatch or round ends once. Ended again without a start between, one of the two ends is
wrong: the last one counts, and their durations are added up.

`event-after-end` reports neither such a line nor what stands between the two ends, and nothing
compares its duration with the timestamps.

**Fix.** The id of the dispatch, or of the round in its dispatch, that was started last, as a
suggestion, where nothing ends that. Else none: only who wrote them knows which end is right.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
… this dispatch ended on line 2 already         ^^^^
--- The round that goes on was meant.
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-end","round_id":"R1"}
EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
EVENT{"event_type":"round-end","round_id":"R1"}
… this round ended on line 2 already      ^^^^
=> Replace with "R2"
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-end","round_id":"R1"}
EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
EVENT{"event_type":"round-end","round_id":"R2"}
--- Two dispatches at once, and one whose end was rejected.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1","result":"done"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
"""

from itertools import pairwise

from drive_trace.linter.courses import courses, going_on
from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Findings, Rule, Run, Severity


def _check(run: Run) -> Findings:
    for course in courses(run):
        for end, line in pairwise(course.bounds):
            is_again = course.ends(end) and course.ends(line)
            if is_again and not line.is_copy_of(end):  # else duplicate-event-id says it
                what = course.of.entity
                message = (f"this {what} ended on line ", end, " already")
                ended = (end, course.of.field, f"the {what} ended here")
                meant = going_on(run, course.of, line)
                if run.of(course.of.closer, course.of.field, meant):
                    meant = None
                yield course.finding(RULE, line, message, ended)._replace(expected=meant)


RULE = Rule(Severity.WARNING, _check, fixes=replace_with_expected, distrusts="claims")
