"""A run goes on after its project was closed.

A project that is closed is over: a dispatch, round, brief, spec or plan event of the run below
its last `project-closed` says that it went on. The run's wall-clock time ends where it was closed,
and leaves that work out.

The first such event is marked. Feeds, retros and health checks do not count: they belong after the
work.

**Fix.** None is offered: close the project when it is over.

Examples:
EVENT{"event_type":"project-closed"}
EVENT{"event_type":"dispatch-start"}
                   ^^^^^^^^^^^^^^^^ … 2 events of work from here on, but line 1
EVENT{"event_type":"round-start"}
--- What belongs after the work does not go on with it; nor does another run.
EVENT{"event_type":"dispatch-end"}
EVENT{"event_type":"project-closed"}
EVENT{"event_type":"retro-landed"}
EVENT{"event_type":"correctness-recorded"}
EVENT{"event_type":"dispatch-start","project_run_id":"cart"}
"""

from drive_trace.linter.rule import Findings, Rule, Run, Severity, plural


def _check(run: Run) -> Findings:
    closed = run.events("project-closed").last
    work = run.work_after(closed) if closed is not None and run.meant is None else ()
    if closed is not None and work:
        count = plural(len(work), "event")
        message = (f"{count} of work from here on, but line ", closed, " closed the run")
        yield RULE.finding(work[0], "event_type", message, (closed, "event_type", "closed here"))


RULE = Rule(Severity.WARNING, _check)
