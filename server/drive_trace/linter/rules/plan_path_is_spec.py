"""A plan is a file beside the spec, not the spec itself. An event that authors a plan with the path
of a spec has taken the wrong one, or the plan was never written down: the amendments of both, and
how long each took to become stable, are counted together. Where the file is called like a plan, the
spec is what has the wrong path, and the message says so.

**Fix.** None is offered: where the other file lies, only the writer knows.
"""

from collections.abc import Iterable

from drive_trace.linter.entities.lifecycle import PlanOfSpec, file_stem
from drive_trace.linter.rule import Example, Finding, Message, Related, Rule, Severity
from drive_trace.trace.places import Place


def _check(subject: PlanOfSpec) -> Iterable[Finding]:
    line, spec = subject
    place = Place.value("plan_path")
    if spec is None:
        yield Finding(RULE, line, place, "the path of this plan is called like a spec")
        return
    related = (Related(spec, Place.value("spec_path"), "the spec"),)
    message: Message = ("the path of this plan is that of the spec on line ", spec)
    if file_stem(line.text_fact("plan_path")) == "plan":
        message = ("the spec on line ", spec, " has the path of this plan")
    yield Finding(RULE, line, place, message, related)


RULE = Rule(
    code="plan-path-is-spec",
    severity=Severity.INFORMATION,
    entity=PlanOfSpec,
    check=_check,
    summary="The path of a plan is that of a spec.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"spec-authored","spec_path":"projects/cart/design.md"}
        EVENT{"event_type":"plan-authored","plan_path":"projects/cart/design.md"}
        … that of the spec on line 1                   ^^^^^^^^^^^^^^^^^^^^^^^^^
        """
    ),
    Example(
        """
        EVENT{"event_type":"spec-authored","spec_path":"projects/cart/plan.md"}
        EVENT{"event_type":"plan-authored","plan_path":"projects/cart/plan.md"}
        … the spec on line 1 has the path of this plan ^^^^^^^^^^^^^^^^^^^^^^^
        """
    ),
    Example(
        """
        EVENT{"event_type":"plan-authored","plan_path":"projects/cart/spec.md"}
        … the path of this plan is called like a spec  ^^^^^^^^^^^^^^^^^^^^^^^
        """
    ),
    Example(
        """
        EVENT{"event_type":"spec-authored","spec_path":"projects/cart/spec.md"}
        EVENT{"event_type":"plan-authored","plan_path":"projects/cart/plan.md"}
        EVENT{"event_type":"plan-authored","plan_path":"specs/cart.md"}
        """
    ),
)
