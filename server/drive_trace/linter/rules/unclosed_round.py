"""A round has no end, though its dispatch went on.

A round that started should end, whatever its verdict. One without an end has no verdict and no
duration. The rule ignores the last round of a dispatch: it may be going on. Only a later
`round-start` or the `dispatch-end` of its dispatch shows that the round is over.

The rule is silent while a rejected or unknown line below names the round: the end may be there.

**Fix.** None: what the round decided is not in the trace. In an editor, a quick fix adds the end
with the outcome that somebody picks.

Examples:
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
… this round never ends, though             ^^^^
EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
EVENT{"event_type":"round-end","round_id":"R2"}
--- Another dispatch may have its rounds at the same time.
EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}
EVENT{"event_type":"round-start","dispatch_id":"D2","round_id":"R2"}
--- An end that readers reject is a defect of its own.
EVENT{"event_type":"round-start","round_id":"R1","round_number":1}
EVENT{"event_type":"round-end","round_id":"R1","verdict":"another-round"}
EVENT{"event_type":"round-start","round_id":"R2","round_number":2}
"""

from drive_trace.linter.courses import unclosed
from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.vocabulary import ROUND


def _check(run: Run) -> Findings:
    return unclosed(RULE, run, ROUND, "dispatch")


RULE = Rule(Severity.HINT, _check, sums="", sums_among=("round-start",))
