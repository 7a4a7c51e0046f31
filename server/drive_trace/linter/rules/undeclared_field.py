"""The event has a field that the vocabulary does not declare.

The event has a field that the vocabulary does not declare for it. Readers ignore it: what it
says is lost on them. Where it is a slip in the name of a required field, that field is missing, and
`missing-field` speaks instead.

**Fix.** Deleting it, one at a time: somebody wrote it. Of a line that readers reject it is
not deleted, as it may be what the line lacks. Where it is a slip in the name of an optional field,
renaming it; in bulk, if it differs in case or separators alone.

Examples:
EVENT{"event_type":"brief-issued","brief_path":"briefs/d1.md"}
                                  ^^^^^^^^^^^^ … not declared for `brief-issued`
=> Delete `brief_path`
EVENT{"event_type":"brief-issued"}
---
EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":0,"L":0,"XL":0,"XS":1}}
                                                                                          ^^^^
=>
EVENT{"event_type":"plan-authored","dispatch_size_distribution":{"S":1,"M":0,"L":0,"XL":0}}
--- Of an event outside the vocabulary nothing is declared.
EVENT{"event_type":"tool-called","tool":"grep"}
"""

from drive_trace.linter.edits import Fix, Fixes, Level, as_json, delete_member, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Part, Place, Rule, Severity
from drive_trace.text.wording import printable
from drive_trace.trace.line import name_of
from drive_trace.vocabulary.slips import is_same_word


def _check(subject: LineDiagnostic) -> Findings:
    diagnostic = subject.diagnostic
    name = printable(str(diagnostic.path[-1]))
    guess = diagnostic.field
    hint = f" — did you mean `{guess.name}`?" if guess else ""
    message = f"`{name}` is not declared for `{name_of(subject.line)}`: readers ignore it{hint}"
    yield subject.finding(RULE, message, Place(Part.KEY, diagnostic.path))


def _fixes(finding: Finding) -> Fixes:
    path = finding.cause.path
    guess = finding.cause.field
    if guess is not None:
        is_sure = is_same_word(str(path[-1]), guess.name) and not guess.is_outcome
        level = Level.IN_BULK if is_sure else Level.BY_HAND
        yield replacing(finding, as_json(guess.name), level, f"Rename to `{guess.name}`")
    deletion = delete_member(finding.line, path)
    if deletion is not None and not finding.line.is_rejected:
        name = printable(str(path[-1]))
        yield Fix(f"Delete `{name}`", Level.BY_HAND, (deletion,))


RULE = Rule(Severity.WARNING, _check, fixes=_fixes, sums="")
