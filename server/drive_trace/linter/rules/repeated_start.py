"""A dispatch or round is started twice.

A dispatch or round starts once. Started again under the same id, it was either appended twice,
or is another one that was given an id which was taken: its rounds, briefs and durations are then
counted together with the first one's. To go on with a dispatch, start a new one and name the old
one as its `parent_dispatch_id`.

`event-after-end` does not report such a line as well.

**Fix.** The id that the next event of the dispatch or round names, as a suggestion, where nothing
starts it. Else none: either the line is a copy, or the events after it need an id of their own.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
… this dispatch was started on line 1 already     ^^^^
---
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-start","round_id":"R1","round_number":2}
… this round was started on line 1 already  ^^^^
--- What follows names another id, which nothing starts.
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-end","round_id":"R1"}
EVENT{"event_type":"round-start","round_id":"R1","round_number":2}
… this round was started on line 1 already  ^^^^
EVENT{"event_type":"round-end","round_id":"R2"}
=> Replace with "R2"
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-end","round_id":"R1"}
EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
EVENT{"event_type":"round-end","round_id":"R2"}
--- A dispatch that goes on with another one has an id of its own; and each run has its own ids.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D1","project_run_id":"search-index"}
"""

from itertools import pairwise

from drive_trace.linter.courses import courses
from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Findings, Line, Rule, Run, Severity
from drive_trace.vocabulary import DISPATCH, Lifetime


def _check(run: Run) -> Findings:
    for course in courses(run):
        for previous, line in pairwise(filter(course.starts, course.bounds)):
            if line.is_copy_of(previous):  # duplicate-event-id says it
                continue
            what = course.of.entity
            own = " already: a new one needs its own id"
            started = (previous, course.of.field, f"the {what} started here")
            message = (f"this {what} was started on line ", previous, own)
            meant = _goes_on_as(run, course.of, line)
            yield course.finding(RULE, line, message, started)._replace(expected=meant)


def _goes_on_as(run: Run, of: Lifetime, start: Line) -> str | None:
    """The id that the next event has, if it is of the same dispatch and nothing starts that id."""
    line = run.next_of((name for name in of.members if name != of.opener), start)
    field = DISPATCH.field
    if line is None or (of is not DISPATCH and line.fact(field) != start.fact(field)):
        return None
    named = line.text_fact(of.field)
    is_started = run.of(of.opener, of.field, named) or run.in_doubt(of.field, named)
    return None if is_started else named


RULE = Rule(Severity.WARNING, _check, fixes=replace_with_expected)
