"""An event belongs to a dispatch or round that had ended.

After its `dispatch-end` or `round-end`, nothing more happens in a dispatch or round. An event
that follows was written late, or the dispatch went on: then its end was written too early, and its
duration is too short. To go on with a dispatch, start a new one and name the old one as its
`parent_dispatch_id`.

A second start or end speaks for itself (`repeated-start`, `repeated-end`), and what stands before
the second end is not reported: the first one was too early. After one end, at most
16 lines of each event are marked.

**Fix.** None is offered: nothing that was recorded is wrong by itself.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"round-start","dispatch_id":"D1"}
… this dispatch ended on line 2                ^^^^
EVENT{"event_type":"brief-issued","dispatch_id":"D1"}
… this dispatch ended on line 2                 ^^^^
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

from collections.abc import Iterable
from itertools import pairwise

from drive_trace.linter.courses import courses
from drive_trace.linter.rule import Findings, Line, Rule, Run, Severity


def _check(run: Run) -> Findings:
    for course in courses(run):
        first, end = next(filter(course.starts, course.bounds), None), None
        for begin, following in pairwise((*course.bounds, None)):
            lines: Iterable[Line | None] = [begin] if begin is first else []
            if course.ends(begin):
                end = begin
                lines = course.between(end, following) if not course.ends(following) else []
            for line in lines:
                if line is not None and end is not None:
                    what = course.of.entity
                    ended = (end, course.of.field, f"the {what} ended here")
                    yield course.finding(RULE, line, (f"this {what} ended on line ", end), ended)


RULE = Rule(Severity.INFORMATION, _check, sums="events follow this end", sums_by="value")
