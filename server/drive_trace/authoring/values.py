"""What a field of an event can be, or is, at a place of a trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import cast

from drive_trace.authoring.names import about, clock
from drive_trace.authoring.slots import (
    Asked,
    Choice,
    Slot,
    distinct,
    known,
    likely,
    open_slot,
)
from drive_trace.trace.line import Line
from drive_trace.trace.structure import Scope
from drive_trace.trace.times import in_words, milliseconds_between
from drive_trace.vocabulary import (
    ENVELOPE,
    EVENTS,
    KINDS,
    LIFETIMES,
    SCHEMA_VERSION,
    BooleanShape,
    Entity,
    EventType,
    FieldType,
    Form,
    Lifetime,
    ListShape,
    OneOfShape,
    StringShape,
)

_DISPATCH, _ROUND = LIFETIMES[Entity.DISPATCH], LIFETIMES[Entity.ROUND]
_SLICE = LIFETIMES[Entity.SLICE]
_RECENT = 16
"""So many of the latest events of a name are looked at for what was used before."""


def slot_of(field: FieldType, asked: Asked) -> Slot:
    """What is known of a field that does not stand in the event yet."""
    if field.name in ENVELOPE:
        return _of_envelope(field, asked)
    if asked.event.is_feed:
        return _of_feed(field, asked)
    if is_null_here(field, asked):
        return known(field, *null_of(field))
    if field.names is not None and field.names is asked.event.opens and _is_uuid(field):
        return known(field, asked.stamp.opened_id, "a fresh id")
    measure = _MEASURES.get(field.name)
    slot = measure(field, asked) if measure is not None else None
    if slot is None and field.names in LIFETIMES:
        slot = _of_entity(field, LIFETIMES[cast("Entity", field.names)], asked)
    return slot or _by_shape(field, asked)


def choices_of(field: FieldType, asked: Asked) -> tuple[Choice, ...]:
    """Everything that can be offered for a field, the likeliest first: also what is over, and what
    the field allows beyond what was used before.
    """
    of = LIFETIMES.get(field.names) if field.names is not None else None
    refers = of is not None and asked.event.opens is not of.entity
    known_ids = _ended(of, asked) if of is not None and refers else ()
    return distinct((*slot_of(field, asked).choices, *known_ids, *_allowed_here(field, asked)))


def allowed(field: FieldType) -> tuple[Choice, ...]:
    """Every value that a field allows, with what it means; null where that is a value."""
    shape = field.shape.item if isinstance(field.shape, ListShape) else field.shape
    choices: list[Choice] = []
    if isinstance(shape, OneOfShape):
        choices = [Choice(value, meaning) for value, meaning in shape.meanings.items()]
    elif isinstance(shape, BooleanShape):
        choices = [Choice(True), Choice(False)]
    return (*choices, null_of(field)) if field.nullable else tuple(choices)


def null_of(field: FieldType) -> Choice:
    """Null, with what it means where this field has it."""
    return Choice(None, field.null_means or "")


def used_before(field: FieldType, scope: Scope) -> list[object]:
    """The values that the latest events of the run have in fields of this name, the latest first,
    with those that stand there several times.
    """
    lines = (
        line
        for event in EVENTS.values()
        if field.name in event.fields
        for line in scope.latest(event.name, _RECENT)
    )
    latest = sorted(lines, key=lambda line: line.order, reverse=True)[:_RECENT]
    return [scope.value(line, field.name) for line in latest]


# The envelope and the feeds


def _of_envelope(field: FieldType, asked: Asked) -> Slot:
    scope, stamp = asked.scope, asked.stamp
    facts = {
        "event_id": (stamp.event_id, "a fresh id"),
        "event_type": (asked.event.name, ""),
        "schema_version": (SCHEMA_VERSION, ""),
        "ts": (stamp.ts, "now"),
        "orchestrator_agent_id": (
            scope.agent_id,
            "the run's agent" if scope.agent_id is not None else "",
        ),
    }
    if field.name in facts:
        return known(field, *facts[field.name])
    runs = [Choice(run_id, "a run of this trace") for run_id in _latest_runs(scope)]
    if scope.run_id is None:
        return open_slot(field, runs)
    slot = known(field, scope.run_id, "the run here")
    return Slot(field, distinct((*slot.choices, *runs)), slot.certainty)


def _latest_runs(scope: Scope) -> list[str]:
    return list(islice(reversed(scope.index.runs), _RECENT))


def _of_feed(field: FieldType, asked: Asked) -> Slot:
    """What counts so far. Where that is not known, a person has to say it: null would erase it."""
    if asked.carried is None:
        return open_slot(field, allowed(field))
    if not asked.carried.values:
        return likely(field, [null_of(field), *allowed(field)])
    counts = Choice(asked.carried.values[field.name], asked.carried.note)
    return likely(field, [counts, *allowed(field)])


# Dispatches, rounds and slices


def _of_entity(field: FieldType, of: Lifetime, asked: Asked) -> Slot:
    if field.name != of.field:
        return _resumed(field, of, asked)
    if asked.event.opens is of.entity:
        return open_slot(field, [])
    choices = [
        Choice(each.id, about(asked.scope, of, each.start, asked.stamp.ts))
        for each in asked.scope.opened[of.entity]
        if of is not _ROUND or _is_within(each.start, asked.stated.get(_DISPATCH.field))
    ]
    meant = asked.given.get(of.field)
    if not choices:
        return open_slot(field, _ended(of, asked))
    choices.sort(key=lambda choice: choice.value != meant)
    slot = likely(field, choices)
    return slot if len(slot.choices) > 1 else known(field, *slot.choices[0])


def _is_within(round_start: Line, dispatch_id: object) -> bool:
    return dispatch_id is None or round_start.fact(_DISPATCH.field) == dispatch_id


def _ended(of: Lifetime, asked: Asked) -> Iterator[Choice]:
    """What is over, where nothing stands open."""
    dispatch_id = asked.stated.get(_DISPATCH.field)
    for start in asked.scope.latest(of.opener, _RECENT):
        if of is not _ROUND or _is_within(start, dispatch_id):
            note = about(asked.scope, of, start, asked.stamp.ts)
            yield Choice(start.fact(of.field), note)


def _resumed(field: FieldType, of: Lifetime, asked: Asked) -> Slot:
    """An earlier dispatch that the event goes on with: likely none, but for one that failed last
    and that no other has resumed.
    """
    choices = list(_ended(of, asked))
    last = next(iter(asked.scope.latest(of.closer, 1)), None)
    if last is not None and last.fact("result") != "completed":
        name = last.fact(of.field)
        if not asked.scope.of(of.opener, field.name, name):
            choices.sort(key=lambda choice: choice.value != name)
            return likely(field, [*choices, null_of(field)])
    return likely(field, [null_of(field), *choices])


# What can be told of single fields


def _wall_clock(field: FieldType, asked: Asked) -> Slot | None:
    of = LIFETIMES.get(cast("Entity", asked.event.closes))
    start = asked.scope.start_of(of, asked.given.get(of.field)) if of is not None else None
    if start is None:
        return None
    end = asked.given.get("ts", asked.stamp.ts)
    passed = milliseconds_between(start.text_fact("ts"), end if isinstance(end, str) else None)
    if passed is None or passed < 0:
        return None
    slot = known(field, passed, f"{in_words(passed)}, measured from its start")
    return likely(field, slot.choices) if asked.is_ambiguous else slot


def _round_number(field: FieldType, asked: Asked) -> Slot | None:
    dispatch_id = asked.given.get(_DISPATCH.field)
    rounds = asked.scope.of(_ROUND.opener, _DISPATCH.field, dispatch_id)
    number = cast("int", rounds[-1].fact(field.name)) + 1 if rounds else 1
    slot = known(field, number, "the next in its dispatch")
    return likely(field, slot.choices) if asked.is_ambiguous else slot


def _slice_index(field: FieldType, asked: Asked) -> Slot | None:
    last = asked.scope.latest(_SLICE.opener, 1)
    index = cast("int", last[0].fact(field.name)) + 1 if last else 1
    return likely(field, [Choice(index, "the next of the run")])


def _slices_completed(field: FieldType, asked: Asked) -> Slot | None:
    count = asked.scope.count(_SLICE.closer)
    return likely(field, [Choice(count, "counted in the run")])


def _final_retro_done(field: FieldType, asked: Asked) -> Slot | None:
    final = (
        line.fact("is_mandatory_final")
        for event in EVENTS.values()
        if "is_mandatory_final" in event.keeps
        for line in asked.scope.latest(event.name, _RECENT)
    )
    return likely(field, [Choice(any(final), "as the run's retros say"), *allowed(field)])


def _project_slug(field: FieldType, asked: Asked) -> Slot | None:
    run_id = asked.scope.run_id
    if run_id is None or run_id.startswith(("orphan-", "direct-")):
        return None
    return likely(field, [Choice(run_id, "the run's id")])


def _is_mandatory_final(field: FieldType, asked: Asked) -> Slot | None:
    trigger = asked.given.get("trigger_class")
    note = "true exactly for the mandatory final retro"
    return known(field, trigger == "mandatory-final", note) if trigger else None


def _drift_severity(field: FieldType, asked: Asked) -> Slot | None:
    count = asked.given.get("drift_signal_count")
    if count is None:
        return None
    if count == 0:
        return known(field, "none", "there were no signals")
    return open_slot(field, [choice for choice in allowed(field) if choice.value != "none"])


def _brief_disposition(field: FieldType, asked: Asked) -> Slot | None:
    """What the earlier briefs of the dispatch leave as possible."""
    dispatch_id = asked.given.get(_DISPATCH.field)
    if dispatch_id is None or asked.is_ambiguous:
        return None
    earlier = asked.scope.of(asked.event.name, _DISPATCH.field, dispatch_id)
    meanings = {choice.value: choice for choice in allowed(field)}
    if not earlier:
        return known(field, *meanings["initial"])
    content = asked.given.get("brief_content_hash")
    if not isinstance(content, str):
        return open_slot(field, [meanings["amended"], meanings["reissue"]])
    is_same = any(line.fact("brief_content_hash") == content for line in earlier[-_RECENT:])
    return known(field, *meanings["reissue" if is_same else "amended"])


def _of_earlier_briefs(field: FieldType, asked: Asked) -> Slot | None:
    dispatch_id = asked.given.get(_DISPATCH.field)
    earlier = asked.scope.of(asked.event.name, _DISPATCH.field, dispatch_id)[-_RECENT:]
    return open_slot(
        field,
        [
            Choice(
                line.fact(field.name), f"the brief of {clock(line.text_fact('ts'), asked.stamp.ts)}"
            )
            for line in reversed(earlier)
        ],
    )


def _bytes_delta(field: FieldType, asked: Asked) -> Slot | None:
    """The length that is given, less the one that the file's last event says."""
    length = asked.given.get("byte_length")
    name, path = next(
        ((name, asked.given[name]) for name in _PATHS if asked.given.get(name)), ("", None)
    )
    if not isinstance(length, int) or path is None:
        return None
    earlier = [
        line
        for event in EVENTS.values()
        if name in event.keeps and "byte_length" in event.keeps
        for line in asked.scope.of(event.name, name, path)[-1:]
    ]
    if not earlier:
        return None
    last = max(earlier, key=lambda line: line.order)
    delta = length - cast("int", last.fact("byte_length"))
    return known(field, delta, f"since {clock(last.text_fact('ts'), asked.stamp.ts)}")


