"""What a field of an event can be, or is, at a place of a trace.

A composed event is a list of *slots*, each with the choices for one field.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from enum import Enum
from typing import NamedTuple, cast

from drive_trace import vocabulary
from drive_trace.authoring.drafts import Stamp
from drive_trace.text.quick import Frozen
from drive_trace.text.wording import duration, shown
from drive_trace.trace.line import Line
from drive_trace.trace.run import FORGOTTEN_MS
from drive_trace.trace.scope import Scope
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import DISPATCH, EVENTS, LIFETIMES, ROUND, Entity, FieldType, Lifetime

_RECENT = 16
"""How many of the latest events of a name are searched for values that were used before."""
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


class Slot(Frozen, frozen=True):
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

    @property
    def is_fact(self) -> bool:
        """Whether the value follows from the trace. What is likely of others is a habit."""
        is_likely = self.certainty is Certainty.LIKELY and self.field.name in _MEASURES
        return is_likely or self.certainty is Certainty.KNOWN


class Carried(Frozen, frozen=True):
    """What the next event of a feed repeats, so that recording one component keeps the others."""

    values: Mapping[str, object]
    """By field; empty where nothing was recorded, or the run went on since: no outcome is repeated
    then.
    """
    note: str
    """When that was recorded, and in which other file, or why it is not repeated."""


STALE = "the run went on since the last one, which is not repeated"
"""The note of a grade that says nothing of what came later."""


class EventContext(Frozen, frozen=True):
    """What a slot is to be filled for."""

    event: vocabulary.EventType
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


# What a field can be


def slot_of(field: FieldType, context: EventContext) -> Slot:
    """What is known of a field that the event does not have yet."""
    if field.name in vocabulary.ENVELOPE:
        return _of_envelope(field, context)
    if context.event.is_feed:
        return _of_feed(field, context)
    if is_null_here(field, context):
        return known(field, *null_of(field))
    is_uuid = field.shape == vocabulary.StringShape(vocabulary.Form.UUID)
    if field.names is not None and field.names is context.event.opens and is_uuid:
        return known(field, context.stamp.opened_id, "a fresh id")
    measure = _MEASURES.get(field.name)
    slot = measure(field, context) if measure is not None else None
    if slot is None and field.names in LIFETIMES:
        slot = _of_entity(field, LIFETIMES[cast("Entity", field.names)], context)
    return slot or _by_shape(field, context)


def choices_of(field: FieldType, context: EventContext) -> tuple[Choice, ...]:
    """Everything that can be offered for a field, the likeliest first: also what is over, and what
    the field allows beyond what was used before.
    """
    of = LIFETIMES.get(field.names) if field.names is not None else None
    refers = of is not None and context.event.opens is not of.entity
    known_ids = _recent(of, context) if of is not None and refers else ()
    return distinct((*slot_of(field, context).choices, *known_ids, *_allowed_here(field, context)))


def allowed(field: FieldType) -> tuple[Choice, ...]:
    """Every value that a field allows, with what it means; null where that is a value."""
    shape = field.shape.item if isinstance(field.shape, vocabulary.ListShape) else field.shape
    choices: list[Choice] = []
    if isinstance(shape, vocabulary.OneOfShape):
        choices = [Choice(value, meaning) for value, meaning in shape.meanings.items()]
    elif isinstance(shape, vocabulary.BooleanShape):
        choices = [Choice(True), Choice(False)]
    return (*choices, null_of(field)) if field.nullable else tuple(choices)


def null_of(field: FieldType) -> Choice:
    """Null, with what it means where this field has it."""
    return Choice(None, field.null_means or "")


# The envelope and the feeds


def _of_envelope(field: FieldType, context: EventContext) -> Slot:
    scope, stamp = context.scope, context.stamp
    of_agent = "the run's agent" if scope.agent_id is not None else ""
    facts = {
        "event_id": (stamp.event_id, "a fresh id"),
        "event_type": (context.event.name, ""),
        "schema_version": (vocabulary.SCHEMA_VERSION, ""),
        "ts": (stamp.ts, "now"),
        "orchestrator_agent_id": (scope.agent_id, of_agent),
    }
    if field.name in facts:
        return known(field, *facts[field.name])
    latest = [*scope.index.runs][: -_RECENT - 1 : -1]
    runs = [Choice(run_id, "a run of this trace") for run_id in latest]
    if scope.run_id is None:
        return open_slot(field, runs)
    slot = known(field, scope.run_id, "the run here")
    return Slot(field, distinct((*slot.choices, *runs)), slot.certainty)


def _of_feed(field: FieldType, context: EventContext) -> Slot:
    """What counts so far. If that is not known, a person has to fill it in: null would erase it."""
    if context.carried is None:
        return open_slot(field, allowed(field))
    if not context.carried.values:
        slot = open_slot if context.carried.note else likely
        return slot(field, [null_of(field), *allowed(field)])
    counts = Choice(context.carried.values[field.name], context.carried.note)
    return likely(field, [counts, *allowed(field)])


# Dispatches, rounds and slices


def _of_entity(field: FieldType, of: Lifetime, context: EventContext) -> Slot:
    if field.name != of.field:
        return likely(field, [null_of(field), *_recent(of, context)])
    if context.event.opens is of.entity:
        return open_slot(field, [])
    meant = context.given.get(of.field)
    is_told = of is DISPATCH and ROUND.field in context.given and not context.is_ambiguous
    choices = [
        Choice(each.id, about(context.scope, of, each.start, context.stamp.ts))
        for each in context.scope.opened[of.entity]
        if may_be_within(of, each.start, context.stated.get(DISPATCH.field))
        if not is_told or each.id == meant
    ]
    if not choices:
        return open_slot(field, _recent(of, context))
    choices.sort(key=lambda choice: choice.value != meant)
    slot = likely(field, choices)
    return slot if len(slot.choices) > 1 else known(field, *slot.choices[0])


def may_be_within(of: Lifetime, start: Line, dispatch_id: object) -> bool:
    """Whether something that was started may be of a dispatch, as all but rounds may."""
    return of is not ROUND or dispatch_id is None or start.fact(DISPATCH.field) == dispatch_id


def _recent(of: Lifetime, context: EventContext) -> Iterator[Choice]:
    """What has ended or is open, the latest first."""
    dispatch_id = context.stated.get(DISPATCH.field)
    for start in context.scope.latest(of.opener, _RECENT):
        if may_be_within(of, start, dispatch_id):
            note = about(context.scope, of, start, context.stamp.ts)
            yield Choice(start.fact(of.field), note)


# What follows for single fields


def _unless_ambiguous(context: EventContext, field: FieldType, value: object, note: str) -> Slot:
    """A value that is a fact if the event belongs where it most likely does."""
    slot = known(field, value, note)
    return likely(field, slot.choices) if context.is_ambiguous else slot


def _wall_clock(field: FieldType, context: EventContext) -> Slot | None:
    of = LIFETIMES.get(cast("Entity", context.event.closes))
    start = context.scope.start_of(of, context.given.get(of.field)) if of is not None else None
    if start is None:
        return None
    end = context.given.get("ts", context.stamp.ts)
    passed = milliseconds_between(start.text_fact("ts"), end if isinstance(end, str) else None)
    if passed is None or passed < 0:
        return None
    if passed > FORGOTTEN_MS:
        return open_slot(field, [Choice(passed, f"{duration(passed)} since its start")])
    return _unless_ambiguous(context, field, passed, f"{duration(passed)}, measured from its start")


def _round_number(field: FieldType, context: EventContext) -> Slot | None:
    dispatch_id = context.given.get(DISPATCH.field)
    rounds = context.scope.of(ROUND.opener, DISPATCH.field, dispatch_id)
    number = cast("int", rounds[-1].fact(field.name)) + 1 if rounds else 1
    return _unless_ambiguous(context, field, number, "the next in its dispatch")


def _slice_index(field: FieldType, context: EventContext) -> Slot | None:
    last = context.scope.latest(vocabulary.SLICE.opener, 1)
    index = cast("int", last[0].fact(field.name)) + 1 if last else 1
    return likely(field, [Choice(index, "the next of the run")])


def _slices_completed(field: FieldType, context: EventContext) -> Slot | None:
    merged = context.scope.of(vocabulary.SLICE.closer, "result", "merged")
    return likely(field, [Choice(len(merged), "merged in the run")])


def _final_retro_done(field: FieldType, context: EventContext) -> Slot | None:
    final = (
        line.fact("is_mandatory_final")
        for event in EVENTS.values()
        if "is_mandatory_final" in event.keeps
        for line in context.scope.latest(event.name, _RECENT)
    )
    return likely(field, [Choice(any(final), "as the run's retros say"), *allowed(field)])


def _project_slug(field: FieldType, context: EventContext) -> Slot | None:
    run_id = context.scope.run_id
    if run_id is None or run_id.startswith(("orphan-", "direct-")):
        return None
    return likely(field, [Choice(run_id, "the run's id")])


def _is_mandatory_final(field: FieldType, context: EventContext) -> Slot | None:
    trigger = context.given.get("trigger_class")
    note = "true exactly for the mandatory final retro"
    return known(field, trigger == "mandatory-final", note) if trigger else None


def _drift_severity(field: FieldType, context: EventContext) -> Slot | None:
    count = context.given.get("drift_signal_count")
    if count is None:
        return None
    if count == 0:
        return known(field, "none", "there were no signals")
    return open_slot(field, [choice for choice in allowed(field) if choice.value != "none"])


def _brief_disposition(field: FieldType, context: EventContext) -> Slot | None:
    """What the earlier briefs of the dispatch leave as possible."""
    dispatch_id = context.given.get(DISPATCH.field)
    if dispatch_id is None or context.is_ambiguous:
        return None
    earlier = context.scope.of(context.event.name, DISPATCH.field, dispatch_id)
    meanings = {choice.value: choice for choice in allowed(field)}
    if not earlier:
        return known(field, *meanings["initial"])
    content = context.given.get("brief_content_hash")
    if not isinstance(content, str):
        return open_slot(field, [meanings["amended"], meanings["reissue"]])
    is_same = any(line.fact("brief_content_hash") == content for line in earlier[-_RECENT:])
    return known(field, *meanings["reissue" if is_same else "amended"])


def _of_earlier_briefs(field: FieldType, context: EventContext) -> Slot | None:
    dispatch_id = context.given.get(DISPATCH.field)
    earlier = context.scope.of(context.event.name, DISPATCH.field, dispatch_id)[-_RECENT:]
    briefs = []
    for line in reversed(earlier):
        at = clock(line.text_fact("ts"), context.stamp.ts)
        briefs.append(Choice(line.fact(field.name), f"the brief of {at}"))
    return open_slot(field, briefs)


def _bytes_delta(field: FieldType, context: EventContext) -> Slot | None:
    """The given length, less the length on the file's last event."""
    length = context.given.get("byte_length")
    name = next((name for name in _PATHS if context.given.get(name)), None)
    if not isinstance(length, int) or name is None:
        return None
    earlier = [
        line
        for event in EVENTS.values()
        if name in event.keeps and "byte_length" in event.keeps
        for line in context.scope.of(event.name, name, context.given[name])[-1:]
    ]
    if not earlier:
        return None
    last = max(earlier, key=lambda line: line.order)
    delta = length - cast("int", last.fact("byte_length"))
    return known(field, delta, f"since {clock(last.text_fact('ts'), context.stamp.ts)}")


