"""A project that is closed is over: a dispatch, round, brief, spec or plan event of the run below
its last `project-closed` says that it went on. The run's wall-clock time ends where it was closed,
and leaves that work out.

The first such event is marked. Feeds, retros and health checks do not count: they belong after the
work.

**Fix.** None is offered: close the project when it is over.
"""

from collections.abc import Iterable

from drive_trace.linter.rule import Finding, Related, Rule, Severity
from drive_trace.text.wording import plural
from drive_trace.trace.places import Place
from drive_trace.trace.run import Run

_EVENT_TYPE = Place.value("event_type")


def _check(run: Run) -> Iterable[Finding]:
    closed = run.events("project-closed").last
    work = run.work.after(closed) if closed is not None and run.meant is None else None
    if closed is not None and work is not None:
        count = run.work_after(closed).events
        message = (
            f"{plural(count, 'event')} of work from here on, but line ",
            closed,
            " closed the run",
        )
        related = (Related(closed, _EVENT_TYPE, "closed here"),)
        yield Finding(RULE, work, _EVENT_TYPE, message, related)


RULE = Rule(Severity.WARNING, "A run goes on after its project was closed.", _check)

EXAMPLES = """
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
