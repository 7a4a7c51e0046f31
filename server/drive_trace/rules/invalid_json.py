"""A line of a trace holds one JSON object and nothing else. Readers drop a line that is not
valid JSON, so the event that it was meant to record is lost to every figure and to the
verdict.

The message says what broke and where: a trailing comma, single quotes, a comment, two objects
on a line, an object spread over lines, `NaN`, a line that ends too early.

**Fix.** Where the repair is certain (a trailing comma, quotes, a comment, a missing line
break) it is offered and safe; where it would have to guess at a value it is a suggestion.
"""

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


def _check(subject: Remarked) -> Iterable[Finding]:
    problem = subject.remark.problem
    assert problem is not None
    yield Finding(RULE, subject.line, problem.span, (problem.message,), remark=subject.remark)


def _fixes(finding: Finding) -> Iterable[Fix]:
    assert finding.remark is not None
    assert finding.remark.problem is not None
    for repair in finding.remark.problem.repairs:
        edits = tuple(Edit(finding.line, span, text) for span, text in repair.edits)
        yield Fix(repair.title, repair.safe, edits)


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
        'EVENT{"event_type":"correctness-recorded","qa":"fail",}',
        'EVENT{"event_type":"correctness-recorded","qa":"fail"}',
    ),
)
