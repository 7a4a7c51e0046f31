"""An event belongs to a dispatch or round that had ended.

After its `dispatch-end` or `round-end`, nothing more happens in a dispatch or round. An event
that follows was written late, or the dispatch went on: then its end was written too early, and its
duration is too short. To go on with a dispatch, start a new one and name the old one as its
`parent_dispatch_id`.

Where a dispatch or round ends before it starts, its end is marked: most often it names the wrong
one, and what was going on there lacks its end, or has that of the other. Where more of it stands
above, its start is marked, in the same way.

A second start or end speaks for itself (`repeated-start`, `repeated-end`), and what stands before
the second end is not reported: the first one was too early. After one end, at most
16 lines of each event are marked.

**Fix.** For an end before its start, or that start, what was started last and is going on at the
end, as a suggestion.
Else none: nothing that was recorded is wrong by itself.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"round-start","dispatch_id":"D1"}
… this dispatch ended on line 2                ^^^^
EVENT{"event_type":"brief-issued","dispatch_id":"D1"}
… this dispatch ended on line 2                 ^^^^
--- Two ends whose ids were swapped.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D2"}
… on line 3, below its end: is this the end     ^^^^
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
=>
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
--- Two starts whose ids were swapped.
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"brief-issued","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
… ends on line 3, above its start: is this the    ^^^^
EVENT{"event_type":"brief-issued","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D2"}
=>
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"brief-issued","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"brief-issued","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D2"}
--- The last round may end with its dispatch, whichever is written first.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"round-start","dispatch_id":"D1"}
EVENT{"event_type":"round-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
--- Ended again, it is the first end that is wrong.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"brief-issued","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
"""

from drive_trace.linter.courses import Course, courses, going_on
from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Finding, Findings, Line, Rule, Run, Severity, shown


def _check(run: Run) -> Findings:
    for course in courses(run):
        first, what = next(filter(course.starts, course.bounds), None), course.of.entity
        if first is not None and first is not course.bounds[0]:
            yield _before_start(course, course.bounds[0], first)
            continue
        for number, end in enumerate(course.bounds, 1):
            following = next(iter(course.bounds[number:]), None)
            is_last = course.ends(end) and not course.ends(following)
            for line in course.between(end, following) if is_last else ():
                ended = (end, course.of.field, f"the {what} ended here")
                yield course.finding(RULE, line, (f"this {what} ended on line ", end), ended)


def _before_start(course: Course, end: Line, start: Line) -> Finding:
    """The finding on an end above the start: another dispatch or round was going on there. Where
    more of it stands above the end, the start is off.
    """
    run, of = course.run, course.of
    is_end, meant = course.lines[0] is end, going_on(run, of, end)
    line, other, name = (end, start, of.closer) if is_end else (start, end, of.opener)
    which, said, way = ("end", "starts", "below") if is_end else ("start", "ends", "above")
    asked = f": is this the {which} of {shown(meant)}?" if meant is not None else ""
    message = (f"this {of.entity} {said} on line ", other, f", {way} its {which}{asked}")
    others = [(each, of.field, f"the other {which}") for each in run.of(name, of.field, meant)[:1]]
    found = course.finding(RULE, line, message, (other, of.field, f"it {said} here"), *others)
    return found._replace(expected=meant)


RULE = Rule(
    Severity.INFORMATION,
    _check,
    fixes=replace_with_expected,
    sums="events follow this end",
    sums_by="value",
)
