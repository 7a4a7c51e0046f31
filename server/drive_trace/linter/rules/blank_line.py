"""A line is blank.

A line of a trace holds one event, and this one holds nothing. Readers skip it, but a program
that counts lines is off by one.

The end of the file is no blank line: a newline ends the last event.

**Fix.** The line is removed, which is safe.

Examples:
EVENT{"event_type":"project-closed"}

| … there is no event on it
=> Remove the line
EVENT{"event_type":"project-closed"}
--- The newline that ends the last event starts no line.
EVENT{"event_type":"project-closed"}
"""

from drive_trace.linter.edits import Fixes, Level, remove_line
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, Span


def _check(subject: LineDiagnostic) -> Findings:
    span = Span(0, len(subject.line.text.removesuffix("\r")))
    yield subject.finding(RULE, "blank line: there is no event on it", span)


def _fixes(finding: Finding) -> Fixes:
    yield remove_line(finding, Level.SAFE)


RULE = Rule(Severity.HINT, _check, fixes=_fixes, sums="")
