"""The parts of a composed event: slots with choices, and notes that distinguish the choices."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from drive_trace.authoring.drafts import Stamp
from drive_trace.trace.line import Line
from drive_trace.trace.scope import Scope
from drive_trace.vocabulary import LIFETIMES, Entity, EventType, FieldType, Lifetime

_DISPATCH = LIFETIMES[Entity.DISPATCH]
Given = Mapping[str, object]
"""Fields that already have a value, as Python reads JSON."""


class Certainty(Enum):
    """How much is known of a field's value."""

    KNOWN = "known"
    """It is a fact of the trace, of the moment or of the vocabulary."""
    LIKELY = "likely"
    """The first choice can be taken unless somebody chooses another."""
    OPEN = "open"
    """Somebody has to fill it in."""


class Choice(NamedTuple):
    """A value that a field can have."""

    value: object
    """As Python reads JSON."""
    note: str = ""
    """What it is or means, in plain words; may contain text of the trace."""


@dataclass(frozen=True, slots=True)
class Slot:
    """A field of a composed event."""

    field: FieldType
    choices: tuple[Choice, ...]
    """What it can be, the likeliest first; empty where any value of the field's type will do."""
    certainty: Certainty

    @property
    def value(self) -> object:
        """What is known, or likely."""
        assert self.certainty is not Certainty.OPEN
        return self.choices[0].value


class Carried(NamedTuple):
    """What the next event of a feed repeats, so that recording one component keeps the others."""

    values: Mapping[str, object]
    """By field; empty where nothing was recorded, or the run went on since: no outcome is repeated
    then.
    """
    note: str
    """When that was recorded, and in which other file, or why it is not repeated."""
    has_newer_rejected: bool = False
    """Whether a newer one was rejected, and is not carried on."""


STALE = "the run went on since the last one, which is not repeated"
"""The note of a grade that says nothing of what came later."""
Carrying: TypeAlias = Callable[[Scope, str, str], Carried | None]
"""Gives it for a scope, the feed's name and the current time; None if it cannot be known."""


class EventContext(NamedTuple):
    """What a slot is to be filled for."""

    event: EventType
    scope: Scope
    stamp: Stamp
    stated: Given
    """The fields that already have a value."""
    given: Given
    """Those, and the ids that follow from them or are most likely meant."""
    is_ambiguous: bool
    """Whether the event could as well belong to another dispatch, round or slice."""
    carried: Carried | None
    """Of a feed's event; None where what was recorded cannot be known."""


def known(field: FieldType, value: object, note: str = "") -> Slot:
    """A slot with a value that is a fact."""
    return Slot(field, (Choice(value, note),), Certainty.KNOWN)


def likely(field: FieldType, choices: Iterable[Choice]) -> Slot:
    """A slot whose first choice can be taken; open if there is none."""
    choices = distinct(choices)
    return Slot(field, choices, Certainty.LIKELY if choices else Certainty.OPEN)


def open_slot(field: FieldType, choices: Iterable[Choice] = ()) -> Slot:
    """A slot that somebody has to fill."""
    return Slot(field, distinct(choices), Certainty.OPEN)


def distinct(choices: Iterable[Choice]) -> tuple[Choice, ...]:
    """The choices, each value once."""
    found: dict[tuple[type, object], Choice] = {}
    for choice in choices:
        found.setdefault((type(choice.value), choice.value), choice)
    return tuple(found.values())


# Notes


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
    return f"{name_of(scope, of, start)}, {state}"


def name_of(scope: Scope, of: Lifetime, start: Line) -> str:
    """What people call a dispatch, a round or a slice; text of the trace."""
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
