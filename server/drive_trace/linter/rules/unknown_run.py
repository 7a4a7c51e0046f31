"""The id of a run is most likely a slip.

Runs of one trace whose ids differ in a letter are most likely one run. An event with the wrong
id is scored apart: its grade, its tokens and its time are missing from the run that was meant.

The rule marks the lines of a run that has at most 3, where the trace has one run with more that
uses a dispatch or round that they name by its UUID. Lines that name none are marked if none of them
starts the run, and the ids of the runs are nearly the same, or the path of the trace promises the
other run, or that one lacks the start or the end of a slice that is on them. Ids that differ in
their numbers or in a short part were meant to, as `auth-1` and `auth-2`. Such a line is this one
finding: what it would leave undone in both runs is not said as well. In a trace of more than 32
runs, the rule is silent.

**Fix.** The id of the other run, as a suggestion.

Examples:
EVENT{"event_type":"dispatch-start","project_run_id":"retry-queue"}
EVENT{"event_type":"brief-issued","project_run_id":"retry-queue"}
EVENT{"event_type":"round-start","project_run_id":"retry-queue"}
EVENT{"event_type":"round-end","project_run_id":"retry-queu"}
… "retry-queu" has 1 line only; is it           ^^^^^^^^^^^^
EVENT{"event_type":"dispatch-end","project_run_id":"retry-queue"}
=>
EVENT{"event_type":"dispatch-start","project_run_id":"retry-queue"}
EVENT{"event_type":"brief-issued","project_run_id":"retry-queue"}
EVENT{"event_type":"round-start","project_run_id":"retry-queue"}
EVENT{"event_type":"round-end","project_run_id":"retry-queue"}
EVENT{"event_type":"dispatch-end","project_run_id":"retry-queue"}
--- A dispatch belongs to one run.
EVENT{"event_type":"dispatch-start","project_run_id":"a","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
EVENT{"event_type":"brief-issued","project_run_id":"a","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
EVENT{"event_type":"round-start","project_run_id":"a","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
EVENT{"event_type":"round-end","project_run_id":"a","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
EVENT{"event_type":"dispatch-end","project_run_id":"bb","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
                                                   ^^^^
=>
EVENT{"event_type":"dispatch-start","project_run_id":"a","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
EVENT{"event_type":"brief-issued","project_run_id":"a","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
EVENT{"event_type":"round-start","project_run_id":"a","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
EVENT{"event_type":"round-end","project_run_id":"a","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
EVENT{"event_type":"dispatch-end","project_run_id":"a","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
--- The path promises the other run.
@path projects/cart/trace.jsonl
EVENT{"event_type":"spec-authored","project_run_id":"cart"}
EVENT{"event_type":"plan-authored","project_run_id":"cart"}
EVENT{"event_type":"retro-landed","project_run_id":"cart","trigger_class":"drift-event","is_mandatory_final":false}
EVENT{"event_type":"retro-landed","project_run_id":"payments"}
                                                   ^^^^^^^^^^
EVENT{"event_type":"project-closed","project_run_id":"cart"}
=>
@path projects/cart/trace.jsonl
EVENT{"event_type":"spec-authored","project_run_id":"cart"}
EVENT{"event_type":"plan-authored","project_run_id":"cart"}
EVENT{"event_type":"retro-landed","project_run_id":"cart","trigger_class":"drift-event","is_mandatory_final":false}
EVENT{"event_type":"retro-landed","project_run_id":"cart"}
EVENT{"event_type":"project-closed","project_run_id":"cart"}
--- The other run lacks the start of this slice.
EVENT{"event_type":"spec-authored","project_run_id":"cart"}
EVENT{"event_type":"slice-started","project_run_id":"payments","slice_slug":"tax"}
                                                    ^^^^^^^^^^
EVENT{"event_type":"plan-authored","project_run_id":"cart"}
EVENT{"event_type":"slice-completed","project_run_id":"cart","slice_slug":"tax"}
EVENT{"event_type":"slice-started","project_run_id":"cart","slice_slug":"vat"}
=>
EVENT{"event_type":"spec-authored","project_run_id":"cart"}
EVENT{"event_type":"slice-started","project_run_id":"cart","slice_slug":"tax"}
EVENT{"event_type":"plan-authored","project_run_id":"cart"}
EVENT{"event_type":"slice-completed","project_run_id":"cart","slice_slug":"tax"}
EVENT{"event_type":"slice-started","project_run_id":"cart","slice_slug":"vat"}
--- Numbers are no slips.
EVENT{"event_type":"spec-authored","project_run_id":"auth-1"}
EVENT{"event_type":"plan-authored","project_run_id":"auth-1"}
EVENT{"event_type":"health-check-fired","project_run_id":"auth-1"}
EVENT{"event_type":"retro-landed","project_run_id":"auth-1"}
EVENT{"event_type":"spec-authored","project_run_id":"auth-2"}
--- A run that begins with a start of its own.
EVENT{"event_type":"spec-authored","project_run_id":"migrate-http"}
EVENT{"event_type":"plan-authored","project_run_id":"migrate-http"}
EVENT{"event_type":"health-check-fired","project_run_id":"migrate-http"}
EVENT{"event_type":"retro-landed","project_run_id":"migrate-http"}
EVENT{"event_type":"project-started","project_run_id":"migrate-https","project_slug":"migrate-https"}
EVENT{"event_type":"spec-authored","project_run_id":"migrate-https"}
--- A run that begins with a dispatch of its own.
EVENT{"event_type":"spec-authored","project_run_id":"fix-login"}
EVENT{"event_type":"plan-authored","project_run_id":"fix-login"}
EVENT{"event_type":"health-check-fired","project_run_id":"fix-login"}
EVENT{"event_type":"retro-landed","project_run_id":"fix-login"}
EVENT{"event_type":"dispatch-start","project_run_id":"fix-logic","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
EVENT{"event_type":"brief-issued","project_run_id":"fix-logic","dispatch_id":"1f0c6a52-6ad5-4b7e-9b1f-0c8f3f9f6a01"}
"""

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Findings, Rule, Run, Severity, plural, shown


def _check(run: Run) -> Findings:
    count = plural(len(run), "line")
    for line in run.lines if run.meant is not None else ():
        if any(each.kind == "project-slug-mismatch" for each in line.diagnostics):
            continue  # that says it already
        message = f"the run {shown(line.run)} has {count} only; is it {shown(run.meant)}?"
        yield RULE.finding(line, "project_run_id", message, expected=run.meant)


RULE = Rule(Severity.WARNING, _check, fixes=replace_with_expected, sums="events name this run")
