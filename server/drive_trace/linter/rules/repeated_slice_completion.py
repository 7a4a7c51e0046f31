"""A slice is completed twice.

A slice delivers one pull request, and so it is completed once. Completed again, either an event
was appended twice, or two slices share a slug: the assertion I1 of the method fails on it.

`slice-never-started` does not report such a line as well.

**Fix.** None is offered: either the line is a copy, or the other slice needs a slug of its own.

Examples:
EVENT{"event_type":"slice-started","slice_slug":"retry-queue"}
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"abandoned"}
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged"}
… this slice was completed on line 2 already      ^^^^^^^^^^^^^
---
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue"}
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue-2"}
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","project_run_id":"cart"}
"""

from drive_trace.linter.courses import repetitions
from drive_trace.linter.rule import Findings, Rule, Run, Severity


def _check(run: Run) -> Findings:
    what = "this slice was completed"
    return repetitions(RULE, run, "slice-completed", "slice_slug", what)


RULE = Rule(Severity.WARNING, _check)
