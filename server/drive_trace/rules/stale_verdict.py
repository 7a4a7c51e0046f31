"""The run went on after it was graded: a dispatch, round, brief, spec or plan event stands after
the `correctness-recorded` that decides the verdict. What was graded is no longer what is there.
Feeds, retros, health checks and `project-closed` do not count: they belong after the work.

**Fix.** None is offered. Grade the run again, and append what was found.
"""

from collections.abc import Iterable

from drive_trace.rules.base import Example, Finding, Related, Rule, RunSoFar, Severity
from drive_trace.trace.places import Part, Place

_EVENT_TYPE = Place(Part.VALUE, ("event_type",))


def _check(subject: RunSoFar) -> Iterable[Finding]:
    deciding = subject.run.events("correctness-recorded").last
    last_work = subject.run.last_work
    if deciding is not None and last_work is not None and last_work.order > deciding.order:
        yield Finding(
            RULE,
            deciding,
            _EVENT_TYPE,
            ("the run went on after this verdict, up to line ", last_work, ": grade it again"),
            related=(Related(last_work, _EVENT_TYPE, ("the run's latest work",)),),
        )


RULE = Rule(
    code="stale-verdict",
    severity=Severity.WARNING,
    subject=RunSoFar,
    check=_check,
    summary="The run went on after it was graded.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"correctness-recorded"}
                           ^^^^^^^^^^^^^^^^^^^^^^ … the run went on after this verdict, up to line 3
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"round-start"}
        """
    ),
    # What belongs after the work does not go on with it; nor does another run.
    Example(
        """
        EVENT{"event_type":"dispatch-end"}
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"tokens-recorded"}
        EVENT{"event_type":"retro-landed"}
        EVENT{"event_type":"health-check-fired"}
        EVENT{"event_type":"project-closed"}
        EVENT{"event_type":"round-start","project_run_id":"search-index"}
        """
    ),
    # Only the verdict that counts can be stale.
    Example(
        """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"round-start"}
        EVENT{"event_type":"correctness-recorded"}
        """
    ),
)
