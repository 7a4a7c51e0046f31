"""The events of a run stand in reverse, the newest first.

Readers go by the order of lines, so that such a run ends before it starts, and of several grades
the oldest counts. A tool for logs, a table that was sorted, or an export may have turned it around.
Three events or more are each older than the one above, and of ten at most one is newer.

What else follows from the order is not said as well.

**Fix.** None is offered, as a trace is only appended to. Write the lines in their order, as `tac`
does, and commit that by itself.

Examples:
EVENT{"event_type":"project-closed","ts":"2026-05-28T17:00:00.000Z"}
… newest first, down to line 4      ^^^^
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T16:00:00.000Z"}
EVENT{"event_type":"dispatch-start","ts":"2026-05-28T15:00:00.000Z"}
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
--- Fewer may have been written late.
EVENT{"event_type":"project-closed","ts":"2026-05-28T17:00:00.000Z"}
EVENT{"event_type":"dispatch-end","ts":"2026-05-28T16:00:00.000Z"}
EVENT{"event_type":"project-started","ts":"2026-05-28T14:00:00.000Z"}
"""

from operator import lt

from drive_trace.linter.rule import Findings, Part, Place, Rule, Run, Severity
from drive_trace.trace.line import TS
from drive_trace.trace.times import is_later

_FEWEST, _FAR_MORE = 3, 10
"""So many events that are older than the one above, and times as many as there are newer ones."""


def _check(run: Run) -> Findings:
    stamps = [line.facts[TS] for line in run.lines]
    newer = sum(map(lt, stamps, stamps[1:]))
    if newer * _FAR_MORE > len(stamps):  # as of nearly all
        return
    older = [*map(is_later, stamps, stamps[1:])]
    if sum(older) >= max(_FEWEST, newer * _FAR_MORE):
        last = run.lines[len(older) - older[::-1].index(True)]
        message = ("the events stand newest first, down to line ", last, ": turn them around")
        yield RULE.finding(run.lines[0], Place(Part.KEY, ("ts",)), message, (last, "ts", "oldest"))


RULE = Rule(Severity.WARNING, _check)
