"""`parent_dispatch_id` names the dispatch that this one resumes. An id that no `dispatch-start` of
the trace has is most often a slip, and the chain of dispatches breaks there. The parent may belong
to another run of the trace, and may stand below; but a dispatch cannot resume itself.

Of the dispatches that name one parent, at most 16 are marked. The rule is silent while a rejected
or unknown line of the run names the parent: its start may be there.

**Fix.** The nearest id of the dispatches that were started last, as a suggestion.
"""

from collections.abc import Iterable
from functools import partial

from drive_trace.linter.edits import replace_id
from drive_trace.linter.entities.dispatches import Resumption
from drive_trace.linter.rule import Example, Finding, Rule, Severity
from drive_trace.text.wording import shown
from drive_trace.trace.places import Place
from drive_trace.vocabulary import LIFETIMES, Entity

_FIELD = "parent_dispatch_id"


def _check(subject: Resumption) -> Iterable[Finding]:
    line = subject.line
    message = f"no `dispatch-start` of the trace starts the dispatch {shown(line.fact(_FIELD))}"
    if subject.is_itself:
        message = "a dispatch cannot resume itself: `parent_dispatch_id` is its own `dispatch_id`"
    yield Finding(RULE, line, Place.value(_FIELD), message, run=subject.run)


RULE = Rule(
    code="unknown-parent-dispatch",
    severity=Severity.WARNING,
    entity=Resumption,
    check=_check,
    fixes=partial(replace_id, of=LIFETIMES[Entity.DISPATCH]),
    summary="A dispatch resumes one that was never started.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1-parser"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1-praser"}
        … no `dispatch-start` of the trace starts                                   ^^^^^^^^^^^
        """,
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1-parser"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1-parser"}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1","parent_dispatch_id":"D1"}
        … a dispatch cannot resume itself                                           ^^^^
        """
    ),
    # Another run's dispatch may have the same id.
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1","project_run_id":"direct-2026-05-28"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1","parent_dispatch_id":"D1"}
        """
    ),
    # A run may go on with what another one began.
    Example(
        """
        EVENT{"event_type":"dispatch-start","dispatch_id":"D1","project_run_id":"direct-2026-05-28"}
        EVENT{"event_type":"dispatch-start","dispatch_id":"D2","parent_dispatch_id":"D1"}
        """
    ),
)
