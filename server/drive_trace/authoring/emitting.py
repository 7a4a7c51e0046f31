"""An event made of what somebody says of it and of what can be known, or refused with the choices.

What is filled in is a fact: an id, a number or a count of the trace, a time of the clock, the
length and hash of a file. What was used before is a habit, and offered as a choice. No outcome,
grade or count of findings is filled in, but what the values given leave as the only one, and
whether the run had its final retro. Of a feed nothing is: its last event counts as a whole.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import NamedTuple
from uuid import UUID, uuid5

from drive_trace import vocabulary
from drive_trace.authoring import events, values
from drive_trace.authoring.drafts import Draft, Refused, Stamp, draft_event, plain_object
from drive_trace.authoring.values import Certainty, EventContext, Given, Slot, about, allowed
from drive_trace.json_text import as_json
from drive_trace.scorecard.feed_state import mentions
from drive_trace.scorecard.scoring import ScoredTrace
from drive_trace.text.quick import Frozen
from drive_trace.text.wording import fields_listed, first_of, listed, shown, writable
from drive_trace.trace.provenance import Origin
from drive_trace.trace.scope import Opened, Scope, scope_at
from drive_trace.vocabulary import DISPATCH, ENVELOPE, EVENTS, LIFETIMES, ROUND, Entity, EventType
from drive_trace.vocabulary.slips import did_you_mean, field_meant

_MOST = 10
"""So many choices are named."""
_MOST_RUNS = 100
"""The last runs of a trace, among which the one that is open is looked for; and the last dispatches
of a run, which may be called by their names.
"""
_SAYS_IT = {DISPATCH.field: "--dispatch with its name or id", ROUND.field: "--round N"}


_DISPATCHES = UUID("5f0c2c0e-3d1b-5e0a-9d7e-6b7a1f4c8e21")
"""The namespace of the ids of dispatches."""


def dispatch_id(session: str, agent: str, before: int = 0) -> str:
    """The id of the dispatch that a subagent of a session is, after so many others of it: whoever
    records it, by hooks or from the log, finds it in the trace.
    """
    return str(uuid5(_DISPATCHES, f"{session}/{agent}/{before}"))


class Wanted(Frozen, frozen=True):
    """An event that somebody wants to record, and what they say of it."""

    event: str
    """Its name, which need not be one."""
    given: Mapping[str, object] = {}
    """By field, as Python reads JSON, in need of a check."""
    facts: Mapping[str, object] = {}
    """What was measured, by field: of a file, or in the log of a session."""
    dispatch: object = None
    """The name or the id of the open dispatch that is meant."""
    round: object = None
    """The number of the open round that is meant."""
    agent_id: str | None = None
    """The orchestrator's session; None for that of the run."""
    as_given: bool = False
    """Whether what is given holds where the trace or a file contradicts it."""


class Filled(NamedTuple):
    """An event that readers accept."""

    draft: Draft
    origin: Origin
    """Where its values are from, as of the writer ``emit``."""


