"""The run went on after it was graded: a dispatch, round, brief, spec or plan event stands after
the `correctness-recorded` that decides the verdict. What was graded is no longer what is there.
Feeds, retros, health checks and `project-closed` do not count: they belong after the work.

**Fix.** None is offered. Grade the run again, and append what was found.
"""

from collections.abc import Iterable

from drive_trace.linter.rule import Finding, Related, Rule, Severity
from drive_trace.trace.places import Place
from drive_trace.trace.run import Run
from drive_trace.vocabulary import GRADE

_EVENT_TYPE = Place.value("event_type")


def _check(run: Run) -> Iterable[Finding]:
    line = run.counted(GRADE)
    last_work = run.work_since(line).last if line is not None else None
    if line is not None and last_work is not None:
        message = ("the run went on after this verdict, up to line ", last_work, ": grade it again")
        related = (Related(last_work, _EVENT_TYPE, "the run's latest work"),)
        yield Finding(RULE, line, _EVENT_TYPE, message, related)


RULE = Rule(Severity.WARNING, "The run went on after it was graded.", _check)

EXAMPLES = """
EVENT{"event_type":"correctness-recorded"}
                   ^^^^^^^^^^^^^^^^^^^^^^ … the run went on after this verdict, up to line 3
EVENT{"event_type":"dispatch-start"}
EVENT{"event_type":"round-start"}
--- What belongs after the work does not go on with it; nor does another run.
EVENT{"event_type":"dispatch-end"}
EVENT{"event_type":"correctness-recorded"}
EVENT{"event_type":"tokens-recorded"}
EVENT{"event_type":"retro-landed"}
EVENT{"event_type":"health-check-fired"}
EVENT{"event_type":"project-closed"}
EVENT{"event_type":"round-start","project_run_id":"search-index"}
--- Only the verdict that counts can be stale.
EVENT{"event_type":"correctness-recorded"}
EVENT{"event_type":"round-start"}
EVENT{"event_type":"correctness-recorded"}
"""
