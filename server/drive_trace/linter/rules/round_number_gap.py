"""The rounds of a dispatch are numbered 1, 2, 3 … in the order in which they start. A number that
does not follow is a slip, or a round was not recorded: which round was the first decides the
first-pass acceptance.

The rule is silent where a rejected or unknown line of the dispatch stands between the two rounds,
or where a round is started again (`repeated-start`).

**Fix.** The number that follows, as a suggestion: a round may be missing instead.
"""

from collections.abc import Iterable

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.entities.dispatches import Misnumbered
from drive_trace.linter.rule import Example, Finding, Message, Related, Rule, Severity
from drive_trace.text.wording import shown
from drive_trace.trace.places import Place

_NUMBER = Place.value("round_number")


def _check(subject: Misnumbered) -> Iterable[Finding]:
    line, previous, expected = subject
    found = shown(line.fact("round_number"))
    message: Message = f"the first round of a dispatch has number 1; found {found}"
    related: tuple[Related, ...] = ()
    if previous is not None:
        message = (
            f"expected {shown(expected)} after the round on line ",
            previous,
            f"; found {found}",
        )
        related = (Related(previous, _NUMBER, "the round before it in the dispatch"),)
    yield Finding(RULE, line, _NUMBER, message, related, expected=expected)


RULE = Rule(
    code="round-number-gap",
    severity=Severity.WARNING,
    entity=Misnumbered,
    check=_check,
    fixes=replace_with_expected,
    summary="The rounds of a dispatch are not numbered one after the other.",
    doubts="rounds_per_dispatch",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
        EVENT{"event_type":"round-start","round_id":"R2","round_number":3}
        … expected 2 after the round on line 2; found 3                 ^
        """,
        """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
        EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
        """,
        fix="Replace with 2",
    ),
    # A round whose start readers reject may be the first.
    Example(
        """
        EVENT{"event_type":"dispatch-start"}
        EVENT{"event_type":"round-start","round_id":"R1","round_number":0}
        EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
        """
    ),
    # Each dispatch counts its own rounds.
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
        EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1","round_number":1}
        EVENT{"event_type":"round-start","dispatch_id":"D2","round_id":"R2","round_number":1}
        EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R3","round_number":2}
        """
    ),
)