_MEASURES: Mapping[str, Callable[[FieldType, Asked], Slot | None]] = {
    "wall_clock_ms": _wall_clock,
    "round_number": _round_number,
    "slice_index": _slice_index,
    "slices_completed": _slices_completed,
    "final_retro_done": _final_retro_done,
    "project_slug": _project_slug,
    "is_mandatory_final": _is_mandatory_final,
    "max_drift_severity": _drift_severity,
    "brief_disposition": _brief_disposition,
    "brief_content_hash": _of_earlier_briefs,
    "brief_byte_length": _of_earlier_briefs,
    "bytes_delta": _bytes_delta,
}
"""By a field: what can be told of it beyond its type; None where that is nothing."""


# Any other field


_PATHS = tuple(
    dict.fromkeys(
        name
        for event in EVENTS.values()
        for name, field in event.fields.items()
        if field.names is Entity.PATH
    )
)
_SHARED = (("linear_ref", "input_ref"), _PATHS)
"""Fields that have values in common."""


def is_null_here(field: FieldType, asked: Asked) -> bool:
    """Whether the kind of the event leaves the field nothing but null."""
    return any(
        field.name in kinds and asked.given.get(of, kinds[field.name]) != kinds[field.name]
        for of, kinds in KINDS.items()
    )


def _has_value_by_kind(field: FieldType, asked: Asked) -> bool:
    return any(field.name in kinds and of in asked.given for of, kinds in KINDS.items())


