"""All token counts are 0, as if the run had been free.

All four token counts are 0. No run costs nothing: counts that are not known are null, and a 0
says that they are known. The scorecard would report a run that was free.

**Fix.** null is suggested for all four.

Examples:
EVENT{"event_type":"tokens-recorded","input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":0}
… all four token counts are 0                       ^
=> Replace all four with null
EVENT{"event_type":"tokens-recorded","input_tokens":null,"output_tokens":null,"cache_read_tokens":null,"cache_write_tokens":null}
--- Nothing may have been cached, and null makes no claim.
EVENT{"event_type":"tokens-recorded","cache_read_tokens":0,"cache_write_tokens":0}
EVENT{"event_type":"tokens-recorded","input_tokens":0,"output_tokens":0,"cache_read_tokens":0,"cache_write_tokens":null}
"""

from drive_trace.linter.edits import Fix, Fixes, Level, replace_value
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity
from drive_trace.vocabulary import TOKEN_FIELDS


def _check(subject: LineDiagnostic) -> Findings:
    message = "all four token counts are 0: a count that is not known is null"
    related = ((name, "this is 0, too") for name in TOKEN_FIELDS[1:])
    yield subject.finding(RULE, message, None, *related)


def _fixes(finding: Finding) -> Fixes:
    edits = tuple(replace_value(finding.line, (name,), "null") for name in TOKEN_FIELDS)
    yield Fix("Replace all four with null", Level.BY_HAND, edits)


RULE = Rule(Severity.INFORMATION, _check, fixes=_fixes)