_MEASURES: Mapping[str, Callable[[FieldType, EventContext], Slot | None]] = {
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
"""By field: how to derive its value from the trace; None if the trace says nothing about it."""


_AS_EXACT_MS = 2000
"""A duration that differs by no more was measured by another clock."""


def contrary(field: FieldType, value: object, context: EventContext) -> str | None:
    """What the trace says against a value of a field, in words; None where it says nothing.
    ``context`` is of all other fields that have one.
    """
    scope = context.scope
    of = LIFETIMES.get(field.names) if field.names is not None else None
    if of is not None and field.name == of.field:
        start, is_start = scope.start_of(of, value), context.event.opens is of.entity
        is_open = any(each.id == value for each in scope.opened[of.entity])
        if start is not None and (is_start or not is_open):
            again = ", has it: go on with that one, or give another" * is_start
            return f"{about(scope, of, start, context.stamp.ts)}{again}"
        if start is None and is_start:
            return None
    if of is not None and value is not None and scope.start_of(of, value) is None:
        return f"no {of.entity} of that name was started"
    slot = slot_of(field, context)
    if not slot.is_fact or slot.value == value:
        return None
    off = cast("int", value) - cast("int", slot.value) if field.name == "wall_clock_ms" else None
    if off is not None and abs(off) <= _AS_EXACT_MS:
        return None
    return ", ".join(filter(None, (shown(slot.value), slot.choices[0].note)))


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


def is_null_here(field: FieldType, context: EventContext) -> bool:
    """Whether the kind of the event leaves the field nothing but null."""
    return _has_value(field, context) is False


def _has_value(field: FieldType, context: EventContext) -> bool | None:
    """Whether events of the given kind have a value in a field; None if the kind does not say."""
    for of, kinds in vocabulary.KINDS.items():
        if field.name in kinds and of in context.given:
            return context.given[of] == kinds[field.name]
    return None


def _allowed_here(field: FieldType, context: EventContext) -> tuple[Choice, ...]:
    """Every value that a field allows in an event of the given kind."""
    has_value, choices = _has_value(field, context), allowed(field)
    if has_value is None:
        return choices
    return tuple(choice for choice in choices if (choice.value is not None) == has_value)


def _by_shape(field: FieldType, context: EventContext) -> Slot:
    choices = _allowed_here(field, context)
    if not isinstance(field.shape, vocabulary.StringShape):
        return open_slot(field, choices)
    used = list(_used_texts(field, context.scope))
    found = [Choice(value, f"used {count}×") for value, count in Counter(used).items()]
    if used and _is_repeated(field, used, context.event):
        return likely(field, [*found, *choices])
    return open_slot(field, [*choices, *found])


def _used_texts(field: FieldType, scope: Scope) -> Iterator[str]:
    """Those of the field itself first."""
    same = next((names for names in _SHARED if field.name in names), ())
    for name in dict.fromkeys((field.name, *same)):
        lines = (
            line
            for event in EVENTS.values()
            if name in event.fields
            for line in scope.latest(event.name, _RECENT)
        )
        for line in sorted(lines, key=lambda line: line.order, reverse=True)[:_RECENT]:
            value = scope.value(line, name)
            if isinstance(value, str):
                yield value


def _is_repeated(field: FieldType, used: list[str], event: vocabulary.EventType) -> bool:
    """Whether the value that was used last is likely to be meant again."""
    if field.names is Entity.PATH:
        return "bytes_delta" in event.fields
    return used.count(used[0]) > 1


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
    return f"{entity_name(scope, of, start)}, {state}"


def entity_name(scope: Scope, of: Lifetime, start: Line) -> str:
    """What people call a dispatch, a round or a slice; text of the trace."""
    match of.entity:
        case Entity.DISPATCH:
            return _called(start)
        case Entity.ROUND:
            dispatch = scope.start_of(DISPATCH, start.fact(DISPATCH.field))
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
