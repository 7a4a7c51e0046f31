"""A spec or plan is authored twice.

A file is authored once in a run; what is written later amends it. Authored again, its changes are
missing from the amendments, and how long it took to become stable counts from the first event to
nothing. Or two files were given one path.

**Fix.** None is offered: what changed, and why, is not in the event.

Examples:
EVENT{"event_type":"spec-authored","spec_path":"projects/cart/spec.md"}
EVENT{"event_type":"spec-authored","spec_path":"projects/cart/spec.md"}
… this spec was authored on line 1 already     ^^^^^^^^^^^^^^^^^^^^^^^
--- Amended is not authored; another run may author the file anew.
EVENT{"event_type":"plan-authored","plan_path":"projects/cart/plan.md"}
EVENT{"event_type":"plan-amended","plan_path":"projects/cart/plan.md"}
EVENT{"event_type":"plan-authored","plan_path":"projects/cart/plan.md","project_run_id":"cart-2"}
"""

from itertools import chain

from drive_trace.linter.courses import repetitions
from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.vocabulary import WRITERS


def _check(run: Run) -> Findings:
    return chain.from_iterable(
        repetitions(RULE, run, name, field, f"this {field[:4]} was authored")
        for field, (name, *_) in WRITERS.items()
    )


RULE = Rule(Severity.INFORMATION, _check, sums="files were authored again")
