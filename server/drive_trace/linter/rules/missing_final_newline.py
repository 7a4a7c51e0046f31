"""The last line does not end with a newline.

A trace grows by whole lines. When the last line does not end with a newline, the next event that
is appended lands on the same line, and readers drop both. The rule is silent while the last line is
not JSON: somebody may still be writing it, and `invalid-json` reports it.

**Fix.** A newline is added, which is safe.

Examples:
EVENT{"event_type":"project-closed"}<eof>
                                    |
=>
EVENT{"event_type":"project-closed"}
---
EVENT{"event_type":"project-closed"}
"""

from drive_trace.linter.edits import Edit, Fix, Fixes, Level
from drive_trace.linter.rule import Finding, Findings, Part, Place, Rule, Severity, Span, WholeTrace
from drive_trace.text.spans import is_blank
from drive_trace.trace.line import DiagnosticKind


def _check(trace: WholeTrace) -> Findings:
    last = trace.lines[-1]
    is_broken = any(each.kind is DiagnosticKind.INVALID_JSON for each in last.diagnostics)
    if not is_blank(last.text) and not is_broken:
        message = "the file does not end with a newline: the next event would land on this line"
        yield RULE.finding(last, Place(Part.LINE_END), message)


def _fixes(finding: Finding) -> Fixes:
    end = len(finding.line.text)
    edit = Edit(finding.line, Span(end, end), "\n")
    yield Fix("Add a final newline", Level.SAFE, (edit,))


RULE = Rule(Severity.WARNING, _check, fixes=_fixes)
