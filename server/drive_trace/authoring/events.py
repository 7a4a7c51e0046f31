"""Whole events, composed for a place of a trace."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from drive_trace.authoring.drafts import Stamp
from drive_trace.authoring.names import clock
from drive_trace.authoring.slots import Asked, Carried, Carrying, Certainty, Given, Slot, known
from drive_trace.authoring.values import slot_of
from drive_trace.linter.edits import as_json
from drive_trace.trace.structure import Opened, Scope
from drive_trace.vocabulary import ENVELOPE, EVENTS, KINDS, LIFETIMES, Entity, EventType, OneOfShape

_DISPATCH, _ROUND = LIFETIMES[Entity.DISPATCH], LIFETIMES[Entity.ROUND]


class Composed(NamedTuple):
    """An event with what is known of it."""

    event: EventType
    slots: tuple[Slot, ...]
    """The fields of the event, in the order of the vocabulary; of the optional ones those given."""

    @property
    def blanks(self) -> tuple[Slot, ...]:
        """What a person has to say."""
        return tuple(slot for slot in self.slots if slot.certainty is Certainty.OPEN)

    def record(self, filled: Mapping[str, object] | None = None) -> str | None:
        """The event as one compact record, without its newline; None while there are blanks that
        ``filled`` does not fill.
        """
        values = {slot.field.name: slot.value for slot in self.slots if slot not in self.blanks}
        values |= filled or {}
        names = [slot.field.name for slot in self.slots]
        if not values.keys() >= set(names):
            return None
        pairs = (f"{as_json(name)}:{as_json(values[name])}" for name in names)
        return "{" + ",".join(pairs) + "}"


def carried_here(scope: Scope, name: str, now: str) -> Carried:
    """What the trace itself says of a feed, for whoever knows of no other file of the run."""
    line, is_rejected = scope.feeds.get(name), scope.rejected_feed(name) is not None
    if line is None:
        return Carried({}, "", is_rejected)
    values = {field: line.fact(field) for field in EVENTS[name].fields if field not in ENVELOPE}
    return Carried(values, f"as recorded at {clock(line.text_fact('ts'), now)}", is_rejected)


def compose(
    event: EventType,
    scope: Scope,
    stamp: Stamp,
    given: Given | None = None,
    carrying: Carrying = carried_here,
) -> Composed:
    """An event for a place of a trace. ``given`` holds what is said of it already: values by
    field, which other fields are told from (how long a round took, by the round).
    """
    asked = asked_for(event, scope, stamp, given or {}, carrying)
    return Composed(
        event,
        tuple(
            known(field, given[name]) if given and name in given else slot_of(field, asked)
            for name, field in event.fields.items()
            if field.is_required or (given and name in given)
        ),
    )


def asked_for(
    event: EventType,
    scope: Scope,
    stamp: Stamp,
    given: Given,
    carrying: Carrying = carried_here,
) -> Asked:
    """What the fields of an event are told from: what is given, and the dispatch, round or slice
    that stands open and is most likely meant.
    """
    told = {name: value for name, value in given.items() if value is not None}
    is_ambiguous = False
    # A round says which dispatch is meant, so that it comes first.
    for of in (_ROUND, _DISPATCH, LIFETIMES[Entity.SLICE]):
        if of.field not in event.fields or of.field in told or event.opens is of.entity:
            continue
        fitting = [each for each in scope.opened[of.entity] if _fits(each, told)]
        if fitting:
            told[of.field] = fitting[0].id
            is_ambiguous = is_ambiguous or len(fitting) > 1
            if of is _ROUND:
                told.setdefault(_DISPATCH.field, fitting[0].start.fact(_DISPATCH.field))
    carried = carrying(scope, event.name, stamp.ts) if event.is_feed else None
    return Asked(event, scope, stamp, given, told, is_ambiguous, carried)


def _fits(opened: Opened, told: Given) -> bool:
    start = opened.start
    within = told.get(_DISPATCH.field)
    return opened.of is not _ROUND or within is None or start.fact(_DISPATCH.field) == within


def variants(event: EventType, scope: Scope) -> list[Given]:
    """What an event is given to begin with: of an event that comes in kinds with fields of their
    own, one for each kind, the likeliest first; else nothing.
    """
    for of in KINDS:
        if of in event.fields:
            shape = event.fields[of].shape
            assert isinstance(shape, OneOfShape)
            likeliest = _likeliest_kind(scope)
            kinds = sorted(shape.meanings, key=lambda kind: kind != likeliest)
            return [{of: kind} for kind in kinds]
    return [{}]


def _likeliest_kind(scope: Scope) -> str:
    """That of the event right before, which a plan follows or an amendment goes with."""
    last = scope.last
    for of in KINDS:
        if last is not None and last.event is not None and of in last.event.keeps:
            return last.text_fact(of)
    is_orphan = (scope.run_id or "").startswith("orphan-")
    return "slice" if scope.opened[Entity.SLICE] or is_orphan else "project"
