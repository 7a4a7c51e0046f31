"""The start and the end of a dispatch or round were both written afterwards.

The start and the end of a dispatch or round were written within 5 seconds of each other, and the
end claims a minute or more. Then both were written afterwards: the timestamps say when somebody
wrote them down, not when it happened, and nobody can check the claim. Durations that are measured
by such timestamps are far too short.

There is one finding for each run, on the first such end, which says how many there are.

**Fix.** None is offered: the claim may well be right. Write each event when it happens.

Examples:
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.010Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:00:00.050Z","wall_clock_ms":1200000}
… 40ms apart, so the claim cannot be checked; so it is with 1 more end         ^^^^^^^
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T14:00:00.060Z","wall_clock_ms":1260000}
--- What took seconds may well have started and ended within seconds.
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:00:00.050Z","wall_clock_ms":1000}
"""

from drive_trace.linter.courses import CLAIM, durations
from drive_trace.linter.rule import Findings, Rule, Run, Severity, plural
from drive_trace.text.wording import duration
from drive_trace.trace.run import is_recorded_afterwards


def _check(run: Run) -> Findings:
    found = [
        each for each in durations(run) if is_recorded_afterwards(each.measured_ms, each.claimed_ms)
    ]
    if not found:
        return
    first, count = min(found, key=lambda span: span.end.order), len(found)
    apart = f"start and end lie {duration(first.measured_ms)} apart"
    message = f"recorded afterwards: {apart}, so the claim cannot be checked"
    if count > 1:
        message += f"; so it is with {plural(count - 1, 'more end')} of this run"
    yield RULE.finding(first.end, CLAIM, message, (first.start, "ts", "the start was written then"))


RULE = Rule(Severity.INFORMATION, _check, distrusts="working_ms")
