"""`bytes_delta` is how much longer a spec or plan is than before: its `byte_length` minus that of
the event that wrote the file before. Where the two disagree, a change was not recorded, or one of
the three numbers is wrong.

Only events of one run are compared. The rule is silent where a rejected or unknown line of the run
that names the path stands between them.

**Fix.** The difference, as a suggestion: a length may be what is wrong.
"""

from collections.abc import Iterable

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.entities.runs import Amendment
from drive_trace.linter.rule import Example, Finding, Related, Rule, Severity
from drive_trace.text.wording import shown
from drive_trace.trace.line import DiagnosticKind
from drive_trace.trace.places import Place

_DELTA = Place.value("bytes_delta")


def _check(subject: Amendment) -> Iterable[Finding]:
    line, previous, expected = subject
    if any(each.kind is DiagnosticKind.IMPOSSIBLE_BYTES_DELTA for each in line.diagnostics):
        return
    if line.is_copy_of(previous):
        return  # duplicate-event-id says it
    found = shown(line.fact("bytes_delta"))
    yield Finding(
        RULE,
        line,
        _DELTA,
        (
            f"expected {shown(expected)}, the change of `byte_length` since line ",
            previous,
            f"; found {found}",
        ),
        related=(Related(previous, Place.value("byte_length"), "the length before"),),
        expected=expected,
    )


RULE = Rule(
    code="bytes-delta-mismatch",
    severity=Severity.INFORMATION,
    entity=Amendment,
    check=_check,
    fixes=replace_with_expected,
    summary="A change in length is not the difference of the two lengths.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"spec-authored","byte_length":6325}
        EVENT{"event_type":"spec-amended","byte_length":7624,"bytes_delta":1733}
        … expected 1299, the change of `byte_length` since line 1          ^^^^
        """,
        """
        EVENT{"event_type":"spec-authored","byte_length":6325}
        EVENT{"event_type":"spec-amended","byte_length":7624,"bytes_delta":1299}
        """,
    ),
    # Each file has its own length, and each change goes on from the one before.
    Example(
        """
        EVENT{"event_type":"plan-authored","plan_path":"plan.md","byte_length":500}
        EVENT{"event_type":"plan-authored","plan_path":"slices/tax/plan.md","byte_length":300}
        EVENT{"event_type":"plan-amended","plan_path":"plan.md","byte_length":450,"bytes_delta":-50}
        EVENT{"event_type":"plan-amended","plan_path":"plan.md","byte_length":470,"bytes_delta":20}
        """
    ),
)
