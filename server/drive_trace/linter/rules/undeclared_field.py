"""The event has a field that the vocabulary does not declare for it. Readers ignore it: what it
says is lost on them, and where it is a slip in the name of a real field, that field is missing.

**Fix.** Renaming it to the nearest field that the event does not have yet, or deleting it, one at a
time: somebody wrote it. A name that differs in case or separators alone is renamed in bulk, too.
"""

from collections.abc import Iterable

from drive_trace.linter.edits import as_json, delete_member, replacing, values_of
from drive_trace.linter.rule import Example, Finding, Fix, Level, LineDiagnostic, Rule, Severity
from drive_trace.text.escaping import printable
from drive_trace.trace.line import Line, Path, event_of, name_of
from drive_trace.trace.places import Part, Place
from drive_trace.vocabulary import FieldType, ObjectShape
from drive_trace.vocabulary.slips import field_meant, is_same_word

_MOST_SLIPS = 500
"""A line with more diagnostics was not written by hand: none of its keys is a slip."""


def _check(subject: LineDiagnostic) -> Iterable[Finding]:
    diagnostic = subject.diagnostic
    name = printable(str(diagnostic.path[-1]))
    guess = _guess(subject.line, diagnostic.path)
    hint = f" — did you mean `{guess.name}`?" if guess else ""
    message = f"`{name}` is not declared for `{name_of(subject.line)}`: readers ignore it{hint}"
    yield subject.finding(RULE, message, Place(Part.KEY, diagnostic.path))


def _fixes(finding: Finding) -> Iterable[Fix]:
    path = finding.noted.path
    guess = _guess(finding.line, path)
    if guess is not None:
        is_sure = is_same_word(str(path[-1]), guess.name) and not guess.is_outcome
        level = Level.IN_BULK if is_sure else Level.BY_HAND
        yield replacing(finding, as_json(guess.name), level, f"Rename to `{guess.name}`")
    deletion = delete_member(finding.line, path)
    if deletion is not None:
        name = printable(str(path[-1]))
        yield Fix(f"Delete `{name}`", Level.BY_HAND, (deletion,))


def _guess(line: Line, path: Path) -> FieldType | None:
    if len(line.diagnostics) > _MOST_SLIPS:
        return None
    event = event_of(line)
    fields = event.fields if event is not None else {}
    for step in path[:-1]:
        shape = fields[str(step)].shape
        fields = shape.fields if isinstance(shape, ObjectShape) else {}
    present = values_of(line, path[:-1])
    missing = [field for name, field in fields.items() if name not in present]
    return field_meant(str(path[-1]), missing)


RULE = Rule(
    code="undeclared-field",
    severity=Severity.WARNING,
    entity=LineDiagnostic,
    check=_check,
    fixes=_fixes,
    summary="The event has a field that the vocabulary does not declare.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"brief-issued","brief_path":"briefs/d1.md"}
                                          ^^^^^^^^^^^^ … not declared for `brief-issued`
        """,
        """
        EVENT{"event_type":"brief-issued"}
        """,
        fix="Delete `brief_path`",
    ),
    Example(
        """
        EVENT{"event_type":"slice-started","linear_ref":<absent>,"linearRef":"SHOP-214"}
        … did you mean `linear_ref`?                             ^^^^^^^^^^^
        """,
        """
        EVENT{"event_type":"slice-started","linear_ref":"SHOP-214"}
        """,
        fix="Rename to `linear_ref`",
    ),
    Example(
        """
        EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":0,"L":0,"XL":0,"XS":1}}
                                                                                                  ^^^^
        """,
        """
        EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":0,"L":0,"XL":0}}
        """,
    ),
    # Of an event outside the vocabulary nothing is declared.
    Example(
        """
        EVENT{"event_type":"tool-called","tool":"grep"}
        """
    ),
)
