"""An id is not a UUID.

The ids of events, dispatches and rounds are UUIDs, made afresh for each. Readers take any
string; but an id that was made up by hand (`d1`, `round-2`) is likely to be used twice, in this
trace or in another one of the run, and then two things are taken for one.

The rule looks where an id is introduced: at `event_id`, at the `dispatch_id` of a `dispatch-start`,
and at the `round_id` of a `round-start`. Upper-case digits are fine, and so is any version.

**Fix.** An event's id that is a UUID in another notation (braces, `urn:uuid:`, no hyphens) is
suggested in the usual one. The id of a dispatch or a round has no fix, as other lines name it.

Examples:
EVENT{"event_type":"slice-completed","event_id":"0B6F2C5E8F0D4C1B9A3E5D2F6A7B8C90"}
… `event_id` should be a UUID                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
=> Replace with "0B6F2C5E-8F0D-4C1B-9A3E-5D2F6A7B8C90"
EVENT{"event_type":"slice-completed","event_id":"0B6F2C5E-8F0D-4C1B-9A3E-5D2F6A7B8C90"}
--- What refers to the dispatch has nothing more to say of its id.
EVENT{"event_type":"dispatch-start","dispatch_id":"d1"}
                                                  ^^^^ … found "d1"
EVENT{"event_type":"round-start","dispatch_id":"d1"}
EVENT{"event_type":"dispatch-end","dispatch_id":"d1"}
---
EVENT{"event_type":"slice-completed","event_id":"0B6F2C5E-8F0D-4C1B-9A3E-5D2F6A7B8C90"}
"""

from drive_trace.linter.edits import say_in_type
from drive_trace.linter.rule import Findings, LineDiagnostic, Rule, Severity


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.malformed(RULE)


RULE = Rule(Severity.INFORMATION, _check, fixes=say_in_type, sums="ids in this field are no UUIDs")
