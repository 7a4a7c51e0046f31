"""Values that the other lines of a run determine, for a line that readers reject."""

from __future__ import annotations

from drive_trace.linter.edits import values_of
from drive_trace.trace.durations import MOMENT_MS, TIMED
from drive_trace.trace.index import Index
from drive_trace.trace.line import FlaggedLine, Line, name_of
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import Form

_BRIEF = "brief-issued"
_MOST_BRIEFS = 100


def measured_ms(index: Index, line: Line) -> int | None:
    """How long a dispatch or round took by its timestamps that a rejected line was meant to end.
    None where they tell nothing: if one is missing, or both were written at one moment.
    """
    of = next((of for of in TIMED if of.closer == name_of(line)), None)
    run = index.runs.get(line.run_id or "") if isinstance(line, FlaggedLine) else None
    if of is None or run is None:
        return None
    values = values_of(line)
    named, ts = values.get(of.field), values.get("ts")
    if not isinstance(named, str) or not isinstance(ts, str):
        return None
    start = run.table(of.opener, of.field).of(named).before(line)
    end = run.table(of.closer, of.field).of(named).before(line)
    if start is None or (end is not None and end.order > start.order):
        return None
    passed = milliseconds_between(start.text_fact("ts"), ts)
    return passed if passed is not None and passed > MOMENT_MS else None


def disposition(index: Index, line: Line) -> str | None:
    """What the hashes of its dispatch's briefs say that the brief on a rejected line is; None where
    they cannot be compared.
    """
    of = TIMED[0]
    run = index.runs.get(line.run_id or "") if isinstance(line, FlaggedLine) else None
    values = values_of(line)
    named = values.get(of.field)
    if run is None or name_of(line) != _BRIEF or not isinstance(named, str):
        return None
    unread = [
        values_of(each)
        for each in index.unread_naming(run.run_id, of.field, named)[:_MOST_BRIEFS]
        if each.order < line.order and name_of(each) == _BRIEF
    ]
    briefs = run.table(_BRIEF, of.field).of(named)
    earlier: list[object] = [
        *(each.fact("brief_content_hash") for each in briefs.nearest_before(line, _MOST_BRIEFS)),
        *(each.get("brief_content_hash") for each in unread),
    ]
    hashes = [*earlier, values.get("brief_content_hash")]
    if not all(isinstance(each, str) and each in Form.SHA256 for each in hashes):
        return None
    *before, own = (str(each).lower() for each in hashes)
    return "reissue" if own in before else "amended" if before else "initial"
