"""Bytes of a line are not UTF-8, and readers replace them.

Bytes of the line are not UTF-8, as where an editor has saved the file as Latin-1, or a character
was cut off. Readers take them for U+FFFD, the replacement character: the event counts, but what the
text said is lost on them, and two names that differ in such bytes alone become one.

This is looked for in files on disk: an editor has replaced the bytes before it hands the text over.
A U+FFFD that stands in the file as itself is a character like any other.

**Fix.** None is offered, as the bytes do not say what was meant: save the file as UTF-8, or write
the text again. `drive-trace check --fix` leaves such lines as they are, to the last byte.

Examples:
--- The e with an acute accent, as Latin-1 has it.
EVENT{"event_type":"slice-completed","slice_slug":"caf\\udce9"}
… not UTF-8 (0xe9): readers take U+FFFD               ^
---
EVENT{"event_type":"slice-completed","slice_slug":"café \ufffd"}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity

_MOST_SHOWN = 4


def _check(subject: LineDiagnostic) -> Findings:
    assert subject.diagnostic.broken is not None
    span, data = subject.diagnostic.broken
    are = "bytes are" if len(data) > 1 else "byte is"
    message = f"{are} not UTF-8 ({_shown(data)}): readers take U+FFFD in place of what was meant"
    yield subject.finding(RULE, message, span)


def _shown(data: bytes) -> str:
    more = " …" if len(data) > _MOST_SHOWN else ""
    return " ".join(f"0x{byte:02x}" for byte in data[:_MOST_SHOWN]) + more


RULE = Rule(Severity.WARNING, _check, sums="", sums_by="line")
