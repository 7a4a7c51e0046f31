"""A slice is open when its project is closed.

Each slice that starts should be completed, also where it was given up (`result` says so). One that
has not when the `project-closed` of its run stands there has no duration, and is missing among what
was merged and what was abandoned.

Only the last `project-closed` of a run is looked at. The rule is silent while a rejected or unknown
line of the run names the slice: its end may be there.

**Fix.** None is offered: how the slice ended is not in the trace.

Examples:
EVENT{"event_type":"slice-started","slice_slug":"retry"}
… this slice is still open on line 3            ^^^^^^^
EVENT{"event_type":"slice-completed","slice_slug":"retry-budget"}
EVENT{"event_type":"project-closed"}
--- It may still be completed.
EVENT{"event_type":"slice-started","slice_slug":"retry"}
EVENT{"event_type":"slice-started","slice_slug":"retry-budget"}
EVENT{"event_type":"slice-completed","slice_slug":"retry"}
"""

from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.vocabulary import SLICE


def _check(run: Run) -> Findings:
    closed, ends = run.events("project-closed").last, run.table(SLICE.closer, SLICE.field)
    if closed is None:
        return
    for slug, (start, *_) in run.table(SLICE.opener, SLICE.field).items():
        is_open = start.order < closed.order and slug not in ends
        if is_open and not run.in_doubt(SLICE.field, slug):
            message = ("this slice is still open on line ", closed, ", which closes the project")
            yield RULE.finding(start, SLICE.field, message, (closed, "event_type", "closed here"))


RULE = Rule(Severity.INFORMATION, _check, sums="slices are never completed")
