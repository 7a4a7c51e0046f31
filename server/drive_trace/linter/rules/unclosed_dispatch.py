"""A dispatch has no end, though its run went on.

A dispatch that started should end, also when it failed or was given up (`result` says so). One
without an end has no duration, and seems to be still going on. What shows that it is over is a
`slice-completed`, a `project-closed` or a verdict of the run after all events of the dispatch; and
a later `dispatch-start`, if its last round was satisfied: before that, dispatches may go on side by
side.

The rule is silent while a rejected or unknown line below names the dispatch: the end may be there.

**Fix.** None: when and how it ended is not in the trace. In an editor, a quick fix adds the end
with the outcome that somebody picks.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
… this dispatch never ends, though                ^^^^
EVENT{"event_type":"round-start","dispatch_id":"D1"}
EVENT{"event_type":"slice-completed"}
--- It may be going on, whatever happens beside it.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"round-start","dispatch_id":"D1"}
EVENT{"event_type":"spec-amended"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2","project_run_id":"search-index"}
--- The dispatches of this run may go on side by side.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D3"}
--- Nothing was graded here.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"correctness-recorded","mechanical":null,"qa":null,"intent":null}
--- One of these was done before another one began.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
… this dispatch never ends, though                ^^^^
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D3"}
EVENT{"event_type":"round-end","dispatch_id":"D1","verdict":"satisfied"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D2"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D4"}
--- The run was graded.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
… this dispatch never ends, though                ^^^^
EVENT{"event_type":"correctness-recorded"}
--- An end that readers reject is a defect of its own.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"D1","result":"done"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2"}
"""

from drive_trace.linter.courses import unclosed
from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.vocabulary import DISPATCH


def _check(run: Run) -> Findings:
    return unclosed(RULE, run, DISPATCH, "run")


RULE = Rule(Severity.HINT, _check, sums="", sums_among=("dispatch-start",))
