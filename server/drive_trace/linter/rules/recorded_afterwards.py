"""The start and the end of a dispatch or round were both written afterwards.

The start and the end of a dispatch or round were written within 5 seconds of each other, and the
end claims a minute or more. Then both were written afterwards: the timestamps say when somebody
wrote them down, not when it happened, and nobody can check the claim. Durations that are measured
by such timestamps are far too short.

**Fix.** None is offered: the claim may well be right. Write each event when it happens.

Examples:
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.010Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:00:00.050Z","wall_clock_ms":1200000}
… 40ms apart, so the claim cannot be checked                                   ^^^^^^^
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T14:00:00.060Z","wall_clock_ms":1260000}
… 60ms apart                                                                      ^^^^^^^
--- What took seconds may well have started and ended within seconds.
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:00:00.050Z","wall_clock_ms":1000}
"""

from drive_trace.linter.courses import CLAIM, durations
from drive_trace.linter.rule import Findings, Rule, Run, Severity
from drive_trace.text.wording import duration
from drive_trace.trace.run import is_recorded_afterwards


def _check(run: Run) -> Findings:
    for span in durations(run):
        if is_recorded_afterwards(span.measured_ms, span.claimed_ms):
            apart = f"start and end lie {duration(span.measured_ms)} apart"
            message = f"recorded afterwards: {apart}, so the claim cannot be checked"
            started = (span.start, "ts", "the start was written then")
            yield RULE.finding(span.end, CLAIM, message, started)


RULE = Rule(Severity.INFORMATION, _check, distrusts="working_ms", sums="")
