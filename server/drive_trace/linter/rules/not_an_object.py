"""A line of a trace holds one JSON object: an event. An array, a string or a number is valid
JSON, but no event, and readers drop it.

**Fix.** None is offered: only the writer knows what was meant.
"""

from collections.abc import Iterable

from drive_trace.linter.rule import Example, Finding, LineDiagnostic, Rule, Severity
from drive_trace.text.wording import shown
from drive_trace.trace.places import Part, Place


def _check(subject: LineDiagnostic) -> Iterable[Finding]:
    found = shown(subject.diagnostic.found)
    message = f"expected an object {{…}} with the fields of one event; found {found}"
    yield subject.finding(RULE, message, Place(Part.WHOLE))


RULE = Rule(
    code="not-an-object",
    severity=Severity.ERROR,
    looks_at=LineDiagnostic,
    check=_check,
    summary="The line is valid JSON, but not an object.",
)

EXAMPLES = (
    Example(
        """
        ["correctness-recorded"]
        ^^^^^^^^^^^^^^^^^^^^^^^^ … found an array
        """
    ),
    Example(
        """
        "merged"
        ^^^^^^^^ … found "merged"
        """
    ),
    # A blank line is nothing at all.
    Example(
        """
        EVENT{"event_type":"slice-completed"}

        EVENT{"event_type":"project-closed"}
        """
    ),
)