def _allowed_here(field: FieldType, asked: Asked) -> tuple[Choice, ...]:
    """Every value that a field allows in an event of the kind that is given."""
    choices = allowed(field)
    if is_null_here(field, asked):
        return tuple(choice for choice in choices if choice.value is None)
    if _has_value_by_kind(field, asked):
        return tuple(choice for choice in choices if choice.value is not None)
    return choices


def _by_shape(field: FieldType, asked: Asked) -> Slot:
    choices = _allowed_here(field, asked)
    if not isinstance(field.shape, StringShape):
        return open_slot(field, choices)
    used = list(_used_texts(field, asked.scope))
    found = [Choice(value, f"used {count}×") for value, count in Counter(used).items()]
    if used and _is_repeated(field, used, asked.event):
        return likely(field, [*found, *choices])
    return open_slot(field, [*choices, *found])


def _used_texts(field: FieldType, scope: Scope) -> Iterator[str]:
    """Those of the field itself first."""
    same = next((names for names in _SHARED if field.name in names), ())
    for name in (field.name, *(each for each in same if each != field.name)):
        kind = next(event.fields[name] for event in EVENTS.values() if name in event.fields)
        yield from (value for value in used_before(kind, scope) if isinstance(value, str))


def _is_repeated(field: FieldType, used: list[str], event: EventType) -> bool:
    """Whether the value that was used last is likely to be meant again."""
    if field.names is Entity.PATH:
        return "bytes_delta" in event.fields
    return used.count(used[0]) > 1


def _is_uuid(field: FieldType) -> bool:
    return isinstance(field.shape, StringShape) and field.shape.form is Form.UUID
