"""A dispatch resumes one that was never started.

`parent_dispatch_id` names the dispatch that this one resumes. An id that no `dispatch-start` of
the trace has is most often a slip, and the chain of dispatches breaks there. The parent may belong
to another run of the trace, and may stand below; but a dispatch cannot resume itself.

Of the dispatches that name one parent, at most 16 are marked. The rule is silent while a rejected
or unknown line of the run names the parent: its start may be there.

**Fix.** The nearest id of the dispatches that were started last, as a suggestion.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"D1-parser"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1-praser"}
… no `dispatch-start` of the trace starts                                   ^^^^^^^^^^^
=>
EVENT{"event_type":"dispatch-start","dispatch_id":"D1-parser"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1-parser"}
---
EVENT{"event_type":"dispatch-start","dispatch_id":"D1","parent_dispatch_id":"D1"}
… a dispatch cannot resume itself                                           ^^^^
--- A start that has the id of its parent: `event-after-end` says so.
EVENT{"event_type":"dispatch-end","dispatch_id":"D1"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D1","parent_dispatch_id":"D1"}
--- Another run's dispatch may have the same id.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1","project_run_id":"direct-2026-05-28"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D1","parent_dispatch_id":"D1"}
--- A run may go on with what another one began.
EVENT{"event_type":"dispatch-start","dispatch_id":"D1","project_run_id":"direct-2026-05-28"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1"}
"""

from functools import partial

from drive_trace.linter.courses import MOST
from drive_trace.linter.edits import replace_id
from drive_trace.linter.rule import Findings, Rule, SameDispatch, Severity, shown
from drive_trace.vocabulary import DISPATCH, NULL_TEXTS


def _check(same: SameDispatch) -> Findings:
    if same.value in NULL_TEXTS:  # of these, null-as-text speaks
        return
    for line in same.lines[:MOST]:
        run = same.trace.runs[line.run]
        is_itself = line.fact(DISPATCH.field) == same.value
        if not is_itself and run.of(DISPATCH.opener, DISPATCH.field, same.value):
            continue  # as nearly always
        if is_itself and run.of(DISPATCH.closer, DISPATCH.field, same.value).before(line):
            continue  # it has the id of its parent: event-after-end says so
        starts = same.trace.having(DISPATCH.opener, DISPATCH.field, same.value)
        # A run may resume what another run began, under the same id.
        own = sum(each.run == line.run for each in starts) if is_itself else 0
        if own == len(starts) and not run.in_doubt(DISPATCH.field, same.value):
            message = f"no `dispatch-start` of the trace starts the dispatch {shown(same.value)}"
            if is_itself:
                own_id = "`parent_dispatch_id` is its own `dispatch_id`"
                message = f"a dispatch cannot resume itself: {own_id}"
            yield RULE.finding(line, "parent_dispatch_id", message, run=run)


RULE = Rule(Severity.WARNING, _check, fixes=partial(replace_id, of=DISPATCH))
