"""A line of a trace holds one event, and this one holds nothing. Readers skip it, but a program
that counts lines is off by one.

The end of the file is no blank line: a newline ends the last event.

**Fix.** The line is removed, which is safe.
"""

from collections.abc import Iterable

from drive_trace.linter.rule import (
    Edit,
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


RULE = Rule(Severity.HINT, "A line is blank.", _check, fixes=_fixes)

EXAMPLES = """
EVENT{"event_type":"project-closed"}

| … there is no event on it
=> Remove the line
EVENT{"event_type":"project-closed"}
--- The newline that ends the last event starts no line.
EVENT{"event_type":"project-closed"}
"""
