"""The run went on after it was graded.

The run went on after it was graded: a dispatch, round, brief, spec or plan event stands after
the `correctness-recorded` that decides the verdict. What was graded is no longer what is there.
Feeds, retros, health checks and `project-closed` do not count: they belong after the work. Between
files `ts` says what is later; what has none that can be read may be.

**Fix.** None is offered. Grade the run again, and append what was found.

Examples:
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

from itertools import chain

from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.trace.joined import file_by_file
from drive_trace.trace.line import latest


def _check(run: Run) -> Findings:
    files = file_by_file(run)
    last = latest(chain.from_iterable(files.work_after)) if files.work_count else None
    if files.grade is not None and last is not None:
        message = ("the run went on after this verdict, up to line ", last, ": grade it again")
        related = (last, "event_type", "the run's latest work")
        yield RULE.finding(files.grade, "event_type", message, related)


RULE = Rule(Severity.WARNING, _check)
