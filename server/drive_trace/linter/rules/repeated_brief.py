"""A round has two briefs.

A round is delegated once, with one brief. A second `brief-issued` of the same round was meant for
the next one, or the brief was issued anew, and the round that it began is missing: the rounds of
the dispatch are fewer than they were.

**Fix.** None is offered: which round the second one began, only the writer knows.

Examples:
EVENT{"event_type":"round-start","round_id":"R1"}
EVENT{"event_type":"brief-issued","round_id":"R1"}
EVENT{"event_type":"brief-issued","round_id":"R1"}
                   ^^^^^^^^^^^^^^ … was issued on line 2 already
---
EVENT{"event_type":"brief-issued","round_id":"R1"}
EVENT{"event_type":"brief-issued","round_id":"R2"}
"""

from drive_trace.linter.courses import repetitions
from drive_trace.linter.rule import Findings, Place, Rule, Run, Severity


def _check(run: Run) -> Findings:
    what = "the brief of this round was issued"
    for found in repetitions(RULE, run, "brief-issued", "round_id", what):
        yield found._replace(place=Place.value("event_type"))


RULE = Rule(Severity.INFORMATION, _check, sums="briefs are second ones of their rounds")
