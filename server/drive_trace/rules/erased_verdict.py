"""Of several `correctness-recorded` events of a run the last one counts, as a whole: its nulls
replace what was recorded before. A writer that knows only one component and leaves the others
null erases them, and a run that was graded becomes *not computable*.

**Fix.** The recorded component is carried over. It is a suggestion, because the erasure may be
meant: a verdict can be withdrawn.
"""

from collections.abc import Iterable

from drive_trace.rules.base import FeedEvent, Finding, Fix, Related, Rule, Severity, shown
from drive_trace.rules.edits import as_json, replace_value
from drive_trace.trace.places import Part, Place
from drive_trace.vocabulary import CORRECTNESS_FIELDS


def _check(subject: FeedEvent) -> Iterable[Finding]:
    previous, line, _ = subject
    if previous is None or line.event is None or line.event.name != "correctness-recorded":
        return
    for name in CORRECTNESS_FIELDS:
        recorded = previous.fact(name)
        if recorded is not None and line.fact(name) is None:
            yield Finding(
                RULE,
                line,
                Place(Part.VALUE, (name,)),
                (f"`{name}` was {shown(recorded)} in line ", previous, "; this null erases it"),
                related=(
                    Related(previous, Place(Part.VALUE, (name,)), (f"`{name}` recorded here",)),
                ),
            )


def _fixes(finding: Finding) -> Iterable[Fix]:
    assert isinstance(finding.place, Place)
    path = finding.place.path
    recorded = finding.related[0].line.fact(str(path[0]))
    edit = replace_value(finding.line, path, as_json(recorded))
    yield Fix(f"Carry over {shown(recorded)}", safe=False, edits=(edit,))


RULE = Rule(
    code="erased-verdict",
    severity=Severity.WARNING,
    subject=FeedEvent,
    check=_check,
    fixes=_fixes,
    summary="A later correctness-recorded sets a recorded component back to null.",
)
