"""Before it is delegated, a dispatch is given a brief, and `brief-issued` records it. A dispatch
that ended without one leaves its task open, and is missing from the brief metrics.

The rule is silent while a rejected or unknown line of the run names the dispatch: the brief may be
there.

**Fix.** None is offered: the brief is not in the trace.
"""

from collections.abc import Iterable

from drive_trace.linter.entities.phases import Phase
from drive_trace.linter.rule import Example, Finding, Related, Rule, Severity
from drive_trace.trace.places import Place
from drive_trace.vocabulary import LIFETIMES, Entity

_DISPATCH = LIFETIMES[Entity.DISPATCH]


def _check(subject: Phase) -> Iterable[Finding]:
    line, end = subject.begin, subject.end
    if line is None or end is None or subject.of is not _DISPATCH or subject.has_brief:
        return
    if subject.is_open and subject.is_first and subject.is_ended and not subject.unread:
        message = ("this dispatch ended on line ", end, ", and no brief was issued for it")
        related = Related(end, Place.value("event_type"), "it ended here")
        yield subject.finding(RULE, line, message, related)


RULE = Rule(
    code="dispatch-without-brief",
    severity=Severity.INFORMATION,
    entity=Phase,
    check=_check,
    summary="A dispatch ended, and had no brief.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
        … no brief was issued for it                      ^^^^
        EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
        """
    ),
    # A brief may still come; and it may come late.
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
        EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
        EVENT{"event_type":"brief-issued","dispatch_id":"D1"}
        """
    ),
)
