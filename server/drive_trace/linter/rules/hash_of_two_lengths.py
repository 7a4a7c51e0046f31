"""Briefs with one hash differ in length.

A sha256 is of one text, and a text has one length. Where two briefs of a run have the same
`brief_content_hash` and another `brief_byte_length`, one of the two was copied from another event,
or made up.

**Fix.** None is offered: which of the two is wrong, only the writer knows.

Examples:
EVENT{"event_type":"brief-issued","round_id":"R1","brief_byte_length":1800}
EVENT{"event_type":"brief-issued","round_id":"R2","brief_byte_length":2400}
… the brief on line 1 has the same hash, and 1800 bytes               ^^^^
---
EVENT{"event_type":"brief-issued","round_id":"R1","brief_byte_length":1800}
EVENT{"event_type":"brief-issued","round_id":"R2","brief_byte_length":1800}
"""

from drive_trace.linter.rule import Findings, Rule, Run, Severity, shown
from drive_trace.vocabulary import Form

_LENGTH = "brief_byte_length"


def _check(run: Run) -> Findings:
    for digest, (first, *others) in run.table("brief-issued", "brief_content_hash").items():
        for line in others if others and digest in Form.HASH else ():
            if (length := first.fact(_LENGTH)) != line.fact(_LENGTH):
                has = f" has the same hash, and {shown(length)} bytes: a text has one length"
                there = (first, _LENGTH, "here")
                yield RULE.finding(line, _LENGTH, ("the brief on line ", first, has), there)


RULE = Rule(Severity.INFORMATION, _check, sums="briefs have the hash of one of another length")
