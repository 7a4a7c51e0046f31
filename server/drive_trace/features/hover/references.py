"""The things that ids, paths and hashes refer to."""

from __future__ import annotations

from collections.abc import Iterator

from drive_trace.features.hover.pointed import Pointed, Referent, referent_of, run_at
from drive_trace.features.hover.quantities import in_full
from drive_trace.features.outline import ending_of
from drive_trace.text.escaping import code
from drive_trace.text.wording import duration, listed, plural
from drive_trace.trace.line import Line
from drive_trace.vocabulary import (
    EVENTS,
    LIFETIMES,
    Entity,
    Form,
    StringShape,
)

_NAME = "dispatch_name"
"""The field with a dispatch's name, which refers to the same as its id."""


_ROUND = LIFETIMES[Entity.ROUND]
_MOST_WRITERS = 8
_DISPATCH = LIFETIMES[Entity.DISPATCH]


def about_reference(at: Pointed) -> str | None:
    """The thing that a value refers to; None if it is no reference."""
    field, value = at.field, at.value
    if field is None or not isinstance(value, str):
        return None
    if field.name == _NAME:
        return _about_called(at)
    if field.names is Entity.PATH:
        return _about_path(at, value)
    if field.names is Entity.EVENT:
        return _about_event_id(at, value)
    if isinstance(field.shape, StringShape) and field.shape.form is Form.SHA256:
        return _about_hash(at, field.name, value)
    found = referent_of(at.analysis, at.line, field, value)
    return _about_referent(at, found) if found is not None else None


def _about_called(at: Pointed) -> str | None:
    event = at.line.event
    if event is None:
        return None
    field, value = event.fields[_DISPATCH.field], at.line.fact(_DISPATCH.field)
    found = referent_of(at.analysis, at.line, field, value)
    return _about_referent(at, found) if found is not None else None


def _about_referent(at: Pointed, found: Referent) -> str:
    start = found.start_for(at.line)
    if start is None:
        return f"No event of this trace starts this {found.of.entity}."
    end = found.ends.after(start) or found.ends.last
    text = f"{_title(at, found, start)}: started on {at.link(start)}"
    text += f", ended on {at.link(end)}{_outcome(end)}." if end is not None else _open(at, found)
    if found.of.entity is Entity.DISPATCH and found.run is not None:
        rounds = found.run.table(_ROUND.opener, found.of.field).of(found.id)
        text += f" {plural(len(rounds), 'round')}." if rounds else ""
        text += _resumed(at, start)
    return text


def _open(at: Pointed, found: Referent) -> str:
    """That nothing ends it, with rejected lines that may be its end."""
    assert found.run is not None
    rejected = at.analysis.index.unread_naming(found.run.run_id, found.of.field, found.id)
    named_on = [at.link(line) for line in rejected[-3:]]
    if not named_on:
        return ", not ended."
    are = "is" if len(named_on) == 1 else "are"
    return f", not ended as far as readers know: {listed(named_on)} {are} rejected."


def _title(at: Pointed, found: Referent, start: Line) -> str:
    if found.of.entity is Entity.DISPATCH:
        model = start.fact("model")
        return code(start.text_fact("dispatch_name"), 60) + (
            f" on {code(str(model), 40)}" if model is not None else ""
        )
    if found.of.entity is Entity.ROUND:
        dispatch = _dispatch_name(at, start)
        return f"Round {start.fact('round_number')}" + (f" of {dispatch}" if dispatch else "")
    return f"Slice {start.fact('slice_index')}"


def _dispatch_name(at: Pointed, line: Line) -> str | None:
    """The name of the dispatch of a line."""
    assert line.event is not None
    field = line.event.fields[_DISPATCH.field]
    found = referent_of(at.analysis, line, field, line.fact(field.name))
    name = found.name_for(line) if found is not None else None
    return code(name, 60) if name is not None else None


def _outcome(end: Line) -> str:
    outcome, claimed = ending_of(end)
    return (f" after {duration(claimed)}" if claimed is not None else "") + f", {outcome}"


def _resumed(at: Pointed, start: Line) -> str:
    parent = start.fact("parent_dispatch_id")
    before = (
        at.analysis.index.having(_DISPATCH.opener, _DISPATCH.field, parent).first
        if parent
        else None
    )
    if before is None:
        return ""
    return f" It resumes {code(before.text_fact('dispatch_name'), 60)}, {at.link(before)}."


def _about_event_id(at: Pointed, value: str) -> str | None:
    if at.line.event is None:
        return None
    run = run_at(at.analysis, at.line.run)
    if run is None:
        return None
    text = f"Event {run.lines.position(at.line) + 1:,} of {len(run):,} of run {code(at.line.run)}."
    others = [each for each in at.analysis.index.with_id(value)[:3] if each is not at.line]
    if others:
        text += f" Also the id of the event on {', '.join(map(at.link, others))}."
    return text


def _about_hash(at: Pointed, name: str, value: str) -> str | None:
    if at.line.event is None or value not in Form.SHA256:
        return None
    run = at.analysis.index.runs[at.line.run]
    same = run.table(at.line.event.name, name).of(value)
    before, after = same.before(at.line), same.after(at.line)
    if before is not None:
        dispatch = _dispatch_name(at, before)
        of = f" of {dispatch}" if dispatch else ""
        return f"The same content as on {at.link(before)}, a brief{of}."
    if after is not None:
        return f"No earlier brief of the run has this content; {at.link(after)} has it again."
    return "No other brief of the run has this content."


def _about_path(at: Pointed, value: str) -> str:
    lines = sorted(_naming(at, value), key=lambda line: line.order)
    if not lines:
        return "No valid event of this trace names this path."
    if len(lines) > _MOST_WRITERS:
        near = next((n for n, each in enumerate(lines) if each.order >= at.line.order), len(lines))
        first = max(0, min(near - _MOST_WRITERS // 2, len(lines) - _MOST_WRITERS))
        shown = lines[first : first + _MOST_WRITERS]
    else:
        shown = lines
    text = [f"- {at.link(each)}: {_deed(each)}" for each in shown]
    if len(shown) < len(lines):
        text.append(f"- and {plural(len(lines) - len(shown), 'more event')}")
    return "\n".join(text)


def _naming(at: Pointed, value: str) -> Iterator[Line]:
    for event in EVENTS.values():
        for field in event.fields.values():
            if field.names is Entity.PATH:
                yield from at.analysis.index.having(event.name, field.name, value)


def _deed(line: Line) -> str:
    """The change of a file by an event."""
    assert line.event is not None
    text = f"`{line.event.name}`"
    for name, sign in (("byte_length", ""), ("bytes_delta", "+")):
        count = line.fact(name) if name in line.event.keeps else None
        if isinstance(count, int):
            written = in_full(count) if not sign or count < 0 else f"+{in_full(count)}"
            text += f", {written} bytes" if not sign else f" ({written})"
    reason = line.fact("reason") if "reason" in line.event.keeps else None
    return text + (f", {reason}" if reason is not None else "")
