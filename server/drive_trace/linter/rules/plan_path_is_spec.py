"""The path of a plan is that of a spec.

A plan is a file beside the spec, not the spec itself. An event that authors a plan with the path
of a spec has taken the wrong one, or the plan was never written down: the amendments of both, and
how long each took to become stable, are counted together. Where the file is called like a plan, the
spec is what has the wrong path, and the message says so.

**Fix.** None is offered: where the other file lies, only the writer knows.

Examples:
EVENT{"event_type":"spec-authored","spec_path":"projects/cart/design.md"}
EVENT{"event_type":"plan-authored","plan_path":"projects/cart/design.md"}
… that of the spec on line 1                   ^^^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"spec-authored","spec_path":"projects/cart/plan.md"}
EVENT{"event_type":"plan-authored","plan_path":"projects/cart/plan.md"}
… the spec on line 1 has the path of this plan ^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"plan-authored","plan_path":"projects/cart/spec.md"}
… the path of this plan is called like a spec  ^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"spec-authored","spec_path":"projects/cart/spec.md"}
EVENT{"event_type":"plan-authored","plan_path":"projects/cart/plan.md"}
EVENT{"event_type":"plan-authored","plan_path":"specs/cart.md"}
"""

from drive_trace.linter.rule import Findings, Message, Rule, SameFile, Severity
from drive_trace.trace.line import name_of
from drive_trace.vocabulary import WRITERS, Form


def _check(file: SameFile) -> Findings:
    if file.value not in Form.PATH:  # else malformed-path speaks
        return
    authoring, specs = WRITERS["plan_path"][0], WRITERS["spec_path"]
    line = next((each for each in file.lines if name_of(each) == authoring), None)
    if line is None:
        return
    spec = next((each for each in file.lines if name_of(each) in specs), None)
    stem = file.value.rpartition("/")[2].partition(".")[0].lower()
    if spec is not None:
        message: Message = ("the path of this plan is that of the spec on line ", spec)
        if stem == "plan":
            message = ("the spec on line ", spec, " has the path of this plan")
        yield RULE.finding(line, "plan_path", message, (spec, "spec_path", "the spec"))
    elif stem == "spec":
        yield RULE.finding(line, "plan_path", "the path of this plan is called like a spec")


RULE = Rule(Severity.INFORMATION, _check, sums="plans have the path of a spec")
