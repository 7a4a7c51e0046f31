"""A value has the wrong JSON type.

A field holds a value of the wrong JSON type: a number written as a string, `null` where a
value is required, prose where counts are expected. Readers reject the event.

What counts of a number is its value: `5`, `5.0` and `5e2` are integers, `1.5` is not, and a boolean
is never a number.

**Fix.** Offered as a suggestion where nothing is lost, and the field takes what comes out:
`"12"` → `12`, `"1,200"` → `1200`, `"null"` → `null`, `"true"` → `true`, `12` → `"12"`. A number
where a time, a UUID, a hash or an event's name is expected has none: as a string it would be none
of these either. An id or an outcome is replaced one at a time. Where a duration is null, the time
between the timestamps of start and end is suggested, unless they lie within 5 seconds: then they
were written afterwards.

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

import re

from drive_trace.linter.edits import Fixes, Level, as_json, measured_ms, replacing
from drive_trace.linter.rule import (
    Finding,
    Findings,
    LineDiagnostic,
    Place,
    Rule,
    Severity,
    Surroundings,
)
from drive_trace.text.wording import duration
from drive_trace.vocabulary import BooleanShape, FieldType, IntegerShape, OneOfShape, StringShape

_CLAIM = Place.value("wall_clock_ms")
_GROUPED = r"-?[0-9]{1,3}(?:([,_ \u00a0\u202f])[0-9]{3})(?:\1[0-9]{3}){0,3}"
_INTEGER = r"-?(0|[1-9][0-9]{0,14})"


def _check(subject: LineDiagnostic) -> Findings:
    yield subject.wrong_value(RULE)


def _fixes(finding: Finding) -> Fixes:
    diagnostic = finding.cause
    assert diagnostic.field is not None
    text = _converted(diagnostic.field, diagnostic.found)
    if text is not None:
        is_id = diagnostic.field.names is not None
        level = Level.BY_HAND if is_id or diagnostic.field.is_outcome else Level.IN_BULK
        yield replacing(finding, text, level)


def _converted(field: FieldType, found: object) -> str | None:
    """JSON text that says the same in a type that the field takes."""
    if isinstance(found, str) and found in ("null", "None") and field.nullable:
        return "null"
    match field.shape:
        case IntegerShape(minimum) if isinstance(found, str) and (number := _number(found)):
            return number if minimum is None or int(number) >= minimum else None
        case BooleanShape() if isinstance(found, str) and found.lower() in ("true", "false"):
            return found.lower()
        case StringShape(form) if isinstance(found, int) and not isinstance(found, bool):
            # A string that is none of what the field takes would only hide the mistake.
            is_one = field.name != "event_type" and (form is None or str(found) in form)
            return as_json(str(found)) if is_one else None
        case OneOfShape(meanings) if isinstance(found, bool) and "pass" in meanings:
            return as_json("pass" if found else "fail")
        case _:
            return None


def _number(found: str) -> str | None:
    """The digits of an integer, which may be grouped by thousands."""
    plain = re.sub("[,_ \u00a0\u202f]", "", found) if re.fullmatch(_GROUPED, found) else found
    return plain if re.fullmatch(_INTEGER, plain) else None


def _measured(finding: Finding, around: Surroundings) -> Fixes:
    diagnostic = finding.cause
    if diagnostic.path == _CLAIM.path and diagnostic.found is None:
        passed = measured_ms(around.trace, finding.line)
        if passed is not None:
            title = f"Fill in `wall_clock_ms`: {passed} ({duration(passed)})"
            yield replacing(finding, str(passed), Level.IN_BULK, title)


RULE = Rule(Severity.ERROR, _check, fixes=_fixes, fixes_around=_measured)
