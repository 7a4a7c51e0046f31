"""A line of a trace holds one JSON object and nothing else. Readers drop a line that is not
valid JSON, so the event that it was meant to record is lost to every figure and to the
verdict.

The message says what broke and where: a trailing comma, single quotes, a comment, two objects
on a line, an object spread over lines, `NaN`, a line that ends too early.

**Fix.** Where the repair is certain (a trailing comma, quotes, a comment, a missing line
break) it is offered and safe; where it would have to guess at a value it is a suggestion. So it
is on a line that names one of the two feeds, as its repair can change a verdict.
"""

from collections.abc import Iterable

from drive_trace.rules.base import Example, Finding, Remarked, Rule, Severity
from drive_trace.rules.edits import repairs


def _check(subject: Remarked) -> Iterable[Finding]:
    problem = subject.remark.problem
    assert problem is not None
    yield Finding(RULE, subject.line, problem.span, (problem.message,), remark=subject.remark)


RULE = Rule(
    code="invalid-json",
    severity=Severity.ERROR,
    subject=Remarked,
    check=_check,
    fixes=repairs,
    summary="The line is not valid JSON, so readers drop it.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"slice-completed","result":"merged",}
                                                              ^ … trailing comma
        """,
        """
        EVENT{"event_type":"slice-completed","result":"merged"}
        """,
        fix="Remove the comma",
    ),
    # Here the repair would make a verdict of a line that counted for nothing: a suggestion.
    Example(
        """
        EVENT{"event_type":"correctness-recorded","qa":"fail",}
                                                             ^
        """,
        """
        EVENT{"event_type":"correctness-recorded","qa":"fail"}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"slice-completed","result":'merged'}
                                                      ^^^^^^^^ … single quotes
        """,
        """
        EVENT{"event_type":"slice-completed","result":"merged"}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"dispatch-end","wall_clock_ms":NaN}
                                                          ^^^ … NaN
        """,
        """
        EVENT{"event_type":"dispatch-end","wall_clock_ms":null}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"tokens-recorded","cache_write_tokens":1,900,000}
                                                                  ^^^^^^^^^ … thousands separators
        """,
        """
        EVENT{"event_type":"tokens-recorded","cache_write_tokens":1900000}
        """,
        fix="Write it as a JSON number",
    ),
    # An edit of one line cannot tell where the rest of the object is.
    Example(
        """
        {"event_type":"project-closed",
                                      ^ … unfinished, or spread over several lines
        """
    ),
    # What looks like a mistake inside a string is a part of the string.
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_name":"{'D1',} // NaN"}
        """
    ),
)
