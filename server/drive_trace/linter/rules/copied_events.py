"""Events stand in two files that are checked together.

Events of this file stand in another one, too, which was checked before it. They are the same
where their `event_id`, `event_type` and `ts` are: paths, slugs and run ids may have been changed.
Most often a trace was copied as a whole, or a line was appended to two files. Within a run
`drive-trace score` and `report` count such events once; a reader that adds up files counts them
twice. Of two runs either may be the copy: neither is a repetition of the other.

This is looked for by `drive-trace check` among the files that are checked together. There is one
finding for every other file, on the first of the events.

**Fix.** None is offered: keep one of the two files, or the events in one of them.

Examples:
EVENT{"event_type":"project-started","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f"}
… line 1 of other.jsonl too; within a run       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
@beside
EVENT{"event_type":"project-started","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-7a8b9c0d1e2f"}
--- The first of several is marked.
EVENT{"event_type":"round-start","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-000000000001"}
EVENT{"event_type":"round-start","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-000000000002"}
… 2 events of this file stand               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"round-start","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-000000000003"}
@beside
EVENT{"event_type":"round-start","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-000000000003"}
EVENT{"event_type":"round-start","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-000000000002"}
--- The same event again has an id of its own.
EVENT{"event_type":"project-started","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-000000000001"}
@beside
EVENT{"event_type":"project-started","event_id":"2f3c1d9e-0a4b-4c5d-8e6f-000000000002"}
"""

from drive_trace.linter.rule import Findings, Rule, Severity, SharedEvents


def _check(subject: SharedEvents) -> Findings:
    if not subject.are_copies:
        return
    if subject.size == 1:
        message = (
            f"this event stands on line {subject.number} of {subject.other} too; within a run "
        )
        message += "it counts once"
    else:
        message = f"{subject.size} events of this file stand in {subject.other} too"
        message += f" (this one on line {subject.number}); within a run they count once"
    yield RULE.finding(subject.line, "event_id", message)


RULE = Rule(Severity.WARNING, _check)
