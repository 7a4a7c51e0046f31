"""A timestamp is not ISO 8601 in UTC.

A timestamp is ISO 8601 in UTC, to the second or finer: `2026-05-28T14:00:00.000Z`. Readers take
any string, but they compare timestamps as strings and subtract them: one in another notation
sorts wrongly, and durations that it is a part of are not known.

**Fix.** Where the moment is certain (an offset is given, as in `2026-05-28 16:00:00+02:00`, or it
is the number of seconds since 1970), the same moment in UTC is suggested. A time without a zone is
suggested to be in UTC, one at a time. A day without a time, or one that does not exist (30
February), has no fix.

Examples:
EVENT{"event_type":"slice-completed","ts":"2026-05-28 16:00:00+02:00"}
… should be an ISO 8601 time in UTC       ^^^^^^^^^^^^^^^^^^^^^^^^^^^
=> Replace with "2026-05-28T14:00:00.000Z"
EVENT{"event_type":"slice-completed","ts":"2026-05-28T14:00:00.000Z"}
--- Milliseconds since 1970.
EVENT{"event_type":"slice-completed","ts":"1779976800000"}
                                          ^^^^^^^^^^^^^^^
=> Replace with "2026-05-28T14:00:00.000Z"
EVENT{"event_type":"slice-completed","ts":"2026-05-28T14:00:00.000Z"}
--- Without a zone it is not certain which moment is meant: most likely it is UTC.
EVENT{"event_type":"slice-completed","ts":"2026-11-22T10:43:00.000"}
                                          ^^^^^^^^^^^^^^^^^^^^^^^^^
=> Replace with "2026-11-22T10:43:00.000Z", taken as UTC
EVENT{"event_type":"slice-completed","ts":"2026-11-22T10:43:00.000Z"}
---
EVENT{"event_type":"slice-completed","ts":"2026-02-30T14:00:00.000Z"}
… there is no 30 February 2026            ^^^^^^^^^^^^^^^^^^^^^^^^^^
--- Any fraction of a second, or none, and UTC as an offset of zero.
EVENT{"event_type":"slice-started","ts":"2028-02-29T14:00:00Z"}
EVENT{"event_type":"slice-completed","ts":"2028-02-29T14:00:00.123456+00:00"}
"""

import re

from drive_trace.linter.edits import Fixes, Level, replacing, say_in_type
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity
from drive_trace.text.wording import MONTHS
from drive_trace.vocabulary.slips import said_in_type

_DAY = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?![0-9])")


def _check(subject: LineDiagnostic) -> Findings:
    finding = subject.malformed(RULE)
    why = _no_such_day(str(subject.diagnostic.found))
    yield finding._replace(message=f"{finding.message}: {why}") if why is not None else finding


def _no_such_day(found: str) -> str | None:
    """Why there is no such day, where a day is named."""
    day = _DAY.match(found.strip())
    if day is None:
        return None
    year, month, number = map(int, day.groups())
    if not 1 <= month <= len(MONTHS):
        return f"there is no month {month}"
    from calendar import monthrange  # noqa: PLC0415 - few timestamps are malformed

    days = monthrange(year, month)[1] if year else 0
    if 1 <= number <= days or not year:
        return None
    return f"there is no {number} {MONTHS[month - 1]} {year}"


def _fixes(finding: Finding) -> Fixes:
    yield from say_in_type(finding)
    field, found = finding.cause.field, str(finding.cause.found)
    if field is not None and said_in_type(field, found) is None:
        in_utc = said_in_type(field, f"{found} Z")
        if in_utc is not None:
            yield replacing(finding, in_utc, Level.BY_HAND, f"Replace with {in_utc}, taken as UTC")


RULE = Rule(Severity.WARNING, _check, fixes=_fixes, sums="times are not written in UTC")
