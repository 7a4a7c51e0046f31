"""A content hash is not a sha256 in hexadecimal.

A brief's content hash is its sha256 in 64 hexadecimal digits, and nothing else. Readers take any
string; but only real hashes show whether a brief was reissued or amended, and `pending` or `inline`
is the same for every brief.

**Fix.** Where the digits are there with something around them (`sha256:…`), the bare digits are
suggested. Otherwise only the writer can work the hash out.

Examples:
EVENT{"event_type":"brief-issued","brief_content_hash":"sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
                                                       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
=>
EVENT{"event_type":"brief-issued","brief_content_hash":"9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"}
---
EVENT{"event_type":"brief-issued","brief_content_hash":"pending"}
                                                       ^^^^^^^^^ … found "pending"
---
EVENT{"event_type":"brief-issued","brief_content_hash":"9F86D081884C7D659A2FEAA0C55AD015A3BF4F1B2B0B822CD15D6C15B0F00A08"}
"""

from drive_trace.linter.edits import say_in_type
from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.malformed(RULE)


RULE = Rule(
    Severity.INFORMATION,
    _check,
    fixes=say_in_type,
    sums="hashes are none",
    sums_among=("brief-issued",),
)
