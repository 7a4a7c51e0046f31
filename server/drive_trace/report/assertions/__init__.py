"""The 31 assertions of the Drive method, in their order."""

from __future__ import annotations

from collections.abc import Sequence

from drive_trace.report.assertions import decidable as d
from drive_trace.report.assertions import undecidable as u
from drive_trace.report.assertions.base import Assertion, Checked, Status
from drive_trace.report.event_log import EventLog

ASSERTIONS: Sequence[Assertion] = (
    *(d.I1, u.I2, u.I3, d.I4, u.I5, d.I6, u.I7, d.I8, u.I9, d.I10, u.I11, u.I12),
    *(u.CASCADE_1, u.CASCADE_2, d.CASCADE_3, u.CASCADE_4),
    *(u.CASCADE_5, u.CASCADE_6, u.CASCADE_7, u.CASCADE_8),
    *(u.BD_1, u.BD_2, u.BD_3, u.BD_4, u.BD_5, u.BD_6, u.BD_7, d.BD_8, u.BD_9, u.BD_10, u.BD_11),
)
"""Every assertion, in the order in which they are shown."""


def check_all(log: EventLog) -> tuple[Checked, ...]:
    """Hold the events against every assertion."""
    return tuple(Checked(assertion, assertion.check(log)) for assertion in ASSERTIONS)


__all__ = ["ASSERTIONS", "Assertion", "Checked", "Status", "check_all"]
