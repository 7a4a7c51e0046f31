"""A line of a trace holds one event, and this one holds nothing. Readers skip it, but a program
that counts lines is off by one.

The end of the file is no blank line: a newline ends the last event.

**Fix.** The line is removed, which is safe.
"""

from collections.abc import Iterable

from drive_trace.linter.rule import (
    Edit,
    Example,
    Finding,
    Fix,
    Level,
    LineDiagnostic,
    Rule,
    Severity,
)
from drive_trace.text.spans import Span


def _check(subject: LineDiagnostic) -> Iterable[Finding]:
    line = subject.line
    span = Span(0, len(line.text.removesuffix("\r")))
    yield subject.finding(RULE, "blank line: there is no event on it", span)


def _fixes(finding: Finding) -> Iterable[Fix]:
    whole = Span(0, len(finding.line.text) + 1)  # with the newline that ends it
    yield Fix("Remove the line", Level.SAFE, (Edit(finding.line, whole, ""),))


RULE = Rule(
    code="blank-line",
    severity=Severity.HINT,
    looks_at=LineDiagnostic,
    check=_check,
    fixes=_fixes,
    summary="A line is blank.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"project-closed"}

        | … there is no event on it
        """,
        """
        EVENT{"event_type":"project-closed"}
        """,
        fix="Remove the line",
    ),
    # The newline that ends the last event starts no line.
    Example(
        """
        EVENT{"event_type":"project-closed"}
        """
    ),
)
