"""An event is older than the one before it in its run.

The order of the file is the order of events, and readers go by it. An event whose `ts` is
earlier than that of the event before it in its run was written late, by a clock that was wrong, or
by hand in the wrong place: durations that are measured across it are not to be trusted. Where all
lines around go on without the event before it, that one is marked instead, as too late.

A second is let pass (`tolerance-ms`): writers at work side by side append a moment after they have
read the clock.

Where it is a whole number of hours earlier, give or take five minutes, one of the two may have been
written in local time and marked `Z`; the message asks so.

Only events of one run are compared: runs that share a file may have happened at the same time.

**Fix.** None is offered: only who wrote the event knows when it was.

Examples:
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"spec-authored","ts":"2026-05-28T13:58:30.000Z"}
… 1m 30s before that of line 1          ^^^^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"project-started","ts":"2026-05-28T16:01:00.000Z"}
EVENT{"event_type":"spec-authored","ts":"2026-05-28T14:03:00.000Z"}
… local time marked `Z`?                ^^^^^^^^^^^^^^^^^^^^^^^^^^
--- One event is out of time between those that agree.
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"spec-authored","ts":"2027-05-28T14:01:00.000Z"}
… after that of line 3                  ^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"plan-authored","ts":"2026-05-28T14:02:00.000Z"}
EVENT{"event_type":"health-check-fired","ts":"2026-05-28T14:03:00.000Z"}
--- The same where a time has no fraction of a second.
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00Z"}
EVENT{"event_type":"spec-authored","ts":"2026-05-28T15:00:00.000Z"}
… after that of line 3                  ^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"plan-authored","ts":"2026-05-28T14:00:00.500Z"}
EVENT{"event_type":"health-check-fired","ts":"2026-05-28T14:03:00.000Z"}
--- Events may happen at once, and a time can be written in several ways.
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"spec-authored","ts":"2026-05-28T14:00:00Z"}
--- Two writers, one of which was quicker.
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.003Z"}
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z"}
--- What is written otherwise has a finding of its own.
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"spec-authored","ts":"2026-05-28"}
--- Another run has times of its own.
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"project-started","project_run_id":"cart","ts":"2026-05-27T14:00:00.000Z"}
"""

from itertools import pairwise

from drive_trace.linter.rule import Findings, Line, Option, Rule, Run, Severity
from drive_trace.text.wording import duration
from drive_trace.trace.line import TS
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import Form


def _check(run: Run, *, tolerance_ms: float) -> Findings:
    for previous, line in pairwise(run.lines):
        before, after = previous.facts[TS], line.facts[TS]
        if len(before) == len(after) and before <= after:
            continue  # as nearly all: well-formed texts of one length compare like times
        if before not in Form.TIMESTAMP or after not in Form.TIMESTAMP:
            continue  # malformed-timestamp reports it; that it goes back would be a guess
        passed = milliseconds_between(before, after)
        if passed is not None and passed < -tolerance_ms and after >= "2020":
            hours = round(-passed / _HOUR_MS)
            is_whole = abs(passed + hours * _HOUR_MS) <= _SLACK_MS
            asked = _ASKED * (is_whole and 1 <= hours <= _MOST_HOURS)
            is_above = _is_off(run, previous, line, -passed)
            off, other = (previous, line) if is_above else (line, previous)
            way, place = ("after", "below") if is_above else ("before", "above")
            back = f"`ts` is {duration(-passed)} {way} that of line "
            message = (back, other, f", which stands {place}{asked}")
            yield RULE.finding(off, "ts", message, (other, "ts", f"the event {way} it in the run"))


def _is_off(run: Run, line: Line, following: Line, ahead_ms: float) -> bool:
    """Whether it is the line above an earlier one that is off: those around the two go on without
    it.
    """
    above, at = run.lines.before(line), run.lines.position(following)
    below = run.lines[at + 1 : at + 1 + _NEAR]
    goes_on = above is None or not _is_before(following, above)
    return goes_on and (
        all(_is_before(each, line) for each in below) if below else ahead_ms > _DAY_MS
    )


def _is_before(line: Line, other: Line) -> bool:
    return (milliseconds_between(line.facts[TS], other.facts[TS]) or 0) > 0


_HOUR_MS, _DAY_MS, _SLACK_MS = 3_600_000, 86_400_000, 300_000
_MOST_HOURS = 14
"""No place is further from UTC."""
_NEAR = 3
"""So many lines below say which of two is off."""
_ASKED = "; is one of the two local time marked `Z`?"
_OPTIONS = (Option("tolerance-ms", 1000, "Milliseconds by which an event may be older."),)
RULE = Rule(
    Severity.INFORMATION, _check, distrusts="clock", options=_OPTIONS, sums="events go back in time"
)
