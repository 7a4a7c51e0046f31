"""The fields of an event are required, but for those that may be left out; a value that is not
known is `null` where the field allows it, and the key still stands. Readers reject an event with
a required field missing.

A payload nested under a key of its own (`payload`, `data`, `body`) is the usual cause: events are
flat, and the payload's fields stand beside the envelope's.

**Fix.** The field is inserted: `null` where that is allowed, else a gap (`null` or `""`) that stays
an error until somebody fills it in. A nested payload is flattened, which is safe but for the two
feeds, and where a key would then stand twice.
"""

from collections.abc import Iterable

from drive_trace.linter.edits import insert_fields, is_gap, names_a_feed, placeholder
from drive_trace.linter.rule import (
    Edit,
    Example,
    Finding,
    Fix,
    Level,
    LineDiagnostic,
    Rule,
    Severity,
)
from drive_trace.text.escaping import printable
from drive_trace.text.spans import Span
from drive_trace.trace.line import DiagnosticKind, Line, event_of
from drive_trace.trace.places import Part, Place, member_at, syntax_of
from drive_trace.vocabulary import FieldType


def _check(subject: LineDiagnostic) -> Iterable[Finding]:
    diagnostic = subject.diagnostic
    if isinstance(diagnostic.found, tuple):
        names = ", ".join(f"`{name}`" for name in diagnostic.found)
        wrapper = printable(str(diagnostic.path[0]))
        message = f"events are flat: {names} must stand beside the envelope, not inside `{wrapper}`"
        yield subject.finding(RULE, message, Place(Part.KEY, diagnostic.path))
        return
    assert diagnostic.field is not None
    message = f"`{diagnostic.path[-1]}` is missing: expected {diagnostic.field.describe()}"
    place = Place(Part.END, diagnostic.path[:-1])
    yield subject.finding(RULE, message, place)


def _fixes(finding: Finding) -> Iterable[Fix]:
    diagnostic = finding.noted
    if isinstance(diagnostic.found, tuple):
        yield from _flatten(finding.line, str(diagnostic.path[0]))
        return
    assert diagnostic.field is not None
    name, path = str(diagnostic.path[-1]), diagnostic.path[:-1]
    edit = insert_fields(finding.line, path, [(name, placeholder(diagnostic.field))])
    if edit is not None:
        level = Level.BY_HAND if is_gap(diagnostic.field) else Level.IN_BULK
        yield Fix(f"Insert `{name}`{_what_stands_there(diagnostic.field)}", level, (edit,))
    missing = [
        each.field
        for each in finding.line.diagnostics
        if each.kind is DiagnosticKind.MISSING_FIELD and each.field and each.path[:-1] == path
    ]
    if len(missing) == 1 or missing[0].name != name:
        return  # the first finding offers it for all of them
    pairs = [(field.name, placeholder(field)) for field in missing]
    edit = insert_fields(finding.line, path, pairs)
    if edit is not None:
        gaps = sum(map(is_gap, missing))
        left = f", {gaps} of them to be filled in" if gaps else " as null"
        all_of = "both" if len(missing) == 2 else f"all {len(missing)}"
        level = Level.BY_HAND if gaps else Level.IN_BULK
        yield Fix(f"Insert {all_of} missing fields{left}", level, (edit,))


def _what_stands_there(field: FieldType) -> str:
    return ", to be filled in" if is_gap(field) else f": {placeholder(field)}"


def _flatten(line: Line, wrapper: str) -> Iterable[Fix]:
    root = syntax_of(line.text).root
    member = member_at(root, (wrapper,))
    if member is None or member.value is None or not member.value.members:
        return
    inner = member.value.members
    last = inner[-1].value
    if last is None:
        return
    repeated = {each.key for each in inner} & {each.key for each in root.members} if root else set()
    is_certain = event_of(line) is not None and not repeated and not names_a_feed(line.text)
    yield Fix(
        f"Flatten `{printable(wrapper)}`",
        Level.SAFE if is_certain else Level.BY_HAND,
        (
            Edit(line, Span(member.key_span.start, inner[0].key_span.start), ""),
            Edit(line, Span(last.span.end, member.value.span.end), ""),
        ),
    )


RULE = Rule(
    code="missing-field",
    severity=Severity.ERROR,
    entity=LineDiagnostic,
    check=_check,
    fixes=_fixes,
    summary="A required field is missing.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"dispatch-start","parent_dispatch_id":<absent>}
        … `parent_dispatch_id` is missing: expected a string, or null    ^
        """,
        """
        EVENT{"event_type":"dispatch-start","parent_dispatch_id":null}
        """,
        fix="Insert `parent_dispatch_id`: null",
    ),
    Example(
        """
        EVENT{"event_type":"correctness-recorded","qa":<absent>,"intent":<absent>}
        … `qa` is missing: expected "pass" or "fail", or null                    ^
        … `intent` is missing                                                    ^
        """,
        """
        EVENT{"event_type":"correctness-recorded","qa":null,"intent":null}
        """,
        fix="Insert both missing fields as null",
    ),
    # A gap stays an error until somebody fills it in.
    Example(
        """
        EVENT{"event_type":"retro-landed","is_mandatory_final":<absent>}
                                                                       ^
        """,
        """
        EVENT{"event_type":"retro-landed","is_mandatory_final":null}
        """,
        fix="Insert `is_mandatory_final`, to be filled in",
    ),
    Example(
        """
        EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":0,"L":2}}
        … `XL` is missing: expected an integer of at least 0                              ^
        """,
        """
        EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":0,"L":2,"XL":null}}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"slice-completed","pr_ref":<absent>,"payload":{"pr_ref":null}}
                                                               ^^^^^^^^^ … events are flat
        """,
        """
        EVENT{"event_type":"slice-completed","pr_ref":null}
        """,
        fix="Flatten `payload`",
    ),
    Example(
        """
        EVENT{"event_type":"round-end","wall_clock_ms":<absent>,"data":{"wall_clock_ms":9,"note":1}}
        … not inside `data`                                     ^^^^^^
        """,
        """
        EVENT{"event_type":"round-end","wall_clock_ms":9,"note":1}
        """,
        fix="Flatten `data`",
    ),
    # Null is a value: the key stands.
    Example(
        """
        EVENT{"event_type":"correctness-recorded","mechanical":null,"qa":null,"intent":null}
        """
    ),
)