def fill(
    wanted: Wanted, trace: ScoredTrace, stamp: Stamp, run_id: str | None, promised: str | None
) -> Filled | Refused:
    """Make the event for the end of a trace that was read whole: of the run ``run_id``, else of the
    one that is open, else of the one that the path of the trace promises or the project is called.
    Never raises.
    """
    event = EVENTS.get(wanted.event)
    if event is None:
        hint = did_you_mean(wanted.event, EVENTS) or f"expected {listed(EVENTS, 'or')}"
        return Refused((f"{shown(wanted.event)} is not an event of the vocabulary: {hint}",))
    # It has to be right whatever stands beside it, but for a slip of a name.
    said = {**wanted.facts, **wanted.given}
    others = [field for name, field in event.fields.items() if name not in said]
    slips = [field_meant(*each, others) for each in said.items() if each[0] not in event.fields]
    names = event.fields.keys() - ENVELOPE.keys() - {each.name for each in slips if each}
    beside = {name: event.example[name] for name in names}
    draft = draft_event(event.name, run_id or "any", wanted.agent_id, as_json({**beside, **said}))
    if isinstance(draft, Refused):
        reasons = draft.reasons
        declared = {name: said for name, said in wanted.given.items() if name in event.fields}
        if slips:  # what is unknown hides nothing of the rest
            rest = fill(wanted._replace(given=declared), trace, stamp, run_id, promised)
            more = rest.reasons if isinstance(rest, Refused) else ()
            reasons += (*(each for each in more if each.partition(":")[0] not in str(reasons)),)
        return Refused(reasons)
    scope = _scope_for(wanted, event, trace, run_id, promised)
    if isinstance(scope, Refused):
        return scope
    given = _with_ids(event, wanted.given, scope, stamp.ts)
    if isinstance(given, Refused):
        return given
    wanted = wanted._replace(given=given)
    said = {**wanted.facts, **wanted.given}
    scope = _narrowed(scope, wanted)
    if isinstance(scope, Refused):
        return scope
    reasons = (*_contradicted(event, wanted, scope, stamp),)
    found = _found(event, said, scope, stamp)
    if isinstance(found, Refused):
        return Refused((*reasons, *found.reasons))
    if reasons:
        return Refused(reasons)
    agent_id = wanted.agent_id or scope.agent_id
    draft = draft_event(event.name, str(scope.run_id), agent_id, as_json({**found, **said}))
    if isinstance(draft, Refused):
        return draft
    clock = found.keys() & {"wall_clock_ms"}
    measured = ("ts", *clock, *(name for name in wanted.facts if name not in wanted.given))
    run = () if run_id is not None else ("project_run_id",)
    known = (name for name in found if found[name] is not None and name not in clock)
    return Filled(draft, Origin("emit", measured, ("event_id", *run, *known)))


def said_in(event: str, words: Iterable[str]) -> dict[str, object] | Refused:
    """The fields in words like ``verdict=satisfied``. A value is null, the text of a field that
    takes text, else JSON.
    """
    fields = EVENTS[event].fields if event in EVENTS else {}
    given: dict[str, object] = {}
    for word in words:
        name, _, text = word.partition("=")
        if name.isidentifier() and "=" in word and not text.strip():
            return Refused((f"`{name}` is blank: expected {name}=VALUE",))
        if not name or not text.strip() or name in given or word != writable(word):
            return Refused((f"expected FIELD=VALUE, each field once; found {shown(word)}",))
        is_text = name in fields and fields[name].plain[0] is str and text != "null"
        read = plain_object(f'{{"":{text}}}') if not is_text else None
        # What is no JSON is of the wrong type.
        given[name] = read[""] if read is not None and len(read) == 1 else text
    return given


# What is refused


def _scope_for(
    wanted: Wanted, event: EventType, trace: ScoredTrace, run_id: str | None, promised: str | None
) -> Scope | Refused:
    index, lines = trace.index, trace.document.lines
    of_run = partial(scope_at, index, lines, len(lines))
    last = index.runs_in_order[-_MOST_RUNS:]
    if run_id is not None:
        begins = (event.name, *event.leads_to * (not last))
        is_meant = run_id == promised or any(EVENTS[each].opens is Entity.RUN for each in begins)
        if is_meant or wanted.as_given or mentions(index, run_id):
            return of_run(run_id)
        runs = ", ".join(shown(each.run_id) for each in last[-_MOST:]) or "none"
        hint = did_you_mean(run_id, index.runs)
        why = f"no line names the run {shown(run_id)}; the trace has {runs}"
        return Refused((f"{'; '.join(filter(None, (why, hint)))}; --as-given begins it",))
    scopes = [of_run(run.run_id) for run in last]
    fitting = [each for each in scopes if event.is_feed or not each.has_ended]
    named = promised or wanted.given.get("project_slug")
    is_new = event.opens is Entity.RUN or not (fitting or named in index.runs)
    if is_new and isinstance(named, str):
        return of_run(named)
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(shown(each.run_id) for each in (fitting or scopes)[:_MOST])
    which = f"{'open' if fitting else 'ended'}: {names}" if names else "the trace names none"
    return Refused((f"which run? {which}; --project-run-id ID says it",))


