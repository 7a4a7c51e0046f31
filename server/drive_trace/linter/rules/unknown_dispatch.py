"""An event belongs to a dispatch that was never started.

Every event of a dispatch names it by the `dispatch_id` of its `dispatch-start`. An id that no
`dispatch-start` of the run has is most often a slip, or the start was never recorded: what belongs
to the dispatch is counted apart from it, and its duration is unknown.

Ids are compared exactly, and count within their run. The rule is silent while a rejected or unknown
line of the run names the dispatch: the start may be there. Of one dispatch, at most 16 lines of
each event are marked; what stands after its end is `event-after-end`.

**Fix.** The nearest id of the dispatches that were started last, as a suggestion; and this id for
the last start above with which nothing goes on.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"77ce3f13-a067-4f13-a4e0-93dbae3137ae"}
EVENT{"event_type":"dispatch-end","dispatch_id":"77ce3f13-a067-4f13-a4e0-93dbae3137ea"}
… no `dispatch-start` of this run starts        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
=>
EVENT{"event_type":"dispatch-start","dispatch_id":"77ce3f13-a067-4f13-a4e0-93dbae3137ae"}
EVENT{"event_type":"dispatch-end","dispatch_id":"77ce3f13-a067-4f13-a4e0-93dbae3137ae"}
--- Another run's dispatches are its own.
EVENT{"event_type":"dispatch-start","project_run_id":"search-index"}
EVENT{"event_type":"dispatch-end","project_run_id":"cart","dispatch_id":"D1"}
                                                                        ^^^^
--- A start that readers reject is a defect of its own.
EVENT{"event_type":"dispatch-start","dispatch_name":7}
EVENT{"event_type":"dispatch-end"}
"""

from functools import partial
from itertools import chain

from drive_trace.linter.courses import courses, unstarted
from drive_trace.linter.edits import replace_id
from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.vocabulary import DISPATCH


def _check(run: Run) -> Findings:
    return chain.from_iterable(unstarted(RULE, each) for each in courses(run, DISPATCH))


RULE = Rule(
    Severity.WARNING,
    _check,
    fixes=partial(replace_id, of=DISPATCH),
    sums="events name this dispatch",
    sums_by="value",
)
