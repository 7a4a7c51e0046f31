"""The path of a trace promises another run id.

Where a trace lies says which run it records: `projects/<slug>/trace.jsonl` and the traces of
its slices record the run `<slug>`; `wip/drive-trace/orphan-<slice>.jsonl` and
`wip/drive-trace/direct-<time>.jsonl` record the run that is called like the file. An event with
another run id is scored apart, and is missing from the run that it was meant for. The first event
of each such run is marked.

Traces that lie anywhere else promise nothing.

**Fix.** The run id that the path promises, on all lines of the run in this file, as a suggestion: a
file may hold several runs, and it may be the folder that has the wrong name.

Examples:
@path projects/checkout-retry/trace.jsonl
EVENT{"event_type":"project-started","project_run_id":"checkout-retry"}
EVENT{"event_type":"project-closed","project_run_id":"checkout-rety"}
… promises the run "checkout-retry"; found           ^^^^^^^^^^^^^^^
=>
EVENT{"event_type":"project-started","project_run_id":"checkout-retry"}
EVENT{"event_type":"project-closed","project_run_id":"checkout-retry"}
--- All lines of the run are mended together: half of it would be another run.
@path projects/checkout-retry/trace.jsonl
EVENT{"event_type":"project-started","project_run_id":"pay"}
… promises the run "checkout-retry"; found            ^^^^^
EVENT{"event_type":"plan-authored","project_run_id":"pay"}
=>
EVENT{"event_type":"project-started","project_run_id":"checkout-retry"}
EVENT{"event_type":"plan-authored","project_run_id":"checkout-retry"}
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

from drive_trace.linter.edits import Edit, Fix, Fixes, Level, as_json
from drive_trace.linter.rule import Finding, Findings, Rule, Severity, WholeTrace, shown
from drive_trace.trace.line import run_of
from drive_trace.vocabulary import Entity, promised_run


def _check(trace: WholeTrace) -> Findings:
    promised = promised_run(trace.index.path) if trace.index.path is not None else None
    for run in trace.index.runs.values() if promised is not None else ():
        if run.run_id != promised and run.meant is None:
            message = f"the trace's path promises the run {shown(promised)}"
            message += f"; found {shown(run.run_id)}"
            yield RULE.finding(run.lines[0], "project_run_id", message, expected=promised)


def _rename(finding: Finding, trace: WholeTrace) -> Fixes:
    """Suggests the promised id for the whole run: half of it would be one more run."""
    from drive_trace.trace.occurrences import NamedEntity, occurrences  # noqa: PLC0415 - seldom

    run_id = run_of(finding.line)
    assert run_id is not None
    run, named = trace.index.runs[run_id], NamedEntity(Entity.RUN, run_id, run_id)
    text = as_json(finding.expected)
    found = occurrences(trace.index, [*run.lines, *run.odd], named)
    edits = tuple(Edit(each.line, each.span, text) for each in found)
    on = f" on all {len(edits):,} lines of the run" if len(edits) > 1 else ""
    yield Fix(
        f"Replace with {shown(finding.expected)}{on}, or rename the folder", Level.BY_HAND, edits
    )


RULE = Rule(Severity.WARNING, _check, fixes_around=_rename)
