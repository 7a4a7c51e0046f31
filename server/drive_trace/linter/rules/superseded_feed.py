"""A feed event counts until a later event of the same feed and run replaces it, as a whole. An
event that was replaced is history: it has no effect on the verdict or the token figures.

**Fix.** None is needed: a trace is append-only, and the history is part of it.
"""

from collections.abc import Iterable

from drive_trace.linter.entities.runs import FeedEvent
from drive_trace.linter.rule import Example, Finding, Related, Rule, Severity
from drive_trace.trace.places import Place

_EVENT_TYPE = Place.value("event_type")


def _check(subject: FeedEvent) -> Iterable[Finding]:
    line, following = subject.line, subject.following
    if following is not None and not following.is_copy_of(line):
        yield Finding(
            RULE,
            line,
            _EVENT_TYPE,
            ("superseded by line ", following, ": only the last one of a run counts"),
            related=(Related(following, _EVENT_TYPE, "this event replaces it"),),
        )


RULE = Rule(
    code="superseded-feed",
    severity=Severity.HINT,
    entity=FeedEvent,
    check=_check,
    summary="A later event of the same feed replaces this one.",
    unnecessary=True,
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"tokens-recorded"}
                           ^^^^^^^^^^^^^^^^^ … superseded by line 3
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"tokens-recorded"}
        """
    ),
    # A line that readers reject replaces nothing; nor does another run's.
    Example(
        """
        EVENT{"event_type":"correctness-recorded"}
        EVENT{"event_type":"correctness-recorded","qa":"failed"}
        EVENT{"event_type":"correctness-recorded","project_run_id":"search-index"}
        """
    ),
)
