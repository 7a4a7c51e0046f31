"""An event is from a year in which its run was not.

A `ts` before 2020 or after 2049 comes from a clock that was not set, as 1970 does, from seconds
that were taken for milliseconds, or was made up. So does one whose year is two or more away from
that of the middle event of its run. Durations that are measured from it, and what
is the latest by it, are not to be trusted.

That the times of the run go back there is not said as well.

**Fix.** None is offered: only who wrote the event knows when it was.

Examples:
EVENT{"event_type":"project-started","ts":"1970-01-01T00:00:00.000Z"}
… the year is 1970: no run was then       ^^^^^^^^^^^^^^^^^^^^^^^^^^
--- Such a grade would be later than any other until then.
EVENT{"event_type":"spec-authored","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"correctness-recorded","ts":"2036-05-28T15:00:00.000Z"}
… the year is 2036: others                     ^^^^^^^^^^^^^^^^^^^^^^^^^^
--- A run may go on after New Year.
EVENT{"event_type":"project-started","ts":"2026-12-31T23:00:00.000Z"}
EVENT{"event_type":"project-closed","ts":"2027-01-01T01:00:00.000Z"}
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
    first, last = min(stamps), max(stamps)
    if first[:4] == last[:4] and _FIRST <= first < _END:
        return  # as nearly all
    middle = sorted(stamps)[(len(stamps) - 1) // 2][:4]
    for line in run.lines:
        ts = line.text_fact("ts")
        is_known = _FIRST <= ts < _END
        if (is_known and ts[:4] == middle) or ts not in Form.TIMESTAMP:
            continue
        is_far = _FIRST <= middle < _END and middle.isdecimal() and _far(ts, middle)
        if is_far or not is_known:
            why = f"others of the run are of {middle}" if is_known else "no run was then"
            yield RULE.finding(line, "ts", f"the year is {ts[:4]}: {why}; was the clock not set?")


def _far(ts: str, year: str) -> bool:
    return abs(int(ts[:4]) - int(year)) > 1


RULE = Rule(Severity.WARNING, _check, distrusts="clock", sums="events are from such years")