def _with_ids(event: EventType, given: Given, scope: Scope, now: str) -> Given | Refused:
    """What is given, with the id of each dispatch that is called by its name: the open one of that
    name, or else the last.
    """
    of = {name for name, field in event.fields.items() if field.names is Entity.DISPATCH}
    of -= {DISPATCH.field} if event.opens is Entity.DISPATCH else set()
    starts = scope.latest(DISPATCH.opener, _MOST_RUNS)
    ids = {each.fact("dispatch_name"): each.fact(DISPATCH.field) for each in reversed(starts)}
    found = dict(given)
    for name in of & given.keys():
        open_ = _called(scope.opened[Entity.DISPATCH], given[name])
        if len(open_) > 1:
            each = (f"{about(scope, one.of, one.start, now)} ({one.id})" for one in open_)
            return Refused((f"which dispatch? Open: {'; '.join(each)}; {name}=ID says it",))
        found[name] = open_[0].id if open_ else ids.get(given[name], given[name])
    return found


def _called(opened: Sequence[Opened], name: object) -> Sequence[Opened]:
    """Those of the open dispatches that have a name, or an id."""
    return [each for each in opened if name in (each.id, each.start.fact("dispatch_name"))]


def _narrowed(scope: Scope, wanted: Wanted) -> Scope | Refused:
    """The scope as if of the open dispatches and rounds there were those alone that are meant."""
    dispatches, rounds = scope.opened[Entity.DISPATCH], scope.opened[Entity.ROUND]
    if wanted.dispatch is not None:
        open_ = [shown(each.start.fact("dispatch_name")) for each in dispatches]
        dispatches = (*_called(dispatches, wanted.dispatch),)
        if not dispatches:
            which = f"open: {first_of(open_, _MOST)}" if open_ else "none is open"
            return Refused((f"no open dispatch is called {shown(wanted.dispatch)}; {which}",))
        ids = {each.id for each in dispatches}
        rounds = tuple(each for each in rounds if each.start.fact(DISPATCH.field) in ids)
    if wanted.round is not None:
        number = wanted.round if wanted.round is not True else None  # which Python takes for 1
        rounds = tuple(each for each in rounds if each.start.fact("round_number") == number)
    opened = {**scope.opened, Entity.DISPATCH: dispatches, Entity.ROUND: rounds}
    return scope._replace(opened=opened)


def _contradicted(event: EventType, wanted: Wanted, scope: Scope, stamp: Stamp) -> Iterator[str]:
    """What the event, the trace or a file says against what is given."""
    for of, meant in ((DISPATCH, wanted.dispatch), (ROUND, wanted.round)):
        if meant is not None and (of.field not in event.fields or event.opens is of.entity):
            yield f"`{event.name}` belongs to no open {of.entity}: leave out {shown(meant)}"
    if wanted.as_given:
        return
    kept = "--as-given keeps what is given"
    is_over = scope.has_ended and (event.is_work or event.closes is Entity.RUN)
    if is_over or (event.opens is Entity.RUN and scope.count(event.name)):
        yield f"the run {shown(scope.run_id)} {'has ended' if is_over else 'was started'}; {kept}"
    said = {**wanted.facts, **wanted.given}
    for each in _standing(event, scope, events.context_of(event, scope, stamp, said)):
        open_ = about(scope, each.of, each.start, stamp.ts)
        yield f"{open_}: end it before `{event.name}`; {kept}"
    for name, value in wanted.given.items():
        others = {key: each for key, each in said.items() if key != name}
        against = values.contrary(
            event.fields[name], value, events.context_of(event, scope, stamp, others)
        )
        says = f"the trace says {against}" if against is not None else ""
        if wanted.facts.get(name, value) != value:
            says = f"the file says {shown(wanted.facts[name])}"
        if says:
            yield f"`{name}` is given as {shown(value)}, and {says}; {kept}"


