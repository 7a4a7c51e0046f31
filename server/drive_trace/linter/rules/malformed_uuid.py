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

import re

from drive_trace.linter.edits import Fixes, Level, as_json, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity

_DIGITS = re.compile(r"(?:urn:uuid:)?\{?([0-9a-f-]*)\}?", re.IGNORECASE)


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.malformed(RULE)


def _fixes(finding: Finding) -> Fixes:
    found = _DIGITS.fullmatch(str(finding.cause.found).strip())
    digits = found[1].replace("-", "") if found else ""
    if finding.cause.path == ("event_id",) and len(digits) == 32:
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        yield replacing(finding, as_json("-".join(parts)), Level.BY_HAND)


RULE = Rule(Severity.INFORMATION, _check, fixes=_fixes, sums="ids in this field are no UUIDs")
