"""A duration is longer than the time between its timestamps.

`wall_clock_ms` is the time from the start of a dispatch or round to its end, and the two `ts`
say when these were. A duration that is longer than the time between them cannot be right: most
often it was estimated. Dispatch durations are the run's wall-clock where the project's own is not
known.

The rule is silent where the two differ by no more than `tolerance-ms`, or by no more than
`tolerance-percent` of the measured time. Where start and end were written at one moment, the
timestamps tell nothing, and `recorded-afterwards` says so.

In a run with durations that are too short as well, this rule tells both: an author who estimates
errs both ways. Where it is off, `wall-clock-below-timestamps` tells its own.

**Fix.** The measured time, as a suggestion: a timestamp may be what is wrong. None where that is
likely: more than a day lies between them, they are off by a zone of time, or a time of the run goes
back beside them.

Examples:
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:12:30.250Z","wall_clock_ms":1800000}
… 30m claimed, but 12m 30s (750,250 ms) lie between line 1                     ^^^^^^^
=>
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:12:30.250Z","wall_clock_ms":750250}
--- Two seconds, or ten percent, are as exact as it has to be.
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:00:10.000Z","wall_clock_ms":12000}
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T15:00:00.000Z"}
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T16:00:00.000Z","wall_clock_ms":3960000}
"""

from drive_trace.linter import courses, edits, rule


def _check(run: rule.Run, tolerance_ms: float, tolerance_percent: float) -> rule.Findings:
    return courses.misclaimed(RULE, run, (tolerance_ms, tolerance_percent), 1)


RULE = rule.Rule(
    rule.Severity.WARNING,
    _check,
    fixes=edits.replace_with_measured,
    distrusts="claims",
    options=courses.TOLERANCES,
    sums="durations are off",
    sums_as="too long",
    sums_among=("dispatch-end", "round-end"),
)
