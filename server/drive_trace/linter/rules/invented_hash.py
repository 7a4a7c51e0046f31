"""A content hash is a pattern that somebody typed.

A sha256 looks like random digits. This one is a pattern: few different digits, the same part
over and over, or letters and digits in turns. It was typed, not computed, so that it says nothing
of what the brief was, and `reissue` or `amended` cannot be told from it.

No computed hash is marked by accident: less than one in a million billion looks like that.

**Fix.** None is offered: only who has the brief can compute its hash.

Examples:
EVENT{"event_type":"brief-issued","brief_content_hash":"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"}
                                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"brief-issued","brief_content_hash":"a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f8a9b0c1d2e3f4a5b6c7d8e9f0a1b2"}
                                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
--- A text that is no hash at all is what malformed-hash is about.
EVENT{"event_type":"brief-issued","brief_content_hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
EVENT{"event_type":"brief-issued","brief_content_hash":"aaaa"}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.finding(RULE, "no sha256 looks like this: the hash was made up, not computed")


RULE = Rule(Severity.INFORMATION, _check, sums="")
