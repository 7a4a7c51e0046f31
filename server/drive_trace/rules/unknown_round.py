"""Every event of a round names it by the `round_id` of its `round-start`. An id that no
`round-start` of the run has is most often a slip, or the start was never recorded: it cannot be
told which round it was, nor whether a first round was accepted.

Ids are compared exactly, and count within their run. Nothing is said while a rejected or unknown
line of the run names the round: the start may be there. Of one round, at most 16 lines of each
event are marked; what stands after its end is `event-after-end`.

**Fix.** The nearest id of the rounds that were started last, as a suggestion.
"""

from collections.abc import Iterable

from drive_trace.rules.base import Example, Finding, Fix, Rule, Severity, shown
from drive_trace.rules.ids import id_place, replace_id
from drive_trace.rules.subjects import Step
from drive_trace.vocabulary import LIFETIMES, Entity

_ROUND = LIFETIMES[Entity.ROUND]


def _check(subject: Step) -> Iterable[Finding]:
    is_unknown = subject.first_start is None and subject.before is None
    if subject.of is _ROUND and is_unknown and subject.is_early and not subject.unread:
        words = f"no `round-start` of this run starts the round {shown(subject.id)}"
        return (Finding(RULE, subject.line, id_place(_ROUND), (words,), run=subject.run),)
    return ()


def _fixes(finding: Finding) -> Iterable[Fix]:
    return replace_id(finding, _ROUND, _ROUND.field)


RULE = Rule(
    code="unknown-round",
    severity=Severity.WARNING,
    subject=Step,
    check=_check,
    fixes=_fixes,
    summary="An event belongs to a round that was never started.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"round-start","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a"}
        EVENT{"event_type":"round-end","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59"}
        … no `round-start` of this run starts     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        """,
        """
        EVENT{"event_type":"round-start","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a"}
        EVENT{"event_type":"round-end","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a"}
        """,
    ),
    # Nothing that was started is like it.
    Example(
        """
        EVENT{"event_type":"round-start","round_id":"5cd5061c-9c5f-419e-834c-1b69573ac59a"}
        EVENT{"event_type":"brief-issued","round_id":"9b9d1ef2-5ec8-4a4b-a0d1-6d7f4be21c07"}
                                                     ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
        """
    ),
    Example(
        """
        EVENT{"event_type":"round-start"}
        EVENT{"event_type":"round-end"}
        """
    ),
)
