"""What the parts of a trace are called in outlines, folds and lists."""

from __future__ import annotations

from typing import NamedTuple, cast

from drive_trace.analysis import Analysis
from drive_trace.features.joined_runs import Joined, of_one_file
from drive_trace.features.outline import Leaf, Node
from drive_trace.json_text.strings import strings_named
from drive_trace.scorecard.verdict import NO_SIGNAL, Verdict
from drive_trace.text.escaping import plain
from drive_trace.text.wording import compact, duration
from drive_trace.trace.line import REJECTING, FlaggedLine, Line, Status
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import (
    CORRECTNESS_FIELDS,
    EVENTS,
    BooleanShape,
    Entity,
    EventType,
    FieldType,
    Form,
    IntegerShape,
    OneOfShape,
    StringShape,
)

_MOST = 100
"""Characters of a name from the trace."""
_NAMELESS = "(no name)"


class Label(NamedTuple):
    """What something is called: all that matters in the name, as some editors show nothing else."""

    name: str
    detail: str = ""


def label_of(analysis: Analysis, node: Node, joined: Joined) -> Label:
    """What a run, slice, dispatch or round is called, and how it ended; a run by its verdict over
    all its files.
    """
    if node.entity is Entity.RUN:
        return _label_of_run(analysis, node, joined)
    name, closer = _name_of(node), node.closer
    if closer is None or closer.event is None:
        name += " · not ended" if closer is None else " · its end is rejected"
    else:
        length = _length_of(node, closer)
        outcome = closer.facts[_OUTCOMES[closer.event.name]]
        name += f" · {outcome}" if length is None else f" · {duration(length)} · {outcome}"
    return Label(name, _detail_of(node))


def _label_of_run(analysis: Analysis, node: Node, joined: Joined) -> Label:
    run_id, score = plain(node.value, _MOST).strip() or _NAMELESS, analysis.score_run(node.value)
    if score is None:
        return Label(f"no valid event · {run_id}")
    said = joined(node.value) or of_one_file(score)
    gate = said.run.gate
    # What qualifies a CORRECT is said in the same breath; why it is none stands beside the name.
    is_correct = gate.verdict is Verdict.CORRECT
    verdict = said.headline if is_correct else said.headline.partition(" — ")[0]
    verdict += " so far" if said.waiting != 0 and not is_correct else ""
    reasons = {
        Verdict.INCORRECT: f"{', '.join(gate.failed)} failed",
        Verdict.NOT_COMPUTABLE: f"missing: {', '.join(gate.missing)}",
    }
    count = len(score.rejected)
    parts = [
        reasons.get(gate.verdict, "") if gate.missing != (NO_SIGNAL,) else "not graded",
        f"{count:,} line{'s' * (count > 1)} rejected" if count else "",
    ]
    return Label(f"{verdict} · {run_id}", " · ".join(part for part in parts if part))


def _name_of(node: Node) -> str:
    if node.entity is Entity.SLICE:
        return plain(node.value, _MOST).strip() or _NAMELESS
    is_dispatch = node.entity is Entity.DISPATCH
    said = _said(node.opener, "dispatch_name" if is_dispatch else "round_number")
    if said is not None:
        name = plain(said, _MOST).strip() or _NAMELESS
        return name if is_dispatch else f"Round {name}"
    value = f"{node.value[:8]}…" if node.value in Form.UUID else plain(node.value, _MOST)
    return f"{node.entity.capitalize()} {value}"


def _said(opener: Leaf | None, field: str) -> str | None:
    """What the line that starts something says in a field."""
    if opener is None:
        return None
    if opener.line.event is not None:
        return str(opener.line.fact(field))
    return next((value for value, _ in strings_named(opener.line.text, field)), None)


def _length_of(node: Node, closer: Line) -> int | None:
    """How long it took, in milliseconds: as its end says, else by the clock."""
    place = _LENGTHS[cast("EventType", closer.event).name]
    if place is not None:
        return cast("int", closer.facts[place])
    if node.opener is None or node.opener.line.event is None:
        return None
    return milliseconds_between(node.opener.line.text_fact("ts"), closer.text_fact("ts"))


def _detail_of(node: Node) -> str:
    opener, closer = node.opener, node.closer
    if node.entity is Entity.ROUND and closer is not None and closer.event is not None:
        count = cast("int", closer.fact("findings_filed"))
        findings = f"{count:,} finding{'s' * (count != 1)}"
    else:
        findings = ""
    if opener is None or opener.line.event is None:
        missing = "never started" if opener is None else "its start is rejected"
        return f"{missing} · {findings}" if findings else missing
    if node.entity is Entity.DISPATCH and (model := opener.line.fact("model")) is not None:
        return plain(str(model), _MOST)
    return findings


def facts_shown(line: Line) -> tuple[object, ...]:
    """What of a valid line's facts its label is made of, with its event's name."""
    name = cast("EventType", line.event).name
    facts = line.facts
    return (name, *[facts[place] for place in _PLACES[name]])


def label_of_line(line: Line) -> Label:
    """What a line is called: its event, and what tells it from others of its kind."""
    event = line.event
    if event is None:
        return _label_of_odd(cast("FlaggedLine", line))
    values = zip(_SHOWN[event.name], facts_shown(line)[1:], strict=True)
    said = [
        _in_words(field, value)
        for field, value in values
        if value is not None or field.name in CORRECTNESS_FIELDS
    ]
    if event.is_feed:
        return Label(" · ".join((event.name, *said)))
    return Label(" · ".join((event.name, *said[:1])), " · ".join(said[1:]))


def _label_of_odd(line: FlaggedLine) -> Label:
    name = plain(line.event_name or "", _MOST).strip() or "line"
    if line.status is Status.UNKNOWN:
        return Label(name, "not in the vocabulary")
    codes = dict.fromkeys(each.kind for each in line.diagnostics if each.kind in REJECTING)
    return Label(f"⚠ {name} · rejected", ", ".join(codes))


def _in_words(field: FieldType, value: object) -> str:
    if isinstance(value, int):
        return f"{compact(value)} {field.name.replace('_', ' ')}"
    if field.names is Entity.PATH:
        return plain("/".join(str(value).split("/")[-2:]), _MOST)
    if field.name in CORRECTNESS_FIELDS:
        return f"{field.name} {value if value is not None else '—'}"
    return plain(str(value), _MOST)


def _shown(event: EventType) -> tuple[FieldType, ...]:
    """What of an event's kept facts tells it from others: files and words; of feeds all."""
    kept = [event.fields[name] for name in event.keeps]
    return tuple(
        field
        for field in kept
        if field.names in (None, Entity.PATH)
        and not isinstance(field.shape, BooleanShape)
        and not (isinstance(field.shape, StringShape) and field.shape.form)
        and (event.is_feed or not isinstance(field.shape, IntegerShape))
    )


_SHOWN = {name: _shown(event) for name, event in EVENTS.items()}
_PLACES = {
    name: tuple(EVENTS[name].keeps.index(field.name) for field in fields)
    for name, fields in _SHOWN.items()
}
_CLOSERS = {
    event.name: [event.fields[name] for name in event.keeps]
    for event in EVENTS.values()
    if event.closes is not None
}
_OUTCOMES = {
    name: next(place for place, each in enumerate(fields) if isinstance(each.shape, OneOfShape))
    for name, fields in _CLOSERS.items()
}
"""Where among its facts an end says how it ended."""
_LENGTHS = {
    name: next((place for place, each in enumerate(fields) if each.unit == "milliseconds"), None)
    for name, fields in _CLOSERS.items()
}
"""Where among its facts an end says how long it took."""
