"""An event has the id of an earlier event.

An `event_id` names one event, in the whole trace. Two events with the same id are most often
one line that was appended twice, or a copied line whose id was not changed: what counts events
counts one too many, and what refers to the id is ambiguous. What an exact copy repeats besides, as
the end of a dispatch, is not said as well.

**Fix.** An exact copy is deleted, else a new id is made from the line itself. Both are suggestions:
who wrote the line knows what it was to be.

Examples:
EVENT{"event_type":"project-started","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f"}
EVENT{"event_type":"project-closed","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f"}
… line 1 is another event, and has the same    ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
=>
EVENT{"event_type":"project-started","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f"}
EVENT{"event_type":"project-closed","event_id":"4b623198-71aa-4a77-b88e-c87e25e4fead"}
--- What was appended twice counts twice.
{"event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f","schema_version":"1","ts":"2026-05-28T14:00:00.000Z","project_run_id":"cart","orchestrator_agent_id":null,"event_type":"project-started","project_slug":"cart","origin":"promote","has_linear_project":true}
{"event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f","schema_version":"1","ts":"2026-05-28T14:00:00.000Z","project_run_id":"cart","orchestrator_agent_id":null,"event_type":"project-started","project_slug":"cart","origin":"promote","has_linear_project":true}
            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^ … has the same in all else too
=> Delete this line
{"event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f","schema_version":"1","ts":"2026-05-28T14:00:00.000Z","project_run_id":"cart","orchestrator_agent_id":null,"event_type":"project-started","project_slug":"cart","origin":"promote","has_linear_project":true}
--- An id that differs in one place is another id.
EVENT{"event_type":"project-started","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f"}
EVENT{"event_type":"project-closed","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e20"}
"""

from itertools import pairwise

from drive_trace.linter.edits import Fixes, Level, new_event_id, remove_line
from drive_trace.linter.rule import Finding, Findings, Rule, SameId, Severity


def _check(same: SameId) -> Findings:
    for previous, line in pairwise(same.lines):
        is_copy = line.is_copy_of(previous)
        also = "has the same in all else too" if is_copy else "is another event, and has the same"
        message = ("`event_id` must be unique in the trace; line ", previous, f" {also}")
        yield RULE.finding(line, "event_id", message, (previous, "event_id", "the same id here"))


def _fixes(finding: Finding) -> Fixes:
    if finding.line.is_copy_of(finding.related[0].line):
        # An id of its own would have it count twice for good.
        yield remove_line(finding, Level.BY_HAND, "Delete this line")
    else:
        yield new_event_id(finding)


RULE = Rule(Severity.WARNING, _check, fixes=_fixes, sums="events have the id of an earlier one")
