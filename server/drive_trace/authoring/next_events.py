"""Which events can come next at a place of a trace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from drive_trace.trace.structure import Scope
from drive_trace.vocabulary import EVENTS, LIFETIMES, Entity, EventType

_DISPATCH, _ROUND = LIFETIMES[Entity.DISPATCH], LIFETIMES[Entity.ROUND]
_SLICE = LIFETIMES[Entity.SLICE]
_RUN_OPENERS = tuple(each.name for each in EVENTS.values() if each.opens is Entity.RUN)
_RUN_CLOSERS = tuple(each.name for each in EVENTS.values() if each.closes is Entity.RUN)
_RUN_HERALDS = tuple(each.name for each in EVENTS.values() if {*each.leads_to} & {*_RUN_OPENERS})
_FEEDS = tuple(each.name for each in EVENTS.values() if each.is_feed)
_WITHIN_ROUNDS = tuple({*_ROUND.members} - {_ROUND.opener, _ROUND.closer})


class Next(NamedTuple):
    """An event of the vocabulary, and whether it can come next."""

    event: EventType
    is_next: bool
    """Whether the run as it stands leads to it; any event may be written anywhere."""


def next_events(scope: Scope) -> list[Next]:
    """Every event, the likeliest first."""
    leads = list(dict.fromkeys((*_after_the_last(scope), *_leads(scope))))
    others = sorted(
        (name for name in EVENTS if name not in leads),
        key=lambda name: _lacks_what_it_is_about(EVENTS[name], scope),
    )
    return [Next(EVENTS[name], name in leads) for name in (*leads, *others)]


def _lacks_what_it_is_about(event: EventType, scope: Scope) -> bool:
    """Whether an event belongs to a dispatch, round or slice, and none stands open."""
    return any(
        event.name in of.members and event.name != of.opener and not scope.opened[entity]
        for entity, of in LIFETIMES.items()
    )


def _after_the_last(scope: Scope) -> Iterator[str]:
    """What most often comes right after the run's last event; a run is not started twice."""
    last = scope.last
    if last is None or last.event is None:
        return
    for name in last.event.leads_to:
        if name not in _RUN_OPENERS or not scope.count(name):
            yield name


def _leads(scope: Scope) -> Iterator[str]:
    if scope.last is None:
        yield from (*_RUN_OPENERS, *_RUN_HERALDS, _SLICE.opener, _DISPATCH.opener)
        return
    if scope.has_ended:
        yield from _FEEDS
        return
    if scope.opened[Entity.ROUND]:
        yield from _within_round(scope)
    if scope.opened[Entity.DISPATCH]:
        yield from _within_dispatch(scope)
        yield _DISPATCH.opener
    elif scope.opened[Entity.SLICE]:
        yield from (_DISPATCH.opener, _SLICE.closer, _SLICE.opener, *_RUN_CLOSERS)
    else:
        yield from (_SLICE.opener, _DISPATCH.opener, *_RUN_CLOSERS)


def _within_round(scope: Scope) -> Iterator[str]:
    """A round has one brief, which is issued before anything else."""
    latest = scope.opened[Entity.ROUND][0]
    has_brief = any(scope.of(name, _ROUND.field, latest.id) for name in _WITHIN_ROUNDS)
    yield from (_ROUND.closer, *_WITHIN_ROUNDS) if has_brief else (*_WITHIN_ROUNDS, _ROUND.closer)


def _within_dispatch(scope: Scope) -> Iterator[str]:
    """Another round, unless the last one's verdict lets the dispatch end."""
    latest, rounds = scope.opened[Entity.DISPATCH][0], scope.opened[Entity.ROUND]
    if any(each.start.fact(_DISPATCH.field) == latest.id for each in rounds):
        yield _DISPATCH.closer
        return
    ends = scope.of(_ROUND.closer, _DISPATCH.field, latest.id)
    goes_on = not ends or ends[-1].fact("verdict") == "another-round-needed"
    steps = (_ROUND.opener, _DISPATCH.closer)
    yield from steps if goes_on else reversed(steps)
