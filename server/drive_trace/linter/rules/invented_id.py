"""The id of an event, dispatch or round was made up.

Ids are random UUIDs, so that no two of them meet, in whatever file they stand. One of few different
digits, of the same part over and over, of letters and digits in turns, or that begins by counting
up was typed, or written by a language model: most likely others have it, too, and events of theirs
count as copies of this one. So were ids of a run that count up: two that differ in one group or
their last eight digits alone, or three that begin with the same seven digits; but those that are
made of the time (versions 1, 6 and 7) may.
The nil UUID is nobody's id.

**Fix.** A new UUID for an event's id, one at a time. Of a dispatch or a round none is offered:
other lines may name the id.

Examples:
EVENT{"event_type":"dispatch-start","dispatch_id":"00000000-0000-4000-8000-000000000001"}
… no random UUID looks like this                  ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
---
EVENT{"event_type":"spec-authored","event_id":"12345678-1234-4123-8123-123456789abc"}
                                              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
=> Give the event a new UUID
EVENT{"event_type":"spec-authored","event_id":"3af034f0-0917-40d2-b9bf-f8edff0d01a9"}
--- A word, over and over.
EVENT{"event_type":"round-start","round_id":"deadbeef-dead-4eef-8ead-beefdeadbeef"}
                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
--- Each may be random, but not both.
EVENT{"event_type":"round-start","round_id":"9d2c41f7-3be8-4a06-b1c5-7e60d84f0001"}
… but for a part that counts                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"round-start","round_id":"9d2c41f7-3be8-4a06-b1c5-7e60d84f0002"}
                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"round-start","round_id":"019723ab-41c6-7e06-b1c5-7e60d84f0001"}
EVENT{"event_type":"round-start","round_id":"019723ab-41c6-7e06-b1c5-7e60d84f0002"}
--- Those of which no two are alike otherwise may begin alike, but no three.
EVENT{"event_type":"round-start","round_id":"00000001-3be8-4a06-b1c5-7e60d84f9ad2"}
… but for a part that counts up             ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"round-start","round_id":"00000002-91d7-4c3e-8f20-5b6ca1e07d48"}
                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"round-start","round_id":"00000003-c64f-49b1-a7e8-20d9f35b8c16"}
                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"round-start","round_id":"9d2c41f7-3be8-4a01-b1c5-7e60d84f9ad2"}
                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
EVENT{"event_type":"round-start","round_id":"9d2c41f7-3be8-4a02-b1c5-7e60d84f9ad2"}
                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
--- The digit of the version breaks the pattern.
EVENT{"event_type":"round-start","round_id":"a1b2c3d4-e5f6-4789-8abc-def012345678"}
                                            ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
--- What is no UUID has a finding of its own.
EVENT{"event_type":"dispatch-start","dispatch_id":"0b6f2c5e-8f0d-4c1b-9a3e-5d2f6a7b8c90"}
EVENT{"event_type":"dispatch-start","dispatch_id":"D1"}
"""

from itertools import chain
from typing import cast

from drive_trace.linter.edits import Fixes, new_event_id
from drive_trace.linter.rule import Finding, Findings, Place, Rule, Run, Severity
from drive_trace.trace.line import EVENT_ID
from drive_trace.vocabulary import DISPATCH, ROUND, Form, invented_ids, looks_invented

_TYPED = "no random UUID looks like this"
_COUNTED = "but for a part that counts up, this is like another id of the run"


def _check(run: Run) -> Findings:
    starts = [(of.field, run.table(of.opener, of.field)) for of in (DISPATCH, ROUND)]
    ids = [cast("str", each) for _, table in starts for each in table]
    found = invented_ids([*(line.facts[EVENT_ID] for line in run.lines), *ids])
    if not found:
        return
    named = [("event_id", line) for line in run.lines]
    named += ((field, line) for field, table in starts for line in chain(*table.values()))
    for line, field, value in ((line, field, line.text_fact(field)) for field, line in named):
        if value in found and value in Form.UUID:
            why = _TYPED if looks_invented(value) else _COUNTED
            yield RULE.finding(line, field, f"{why}: it was made up")


def _fixes(finding: Finding) -> Fixes:
    if finding.place == Place.value("event_id"):
        yield new_event_id(finding)


RULE = Rule(Severity.INFORMATION, _check, fixes=_fixes, sums="")
