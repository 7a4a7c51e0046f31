"""The report on one or several traces: scorecard, metrics, assertions, and how to read them."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from math import fsum, nan
from operator import itemgetter
from typing import NamedTuple

from drive_trace.report import event_log, metrics
from drive_trace.report.assertions import Checked, CheckResult, check_all
from drive_trace.report.event_log import EventLog, Timelines, TraceLog
from drive_trace.report.metrics import Measured
from drive_trace.scorecard import card as scorecard
from drive_trace.scorecard import caveats, dispatches, run_score, scoring
from drive_trace.scorecard.card import ScoreCard
from drive_trace.text.wording import listed, plural

FACTS = (
    "The metrics are facts over the valid events looked at, whatever the verdict. They are "
    "no score: which way is better means something between runs that are CORRECT, and nothing else."
)
"""Stands above the metrics."""

NOTHING_RIGHT = "Nothing here says that the work is right"

PROVENANCE = (
    "Recorded from outside: verdicts (correctness-recorded) and tokens (tokens-recorded), which "
    "are appended after the run.",
    "Author-asserted: what the trace's author wrote into the events (wall_clock_ms, verdicts of "
    "rounds and triage, findings, dispositions, models, sizes, severities). Nobody checked it.",
    "By the clock: the difference of the timestamps of two events, which the author's machine "
    "wrote as well.",
    "Counted: how many valid events there are. One that was never emitted, or was rejected, is "
    "not among them.",
)
"""Where values come from, so that nobody takes a claim for a measurement."""

SCOPES = (
    "Time and rework of Tier 2 are of each run's own events, and in total of the CORRECT runs. "
    "The metrics are over whole files, other runs included, as the reference reader has them."
)
"""Which events the figures of a report on whole files are about."""


SEVERITIES = ("error", "warning", "information", "hint")


class LineFinding(NamedTuple):
    """A finding of ``check``."""

    path: str
    line: int
    """From 1."""
    severity: str
    rule: str
    message: str
    is_fixable: bool = False
    """Whether an editor has a safe fix for it."""


FindingsByPath = Mapping[str, Sequence[LineFinding]]
"""The findings of each trace that was checked, by its path."""


def findings_phrase(found: Sequence[LineFinding] | None) -> str:
    """``2 errors and 1 hint``."""
    if found is None:
        return "not checked"
    count = Counter(each.severity for each in found)
    ends = {name: "s" * (name != "information") for name in SEVERITIES if count[name]}
    return listed(plural(count[name], name, end) for name, end in ends.items()) or "none"


def severity_order(found: Sequence[LineFinding] | None) -> float:
    """By what findings are sorted: how many are errors, then warnings, ...; NaN if unknown."""
    weights = {name: 1000.0**-n for n, name in enumerate(SEVERITIES)}
    # Exact, as releases of Python differ in how sum adds floats.
    return nan if found is None else fsum(weights[each.severity] for each in found)


class FullReport(NamedTuple):
    """Everything that a report shows."""

    card: ScoreCard
    metrics: Sequence[Measured]
    assertions: Sequence[Checked]
    timelines: Timelines
    traces: Sequence[TraceLog]
    events: Sequence[dispatches.Event]
    """Every event that counts, in the order of :class:`EventLog`."""
    findings: FindingsByPath | None = None
    """None if nobody checked the traces."""
    addresses: Mapping[str, str] = {}
    """By the path of a trace where VS Code opens it, if the page is to lead there."""
    pages: Mapping[str, tuple[str, Container[str]]] = {}
    """By the same where the web shows the files of its commit, and which these are."""
    transcripts: Mapping[str, str | None] = {}
    """By the id of an event where VS Code opens the log that it was measured from."""

    def by_run(self) -> dict[str, list[dispatches.Event]]:
        """The events of each run, in order."""
        return event_log.by_run(self.events)

    def findings_by_run(self) -> dict[str, list[LineFinding] | None]:
        """The findings of each run: those on its lines, and on lines of no run below them. None if
        some file of the run was not checked.
        """
        known = self.findings or {}
        found: dict[str, list[LineFinding] | None] = {
            run.run_id: [] if all(part.path in known for part in run.parts) else None
            for run in self.card.runs
        }
        for trace in self.traces:
            same = sorted(_owners(trace))
            for each in known.get(trace.path, ()) if same else ():
                at = max(bisect_right(same, each.line, key=itemgetter(0)) - 1, 0)
                mine = found.get(same[at][1])
                if mine is not None:
                    mine.append(each)
        return found

    @property
    def lines(self) -> Mapping[str, int]:
        """How many lines of all traces are events, and how many are not; blank ones are nothing."""
        return {
            "valid": sum(len(each.events) for each in self.traces),
            "invalid": sum(len(each.invalid_lines) for each in self.traces),
            "unknown": sum(len(each.summary.unknown_lines) for each in self.traces),
        }

    @property
    def line_counts(self) -> str:
        """The same in a sentence, so that no rejected line goes unnoticed."""
        valid, invalid, unknown = self.lines.values()
        return (
            f"{plural(valid, 'valid event')}. Not counted: {plural(invalid, 'invalid line')} "
            f"(rejected) and {unknown:,} of unknown event types."
        )

    @property
    def assertion_counts(self) -> str:
        """How many assertions came out which way, and what that means."""
        counts = Counter(checked.outcome.status for checked in self.assertions)
        return (
            f"{counts[CheckResult.PASS]} pass, {counts[CheckResult.FAIL]} fail, "
            f"{counts[CheckResult.NOT_APPLICABLE]} not applicable, "
            f"{counts[CheckResult.NOT_CHECKABLE]} cannot be checked from a trace. They are about "
            "how the run was recorded and driven, not about whether its result is right."
        )

    @property
    def warning(self) -> str | None:
        """A sentence against reading the figures as a success; None if some run is CORRECT."""
        reason = self.card.hidden_reason
        if reason is None:
            return None
        return f"{NOTHING_RIGHT}: {reason}."


def report_on(
    traces: Sequence[TraceLog],
    unread: Sequence[caveats.Unread] = (),
    left_out: caveats.Omitted = caveats.NOTHING_OMITTED,
    findings: FindingsByPath | None = None,
    only: Collection[str] | None = None,
) -> FullReport:
    """Make the report on traces. Runs are joined by their id, and their events as
    :class:`EventLog` says. ``unread`` are the inputs that could not be read; for ``left_out`` see
    :attr:`ScoreCard.left_out`. ``only`` are the ids of the runs that it is on, if not on all: what
    the traces hold of others has no place in it.
    """
    card = scorecard.score([trace.summary for trace in traces], unread, left_out, only=only)
    if only is not None:
        elsewhere = {trace.path: _lines_of_others(trace, only) for trace in traces}
        traces = [_without(trace, elsewhere[trace.path]) for trace in traces]
        findings = findings and {
            path: [each for each in found if each.line not in elsewhere[path]]
            for path, found in findings.items()
        }
    return _report(card, EventLog(traces, card.runs), traces, findings)


def _owners(trace: TraceLog) -> Iterator[tuple[int, str]]:
    """The numbers of the lines that name runs, each with its run."""
    yield from ((each.line, each.run_id) for each in trace.events)
    for run in trace.summary.runs:
        for part in run.parts:
            unknown = (each for each in part.unknown if each.run_id == run.run_id)
            yield from ((each.line, run.run_id) for each in (*part.rejected, *unknown))


def _lines_of_others(trace: TraceLog, only: Collection[str]) -> set[int]:
    """The numbers of the lines that are of other runs alone."""
    odd: dict[bool, set[int]] = {True: set(), False: set()}
    for line, run_id in _owners(trace):
        odd[run_id in only].add(line)
    return odd[False] - odd[True]


def _without(trace: TraceLog, lines: Collection[int]) -> TraceLog:
    unknown = tuple(each for each in trace.summary.unknown if each.line not in lines)
    return trace._replace(
        summary=trace.summary._replace(unknown=unknown),
        events=tuple(each for each in trace.events if each.line not in lines),
        invalid_lines=tuple(each for each in trace.invalid_lines if each not in lines),
    )


def report_on_run(run: run_score.RunScore, events: Sequence[dispatches.Event]) -> FullReport:
    """Make the report on one run of a trace, given its events."""
    log = EventLog([TraceLog(scoring.TraceSummary(""), tuple(events), ())])
    return _report(ScoreCard((run,), ()), log, (), None)


def _report(
    card: ScoreCard, log: EventLog, traces: Sequence[TraceLog], findings: FindingsByPath | None
) -> FullReport:
    rejected: dict[str, list[int]] = {}
    for each in (each for run in card.runs for each in run.rejected):
        rejected.setdefault(each.event_name or "", []).append(each.line)
    measured, checked = metrics.measure(log), check_all(log, rejected)
    spans = event_log.timelines(log)
    return FullReport(card, measured, checked, spans, tuple(traces), log.events, findings)


# As JSON


def to_json(report: FullReport) -> dict[str, object]:
    """The interface of ``report --format json``; the first three keys are the reference's."""
    return {
        "scorecard": scorecard.to_json(report.card),
        "metrics": metrics.to_json(report.metrics),
        "assertions": [_assertion_json(checked) for checked in report.assertions],
        "metric_notes": [_metric_json(measured) for measured in report.metrics],
        "timelines": event_log.timelines_json(report.timelines),
        "lines": report.lines,
        "files": [
            {
                "path": trace.path,
                "valid_events": len(trace.events),
                "invalid_lines": list(trace.invalid_lines),
                "unknown_lines": list(trace.summary.unknown_lines),
            }
            for trace in report.traces
        ],
        "warning": report.warning,
        "provenance": [FACTS, *PROVENANCE, SCOPES],
    }


def _assertion_json(checked: Checked) -> dict[str, object]:
    assertion, outcome = checked
    applies = outcome.status is not CheckResult.NOT_APPLICABLE
    return {
        "id": assertion.id,
        "title": assertion.title,
        "status": str(outcome.status if applies else CheckResult.PASS),
        "applies": applies,
        "evidence": [event.event_id for event in outcome.evidence],
        "note": outcome.note,
        "evidence_lines": [{"path": each.path, "line": each.line} for each in outcome.evidence],
    }


_SAID_OF_METRICS = ("group", "key", "title", "polarity", "source")


def _metric_json(measured: Measured) -> dict[str, object]:
    metric, value = measured
    said = {name: str(getattr(metric, name)) for name in _SAID_OF_METRICS}
    return {**said, "no_signal": metric.no_signal if value is None else None}
