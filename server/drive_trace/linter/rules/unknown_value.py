"""A value is none of the words that its field takes.

A field takes one of a few words, and this is another one. Readers reject the event. On
`correctness-recorded` that means a verdict that nobody counts: `"qa":"passed"` records nothing.

**Fix.** The word that was most likely meant is suggested: a known slip (`passed` → `pass`,
`another-round` → `another-round-needed`, `re-scoped` → `amended`, `none` → `null`) or the
nearest one. Of an outcome, such as a verdict or a result, it is a known slip, or differs in case,
separators, or a letter or two of a long word; and it is made one at a time. No word is taken for
what it negates (`unmerged`). Where nothing is near (`pr-opened`), the allowed words are listed.
What the disposition of a brief is, the hashes of its dispatch's briefs say.

Examples:
EVENT{"event_type":"correctness-recorded","qa":"passed"}
                                               ^^^^^^^^ … did you mean "pass"?
=> Replace with "pass"
EVENT{"event_type":"correctness-recorded","qa":"pass"}
---
EVENT{"event_type":"round-end","verdict":"another-round"}
… did you mean "another-round-needed"?   ^^^^^^^^^^^^^^^
=>
EVENT{"event_type":"round-end","verdict":"another-round-needed"}
---
EVENT{"event_type":"brief-issued","brief_disposition":"re-scoped"}
                                                      ^^^^^^^^^^^ … did you mean "amended"?
=>
EVENT{"event_type":"brief-issued","brief_disposition":"amended"}
--- It has the hash of the first brief.
EVENT{"event_type":"brief-issued"}
EVENT{"event_type":"brief-issued","brief_disposition":"another-round"}
… must be "initial", "reissue" or "amended"           ^^^^^^^^^^^^^^^
=> Replace with "reissue", as the hashes say
EVENT{"event_type":"brief-issued"}
EVENT{"event_type":"brief-issued","brief_disposition":"reissue"}
---
EVENT{"event_type":"correctness-recorded","intent":"n/a"}
                                                   ^^^^^ … did you mean null?
=>
EVENT{"event_type":"correctness-recorded","intent":null}
---
EVENT{"event_type":"retro-landed","landing_surfaces":["adr","ADRs"]}
                                                            ^^^^^^ … did you mean "adr"?
=>
EVENT{"event_type":"retro-landed","landing_surfaces":["adr","adr"]}
--- What a word negates is not what was meant.
EVENT{"event_type":"slice-completed","result":"unmerged"}
                                              ^^^^^^^^^^ … found "unmerged"
--- Nothing is near: the words are listed, and none is put forward.
EVENT{"event_type":"slice-completed","result":"pr-opened"}
                                              ^^^^^^^^^^^ … must be "merged" or "abandoned"
--- Words are compared by what they say, not by how they are written.
EVENT{"event_type":"correctness-recorded","qa":"pass"}
"""

from drive_trace.linter.edits import Fixes, Level, as_json, disposition, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, WholeTrace
from drive_trace.trace.line import Diagnostic
from drive_trace.vocabulary.slips import value_meant


def _check(subject: LineDiagnostic) -> Findings:
    diagnostic = subject.diagnostic
    guess = _guess(diagnostic)
    yield subject.wrong_value(RULE, f" — did you mean {guess}?" if guess else "")


def _fixes(finding: Finding) -> Fixes:
    diagnostic = finding.cause
    guess = _guess(diagnostic)
    if guess is not None:
        is_outcome = diagnostic.field is not None and diagnostic.field.is_outcome
        level = Level.BY_HAND if is_outcome else Level.IN_BULK
        yield replacing(finding, guess, level)


def _determined(finding: Finding, trace: WholeTrace) -> Fixes:
    found = finding.cause
    if found.path == ("brief_disposition",):
        expected = disposition(trace.index, finding.line)
        if expected is not None and as_json(expected) != _guess(found):
            title = f'Replace with "{expected}", as the hashes say'
            yield replacing(finding, as_json(expected), Level.IN_BULK, title)


def _guess(diagnostic: Diagnostic) -> str | None:
    """The value that was most likely meant, as JSON text."""
    found = (
        value_meant(diagnostic.field, diagnostic.found) if diagnostic.field is not None else None
    )
    return found if found is None or found == "null" else as_json(found)


RULE = Rule(Severity.ERROR, _check, fixes=_fixes, fixes_around=_determined)
