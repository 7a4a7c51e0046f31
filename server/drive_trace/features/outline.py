"""The structure of a trace: runs, their slices, dispatches, rounds and lines, and what they are
called. Symbols, folding and whatever lists runs are made of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from drive_trace.api import Analysis
from drive_trace.scorecard.render import compact, duration, plain
from drive_trace.scorecard.verdict import NO_SIGNAL, Verdict
from drive_trace.trace.line import REJECTING, Line, OddLine, Status
from drive_trace.trace.mentions import strings_named
from drive_trace.trace.nesting import Home, homes
from drive_trace.trace.times import milliseconds_between
from drive_trace.vocabulary import (
    CORRECTNESS_FIELDS,
    EVENTS,
    LIFETIMES,
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


class Leaf(NamedTuple):
    """A line that starts nothing."""

    line: Line
    record: int
    """The line's number from 0."""


class Node:
    """A run, slice, dispatch or round, and what is in it."""

    __slots__ = ("children", "entity", "first", "home", "last", "opener", "value")

    def __init__(self, entity: Entity, value: str, home: Home, record: int) -> None:
        self.entity = entity
        self.value = value
        """Its id."""
        self.home = home
        """What its first line stands in."""
        self.opener: Line | None = None
        """The line that starts it, valid or rejected; a run has none, its first line is like any
        other.
        """
        self.first = self.last = record
        """The records from its first line to its last; lines of others can stand between."""
        self.children: list[Node | Leaf] = []


class Label(NamedTuple):
    """What something is called: all that matters in the name, as some editors show nothing else."""

    name: str
    detail: str = ""


def outline(analysis: Analysis) -> list[Node | Leaf]:
    """The runs of a trace, and the lines that belong to none, each with what is in it."""
    roots: list[Node | Leaf] = []
    nodes: dict[tuple[str, ...], Node] = {}
    known, chain = Home(None), list[Node]()
    for record, (line, home) in enumerate(
        zip(analysis.document.lines, homes(analysis.index, analysis.document.lines), strict=True)
    ):
        if home is not known:
            known, chain = home, _chain(roots, nodes, home, record)
        for node in chain:
            node.last = record
        if line.status is Status.BLANK:
            continue
        if chain and chain[-1].opener is None and _opens(line) is chain[-1].entity:
            chain[-1].opener = line
        else:
            (chain[-1].children if chain else roots).append(Leaf(line, record))
    return roots


def containers(roots: Sequence[Node | Leaf]) -> Iterator[Node]:
    """Every run, slice, dispatch and round, each before what is in it."""
    for root in roots:
        if isinstance(root, Node):
            yield root
            yield from containers(root.children)


def symbols_of(analysis: Analysis) -> list[tuple[Node, Label]]:
    """The runs, slices and dispatches of a trace, and what they are called."""
    return [
        (node, label_of(analysis, node))
        for node in containers(outline(analysis))
        if node.entity is not Entity.ROUND
    ]


def _chain(
    roots: list[Node | Leaf], nodes: dict[tuple[str, ...], Node], home: Home, record: int
) -> list[Node]:
    """The nodes of what a line stands in, outermost first; made where they are new."""
    chain: list[Node] = []
    key: tuple[str, ...] = ()
    for entity, value in zip(_LEVELS, home, strict=True):
        if value is None:
            continue
        key = (*key, entity, value)
        node = nodes.get(key)
        if node is None:
            node = nodes[key] = Node(entity, value, home, record)
            (chain[-1].children if chain else roots).append(node)
        chain.append(node)
    return chain


def _opens(line: Line) -> Entity | None:
    event = event_of(line)
    return event.opens if event is not None and event.opens in LIFETIMES else None


def event_of(line: Line) -> EventType | None:
    """The event that a line records or was meant to record."""
    if line.event is not None:
        return line.event
    return EVENTS.get(cast("OddLine", line).event_name or "")


# Names


def label_of(analysis: Analysis, node: Node) -> Label:
    """What a run, slice, dispatch or round is called, and how it ended."""
    if node.entity is Entity.RUN:
        return _label_of_run(analysis, node)
    of = LIFETIMES[node.entity]
    run = analysis.index.runs.get(node.home.run or "")
    closer = run.table(of.closer, of.field).of(node.value).last if run is not None else None
    length, outcome = _end_of(node, closer)
    if closer is None:
        outcome = "its end is rejected" if _has_rejected_end(analysis, node) else "not ended"
    name = _name_of(node)
    parts = [name, duration(length) if length is not None else "", outcome]
    return Label(" · ".join(part for part in parts if part), _detail_of(node, closer))


