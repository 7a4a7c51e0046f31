"""A project starts or is closed twice.

A project starts once and is closed once. Of several starts and ends the scorecard takes the
first ones for the run's wall-clock time, so that a second `project-closed` changes nothing and a
wrong first one stays in the figure.

**Fix.** None is offered: which of the two is right, only the writer knows.

Examples:
EVENT{"event_type":"project-started"}
EVENT{"event_type":"project-closed"}
EVENT{"event_type":"project-closed"}
                   ^^^^^^^^^^^^^^^^ … the project of this run was closed on line 2 already
---
EVENT{"event_type":"project-started","project_run_id":"cart"}
EVENT{"event_type":"project-started"}
EVENT{"event_type":"project-started"}
                   ^^^^^^^^^^^^^^^^^ … the project of this run was started on line 2 already
--- Each run has a project of its own.
EVENT{"event_type":"project-started","project_run_id":"cart","project_slug":"cart"}
EVENT{"event_type":"project-started"}
EVENT{"event_type":"project-closed"}
"""

from drive_trace.linter.courses import repetitions
from drive_trace.linter.rule import Findings, Rule, Run, Severity


def _check(run: Run) -> Findings:
    for event, what in (("project-started", "started"), ("project-closed", "closed")):
        yield from repetitions(RULE, run, event, None, f"the project of this run was {what}")


RULE = Rule(Severity.WARNING, _check, distrusts="clock")
