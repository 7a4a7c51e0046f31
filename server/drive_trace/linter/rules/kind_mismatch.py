"""Some fields of a spec or plan have a value for one kind of it, and are null for the other: a
slice's spec counts its edge cases; a slice's plan has dispatches, their sizes, and how many were
added, removed or resized; a project's plan has slices. A value of the other kind, or null where
there should be one, says that the kind or the field is wrong.

**Fix.** A value that should not be there is suggested to be null. Where every such field fits the
other kind, the other kind is suggested.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from drive_trace.linter.edits import as_json, replacing, values_of
from drive_trace.linter.rule import Example, Finding, Fix, Level, LineDiagnostic, Rule, Severity
from drive_trace.text.wording import shown
from drive_trace.trace.places import Place
from drive_trace.vocabulary import KINDS


def _check(subject: LineDiagnostic) -> Iterable[Finding]:
    line, diagnostic = subject
    assert diagnostic.field is not None
    name = diagnostic.field.name
    kind_field = _kind_field(name)
    kind = values_of(line)[kind_field]
    of_kind = f"for a {kind} {kind_field.removesuffix('_kind')}"
    if diagnostic.found is None:
        message = f"`{name}` must be {diagnostic.field.shape.describe()} {of_kind}; found null"
    else:
        message = f"`{name}` must be null {of_kind}; found {shown(diagnostic.found)}"
    related = (Place.value(kind_field), "the kind is given here")
    yield subject.finding(RULE, message, None, related)


def _fixes(finding: Finding) -> Iterable[Fix]:
    kind_field = _kind_field(str(finding.noted.path[-1]))
    values = values_of(finding.line)
    if _fits_the_other(kind_field, values):
        other = as_json("project" if values[kind_field] == "slice" else "slice")
        title, place = f"Change `{kind_field}` to {other}", Place.value(kind_field)
        yield replacing(finding, other, Level.BY_HAND, title, place)
    if finding.noted.found is not None:
        yield replacing(finding, "null", Level.BY_HAND)


def _kind_field(name: str) -> str:
    return next(kind_field for kind_field, kinds in KINDS.items() if name in kinds)


def _fits_the_other(kind_field: str, values: Mapping[str, Any]) -> bool:
    return all(
        (values[kind_field] == kind) is (values[name] is None)
        for name, kind in KINDS[kind_field].items()
        if name in values
    )


RULE = Rule(
    code="kind-mismatch",
    severity=Severity.WARNING,
    entity=LineDiagnostic,
    check=_check,
    fixes=_fixes,
    summary="A field does not go with the kind of the spec or plan.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"spec-authored","spec_kind":"project","edge_cases_count":4}
        … must be null for a project spec; found 4                                  ^
        """,
        """
        EVENT{"event_type":"spec-authored","spec_kind":"project","edge_cases_count":null}
        """,
        fix="Replace with null",
    ),
    Example(
        """
        EVENT{"event_type":"spec-authored","spec_kind":"project","edge_cases_count":4}
                                                                                    ^
        """,
        """
        EVENT{"event_type":"spec-authored","spec_kind":"slice","edge_cases_count":4}
        """,
        fix='Change `spec_kind` to "slice"',
    ),
    # How many it was, only the writer knows.
    Example(
        """
        EVENT{"event_type":"plan-amended","dispatches_added":null}
                                                             ^^^^ … must be an integer of at least 0
        """
    ),
    Example(
        """
        EVENT{"event_type":"plan-authored","slice_count":2}
        … must be null for a slice plan; found 2         ^
        """,
        """
        EVENT{"event_type":"plan-authored","slice_count":null}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"spec-authored","spec_kind":"project","edge_cases_count":null}
        EVENT{"event_type":"spec-authored","spec_kind":"slice","edge_cases_count":0}
        """
    ),
)
