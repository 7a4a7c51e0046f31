"""An event is from a year in which its run was not.

A `ts` before 2020 or after 2049 comes from a clock that was not set, as 1970 does, from seconds
that were taken for milliseconds, or was made up. So does one whose year is two or more away from
that of the middle event of its run. Years that are ten or more after the first one are wrong, also
where most events have them: no run takes so long, and an event does not know the future. Where ten
times as many have them, the earlier ones are wrong: a clock was not set.
Durations that are measured from a wrong year, and what is the latest by it, are not to be trusted.

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

_FIRST, _END, _DECADE = "2020", "2050", 10
_FAR_MORE = 10
"""So many times as many events outweigh earlier ones."""


def _check(run: Run) -> Findings:
    stamps = sorted(line.facts[TS] for line in run.lines)
    if stamps[0][:4] == stamps[-1][:4] and _FIRST <= stamps[0] < _END:
        return  # as nearly all
    years = [int(ts[:4]) for ts in stamps if _FIRST <= ts < _END and ts in Form.TIMESTAMP]
    # No clock is ahead of its time on the first events alone.
    early = [year for year in years if year < years[0] + _DECADE]
    late = years[len(early) :]
    years = late if len(late) >= len(early) * _FAR_MORE else early
    for line in run.lines:
        ts = line.text_fact("ts")
        if ts not in Form.TIMESTAMP:
            continue
        others = years[(len(years) - 1) // 2] if _FIRST <= ts < _END else None
        if others is None or abs(int(ts[:4]) - others) > 1:
            why = f"while others of the run are of {others}" if others else "when no run was"
            yield RULE.finding(line, "ts", f"the year is {ts[:4]}, {why}")


RULE = Rule(Severity.WARNING, _check, distrusts="clock", sums="events have a year that is wrong")
