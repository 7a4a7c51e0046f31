"""A project counts other slices as completed than were merged.

`slices_completed` says how many slices a project delivered, and each merged slice has a
`slice-completed` of its own. Where the two disagree, a slice was not recorded, or not counted.

The rule is silent where nobody can tell: while a slice ends twice, while a rejected line may end
another one, and where the trace has fewer ends of slices than the project counts and none at all,
as they may stand in the slices' own traces, or begins midway.

**Fix.** The number of merged slices, as a suggestion.

Examples:
EVENT{"event_type":"project-started"}
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged"}
EVENT{"event_type":"slice-completed","slice_slug":"tax","result":"abandoned"}
EVENT{"event_type":"project-closed","slices_completed":2}
… the run has 1 merged slice, not 2                    ^
=>
EVENT{"event_type":"project-started"}
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged"}
EVENT{"event_type":"slice-completed","slice_slug":"tax","result":"abandoned"}
EVENT{"event_type":"project-closed","slices_completed":1}
---
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged"}
EVENT{"event_type":"slice-completed","slice_slug":"tax","result":"merged"}
EVENT{"event_type":"project-closed","slices_completed":2}
--- The ends of its slices stand elsewhere, or on a line that readers reject.
EVENT{"event_type":"project-closed","project_run_id":"cart","slices_completed":4}
EVENT{"event_type":"slice-completed","slice_slug":"retry-queue","result":"merged"}
EVENT{"event_type":"slice-completed","slice_slug":"tax","result":"done"}
EVENT{"event_type":"project-closed","slices_completed":2}
"""

from drive_trace.linter.edits import replace_with_expected
from drive_trace.linter.rule import Findings, Rule, Run, Severity, plural, shown
from drive_trace.vocabulary import SLICE


def _check(run: Run) -> Findings:
    line, ends = run.events("project-closed").last, run.table(SLICE.closer, SLICE.field)
    if line is None or run.meant is not None or not ends:
        return
    # Nobody can tell how many were merged if one ended twice, or a line that cannot be read may
    # end another one.
    is_told_twice = any(len(each) > 1 for each in ends.values())
    if is_told_twice or run.in_doubt("event_type", SLICE.closer):
        return
    merged, counted = run.of(SLICE.closer, "result", "merged"), line.fact("slices_completed")
    is_earlier = run.begins_midway and isinstance(counted, int) and len(merged) < counted
    if len(merged) != counted and not is_earlier:
        message = f"the run has {plural(len(merged), 'merged slice')}, not {shown(counted)}"
        related = [(each, "result", "merged here") for each in merged[-1:]]
        yield RULE.finding(line, "slices_completed", message, *related, expected=len(merged))


RULE = Rule(Severity.WARNING, _check, fixes=replace_with_expected)
