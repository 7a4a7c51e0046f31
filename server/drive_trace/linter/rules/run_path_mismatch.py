"""The path of a trace promises another run id.

Where a trace lies says which run it records: `projects/<slug>/trace.jsonl` and the traces of
its slices record the run `<slug>`; `wip/drive-trace/orphan-<slice>.jsonl` and
`wip/drive-trace/direct-<time>.jsonl` record the run that is called like the file. An event with
another run id is scored apart, and is missing from the run that it was meant for. The first event
of each such run is marked.

Traces that lie anywhere else promise nothing.

**Fix.** The run id that the path promises, as a suggestion: a file may hold several runs.

Examples:
@path projects/checkout-retry/trace.jsonl
EVENT{"event_type":"project-started","project_run_id":"checkout-retry"}
EVENT{"event_type":"project-closed","project_run_id":"checkout-rety"}
… promises the run "checkout-retry"; found           ^^^^^^^^^^^^^^^
=>
EVENT{"event_type":"project-started","project_run_id":"checkout-retry"}
EVENT{"event_type":"project-closed","project_run_id":"checkout-retry"}
---
@path /home/ada/shop/wip/drive-trace/orphan-retry-queue.jsonl
EVENT{"event_type":"dispatch-start","project_run_id":"retry-queue"}
… promises the run "orphan-retry-queue"              ^^^^^^^^^^^^^
=>
EVENT{"event_type":"dispatch-start","project_run_id":"orphan-retry-queue"}
--- A slice's trace belongs to the project's run.
@path projects/checkout-retry/slices/retry-queue/trace.jsonl
EVENT{"event_type":"slice-started","project_run_id":"checkout-retry"}
--- Nothing is promised by a file of any other name.
@path traces/other.jsonl
EVENT{"event_type":"slice-started","project_run_id":"checkout-retry"}
"""

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Findings, Rule, Severity, WholeTrace, shown
from drive_trace.vocabulary import promised_run


def _check(trace: WholeTrace) -> Findings:
    promised = promised_run(trace.index.path) if trace.index.path is not None else None
    for run in trace.index.runs.values() if promised is not None else ():
        if run.run_id != promised and run.meant is None:
            message = f"the trace's path promises the run {shown(promised)}"
            message += f"; found {shown(run.run_id)}"
            yield RULE.finding(run.first_line, "project_run_id", message, expected=promised)


RULE = Rule(Severity.WARNING, _check, fixes=replace_with_expected)
