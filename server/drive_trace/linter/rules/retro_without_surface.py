"""A retro landed, and nowhere.

A `retro-landed` says where its lessons were written down. Without any `landing_surfaces` the retro
left nothing, and yet counts as held: the mandatory final one closes a project with it. There may
have been nothing to learn.

**Fix.** None is offered: where the lessons stand is not in the trace.

Examples:
EVENT{"event_type":"retro-landed","landing_surfaces":[]}
… no surface is named, so nothing landed             ^^
---
EVENT{"event_type":"retro-landed","landing_surfaces":["adr"]}
"""

from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.finding(RULE, "no surface is named, so nothing landed: where are the lessons?")


RULE = Rule(Severity.HINT, _check, sums="")
