"""A field takes one of a few words, and this is none of them. Readers reject the event. On
`correctness-recorded` that means a verdict that nobody counts: `"qa":"passed"` records nothing.

**Fix.** The word that was most likely meant is suggested: a known slip (`passed` → `pass`,
`another-round` → `another-round-needed`, `re-scoped` → `amended`, `none` → `null`) or the
nearest one. Where nothing is near (`pr-opened` for a slice's result), the allowed words are listed.
"""

from collections.abc import Iterable, Mapping

from drive_trace.rules.base import Example, Finding, Fix, Remarked, Rule, Severity, wrong_value
from drive_trace.rules.edits import as_json, nearest, replace_value
from drive_trace.vocabulary import FieldType, ListShape, OneOfShape

SLIPS: Mapping[str, tuple[str, ...]] = {
    "pass": ("passed", "passing", "ok", "success", "succeeded", "green", "true", "yes"),
    "fail": ("failed", "failing", "failure", "error", "red", "false", "no"),
    "completed": ("complete", "done", "success", "succeeded", "finished", "ok"),
    "failed": ("fail", "failure", "error"),
    "aborted": ("abort", "cancelled", "canceled", "stopped"),
    "satisfied": ("accepted", "approved", "pass", "passed", "done"),
    "another-round-needed": ("another-round", "needs-another-round"),
    "escalating-to-user": ("escalate", "escalated", "escalated-to-user"),
    "stop-condition": ("stop", "stopped"),
    "amended": ("re-scoped", "rescoped", "changed", "revised", "updated"),
    "reissue": ("re-issue", "reissued", "repeat"),
    "merged": ("merge",),
    "abandoned": ("cancelled", "canceled", "dropped"),
    "project-context-readme": ("readme",),
}
"""Words that people write for an allowed one, seen in real traces or in the neighbouring tools."""

_NULLS = ("null", "none", "n/a", "")
"""Words that people write for null."""


def _check(subject: Remarked) -> Iterable[Finding]:
    remark = subject.remark
    guess = _guess(remark.field, remark.found) if remark.field is not None else None
    yield wrong_value(RULE, subject, f" — did you mean {guess}?" if guess else "")


def _fixes(finding: Finding) -> Iterable[Fix]:
    remark = finding.remark
    assert remark is not None
    assert remark.field is not None
    guess = _guess(remark.field, remark.found)
    if guess is not None:
        edit = replace_value(finding.line, remark.path, guess)
        yield Fix(f"Replace with {guess}", safe=False, edits=(edit,))


def _guess(field: FieldType, found: object) -> str | None:
    """The value that was most likely meant, as JSON text."""
    shape = field.shape.item if isinstance(field.shape, ListShape) else field.shape
    if not isinstance(found, str) or not isinstance(shape, OneOfShape):
        return None
    word = found.strip().lower().replace("_", "-").replace(" ", "-")
    if field.nullable and word in _NULLS:
        return "null"
    for choice in shape.meanings:
        if word == choice.lower() or word in SLIPS.get(choice, ()):
            return as_json(choice)
    near = nearest(found, shape.meanings)
    return as_json(near) if near is not None else None


RULE = Rule(
    code="unknown-value",
    severity=Severity.ERROR,
    subject=Remarked,
    check=_check,
    fixes=_fixes,
    summary="A value is none of the words that its field takes.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"correctness-recorded","qa":"passed"}
                                                       ^^^^^^^^ … did you mean "pass"?
        """,
        """
        EVENT{"event_type":"correctness-recorded","qa":"pass"}
        """,
        fix='Replace with "pass"',
    ),
    Example(
        """
        EVENT{"event_type":"round-end","verdict":"another-round"}
        … did you mean "another-round-needed"?   ^^^^^^^^^^^^^^^
        """,
        """
        EVENT{"event_type":"round-end","verdict":"another-round-needed"}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"brief-issued","brief_disposition":"re-scoped"}
                                                              ^^^^^^^^^^^ … did you mean "amended"?
        """,
        """
        EVENT{"event_type":"brief-issued","brief_disposition":"amended"}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"correctness-recorded","intent":"n/a"}
                                                           ^^^^^ … did you mean null?
        """,
        """
        EVENT{"event_type":"correctness-recorded","intent":null}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"retro-landed","landing_surfaces":["adr","ADRs"]}
                                                                    ^^^^^^ … did you mean "adr"?
        """,
        """
        EVENT{"event_type":"retro-landed","landing_surfaces":["adr","adr"]}
        """,
    ),
    # Nothing is near: the words are listed, and none is put forward.
    Example(
        """
        EVENT{"event_type":"slice-completed","result":"pr-opened"}
                                                      ^^^^^^^^^^^ … must be "merged" or "abandoned"
        """
    ),
    # Words are compared by what they say, not by how they are written.
    Example(
        r"""
        EVENT{"event_type":"correctness-recorded","qa":"pass"}
        """
    ),
)
