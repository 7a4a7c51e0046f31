"""`slices_completed` says how many slices a project delivered, and each merged slice has a
`slice-completed` of its own. Where the two disagree, a slice was not recorded, or not counted.

The rule is silent where nobody can tell: while a slice ends twice, while a rejected line may end
another one, and where the trace has fewer ends of slices than the project counts and none at all,
as they may stand in the slices' own traces.

**Fix.** The number of merged slices, as a suggestion.
"""

from collections.abc import Iterable

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.entities.lifecycle import Closing
from drive_trace.linter.rule import Example, Finding, Related, Rule, Severity
from drive_trace.text.wording import plural, shown
from drive_trace.trace.places import Place

_COUNT = Place.value("slices_completed")


def _check(subject: Closing) -> Iterable[Finding]:
    merged, counted = subject.merged, subject.line.fact("slices_completed")
    if merged is None or len(merged) == counted or not subject.has_ended_slices:
        return
    what = f"the run has {plural(len(merged), 'merged slice')}, not {shown(counted)}"
    related = [Related(each, Place.value("result"), "merged here") for each in merged[-1:]]
    yield Finding(RULE, subject.line, _COUNT, what, tuple(related), expected=len(merged))


RULE = Rule(
    code="slices-completed-mismatch",
    severity=Severity.WARNING,
    entity=Closing,
    check=_check,
    fixes=replace_with_expected,
    summary="A project counts other slices as completed than were merged.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged"}
        EVENT{"event_type":"slice-completed","slice_slug":"tax","result":"abandoned"}
        EVENT{"event_type":"project-closed","slices_completed":2}
        … the run has 1 merged slice, not 2                    ^
        """,
        """
        EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged"}
        EVENT{"event_type":"slice-completed","slice_slug":"tax","result":"abandoned"}
        EVENT{"event_type":"project-closed","slices_completed":1}
        """,
    ),
    Example(
        """
        EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged"}
        EVENT{"event_type":"slice-completed","slice_slug":"tax","result":"merged"}
        EVENT{"event_type":"project-closed","slices_completed":2}
        """
    ),
    # The ends of its slices stand elsewhere, or on a line that readers reject.
    Example(
        """
        EVENT{"event_type":"project-closed","project_run_id":"cart","slices_completed":4}
        EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged"}
        EVENT{"event_type":"slice-completed","slice_slug":"tax","result":"done"}
        EVENT{"event_type":"project-closed","slices_completed":2}
        """
    ),
)
