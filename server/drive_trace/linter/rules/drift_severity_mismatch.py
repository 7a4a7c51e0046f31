"""The worst severity of drift does not go with the number of signals.

A health check's `max_drift_severity` is `none` exactly when its `drift_signal_count` is 0. A
severity without a signal, or signals without a severity, says that one of the two is wrong.

**Fix.** Where there are no signals, `none` is suggested. How serious a signal is, only the writer
knows.

Examples:
EVENT{"event_type":"health-check-fired","drift_signal_count":0,"max_drift_severity":"low"}
… must be "none" where there are no signals; found "low"                            ^^^^^
=> Replace with "none"
EVENT{"event_type":"health-check-fired","drift_signal_count":0,"max_drift_severity":"none"}
---
EVENT{"event_type":"health-check-fired","drift_signal_count":2,"max_drift_severity":"none"}
… must not be "none" where there are signals (2)                                    ^^^^^^
---
EVENT{"event_type":"health-check-fired","drift_signal_count":0,"max_drift_severity":"none"}
EVENT{"event_type":"health-check-fired","drift_signal_count":1,"max_drift_severity":"low"}
"""

from drive_trace.linter.edits import Fixes, Level, object_on, replacing
from drive_trace.linter.rule import Finding, Findings, LineDiagnostic, Rule, Severity, shown


def _check(subject: LineDiagnostic) -> Findings:
    count = object_on(subject.line)["drift_signal_count"]
    message = (
        f'must be "none" where there are no signals; found {shown(subject.diagnostic.found)}'
        if count == 0
        else f'must not be "none" where there are signals ({shown(count)})'
    )
    counted = ("drift_signal_count", "the signals are counted here")
    yield subject.finding(RULE, f"`max_drift_severity` {message}", None, counted)


def _fixes(finding: Finding) -> Fixes:
    if finding.cause.found != "none":
        yield replacing(finding, '"none"', Level.BY_HAND)


RULE = Rule(Severity.WARNING, _check, fixes=_fixes)
