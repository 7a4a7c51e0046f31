"""An event is from a year in which no run was.

A `ts` before 2020 or after 2049 comes from a clock that was not set, as 1970 does, from seconds
that were taken for milliseconds, or was made up. Durations that are measured from it, and what is
the latest by it, are not to be trusted.

That the times of the run go back there is not said as well.

**Fix.** None is offered: only who wrote the event knows when it was.

Examples:
EVENT{"event_type":"project-started","ts":"1970-01-01T00:00:00.000Z"}
… the year is 1970: no run was then       ^^^^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"project-started","ts":"28 May 1970"}
"""

from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.trace.line import TS
from drive_trace.vocabulary import Form

_FIRST, _END = "2020", "2050"


def _check(run: Run) -> Findings:
    stamps = [line.facts[TS] for line in run.lines]
    for line in run.lines if min(stamps) < _FIRST or max(stamps) >= _END else ():
        ts = line.text_fact("ts")
        if not _FIRST <= ts < _END and ts in Form.TIMESTAMP:
            message = f"the year is {ts[:4]}: no run was then; was the clock not set?"
            yield RULE.finding(line, "ts", message)


RULE = Rule(Severity.WARNING, _check, distrusts="clock", sums="events are from such years")
