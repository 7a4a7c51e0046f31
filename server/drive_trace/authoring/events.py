"""Which events can come next at a place of a trace, and the whole event as it would be there."""

from collections.abc import Iterator

from drive_trace import vocabulary
from drive_trace.authoring import drafts, values
from drive_trace.text.quick import Frozen
from drive_trace.trace.scope import RUN_ENDS, RUN_STARTS, Opened, Scope
from drive_trace.vocabulary import DISPATCH, EVENTS, LIFETIMES, ROUND, SLICE, Entity, EventType

_RUN_HERALDS = tuple(each.name for each in EVENTS.values() if {*each.leads_to} & {*RUN_STARTS})
_WITHIN_ROUNDS = tuple({*ROUND.members} - {ROUND.opener, ROUND.closer})


class Composed(Frozen, frozen=True):
    """An event with what is known of it."""

    event: EventType
    slots: tuple[values.Slot, ...]
    """The fields of the event, in the order of the vocabulary; of the optional ones those given."""

    @property
    def blanks(self) -> tuple[values.Slot, ...]:
        """What a person has to fill in."""
        return tuple(slot for slot in self.slots if slot.certainty is values.Certainty.OPEN)


def compose(
    event: EventType,
    scope: Scope,
    stamp: drafts.Stamp,
    given: values.Given | None = None,
    carried: values.Carried | None = None,
) -> Composed:
    """An event for a place of a trace. ``given`` holds the values that it has already, by
    field. Other fields follow from them, such as a round's duration from its id. ``carried`` is
    what the next event of a feed repeats, None for others or where that cannot be known.
    """
    context = context_of(event, scope, stamp, given or {}, carried)
    return Composed(
        event,
        tuple(
            _stated(field, context) if given and name in given else values.slot_of(field, context)
            for name, field in event.fields.items()
            if field.is_required or (given and name in given)
        ),
    )


def _stated(field: vocabulary.FieldType, context: values.EventContext) -> values.Slot:
    """A value that the event has already, with what it names."""
    value, scope = context.stated[field.name], context.scope
    of = LIFETIMES.get(field.names) if field.names is not None else None
    start = scope.start_of(of, value) if of is not None and field.name == of.field else None
    if of is None or start is None:
        return values.known(field, value)
    return values.known(field, value, values.about(scope, of, start, context.stamp.ts))


def context_of(
    event: EventType,
    scope: Scope,
    stamp: drafts.Stamp,
    given: values.Given,
    carried: values.Carried | None = None,
) -> values.EventContext:
    """What the fields of an event follow from: what is given, and the dispatch, round or slice
    that is open and most likely meant.
    """
    known_values = {name: value for name, value in given.items() if value is not None}
    is_ambiguous = False
    # A round implies its dispatch, so it comes first.
    rounds = scope.of(ROUND.opener, ROUND.field, known_values.get(ROUND.field))
    if rounds and DISPATCH.field in event.fields:
        known_values.setdefault(DISPATCH.field, rounds[-1].fact(DISPATCH.field))
    for of in (ROUND, DISPATCH, SLICE):
        if of.field not in event.fields or of.field in known_values or event.opens is of.entity:
            continue
        within, opened = known_values.get(DISPATCH.field), scope.opened[of.entity]
        fitting = [each for each in opened if values.may_be_within(of, each.start, within)]
        if fitting:
            known_values[of.field] = fitting[0].id
            is_ambiguous = is_ambiguous or len(fitting) > 1
            if of is ROUND:
                known_values.setdefault(DISPATCH.field, fitting[0].start.fact(DISPATCH.field))
    return values.EventContext(event, scope, stamp, given, known_values, is_ambiguous, carried)


def variants(event: EventType, scope: Scope) -> list[values.Given]:
    """What an event is given to begin with: of an event that comes in kinds with fields of their
    own, one for each kind, the likeliest first; where several rounds or dispatches are open that it
    could belong to, the ids of one of them; else nothing.
    """
    for of in vocabulary.KINDS:
        if of in event.fields:
            shape = event.fields[of].shape
            assert isinstance(shape, vocabulary.OneOfShape)
            likeliest = _likeliest_kind(scope)
            kinds = sorted(shape.meanings, key=lambda kind: kind != likeliest)
            return [{of: kind} for kind in kinds]
    for lifetime in (ROUND, DISPATCH):
        opened = scope.opened[lifetime.entity] if lifetime.field in event.fields else ()
        if opened and event.opens is not lifetime.entity:
            return [ids_of(event, each) for each in opened] if len(opened) > 1 else [{}]
    return [{}]


