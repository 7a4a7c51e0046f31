"""An event belongs to a round that was never started.

Every event of a round names it by the `round_id` of its `round-start`. An id that no
`round-start` of the run has is most often a slip, or the start was never recorded: nobody knows
which round it was, nor whether a first round was accepted. The same holds where the id is that of a
round of another dispatch: in the dispatch that the event names, no such round was started.

Ids are compared exactly, and count within their run. The rule is silent while a rejected or unknown
line of the run names the round: the start may be there. Of one round, at most 16 lines of each
event are marked; what stands after its end is `event-after-end`.

**Fix.** The nearest id of the rounds that were started last, as a suggestion; and this id for the
last start above with which nothing goes on. For a round of another dispatch, the id of that
dispatch, or, where that had ended, the own one for the start.

Examples:
EVENT{"event_type":"round-start","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a"}
EVENT{"event_type":"round-end","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59"}
… no `round-start` of this run starts     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
=>
EVENT{"event_type":"round-start","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a"}
EVENT{"event_type":"round-end","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a"}
--- Nothing that was started is like it.
EVENT{"event_type":"round-start","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a"}
EVENT{"event_type":"brief-issued","round_id":"9b9d1ef2-5ec8-4a4b-a0d1-6d7f4be21c07"}
                                             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
=> Replace the id of the start with "9b9d1ef2-5ec8-4a4b-a0d1-6d7f4be21c07"
EVENT{"event_type":"round-start","round_id":"9b9d1ef2-5ec8-4a4b-a0d1-6d7f4be21c07"}
EVENT{"event_type":"brief-issued","round_id":"9b9d1ef2-5ec8-4a4b-a0d1-6d7f4be21c07"}
--- A round belongs to one dispatch.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"round-end","dispatch_id":"D2","round_id":"R1"}
… was started in the dispatch "D1" on line 2, not in "D2"    ^^^^
=> Replace `dispatch_id` with "D1"
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"round-end","dispatch_id":"D1","round_id":"R1"}
--- No round starts in a dispatch that has ended.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}
EVENT{"event_type":"round-end","dispatch_id":"D2","round_id":"R1"}
… was started in the dispatch "D1" on line 4, not in "D2"    ^^^^
=> Replace `dispatch_id` of the start with "D2"
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"round-start","dispatch_id":"D2","round_id":"R1"}
EVENT{"event_type":"round-end","dispatch_id":"D2","round_id":"R1"}
--- Where the dispatch itself is unknown, that is what is said, once.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}
EVENT{"event_type":"round-end","dispatch_id":"D2","round_id":"R1"}
---
EVENT{"event_type":"round-start"}
EVENT{"event_type":"round-end"}
"""

from itertools import pairwise

from drive_trace.linter.courses import MOST, Course, courses, unstarted
from drive_trace.linter.edits import Fix, Fixes, Level, as_json, replace_id, replace_value
from drive_trace.linter.rule import Finding, Findings, Line, Rule, Run, Severity, shown
from drive_trace.vocabulary import DISPATCH, ROUND


def _check(run: Run) -> Findings:
    for course in courses(run, ROUND):
        yield from unstarted(RULE, course)
        for start, end in pairwise((*course.bounds, None)):
            if start is not None and course.starts(start):
                yield from _of_other_dispatches(course, start, end)


def _of_other_dispatches(course: Course, start: Line, end: Line | None) -> Findings:
    """The findings on lines of a round that name another dispatch than its start does, if that one
    is started as well; of that dispatch, too, among the first ones of each event.
    """
    field, run = DISPATCH.field, course.run
    for line in (*course.between(start, end), end):
        if line is None or line.event is None or course.starts(line):
            continue
        named = line.fact(field)
        is_other = named != start.fact(field) and run.of(DISPATCH.opener, field, named)
        if is_other and run.of(line.event.name, field, named).position(line) < MOST:
            there = f"this round was started in the dispatch {shown(start.fact(field))} on line "
            message = (there, start, f", not in {shown(named)}")
            found = course.finding(RULE, line, message, (start, field, "the round's dispatch"))
            yield found._replace(expected=start.fact(field))


def _fixes(finding: Finding) -> Fixes:
    other = finding.expected
    if other is None:
        return replace_id(finding, ROUND)
    line, start, of_start = finding.line, finding.related[0].line, ""
    assert finding.run is not None
    if finding.run.open_at(DISPATCH, other, start) is None:
        # No round starts in a dispatch that has ended: the start names the wrong one.
        line, other, of_start = start, line.fact(DISPATCH.field), " of the start"
    title = f"Replace `{DISPATCH.field}`{of_start} with {shown(other)}"
    return (Fix(title, Level.BY_HAND, (replace_value(line, (DISPATCH.field,), as_json(other)),)),)


RULE = Rule(Severity.WARNING, _check, fixes=_fixes, sums="events name this round", sums_by="value")
