"""An event is from a year in which its run was not.

A `ts` before 2020 or after 2049 comes from a clock that was not set, as 1970 does, from seconds
that were taken for milliseconds, or was made up. So does one whose year is two or more away from
that around which most events of its run lie. Years that are ten or more after the first one are
wrong, also where most events have them: no run takes so long, and an event does not know the
future. Where ten times as many have them, the earlier ones are wrong: a clock was not set. What is
left is looked at in the same way.

No duration is measured from a wrong year, and what is the latest by it is not to be trusted.

That the times of the run go back there is not said as well.

**Fix.** None is offered: only who wrote the event knows when it was.

Examples:
EVENT{"event_type":"project-started","ts":"1970-01-01T00:00:00.000Z"}
… the year is 1970, when no run was       ^^^^^^^^^^^^^^^^^^^^^^^^^^
--- Such a grade would be later than any other until then.
EVENT{"event_type":"spec-authored","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"correctness-recorded","ts":"2036-05-28T15:00:00.000Z"}
… the year is 2036, while others of            ^^^^^^^^^^^^^^^^^^^^^^^^^^
--- One that is right tells more than two that lie in its future.
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"spec-authored","ts":"2036-05-28T14:00:00.000Z"}
… others of the run are of 2026         ^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"plan-authored","ts":"2036-05-28T15:00:00.000Z"}
… others of the run are of 2026         ^^^^^^^^^^^^^^^^^^^^^^^^^^
--- Neither of two wrong groups hides the other one.
EVENT{"event_type":"project-started","ts":"2023-05-28T14:00:00.000Z"}
… others of the run are of 2026           ^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"slice-started","ts":"2023-05-28T14:00:30.000Z"}
… others of the run are of 2026         ^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"spec-authored","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"plan-authored","ts":"2026-05-28T15:00:00.000Z"}
EVENT{"event_type":"spec-amended","ts":"2026-05-28T16:00:00.000Z"}
EVENT{"event_type":"retro-landed","ts":"2029-05-28T16:00:00.000Z"}
… others of the run are of 2026        ^^^^^^^^^^^^^^^^^^^^^^^^^^
--- A run may go on after New Year.
EVENT{"event_type":"project-started","ts":"2026-12-31T23:00:00.000Z"}
EVENT{"event_type":"project-closed","ts":"2027-01-01T01:00:00.000Z"}
---
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"project-started","ts":"28 May 1970"}
"""

from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.trace.run import misdated
from drive_trace.trace.times import is_of_year


def _check(run: Run) -> Findings:
    others, wrong = run.kept(misdated)
    for line in wrong:
        year = line.text_fact("ts")[:4]
        can_be = others is not None and is_of_year(year, int(year))
        why = f"while others of the run are of {others}" if can_be else "when no run was"
        yield RULE.finding(line, "ts", f"the year is {year}, {why}")


RULE = Rule(Severity.WARNING, _check, distrusts="clock", sums="events have a year that is wrong")
