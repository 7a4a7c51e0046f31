"""A spec or plan is amended that was not authored before.

A spec or plan is authored before it is amended. An amendment without an authoring above it means
that the authoring was not recorded, or that the path is written in another way: what the file has
cost, and how long it took to become stable, is unknown.

A file may have been authored in another run of the trace. The rule is silent where a rejected or
unknown line of the run above names the path: the authoring may be there. So it is where the trace
begins midway: no run begins with its first event. Beside a malformed path that means the same file,
it is not told. Of one file, the first amendment is marked.

**Fix.** None is offered: when the file was authored is not in the trace.

Examples:
EVENT{"event_type":"spec-authored","spec_path":"projects/cart/spec.md"}
EVENT{"event_type":"spec-amended","spec_path":"projects/cart/slices/tax/spec.md"}
… no `spec-authored` above authors this spec  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"spec-amended","spec_path":"projects/cart/slices/tax/spec.md"}
---
EVENT{"event_type":"plan-authored","plan_path":"projects/cart/plan.md"}
EVENT{"event_type":"plan-amended","plan_path":"projects/cart/plan.md"}
--- What came before this trace is not in it.
EVENT{"event_type":"spec-amended","spec_path":"projects/cart/spec.md"}
EVENT{"event_type":"plan-amended","plan_path":"projects/cart/plan.md"}
"""

from drive_trace.linter.rule import Findings, Rule, SameFile, Severity
from drive_trace.trace.line import name_of
from drive_trace.trace.run import any_between
from drive_trace.vocabulary import WRITERS


def _check(file: SameFile) -> Findings:
    for field, writers in WRITERS.items():
        line = next((each for each in file.lines if name_of(each) in writers), None)
        if line is None or name_of(line) == writers[0]:
            continue
        run = file.trace.runs[line.run]
        if not run.begins_midway and not any_between(run.in_doubt(field, file.value), None, line):
            what = field.removesuffix("_path")
            yield RULE.finding(line, field, f"no `{what}-authored` above authors this {what}")


RULE = Rule(Severity.INFORMATION, _check, sums="amended files were never authored", sums_by="run")
