"""A slice is started twice.

A slice is started once. Started again, either the event was appended twice, or two slices share
a slug: the time that the slice took counts from the last start alone.

**Fix.** None is offered: either the line is a copy, or the other slice needs a slug of its own.

Examples:
EVENT{"event_type":"slice-started","slice_slug":"retry-queue","slice_index":1}
EVENT{"event_type":"slice-started","slice_slug":"retry-queue","slice_index":2}
… this slice was started on line 1 already      ^^^^^^^^^^^^^
---
EVENT{"event_type":"slice-started","slice_slug":"retry-queue","slice_index":1}
EVENT{"event_type":"slice-started","slice_slug":"retry-queue-2","slice_index":2}
EVENT{"event_type":"slice-started","slice_slug":"retry-queue","project_run_id":"cart"}
"""

from drive_trace.linter.courses import repetitions
from drive_trace.linter.rule import Findings, Rule, Run, Severity


def _check(run: Run) -> Findings:
    return repetitions(RULE, run, "slice-started", "slice_slug", "this slice was started")


RULE = Rule(Severity.INFORMATION, _check)