def _label_of_run(analysis: Analysis, node: Node) -> Label:
    run_id, score = plain(node.value, _MOST).strip() or _NAMELESS, analysis.score_run(node.value)
    if score is None:
        return Label(f"no valid event · {run_id}")
    gate = score.gate
    words = {Verdict.CORRECT: "CORRECT", Verdict.INCORRECT: "INCORRECT"}
    verdict = words.get(gate.verdict, "not computable")
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
    said = _said(node.opener, "dispatch_name" if node.entity is Entity.DISPATCH else "round_number")
    if said:
        name = plain(said, _MOST).strip() or _NAMELESS
        return name if node.entity is Entity.DISPATCH else f"Round {name}"
    is_uuid = node.value in Form.UUID
    return f"{node.entity.capitalize()} {f'{node.value[:8]}…' if is_uuid else plain(node.value)}"


def _said(line: Line | None, field: str) -> str | None:
    """What the line that starts something says in a field."""
    if line is None:
        return None
    if line.event is not None:
        return str(line.fact(field))
    return next((value for value, _ in strings_named(line.text, field)), None)


def _end_of(node: Node, closer: Line | None) -> tuple[int | None, str]:
    """How long it took, in milliseconds: as its end says, else by the clock; and how it ended."""
    if closer is None or closer.event is None:
        return None, ""
    fields, outcome = closer.event.fields, ""
    length = None
    for name in closer.event.keeps:
        if fields[name].unit == "milliseconds":
            length = cast("int", closer.fact(name))
        elif isinstance(fields[name].shape, OneOfShape):
            outcome = closer.text_fact(name)
    if length is None and node.opener is not None and node.opener.event is not None:
        length = milliseconds_between(node.opener.text_fact("ts"), closer.text_fact("ts"))
    return length, outcome


def _has_rejected_end(analysis: Analysis, node: Node) -> bool:
    of = LIFETIMES[node.entity]
    naming = analysis.index.rejected_naming(node.home.run or "", of.field, node.value)
    return any(cast("OddLine", line).event_name == of.closer for line in naming)


def _detail_of(node: Node, closer: Line | None) -> str:
    opener = node.opener
    parts = []
    if opener is not None and opener.event is None:
        parts.append("its start is rejected")
    elif opener is None:
        parts.append("never started")
    elif node.entity is Entity.DISPATCH and (model := opener.fact("model")) is not None:
        parts.append(plain(str(model), _MOST))
    if node.entity is Entity.ROUND and closer is not None:
        count = cast("int", closer.fact("findings_filed"))
        parts.append(f"{count:,} finding{'s' * (count != 1)}")
    return " · ".join(parts)


def label_of_line(line: Line) -> Label:
    """What a line is called: its event, and what tells it from others of its kind."""
    event = line.event
    if event is None:
        return _label_of_odd(cast("OddLine", line))
    values = zip(_SHOWN[event.name], map(line.facts.__getitem__, _PLACES[event.name]), strict=True)
    said = [
        _in_words(field, value)
        for field, value in values
        if value is not None or field.name in CORRECTNESS_FIELDS
    ]
    if event.is_feed:
        return Label(" · ".join((event.name, *said)))
    return Label(" · ".join((event.name, *said[:1])), " · ".join(said[1:]))


def _label_of_odd(line: OddLine) -> Label:
    name = plain(line.event_name or "", _MOST).strip() or "line"
    if line.status is Status.UNKNOWN:
        return Label(name, "not in the vocabulary")
    codes = dict.fromkeys(each.concern for each in line.remarks if each.concern in REJECTING)
    return Label(f"⚠ {name} · rejected", ", ".join(codes))


def _in_words(field: FieldType, value: object) -> str:
    if not isinstance(value, int):
        text = str(value)
        if field.names is Entity.PATH:
            return plain("/".join(text.split("/")[-2:]), _MOST)
        if field.name in CORRECTNESS_FIELDS:
            return f"{field.name} {text if value is not None else '—'}"
        return plain(text, _MOST)
    if field.unit == "milliseconds":
        return duration(value)
    if field.unit == "bytes":
        is_signed = isinstance(field.shape, IntegerShape) and field.shape.minimum is None
        return f"{value:+,} bytes" if is_signed else f"{value:,} bytes"
    words = field.name.removesuffix("_count").replace("_", " ")
    return f"{compact(value)} {words}" if field.unit == "tokens" else f"{words}: {value:,}"


def _shown(event: EventType) -> tuple[FieldType, ...]:
    """What of an event's kept facts tells it from others: files and words, then figures."""
    kept = [event.fields[name] for name in event.keeps]
    shown = [
        field
        for field in kept
        if field.names in (None, Entity.PATH)
        and not isinstance(field.shape, BooleanShape)
        and not (isinstance(field.shape, StringShape) and field.shape.form)
    ]
    return tuple(sorted(shown, key=lambda field: isinstance(field.shape, IntegerShape)))


_SHOWN = {name: _shown(event) for name, event in EVENTS.items()}
_PLACES = {
    name: tuple(EVENTS[name].keeps.index(field.name) for field in fields)
    for name, fields in _SHOWN.items()
}
_LEVELS = (Entity.RUN, Entity.SLICE, Entity.DISPATCH, Entity.ROUND)
