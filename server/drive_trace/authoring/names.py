"""What the things of a trace are called where they are to be chosen among."""

from __future__ import annotations

from drive_trace.trace.line import Line
from drive_trace.trace.structure import Scope
from drive_trace.vocabulary import LIFETIMES, Entity, Lifetime

_DISPATCH = LIFETIMES[Entity.DISPATCH]


def about(scope: Scope, of: Lifetime, start: Line, now: str) -> str:
    """What was started, and since when it is open or how it ended: ``implementer D1 R1, open
    since 14:02``. ``now`` is a timestamp.
    """
    ends = scope.of(of.closer, of.field, start.fact(of.field))
    end = ends[-1] if ends and ends[-1].order > start.order else None
    state = f"open since {clock(start.text_fact('ts'), now)}"
    if end is not None:
        result = f"{end.fact('result')} " if end.event and "result" in end.event.keeps else ""
        state = f"{result or 'ended '}{clock(end.text_fact('ts'), now)}"
    return f"{_name(scope, of, start)}, {state}"


def _name(scope: Scope, of: Lifetime, start: Line) -> str:
    match of.entity:
        case Entity.DISPATCH:
            return _called(start)
        case Entity.ROUND:
            dispatch = scope.start_of(_DISPATCH, start.fact(_DISPATCH.field))
            within = f" of {_called(dispatch)}" if dispatch is not None else ""
            return f"round {start.fact('round_number')}{within}"
        case _:
            return f"{of.entity} {start.fact('slice_index')}"


def _called(dispatch: Line) -> str:
    """Its name, which somebody may not have written yet."""
    return dispatch.text_fact("dispatch_name").strip() or "a dispatch without a name"


def clock(ts: str, now: str) -> str:
    """When an event was, in UTC: ``14:02``, with its day if that is not today's."""
    day, time = ts[:10], ts[11:16]
    return time if day == now[:10] else f"{day} {time}".strip()
