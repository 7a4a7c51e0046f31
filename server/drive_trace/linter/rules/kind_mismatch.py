"""A field does not go with the kind of the spec or plan.

Some fields of a spec or plan have a value for one kind of it, and are null for the other: a
slice's spec counts its edge cases; a slice's plan has dispatches, their sizes, and how many were
added, removed or resized; a project's plan has slices. A value of the other kind, or null where
there should be one, says that the kind or the field is wrong. All such fields of an event are one
finding, on the first of them.

**Fix.** Values that should not be there are suggested to be null. Where every such field fits the
other kind, the other kind is suggested.

Examples:
EVENT{"event_type":"spec-authored","spec_kind":"project","edge_cases_count":4}
… must be null for a project spec; found 4                                  ^
=> Replace with null
EVENT{"event_type":"spec-authored","spec_kind":"project","edge_cases_count":null}
---
EVENT{"event_type":"spec-authored","spec_kind":"project","edge_cases_count":4}
                                                                            ^
=> Change `spec_kind` to "slice"
EVENT{"event_type":"spec-authored","spec_kind":"slice","edge_cases_count":4}
--- How many it was, only the writer knows.
EVENT{"event_type":"plan-amended","dispatches_added":null}
… must have a value for a slice plan                 ^^^^
--- One mistake, in two fields.
EVENT{"plan_kind":"project","dispatch_count":3,"slice_count":2,"event_type":"plan-authored"}
… null for a project plan; found 3           ^
=>
EVENT{"plan_kind":"project","dispatch_count":null,"slice_count":2,"event_type":"plan-authored","dispatch_size_distribution":null}
---
EVENT{"event_type":"plan-authored","slice_count":2}
… must be null for a slice plan; found 2         ^
=>
EVENT{"event_type":"plan-authored","slice_count":null}
---
EVENT{"event_type":"spec-authored","spec_kind":"project","edge_cases_count":null}
EVENT{"event_type":"spec-authored","spec_kind":"slice","edge_cases_count":0}
"""

from collections.abc import Mapping
from typing import Any

from drive_trace.linter.edits import Fix, Fixes, Level, as_json, object_on, replace_value, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, shown
from drive_trace.text.wording import fields_listed, listed
from drive_trace.vocabulary import KINDS


def _check(subject: LineDiagnostic) -> Findings:
    line, diagnostic = subject
    kind_field, values = _kind_field(diagnostic.names[0]), object_on(line)
    of_kind = f"for a {values[kind_field]} {kind_field.removesuffix('_kind')}"
    given = [name for name in diagnostic.names if values[name] is not None]
    null = [name for name in diagnostic.names if values[name] is None]
    said = []
    if given:
        found = listed(shown(values[name]) for name in given)
        said.append(f"{fields_listed(given)} must be null {of_kind}; found {found}")
    if null:
        said.append(f"{fields_listed(null)} must have a value {of_kind}; found null")
    others = [(name, "and so is this") for name in diagnostic.names[1:]]
    related = (kind_field, "the kind is given here")
    yield subject.finding(RULE, "; ".join(said), None, related, *others)


def _fixes(finding: Finding) -> Fixes:
    line, names = finding.line, finding.cause.names
    kind_field, values = _kind_field(names[0]), object_on(finding.line)
    if _fits_the_other(kind_field, values):
        other = as_json("project" if values[kind_field] == "slice" else "slice")
        yield replacing(finding, other, Level.BY_HAND, field=kind_field)
    given = [name for name in names if values[name] is not None]
    if given:
        which = f" {fields_listed(given)}" * (len(given) > 1)
        edits = tuple(replace_value(line, (name,), "null") for name in given)
        yield Fix(f"Replace{which} with null", Level.BY_HAND, edits)


def _kind_field(name: str) -> str:
    return next(kind_field for kind_field, kinds in KINDS.items() if name in kinds)


def _fits_the_other(kind_field: str, values: Mapping[str, Any]) -> bool:
    return all(
        (values[kind_field] == kind) is (values[name] is None)
        for name, kind in KINDS[kind_field].items()
        if name in values
    )


RULE = Rule(Severity.WARNING, _check, fixes=_fixes, sums="events have fields of the other kind")
