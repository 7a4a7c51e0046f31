"""``driveTrace/events`` and ``driveTrace/event``: the lines of a trace as rows, and one of them."""

from collections.abc import Iterator

from drive_trace.analysis import Analysis
from drive_trace.json_text import as_json
from drive_trace.linter.edits import object_on
from drive_trace.report.event_log import EventWords
from drive_trace.scorecard.dispatches import Event
from drive_trace.stopping import unless_stopped
from drive_trace.text.wording import printable
from drive_trace.trace import reading, scope, times
from drive_trace.trace.line import Line, LineStatus, event_of, name_of, run_id_of
from drive_trace.vocabulary import DISPATCH, ENVELOPE, LIFETIMES, ROUND, Entity, EventType, Lifetime

MOST_ROWS = 1000
"""The most rows of a page."""
_LONGEST = 500
"""The most characters of a text."""
_WORDS = EventWords(())
"""Without the names of dispatches and rounds, which stand beside the words."""


def page_json(analysis: Analysis, first: int) -> dict[str, object]:
    """The rows of the lines from one on, counted from 0; ``next`` is where the next page begins."""
    lines, first = analysis.document.lines, max(first, 0)
    stop = min(first + MOST_ROWS, len(lines))
    within = scope.nestings(analysis.index, lines)
    rows = [
        _row(analysis, lines[number], within[number], number)
        for number in unless_stopped(range(first, stop))
        if lines[number].status is not LineStatus.BLANK
    ]
    return {"total": len(lines), "next": stop if stop < len(lines) else None, "rows": rows}


def _row(analysis: Analysis, line: Line, nesting: scope.Nesting, number: int) -> dict[str, object]:
    """What is null or none goes without saying."""
    findings = analysis.findings_of(line)
    dispatch = _start(analysis, nesting.run, DISPATCH, nesting.dispatch)
    round_ = _start(analysis, nesting.run, ROUND, nesting.round)
    ts = object_on(line).get("ts") if line.event is None else line.text_fact("ts")
    row: dict[str, object] = {
        "line": analysis.document.protocol_line(number),
        "ts": printable(ts, 40) if isinstance(ts, str) else None,
        "event": printable(name_of(line) or "", 60),
        "status": line.status.value,
        "run": nesting.run,
        "slice": printable(nesting.slice) if nesting.slice else None,
        "dispatchId": nesting.dispatch,
        "dispatch": printable(dispatch.text_fact("dispatch_name")) if dispatch else None,
        "round": round_.fact("round_number") if round_ is not None else None,
    }
    if findings:
        row["findings"] = len(findings)
        row["severity"] = min(map(analysis.severity_of, findings)).label
    if line.event is None:
        words = next((analysis.message(each.message) for each in findings), line.text)
    else:
        event = Event(line.event.name, reading.values_of(line), "", 0)
        words = _WORDS.of(event)
        row |= _ending(line, line.event, event, dispatch, round_)
    row["words"] = printable(words, _LONGEST)
    return {name: value for name, value in row.items() if value is not None}


def _start(
    analysis: Analysis, run_id: str | None, of: Lifetime | None, name: object
) -> Line | None:
    """The event that starts a dispatch, round or slice of a run."""
    run = analysis.index.runs.get(run_id) if run_id is not None else None
    if run is None or of is None or not isinstance(name, str):
        return None
    return run.of(of.opener, of.field, name).first


def _ending(
    line: Line, of: EventType, event: Event, dispatch: Line | None, round_: Line | None
) -> dict[str, object]:
    """How something came out, and how long it took, by the clock and as its author claims."""
    outcome = next((name for name, field in of.fields.items() if field.is_outcome), "")
    found = {"outcome": event.values.get(outcome)}
    start = {Entity.DISPATCH: dispatch, Entity.ROUND: round_}.get(of.closes or Entity.RUN)
    if start is not None and "wall_clock_ms" in of.keeps:
        found["clockMs"] = times.milliseconds_between(start.text_fact("ts"), line.text_fact("ts"))
        found["claimedMs"] = line.fact("wall_clock_ms")
    return found


# One line


def event_json(analysis: Analysis, number: int) -> dict[str, object] | None:
    """The fields of a record, counted from 0, with their meanings and what they lead to, and its
    findings.
    """
    lines = analysis.document.lines
    if not 0 <= number < len(lines):
        return None
    line = lines[number]
    event = event_of(line)
    return {
        "line": analysis.document.protocol_line(number),
        "event": printable(name_of(line) or "", 60),
        "run": run_id_of(line),
        "prose": event.prose if event is not None else "",
        "fields": list(_fields(analysis, line, event)),
        "findings": [
            {
                "severity": analysis.severity_of(each).label,
                "rule": each.rule.code,
                "message": printable(analysis.message(each.message), _LONGEST),
            }
            for each in analysis.findings_of(line)[:20]
        ],
        "text": printable(line.text, 10_000),
    }


def _fields(analysis: Analysis, line: Line, event: EventType | None) -> Iterator[dict[str, object]]:
    document = analysis.document
    for name, value in list(object_on(line).items())[:100]:
        field = event.fields.get(name) if event is not None else None
        of = LIFETIMES.get(field.names) if field is not None and field.names is not None else None
        run_id = line.run if line.event is not None else None
        start = _start(analysis, run_id, of, value)
        leads = start is not None and start is not line
        yield {
            "name": printable(name),
            "value": printable(value if isinstance(value, str) else as_json(value), _LONGEST),
            "meaning": field.prose if field is not None else None,
            "leadsTo": document.protocol_line(document.number(start)) if leads and start else None,
            "isEnvelope": name in ENVELOPE,
        }
