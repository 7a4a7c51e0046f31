"""Values that the other lines of a run determine."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from operator import attrgetter
from typing import cast

from drive_trace.linter.edits import replace_with_expected, values_of
from drive_trace.linter.rule import Finding, Fix
from drive_trace.trace.durations import FORGOTTEN_MS, MOMENT_MS, TIMED
from drive_trace.trace.index import Index
from drive_trace.trace.line import FlaggedLine, Line, name_of
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import Form

_BRIEF = "brief-issued"
_MOST_BRIEFS = 100
_ZONE_MS = 30 * 60_000
"""Zones of time differ by multiples of this."""


def measured_ms(index: Index, line: Line) -> int | None:
    """How long a dispatch or round took by its timestamps that a rejected line was meant to end.
    None where they tell nothing: if one is missing, or both were written at one moment, or more
    than a day apart.
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
    return passed if passed is not None and MOMENT_MS < passed <= FORGOTTEN_MS else None


def replace_with_measured(finding: Finding) -> Iterable[Fix]:
    """Suggests the time between two timestamps for a duration, unless they are in doubt: more than
    a day lies between them, or about a multiple of what zones differ by is the difference; or a
    time of the run goes back beside one of them.
    """
    run, ends = finding.run, (finding.related[0].line, finding.line)
    assert run is not None
    beside = {near for line in ends for near in (run.lines.before(line), run.lines.after(line))}
    lines = sorted(filter(None, beside.union(ends)), key=attrgetter("order"))
    stamps = pairwise(line.text_fact("ts") for line in lines)
    goes_back = any((milliseconds_between(*two) or 0) < 0 for two in stamps)
    passed = cast("int", finding.expected)
    off = abs(cast("int", finding.line.fact("wall_clock_ms")) - passed) + MOMENT_MS
    # A local time that is marked as UTC is off by a zone, and what is claimed is right.
    is_zone = off >= _ZONE_MS and off % _ZONE_MS <= 2 * MOMENT_MS
    if not goes_back and not is_zone and passed <= FORGOTTEN_MS:
        yield from replace_with_expected(finding, ", as the timestamps say")


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
