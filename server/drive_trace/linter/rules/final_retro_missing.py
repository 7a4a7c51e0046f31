"""A project says that its final retro was held, and has none.

`final_retro_done` says that the retro was held that every project ends with. Such a retro has an
event, `retro-landed` with the trigger `mandatory-final`; this run has none, above or below. One of
which only `is_mandatory_final` says so counts.

The rule is silent while a rejected line may be that retro.

**Fix.** None is offered: append the retro's event, or say that it was not held.

Examples:
EVENT{"event_type":"retro-landed","trigger_class":"drift-event","is_mandatory_final":false}
EVENT{"event_type":"project-closed","slices_completed":0,"final_retro_done":true}
… no `retro-landed` of this run has the trigger                             ^^^^
--- It may land after the end, and may not have been held.
EVENT{"event_type":"project-closed","final_retro_done":true}
EVENT{"event_type":"retro-landed","trigger_class":"mandatory-final"}
EVENT{"event_type":"project-closed","project_run_id":"cart","final_retro_done":false}
---
EVENT{"event_type":"retro-landed","trigger_class":"drift-event","is_mandatory_final":true}
EVENT{"event_type":"project-closed","final_retro_done":true}
"""

from drive_trace.linter.rule import Findings, Rule, Run, Severity


def _check(run: Run) -> Findings:
    line = run.events("project-closed").last
    if line is None or run.meant is not None or not line.fact("final_retro_done"):
        return
    fields = (("trigger_class", "mandatory-final"), ("is_mandatory_final", True))
    retros = any(run.of("retro-landed", *each) for each in fields)
    if not retros and not run.in_doubt("event_type", "retro-landed"):
        message = 'no `retro-landed` of this run has the trigger "mandatory-final"'
        yield RULE.finding(line, "final_retro_done", message)


RULE = Rule(Severity.WARNING, _check)