def ids_of(event: EventType, opened: Opened) -> values.Given:
    """The ids that an event repeats from the start of what it belongs to."""
    start = opened.start
    assert start.event is not None
    return {
        field.name: start.fact(field.name)
        for field in event.fields.values()
        if field.names in LIFETIMES and field.name in start.event.keeps
    }


def variant_name(event: EventType, given: values.Given, scope: Scope) -> str | None:
    """What tells an event from its other variants: its kind, or what it belongs to. None if it has
    no others; may contain text of the trace.
    """
    for of in (ROUND, DISPATCH):
        start = scope.start_of(of, given[of.field]) if of.field in given else None
        if start is not None and event.opens is not of.entity:
            return values.entity_name(scope, of, start)
    return next((str(value) for value in given.values()), None)


def _likeliest_kind(scope: Scope) -> str:
    """That of the event right before, which a plan follows or an amendment goes with."""
    last = scope.last
    for of in vocabulary.KINDS:
        if last is not None and last.event is not None and of in last.event.keeps:
            return last.text_fact(of)
    is_orphan = (scope.run_id or "").startswith("orphan-")
    return "slice" if scope.opened[Entity.SLICE] or is_orphan else "project"


# What can come next


def next_events(scope: Scope) -> list[tuple[EventType, bool]]:
    """Every event, the likeliest first, and whether the run so far leads to it; any event may be
    written anywhere.
    """
    leads = list(dict.fromkeys((*_after_the_last(scope), *_leads(scope))))
    others = sorted(
        (name for name in EVENTS if name not in leads),
        key=lambda name: _lacks_what_it_is_about(EVENTS[name], scope),
    )
    return [(EVENTS[name], name in leads) for name in (*leads, *others)]


def _lacks_what_it_is_about(event: EventType, scope: Scope) -> bool:
    """Whether an event belongs to a dispatch, round or slice, and none is open."""
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
        if name not in RUN_STARTS or not scope.count(name):
            yield name


def _leads(scope: Scope) -> Iterator[str]:
    if scope.last is None:
        yield from (*RUN_STARTS, *_RUN_HERALDS, SLICE.opener, DISPATCH.opener)
        return
    if scope.has_ended:
        yield from vocabulary.FEEDS
        return
    if scope.opened[Entity.ROUND]:
        yield from _within_round(scope)
    if scope.opened[Entity.DISPATCH]:
        yield from _within_dispatch(scope)
        yield DISPATCH.opener
    elif scope.opened[Entity.SLICE]:
        yield from (DISPATCH.opener, SLICE.closer, SLICE.opener, *RUN_ENDS)
    else:
        yield from (SLICE.opener, DISPATCH.opener, *RUN_ENDS)


def _within_round(scope: Scope) -> Iterator[str]:
    """A round has one brief, which is issued before anything else."""
    latest = scope.opened[Entity.ROUND][0]
    has_brief = any(scope.of(name, ROUND.field, latest.id) for name in _WITHIN_ROUNDS)
    yield from (ROUND.closer, *_WITHIN_ROUNDS) if has_brief else (*_WITHIN_ROUNDS, ROUND.closer)


def _within_dispatch(scope: Scope) -> Iterator[str]:
    """Another round, unless the last one's verdict lets the dispatch end."""
    latest, rounds = scope.opened[Entity.DISPATCH][0], scope.opened[Entity.ROUND]
    if any(each.start.fact(DISPATCH.field) == latest.id for each in rounds):
        yield DISPATCH.closer
        return
    ends = scope.of(ROUND.closer, DISPATCH.field, latest.id)
    goes_on = not ends or ends[-1].fact("verdict") == "another-round-needed"
    steps = (ROUND.opener, DISPATCH.closer)
    yield from steps if goes_on else reversed(steps)
