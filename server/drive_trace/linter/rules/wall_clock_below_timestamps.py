"""A duration is shorter than the time between its timestamps.

`wall_clock_ms` is the time from the start of a dispatch or round to its end, and the two `ts`
say when these were. A duration that is shorter than the time between them can be right, when the
clock was stopped while nobody worked; else it was estimated, or the end was written late.

The rule is silent where the two differ by no more than `tolerance-ms`, or by no more than
`tolerance-percent` of the measured time. Where start and end were written at one moment, the
timestamps tell nothing, and `recorded-afterwards` says so. In a run with durations that are too
long as well, `wall-clock-exceeds-timestamps` tells both.

**Fix.** The measured time, as a suggestion: there may have been idle time. None where the
timestamps are in doubt: more than a day lies between them, they are off by a zone of time, or a
time of the run goes back beside them.

Examples:
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T16:05:00.000Z","wall_clock_ms":5400000}
… 1h 30m claimed, but 2h 05m                                                      ^^^^^^^
=>
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T16:05:00.000Z","wall_clock_ms":7500000}
---
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T16:05:00.000Z","wall_clock_ms":7499000}
"""

from drive_trace.linter import courses, edits, rule


def _check(run: rule.Run, tolerance_ms: float, tolerance_percent: float) -> rule.Findings:
    return courses.misclaimed(RULE, run, (tolerance_ms, tolerance_percent), -1)


RULE = rule.Rule(
    rule.Severity.INFORMATION,
    _check,
    fixes=edits.replace_with_measured,
    distrusts="claims",
    options=courses.TOLERANCES,
    sums="durations are off",
    sums_as="too short",
    sums_among=("dispatch-end", "round-end"),
)
