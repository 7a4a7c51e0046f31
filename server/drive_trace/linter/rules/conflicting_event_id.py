"""An event has the id of another event in a file that is checked together with it.

An event has the `event_id` of another event, which stands in another file that was checked
before this one. An id names one event: what refers to it is ambiguous, and nobody can tell whether
one of the two is a copy that was changed. Both count. What has the same `event_type` and `ts`, too,
is a copy, see `copied-events`. Within one file `duplicate-event-id` speaks.

This is looked for by `drive-trace check` among the files that are checked together. There is one
finding for every other file, on the first of the events, which says how many more there are.

**Fix.** None is offered: somebody has to decide whether both events happened.

Examples:
EVENT{"event_type":"project-closed","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f"}
… other.jsonl:1 has another event              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
@beside
EVENT{"event_type":"project-started","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f"}
--- It is one event, which is written with more white space.
EVENT{"event_type":"project-started","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f"}
@beside
EVENT{"event_type":"project-started","event_id": "2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f" }
"""

from drive_trace.linter.rule import Findings, Rule, Severity, SharedEvents


def _check(subject: SharedEvents) -> Findings:
    if subject.are_copies:
        return
    message = f"{subject.other}:{subject.number} has another event with this `event_id`; both count"
    if subject.size > 1:
        message += f"; so it is with {subject.size - 1} more of this file"
    yield RULE.finding(subject.line, "event_id", message)


RULE = Rule(Severity.WARNING, _check)
