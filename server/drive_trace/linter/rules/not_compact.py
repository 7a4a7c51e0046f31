r"""White space stands between the tokens of a line.

The lines of a trace are compact JSON, without white space between the tokens. Readers do not
mind white space; but it makes a file that only grows larger than it has to be, and lines that
were written by hand stand out in a diff for no reason.

**Fix.** The white space is removed, which is safe: every key and value stays as it is written.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_name": "D1 {a: b}, again", "model":null}
… 2 characters of white space                       ^
=> Remove the white space
EVENT{"event_type":"dispatch-start","dispatch_name":"D1 {a: b}, again","model":null}
--- Numbers and escapes stay as they are written.
EVENT{"event_type":"dispatch-end","result":"\u0063ompleted","wall_clock_ms": 1.68e6}
                                                                            ^
=>
EVENT{"event_type":"dispatch-end","result":"\u0063ompleted","wall_clock_ms":1.68e6}
--- White space inside a string is part of the value.
EVENT{"event_type":"dispatch-start","dispatch_name":"a, b: c\"}
"""

from drive_trace.json_text import compacted, space_count
from drive_trace.linter.edits import Edit, Fix, Fixes, Level
from drive_trace.linter.rule import Finding, Findings, Line, LineDiagnostic, Rule, Severity, Span
from drive_trace.text.spans import common_start


def _check(subject: LineDiagnostic) -> Findings:
    line = subject.line
    text = _without_line_break(line)
    start, count = common_start(text, compacted(text)), space_count(text)
    space = Span(start, len(text) - len(text[start:].lstrip()))
    message = f"{count:,} character{'s' * (count > 1)} of white space in a line of compact JSON"
    yield subject.finding(RULE, message, space)


def _fixes(finding: Finding) -> Fixes:
    assert isinstance(finding.place, Span)
    start, text = finding.place.start, _without_line_break(finding.line)
    # One edit: a line can have dozens of spaces, and a trace can have them on every line.
    edit = Edit(finding.line, Span(start, len(text)), compacted(text)[start:])
    yield Fix("Remove the white space", Level.SAFE, (edit,))


def _without_line_break(line: Line) -> str:
    return line.text.removesuffix("\r")


RULE = Rule(Severity.HINT, _check, fixes=_fixes, sums="lines are not compact")
