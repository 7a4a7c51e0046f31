"""Two slices have one index.

`slice_index` says which slice of the project one is, counted from 1. Two slices of a run with one
index were numbered by hand, or one of them is the other under a new name.

A slice that is started twice is `repeated-slice-start`.

**Fix.** None is offered: which of the two has the wrong index, only the writer knows.

Examples:
EVENT{"event_type":"slice-started","slice_slug":"retry-queue","slice_index":1}
EVENT{"event_type":"slice-started","slice_slug":"retry-budget","slice_index":1}
… the slice with this index was started on line 1 already                    ^
---
EVENT{"event_type":"slice-started","slice_slug":"retry-queue","slice_index":1}
EVENT{"event_type":"slice-started","slice_slug":"retry-budget","slice_index":2}
EVENT{"event_type":"slice-started","slice_slug":"cart","slice_index":1,"project_run_id":"cart"}
"""

from drive_trace.linter.courses import repetitions
from drive_trace.linter.rule import Findings, Rule, Run, Severity


def _check(run: Run) -> Findings:
    what = "the slice with this index was started"
    return repetitions(RULE, run, "slice-started", "slice_index", what)


RULE = Rule(Severity.INFORMATION, _check)
