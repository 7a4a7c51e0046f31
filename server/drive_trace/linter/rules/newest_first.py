"""The events of a run stand in reverse, the newest first.

Readers go by the order of lines, so that such a run ends before it starts, and of several grades
the oldest counts. A tool for logs, a table that was sorted, or an export may have turned it around.
Three events or more are each older than the one above, and of ten at most one is newer.

What else follows from the order is not said as well.

**Fix.** None is offered, as a trace is only appended to. Write the lines in their order, as `tac`
does, and commit that by itself.

Examples:
EVENT{"event_type":"project-closed","ts":"2026-05-28T17:00:00.000Z"}
… newest first, down to line 4      ^^^^
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T16:00:00.000Z"}
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T15:00:00.000Z"}
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
--- Fewer may have been written late.
EVENT{"event_type":"project-closed","ts":"2026-05-28T17:00:00.000Z"}
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T16:00:00.000Z"}
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
"""

from itertools import pairwise

from drive_trace.linter.rule import Findings, Part, Place, Rule, Run, Severity
from drive_trace.trace.line import TS
from drive_trace.trace.times import is_later

_FEWEST, _FAR_MORE = 3, 10
"""So many events that are older than the one above, and times as many as there are newer ones."""


def _check(run: Run) -> Findings:
    back, newer, last = 0, 0, None
    for above, line in pairwise(run.lines):
        before, after = above.facts[TS], line.facts[TS]
        newer += before < after
        if newer * _FAR_MORE > len(run.lines):  # as of nearly all, after a tenth
            return
        if before > after and is_later(before, after):
            back, last = back + 1, line
    if last is not None and back >= max(_FEWEST, newer * _FAR_MORE):
        why = ": readers go by the order of lines, so put the oldest first"
        message = ("the events stand newest first, down to line ", last, why)
        key = Place(Part.KEY, ("ts",))
        yield RULE.finding(run.lines[0], key, message, (last, "ts", "the oldest"))


RULE = Rule(Severity.WARNING, _check)
