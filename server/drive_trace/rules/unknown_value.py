"""A field takes one of a few words, and this is none of them. Readers reject the event. On
`correctness-recorded` that means a verdict that nobody counts: `"qa":"passed"` records nothing.

**Fix.** The word that was most likely meant is suggested: a known slip (`passed` → `pass`,
`another-round` → `another-round-needed`, `re-scoped` → `amended`) or the nearest one. Where
nothing is near (`pr-opened` for a slice's result), the allowed words are listed.
"""

from collections.abc import Iterable, Mapping

from drive_trace.rules.base import Finding, Fix, Remarked, Rule, Severity, shown
from drive_trace.rules.edits import as_json, nearest, replace_value
from drive_trace.trace.places import Part, Place
from drive_trace.vocabulary import OneOfShape

SLIPS: Mapping[str, tuple[str, ...]] = {
    "pass": ("passed", "passing", "ok", "success", "succeeded", "green", "true", "yes"),
    "fail": ("failed", "failing", "failure", "error", "red", "false", "no"),
    "completed": ("complete", "done", "success", "succeeded", "finished", "ok"),
    "failed": ("fail", "failure", "error"),
    "aborted": ("abort", "cancelled", "canceled", "stopped"),
    "satisfied": ("accepted", "approved", "pass", "passed", "done"),
    "another-round-needed": ("another-round", "another_round_needed", "needs-another-round"),
    "escalating-to-user": ("escalate", "escalated", "escalated-to-user"),
    "stop-condition": ("stop", "stopped"),
    "amended": ("re-scoped", "rescoped", "changed", "revised", "updated"),
    "reissue": ("re-issue", "reissued", "repeat"),
    "merged": ("merge",),
    "abandoned": ("cancelled", "canceled", "dropped"),
    "project-context-readme": ("readme",),
}
"""Words that people write for an allowed one, seen in real traces or in the neighbouring tools."""


def _check(subject: Remarked) -> Iterable[Finding]:
    remark = subject.remark
    assert remark.field is not None
    guess = _guess(finding_choices(remark.field.shape), remark.found)
    hint = f" — did you mean {shown(guess)}?" if guess else ""
    name = next(str(step) for step in reversed(remark.path) if isinstance(step, str))
    words = f"`{name}` must be {remark.field.describe()}; found {shown(remark.found)}{hint}"
    yield Finding(RULE, subject.line, Place(Part.VALUE, remark.path), (words,), remark=remark)


def _fixes(finding: Finding) -> Iterable[Fix]:
    remark = finding.remark
    assert remark is not None
    assert remark.field is not None
    guess = _guess(finding_choices(remark.field.shape), remark.found)
    if guess is not None:
        edit = replace_value(finding.line, remark.path, as_json(guess))
        yield Fix(f"Replace with {shown(guess)}", safe=False, edits=(edit,))


def finding_choices(shape: object) -> tuple[str, ...]:
    """The words that a field takes."""
    return tuple(shape.meanings) if isinstance(shape, OneOfShape) else ()


def _guess(choices: tuple[str, ...], found: object) -> str | None:
    if not isinstance(found, str):
        return None
    word = found.strip().lower().replace("_", "-").replace(" ", "-")
    for choice in choices:
        if word == choice.lower() or word in SLIPS.get(choice, ()):
            return choice
    return nearest(found, choices)


RULE = Rule(
    code="unknown-value",
    severity=Severity.ERROR,
    subject=Remarked,
    check=_check,
    fixes=_fixes,
    summary="A value is none of the words that its field takes.",
)
