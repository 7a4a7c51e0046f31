"""A timestamp is ISO 8601 in UTC, to the second or finer: `2026-05-28T14:00:00.000Z`. Readers take
any string, but they compare timestamps as strings and subtract them: one in another notation
sorts wrongly, and durations that it is a part of are not known.

**Fix.** Where the moment is certain (an offset is given, as in `2026-05-28 16:00:00+02:00`), the
same moment in UTC is suggested. A time without a zone, or a day that does not exist, has no fix.
"""

from collections.abc import Iterable
from datetime import UTC, datetime

from drive_trace.linter.edits import as_json, replacing
from drive_trace.linter.rule import Example, Finding, Fix, Level, LineDiagnostic, Rule, Severity
from drive_trace.vocabulary import Form


def _check(subject: LineDiagnostic) -> Iterable[Finding]:
    yield subject.malformed(RULE)


def _fixes(finding: Finding) -> Iterable[Fix]:
    moment = _moment(str(finding.noted.found))
    if moment is not None:
        yield replacing(finding, as_json(moment), Level.IN_BULK)


def _moment(found: str) -> str | None:
    """The moment that a string certainly means, as the vocabulary writes it."""
    text = found.strip().upper()
    for zone in (" UTC", " GMT", " Z"):
        if text.endswith(zone):
            text = text.removesuffix(zone) + "Z"
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            return None
        moment = moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    precision = "microseconds" if moment.microsecond % 1000 else "milliseconds"
    written = moment.isoformat(timespec=precision).replace("+00:00", "Z")
    return written if written in Form.TIMESTAMP else None


RULE = Rule(
    code="malformed-timestamp",
    severity=Severity.WARNING,
    entity=LineDiagnostic,
    check=_check,
    fixes=_fixes,
    summary="A timestamp is not ISO 8601 in UTC.",
)

EXAMPLES = (
    Example(
        """
        EVENT{"event_type":"slice-completed","ts":"2026-05-28 16:00:00+02:00"}
        … should be an ISO 8601 time in UTC       ^^^^^^^^^^^^^^^^^^^^^^^^^^^
        """,
        """
        EVENT{"event_type":"slice-completed","ts":"2026-05-28T14:00:00.000Z"}
        """,
        fix='Replace with "2026-05-28T14:00:00.000Z"',
    ),
    # Without a zone it is not certain which moment is meant.
    Example(
        """
        EVENT{"event_type":"slice-completed","ts":"2026-05-28T14:00:00"}
                                                  ^^^^^^^^^^^^^^^^^^^^^
        """
    ),
    Example(
        """
        EVENT{"event_type":"slice-completed","ts":"2026-02-30T14:00:00.000Z"}
                                                  ^^^^^^^^^^^^^^^^^^^^^^^^^^
        """
    ),
    # Any fraction of a second, or none, and UTC as an offset of zero.
    Example(
        """
        EVENT{"event_type":"slice-started","ts":"2028-02-29T14:00:00Z"}
        EVENT{"event_type":"slice-completed","ts":"2028-02-29T14:00:00.123456+00:00"}
        """
    ),
)
