"""A slice is completed that was never started.

A slice that is completed was started, and `slice-started` records it. Without it the slice has
no wall-clock time. Most often the event was forgotten, or the slug is written in another way.

The start counts wherever it stands in the run. The rule is silent while a rejected or unknown line
of the run names the slice: the start may be there. So it is where the trace begins midway: no run
begins with its first event.

**Fix.** The nearest slug of the slices that were started last, as a suggestion.

Examples:
EVENT{"event_type":"slice-started","slice_slug":"retry-queue"}
EVENT{"event_type":"slice-completed","slice_slug":"retry-que"}
… no `slice-started` of this run starts           ^^^^^^^^^^^
=>
EVENT{"event_type":"slice-started","slice_slug":"retry-queue"}
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue"}
---
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue"}
EVENT{"event_type":"slice-started","slice_slug":"retry-queue"}
"""

from functools import partial

from drive_trace.linter.edits import replace_id
from drive_trace.linter.rule import Findings, Rule, Run, Severity, shown
from drive_trace.vocabulary import SLICE


def _check(run: Run) -> Findings:
    started = run.table(SLICE.opener, SLICE.field)
    for slug, ends in run.table(SLICE.closer, SLICE.field).items():
        is_missed = run.meant is None and slug not in started and not run.begins_midway
        if is_missed and not run.in_doubt(SLICE.field, slug):
            message = f"no `slice-started` of this run starts the slice {shown(slug)}"
            yield RULE.finding(ends[0], SLICE.field, message, run=run)


RULE = Rule(Severity.INFORMATION, _check, fixes=partial(replace_id, of=SLICE))