def _standing(event: EventType, scope: Scope, context: EventContext) -> Iterator[Opened]:
    """What stands open within that which an event ends, or beside the round that it starts."""
    if event.closes is Entity.RUN:
        yield from (*scope.opened[Entity.SLICE], *scope.opened[Entity.DISPATCH])
    elif event.opens is Entity.ROUND or event.closes is Entity.DISPATCH:
        dispatch = None if context.is_ambiguous else context.given.get(DISPATCH.field)
        for each in scope.opened[Entity.ROUND]:
            if each.start.fact(DISPATCH.field) == dispatch:
                yield each


# What is filled in


def _found(event: EventType, said: Given, scope: Scope, stamp: Stamp) -> Given | Refused:
    """What is known of the fields that nobody gives, and null where that is a value."""
    slots = events.compose(event, scope, stamp, said).slots
    slots = tuple(each for each in slots if each.field.name not in ENVELOPE.keys() | said.keys())
    if slots and event.is_feed:
        lacks = fields_listed(slot.field.name for slot in slots)
        command = "record" if event.name == vocabulary.GRADE else "tokens"
        merge = f"`drive-trace {command}` keeps what was recorded before"
        return Refused((f"`{event.name}` counts as a whole, and lacks {lacks}: {merge}",))
    belongs = {of.field for of in LIFETIMES.values() if event.opens is not of.entity}
    vague = [slot for slot in slots if slot.field.name in belongs and not slot.is_fact]
    if vague:
        return Refused((_which(min(vague, key=lambda slot: slot.certainty is not Certainty.OPEN)),))
    nulls = [slot for slot in slots if any(each.value is None for each in slot.choices)]
    names = {slot.field.name for slot in slots}
    missing = [_missing(slot, names) for slot in slots if not slot.is_fact and slot not in nulls]
    found = {slot.field.name: slot.value if slot.is_fact else None for slot in slots}
    return Refused(tuple(missing)) if missing else found


def _which(slot: Slot) -> str:
    """Which of the open dispatches, rounds or slices could be meant, or that none is open."""
    name, entity = slot.field.name, slot.field.names
    choices = "; ".join(f"{each.note} ({each.value})" for each in slot.choices[:_MOST])
    if slot.certainty is Certainty.OPEN:
        begins = next(each.opener for each in LIFETIMES.values() if each.entity is entity)
        last = f"; the last: {choices}" if choices else ""
        return f"no open {entity} fits{last}; `{begins}` begins one"
    return f"which {entity}? Open: {choices}; {_SAYS_IT.get(name, f'{name}=…')} says it"


def _missing(slot: Slot, names: Container[str]) -> str:
    """What a field that nobody can fill in can be, and has been, and which others it asks for."""
    field = slot.field
    words = [each.value for each in allowed(field)]
    others = [each for each in slot.choices if each.value not in words]
    notes = [f"{shown(each.value)} ({each.note})" for each in others[:_MOST]]
    maybe = f"; perhaps {', '.join(notes)}" if notes else ""
    by_file = "; --file FILE tells it" if field.name.endswith(("_length", "_hash", "_path")) else ""
    kinds = vocabulary.KINDS.get(field.name, {})
    asked = [f"`{name}` if {shown(kinds[name])}" for name in kinds if name in names]
    needs = f"; it asks for {listed(asked)}" if asked else ""
    expected = field.describe().removesuffix(", or null")
    return f"`{field.name}` is missing: expected {expected}{maybe}{by_file}{needs}"
