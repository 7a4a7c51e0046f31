"""A line of a trace holds one JSON object and nothing else. Readers drop a line that is not
valid JSON, so the event that it was meant to record is lost to every figure and to the
verdict.

The message says what broke and where: a trailing comma, single quotes, a comment, two objects
on a line, an object spread over lines, `NaN`, a line that ends too early.

**Fix.** Where the repair is certain (a trailing comma, quotes, a comment, a missing line
break) it is offered and safe; where it would have to guess at a value it is a suggestion. So it
is on a line that names one of the two feeds, as its repair can change a verdict.
"""

import re
from collections.abc import Iterable

from drive_trace.rules.base import (
    Edit,
    Example,
    Finding,
    Fix,
    Remarked,
    Rule,
    Severity,
)
from drive_trace.vocabulary import EVENTS

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


def _check(subject: Remarked) -> Iterable[Finding]:
    problem = subject.remark.problem
    assert problem is not None
    yield Finding(RULE, subject.line, problem.span, (problem.message,), remark=subject.remark)


def _fixes(finding: Finding) -> Iterable[Fix]:
    assert finding.remark is not None
    assert finding.remark.problem is not None
    for repair in finding.remark.problem.repairs:
        edits = tuple(Edit(finding.line, span, text) for span, text in repair.edits)
        yield Fix(repair.title, repair.safe and not _names_a_feed(finding.line.text), edits)


def _names_a_feed(text: str) -> bool:
    """Whether the name of a feed stands anywhere on a line, be it in escapes: of a broken line
    it cannot be told for sure which event it was meant to be.
    """
    plain = _ESCAPE.sub(lambda escape: chr(int(escape[1], 16)), text)
    return any(event.name in plain for event in EVENTS.values() if event.is_feed)


RULE = Rule(
    code="invalid-json",
    severity=Severity.ERROR,
    subject=Remarked,
    check=_check,
    fixes=_fixes,
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
