"""A dispatch is completed, and its last round was not satisfied.

A dispatch whose last round ended with `another-round-needed`, `escalating-to-user` or
`stop-condition` has not done what its brief asks. Where its `dispatch-end` says `completed` all the
same, either a round is missing, or the dispatch was given up (`failed`, `aborted`), and looks
better than it was. A dispatch whose last round has no end is not looked at.

The rule is silent while a rejected or unknown line of the run names the dispatch: the round may be
there.

**Fix.** None is offered: which of the two is wrong, only the writer knows.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R1"}
EVENT{"event_type":"round-end","dispatch_id":"D1","round_id":"R1","verdict":"stop-condition"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1","result":"completed"}
… its last round, on line 3, ended with "stop-condition"      ^^^^^^^^^^^
---
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"round-end","dispatch_id":"D1","round_id":"R1","verdict":"another-round-needed"}
EVENT{"event_type":"round-end","dispatch_id":"D1","round_id":"R2","verdict":"satisfied"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1","result":"completed"}
EVENT{"event_type":"round-end","dispatch_id":"D2","round_id":"R3","verdict":"stop-condition"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D2","result":"failed"}
--- The last round has not ended.
EVENT{"event_type":"round-end","dispatch_id":"D1","round_id":"R1","verdict":"another-round-needed"}
EVENT{"event_type":"round-start","dispatch_id":"D1","round_id":"R2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1","result":"completed"}
"""

from drive_trace.linter.rule import Findings, Rule, Run, Severity, shown
from drive_trace.vocabulary import DISPATCH, ROUND


def _check(run: Run) -> Findings:
    lasts = {line.fact(DISPATCH.field): line for line in run.events(ROUND.closer)}
    for end in run.of(DISPATCH.closer, "result", "completed"):
        named = DISPATCH.field, end.fact(DISPATCH.field)
        last = lasts.get(named[1])
        if last is None or last.fact("verdict") == "satisfied" or run.in_doubt(*named):
            continue
        begun = run.of(ROUND.opener, *named).last
        if last.order < end.order and (begun is None or begun.order < last.order):
            ended = f", ended with {shown(last.fact('verdict'))}"
            message = ("this dispatch is `completed`, but its last round, on line ", last, ended)
            yield RULE.finding(end, "result", message, (last, "verdict", "its last round"))


RULE = Rule(Severity.WARNING, _check, sums="")
