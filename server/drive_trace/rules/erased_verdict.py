"""Of several `correctness-recorded` events of a run the last one counts, as a whole: its nulls
replace what was recorded before. A writer that knows only one component and leaves the others
null erases them, and a run that was graded becomes *not computable*.

**Fix.** The recorded component is carried over. It is a suggestion, because the erasure may be
meant: a verdict can be withdrawn.
"""

from collections.abc import Iterable

from drive_trace.rules.base import Example, Finding, Fix, Related, Rule, Severity, shown
from drive_trace.rules.edits import as_json, replace_value
from drive_trace.rules.subjects import FeedEvent
from drive_trace.trace.places import Part, Place
from drive_trace.vocabulary import CORRECTNESS_FIELDS


def _check(subject: FeedEvent) -> Iterable[Finding]:
    previous, line = subject.previous, subject.line
    if previous is None or line.event is None or line.event.name != "correctness-recorded":
        return
    for name in CORRECTNESS_FIELDS:
        recorded = previous.fact(name)
        if recorded is not None and line.fact(name) is None:
            yield Finding(
                RULE,
                line,
                Place(Part.VALUE, (name,)),
                (f"`{name}` was {shown(recorded)} on line ", previous, "; this null erases it"),
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

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":null}
        EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":"pass"}
        … `qa` was "fail" on line 1; this null erases it                   ^^^^
        """,
        """
        EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":null}
        EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":"fail","intent":"pass"}
        """,
        fix='Carry over "fail"',
    ),
    # What was never recorded is not erased, and a component may be graded anew.
    Example(
        """
        EVENT{"event_type":"correctness-recorded","mechanical":"pass","qa":null,"intent":null}
        EVENT{"event_type":"correctness-recorded","mechanical":"fail","qa":null,"intent":"pass"}
        """
    ),
    # Another run's verdicts are its own.
    Example(
        """
        EVENT{"event_type":"correctness-recorded","project_run_id":"checkout-retry"}
        EVENT{"event_type":"correctness-recorded","project_run_id":"search-index","qa":null}
        """
    ),
    # A token count that is not known any more is no verdict.
    Example(
        """
        EVENT{"event_type":"tokens-recorded","input_tokens":100}
        EVENT{"event_type":"tokens-recorded","input_tokens":null}
        """
    ),
)
