"""Which lines an edit has judged anew: what the subjects in ``subjects.py`` depend on."""

from __future__ import annotations

from collections.abc import Iterable

from drive_trace.rules import subjects
from drive_trace.trace.index import Group, Index, Run
from drive_trace.trace.line import Line, LineSet
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, EventType

_DISPATCH = LIFETIMES[Entity.DISPATCH]
_ROUND = LIFETIMES[Entity.ROUND]
_FEEDS = [event.name for event in EVENTS.values() if event.is_feed]


def affected_by(index: Index, line: Line) -> Iterable[Line]:
    """The lines whose subjects can say something else when this line comes or goes.

    Asked when the line has come already, or has gone. A subject depends on the
    nearest lines around its own, and on what is among the first of its group or
    within ``REACH`` of its own line: that is what is given here.
    """
    for group in index.groups_of(line):
        for lines in group.lines():
            yield from _near(lines, line)
        if group.field == _DISPATCH.field:
            yield from _beyond_dispatch(index, group, line)
    if line.event is None:
        return
    yield from _around(index.event_ids.of(line.fact("event_id")), line)
    run = index.runs.get(line.run)
    if run is not None:
        yield from _in_run(run, line, line.event)


def _beyond_dispatch(index: Index, group: Group, line: Line) -> Iterable[Line]:
    """Dispatches that resume one that a line names; and its briefs, which are compared."""
    resuming = index.table(_DISPATCH.opener, "parent_dispatch_id")
    yield from _near(resuming.of(group.value), line)
    event = line.event
    if event is not None and event.name == _DISPATCH.opener:
        yield from _near(resuming.of(line.fact("parent_dispatch_id")), line)
    briefs = group.home.table("brief-issued", group.field).of(group.value)
    if len(briefs) <= subjects.MOST_BRIEFS + 1:
        yield from briefs


def _in_run(run: Run, line: Line, event: EventType) -> Iterable[Line]:
    following = run.lines.after(line)
    if following is not None:
        yield following
    if event.name in subjects.DISPATCHES_MOVE_ON:
        start = run.events(_DISPATCH.opener).before(line)
        if start is not None:
            yield start
    if event.name == _ROUND.opener:
        # Whether a round is started again decides whether the next one's number is judged.
        numbered = run.table(_ROUND.opener, _DISPATCH.field)
        same = run.table(_ROUND.opener, _ROUND.field).of(line.fact(_ROUND.field))
        for start in _around(same, line):
            following = numbered.of(start.fact(_DISPATCH.field)).after(start)
            if following is not None:
                yield following
    for name in _FEEDS if event.is_work or event.is_feed else ():
        feed = run.events(name)
        yield from feed[-1:]
        if event.name == name:
            yield from _around(feed, line)


def _near(lines: LineSet, line: Line) -> Iterable[Line]:
    yield from lines[: subjects.REACH + 1]
    yield from _around(lines, line)


def _around(lines: LineSet, line: Line) -> Iterable[Line]:
    place = lines.position(line)
    return lines[max(0, place - subjects.REACH) : place + subjects.REACH + 1]
