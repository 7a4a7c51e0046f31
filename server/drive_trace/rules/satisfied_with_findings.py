"""A round whose verdict is `satisfied` was accepted. Findings that were filed all the same were
either left open on purpose, or mended within the round; or the verdict should be
`another-round-needed`, and the first-pass acceptance is counted too high.

**Fix.** None is offered: only the reviewer knows which of the two is right.
"""

from collections.abc import Iterable
from typing import cast

from drive_trace.rules.base import Example, Finding, Rule, Severity, shown
from drive_trace.rules.subjects import Step
from drive_trace.trace.places import Part, Place
from drive_trace.vocabulary import LIFETIMES, Entity

_ROUND = LIFETIMES[Entity.ROUND]


def _check(subject: Step) -> Iterable[Finding]:
    if subject.of is not _ROUND or not subject.closes:
        return ()
    filed = cast("int", subject.line.fact("findings_filed"))
    if filed and subject.line.fact("verdict") == "satisfied":
        words = f"the round is `satisfied`, but its review filed {shown(filed)}"
        words += " finding" if filed == 1 else " findings"
        return (Finding(RULE, subject.line, Place(Part.VALUE, ("findings_filed",)), (words,)),)
    return ()


RULE = Rule(
    code="satisfied-with-findings",
    severity=Severity.HINT,
    subject=Step,
    check=_check,
    summary="A round was accepted although its review filed findings.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"round-end","verdict":"satisfied","findings_filed":2}
        … the round is `satisfied`, but its review filed 2 findings           ^
        """
    ),
    Example(
        """
        EVENT{"event_type":"round-end","verdict":"satisfied","findings_filed":0}
        EVENT{"event_type":"round-end","round_id":"R2","verdict":"stop-condition","findings_filed":2}
        """
    ),
)
