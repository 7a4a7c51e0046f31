"""A value has the wrong JSON type.

A field holds a value of the wrong JSON type: a number written as a string, `null` where a
value is required, prose where counts are expected. Readers reject the event.

What counts of a number is its value: `5`, `5.0` and `5e2` are integers, `1.5` is not, and a boolean
is never a number.

**Fix.** Offered as a suggestion where nothing is lost, and the field takes what comes out: `"12"` →
`12`, `"1,200"` → `1200`, `"PT32M30S"` → `1950000`, `"null"` → `null`, `"true"` → `true`, `12` →
`"12"`, `"adr"` → `["adr"]`, and for a time the seconds since 1970, or thousandths or millionths of
them. Any other number where a time, a UUID, a hash or an event's name is expected has none: as a
string it would be none of these either. An id or an outcome is replaced one at a time. Where a
duration is null, the time between the timestamps of start and end is suggested, unless they lie
within 5 seconds: then they were written afterwards.

Examples:
EVENT{"event_type":"dispatch-end","wall_clock_ms":"1680000"}
                                                  ^^^^^^^^^ … an integer of at least 0
=> Replace with 1680000
EVENT{"event_type":"dispatch-end","wall_clock_ms":1680000}
---
EVENT{"event_type":"slice-completed","pr_ref":481}
                                              ^^^
=>
EVENT{"event_type":"slice-completed","pr_ref":"481"}
---
EVENT{"event_type":"project-closed","final_retro_done":"true"}
                                                       ^^^^^^
=>
EVENT{"event_type":"project-closed","final_retro_done":true}
---
EVENT{"event_type":"tokens-recorded","input_tokens":"null"}
                                                    ^^^^^^
=>
EVENT{"event_type":"tokens-recorded","input_tokens":null}
---
EVENT{"event_type":"dispatch-end","wall_clock_ms":"PT32M30S"}
                                                  ^^^^^^^^^^
=>
EVENT{"event_type":"dispatch-end","wall_clock_ms":1950000}
---
EVENT{"event_type":"retro-landed","landing_surfaces":"adr"}
                                                     ^^^^^
=>
EVENT{"event_type":"retro-landed","landing_surfaces":["adr"]}
---
EVENT{"event_type":"slice-completed","ts":1779976800}
                                          ^^^^^^^^^^
=>
EVENT{"event_type":"slice-completed","ts":"2026-05-28T14:00:00.000Z"}
--- "5" is no time, and no event either.
EVENT{"event_type":"slice-completed","ts":5}
                                          ^ … found 5
---
EVENT{"event_type":5}
                   ^ … found 5
--- Null is no value here, however it is written.
EVENT{"event_type":"dispatch-end","wall_clock_ms":"null"}
                                                  ^^^^^^
--- The time that nobody could measure is not made up.
EVENT{"event_type":"round-end","wall_clock_ms":null}
                                               ^^^^ … found null
---
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:12:24.000Z","wall_clock_ms":null}
… must be an integer of at least 0; found null                                 ^^^^
=> Fill in `wall_clock_ms`: 744000 (12m 24s)
EVENT{"event_type":"round-start","ts":"2026-05-28T14:00:00.000Z"}
EVENT{"event_type":"round-end","ts":"2026-05-28T14:12:24.000Z","wall_clock_ms":744000}
---
EVENT{"event_type":"brief-issued","brief_byte_length":"1,200"}
                                                      ^^^^^^^ … found "1,200"
=>
EVENT{"event_type":"brief-issued","brief_byte_length":1200}
---
EVENT{"event_type":"plan-authored","dispatch_size_distribution":"3 S, 2 M"}
… must be an object                                             ^^^^^^^^^^
---
EVENT{"event_type":"spec-amended","sections_changed":["Scope",2]}
… an item of `sections_changed` must be a string              ^
=>
EVENT{"event_type":"spec-amended","sections_changed":["Scope","2"]}
--- What counts of a number is its value as a double.
EVENT{"event_type":"dispatch-end","wall_clock_ms":1.68e6}
---
EVENT{"event_type":"dispatch-end","wall_clock_ms":1680000.5}
                                                  ^^^^^^^^^
"""

from drive_trace.linter.edits import Fixes, Level, measured_ms, replacing, say_in_type
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, WholeTrace
from drive_trace.text.wording import duration


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.wrong_value(RULE)


def _measured(finding: Finding, trace: WholeTrace) -> Fixes:
    diagnostic = finding.cause
    if diagnostic.path == ("wall_clock_ms",) and diagnostic.found is None:
        passed = measured_ms(trace.index, finding.line)
        if passed is not None:
            title = f"Fill in `wall_clock_ms`: {passed} ({duration(passed)})"
            yield replacing(finding, str(passed), Level.IN_BULK, title)


RULE = Rule(
    Severity.ERROR, _check, fixes=say_in_type, fixes_around=_measured, sums="", sums_by="line"
)
