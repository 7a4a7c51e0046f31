"""The structure of a trace: runs, their slices, dispatches and rounds, and the lines in them, with
their labels in outlines and folds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

from drive_trace.analysis import Analysis
from drive_trace.features.runs import Joined, of_one_file
from drive_trace.json_text.lexemes import strings_named
from drive_trace.scorecard.verdict import Verdict
from drive_trace.stopping import unless_stopped
from drive_trace.text.escaping import plain
from drive_trace.text.wording import compact, duration, plural
from drive_trace.trace.line import REJECTING, FlaggedLine, Line, LineStatus, event_of
from drive_trace.trace.structure import Nesting, nestings
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


class OutlineLeaf(NamedTuple):
    """A line that starts nothing."""

    line: Line
    record: int
    """The line's number from 0."""


class OutlineNode:
    """A run, slice, dispatch or round, and what is in it."""

    __slots__ = ("children", "closer", "entity", "first", "last", "nesting", "opener", "value")

    def __init__(self, entity: Entity, value: str, nesting: Nesting, record: int) -> None:
        self.entity = entity
        self.value = value
        """Its id."""
        self.nesting = nesting
        """What its first line stands in."""
        self.opener: OutlineLeaf | None = None
        """The line that starts it, valid or rejected. A run has none, as its first line is like any
        other.
        """
        self.closer: Line | None = None
        """The last line that ends it; a rejected one if there is no valid one."""
        self.first = self.last = record
        """The records of its first and last line. Lines of others can stand between."""
        self.children: list[OutlineNode | OutlineLeaf] = []


Outline = Sequence["OutlineNode | OutlineLeaf"]
"""The runs of a trace, and the lines that belong to none."""


def outline(analysis: Analysis) -> Outline:
    """The runs of a trace, and the lines that belong to none."""
    lines = analysis.document.lines
    roots: list[OutlineNode | OutlineLeaf] = []
    nodes: dict[tuple[int, int, str], OutlineNode] = {}
    known, chain = Nesting(None), list[OutlineNode]()
    within = zip(lines, nestings(analysis.index, lines), strict=True)
    for record, (line, nesting) in enumerate(unless_stopped(within)):
        if line.status is LineStatus.BLANK:
            continue
        if nesting is not known:
            known, chain = nesting, _chain(roots, nodes, nesting, chain, record)
        if not chain:
            roots.append(OutlineLeaf(line, record))
            continue
        for node in chain:
            node.last = record
        _put(chain[-1], OutlineLeaf(line, record))
    return roots


def containers(roots: Sequence[OutlineNode | OutlineLeaf]) -> Iterator[OutlineNode]:
    """Every run, slice, dispatch and round, each before its children."""
    for root in roots:
        if isinstance(root, OutlineNode):
            yield root
            yield from containers(root.children)


def _chain(
    roots: list[OutlineNode | OutlineLeaf],
    nodes: dict[tuple[int, int, str], OutlineNode],
    nesting: Nesting,
    before: Sequence[OutlineNode],
    record: int,
) -> list[OutlineNode]:
    """The nodes that a line is in, outermost first. New ones are made. ``before`` are those of the
    line before, which are mostly the same.
    """
    chain: list[OutlineNode] = []
    for level, value in enumerate(nesting):
        if value is None:
            continue
        place = len(chain)
        entity = _LEVELS[level]
        if place < len(before) and before[place].entity is entity and before[place].value == value:
            chain.append(before[place])
            continue
        before = ()
        key = (id(chain[-1]) if chain else 0, level, value)
        node = nodes.get(key)
        if node is None:
            node = nodes[key] = OutlineNode(entity, value, nesting, record)
            (chain[-1].children if chain else roots).append(node)
        chain.append(node)
    return chain


def _put(node: OutlineNode, leaf: OutlineLeaf) -> None:
    event, entity = event_of(leaf.line), node.entity
    if event is not None and entity is not Entity.RUN:
        if event.opens is entity and node.opener is None:
            node.opener = leaf
            return
        if event.closes is entity and (leaf.line.event is not None or _is_rejected(node.closer)):
            node.closer = leaf.line
    node.children.append(leaf)


def _is_rejected(line: Line | None) -> bool:
    return line is None or line.event is None


_LEVELS = (Entity.RUN, Entity.SLICE, Entity.DISPATCH, Entity.ROUND)


# Labels


_MOST = 100
"""Characters of a name from the trace."""
_NAMELESS = "(no name)"


class Caption(NamedTuple):
    """How something is shown. The name holds all that matters: some editors show only that."""

    name: str
    detail: str = ""


def label_of(analysis: Analysis, node: OutlineNode, joined: Joined) -> Caption:
    """The label of a run, slice, dispatch or round, with its outcome; for a run, the verdict over
    all its files.
    """
    if node.entity is Entity.RUN:
        return _label_of_run(analysis, node, joined)
    name, closer = _name_of(node), node.closer
    if closer is None or closer.event is None:
        name += " · not ended" if closer is None else " · its end is rejected"
    else:
        outcome, claimed = ending_of(closer)
        length = claimed if claimed is not None else _length_of(node, closer)
        name += f" · {outcome}" if length is None else f" · {duration(length)} · {outcome}"
    return Caption(name, _detail_of(node))


def _label_of_run(analysis: Analysis, node: OutlineNode, joined: Joined) -> Caption:
    run_id, score = plain(node.value, _MOST).strip() or _NAMELESS, analysis.score_run(node.value)
    if score is None:
        return Caption(f"no valid event · {run_id}")
    run = joined(node.value) or of_one_file(score)
    gate = run.run.gate
    # The name holds what qualifies a CORRECT. The reason for another verdict is in the detail.
    is_correct = gate.verdict is Verdict.CORRECT
    verdict = run.headline if is_correct else run.run.word
    verdict += " so far" if run.waiting != 0 and not is_correct else ""
    reasons = {
        Verdict.INCORRECT: f"{', '.join(gate.failed)} failed",
        Verdict.NOT_COMPUTABLE: gate.uncounted or f"missing: {', '.join(gate.missing)}",
    }
    count = len(score.rejected) if gate.uncounted is None else 0
    parts = [
        "not graded" if gate.is_ungraded else reasons.get(gate.verdict, ""),
        f"{plural(count, 'line')} rejected" if count else "",
    ]
    return Caption(f"{verdict} · {run_id}", " · ".join(part for part in parts if part))


def _name_of(node: OutlineNode) -> str:
    if node.entity is Entity.SLICE:
        return plain(node.value, _MOST).strip() or _NAMELESS
    is_dispatch = node.entity is Entity.DISPATCH
    text = _opener_text(node.opener, "dispatch_name" if is_dispatch else "round_number")
    if text is not None:
        name = plain(text, _MOST).strip() or _NAMELESS
        return name if is_dispatch else f"Round {name}"
    value = f"{node.value[:8]}…" if node.value in Form.UUID else plain(node.value, _MOST)
    return f"{node.entity.capitalize()} {value}"


def _opener_text(opener: OutlineLeaf | None, field: str) -> str | None:
    """The value of a field on the line that starts something."""
    if opener is None:
        return None
    if opener.line.event is not None:
        return str(opener.line.fact(field))
    return next((value for value, _ in strings_named(opener.line.text, field)), None)


def _length_of(node: OutlineNode, closer: Line) -> int | None:
    """How long it took by the timestamps, in milliseconds."""
    if node.opener is None or node.opener.line.event is None:
        return None
    return milliseconds_between(node.opener.line.text_fact("ts"), closer.text_fact("ts"))


class Ending(NamedTuple):
    """What the valid end of something records."""

    outcome: str
    claimed_ms: int | None
    """How long it claims that took; None if its event has no duration."""


def ending_of(closer: Line) -> Ending:
    """The outcome and the duration of a valid end."""
    outcome, length = _ENDINGS[cast("EventType", closer.event).name]
    claimed = cast("int", closer.facts[length]) if length is not None else None
    return Ending(str(closer.facts[outcome]), claimed)


def _detail_of(node: OutlineNode) -> str:
    opener, closer = node.opener, node.closer
    if node.entity is Entity.ROUND and closer is not None and closer.event is not None:
        count = cast("int", closer.fact("findings_filed"))
        findings = plural(count, "finding")
    else:
        findings = ""
    if opener is None or opener.line.event is None:
        missing = "never started" if opener is None else "its start is rejected"
        return f"{missing} · {findings}" if findings else missing
    if node.entity is Entity.DISPATCH and (model := opener.line.fact("model")) is not None:
        return plain(str(model), _MOST)
    return findings


def facts_shown(line: Line) -> tuple[object, ...]:
    """The name of a valid line's event, and the facts that its label is made of."""
    name = cast("EventType", line.event).name
    facts = line.facts
    return (name, *[facts[place] for place in _PLACES[name]])


def label_of_line(line: Line) -> Caption:
    """The label of a line: its event, and what distinguishes it from others of that type."""
    event = line.event
    if event is None:
        return _label_of_flagged(cast("FlaggedLine", line))
    values = zip(_SHOWN[event.name], facts_shown(line)[1:], strict=True)
    parts = [
        _in_words(field, value)
        for field, value in values
        if value is not None or field.name in CORRECTNESS_FIELDS
    ]
    if event.is_feed:
        return Caption(" · ".join((event.name, *parts)))
    return Caption(" · ".join((event.name, *parts[:1])), " · ".join(parts[1:]))


def _label_of_flagged(line: FlaggedLine) -> Caption:
    name = plain(line.event_name or "", _MOST).strip() or "line"
    if line.status is LineStatus.UNKNOWN:
        return Caption(name, "not in the vocabulary")
    codes = dict.fromkeys(each.kind for each in line.diagnostics if each.kind in REJECTING)
    return Caption(f"⚠ {name} · rejected", ", ".join(codes))


def _in_words(field: FieldType, value: object) -> str:
    if isinstance(value, int):
        return f"{compact(value)} {field.name.replace('_', ' ')}"
    if field.names is Entity.PATH:
        return plain("/".join(str(value).split("/")[-2:]), _MOST)
    if field.name in CORRECTNESS_FIELDS:
        return f"{field.name} {value if value is not None else '—'}"
    return plain(str(value), _MOST)


def _shown(event: EventType) -> tuple[FieldType, ...]:
    """The kept facts of an event that distinguish it: files and text; all of a feed."""
    kept = [event.fields[name] for name in event.keeps]
    return tuple(
        field
        for field in kept
        if field.names in (None, Entity.PATH)
        and not isinstance(field.shape, BooleanShape)
        and (field.names or not (isinstance(field.shape, StringShape) and field.shape.form))
        and (event.is_feed or not isinstance(field.shape, IntegerShape))
    )


_SHOWN = {name: _shown(event) for name, event in EVENTS.items()}
_PLACES = {
    name: tuple(EVENTS[name].keeps.index(field.name) for field in fields)
    for name, fields in _SHOWN.items()
}


def _ending_places(event: EventType) -> tuple[int, int | None]:
    kept = [event.fields[name] for name in event.keeps]
    outcome = next(place for place, each in enumerate(kept) if isinstance(each.shape, OneOfShape))
    lengths = (place for place, each in enumerate(kept) if each.unit == "milliseconds")
    return outcome, next(lengths, None)


_ENDINGS = {event.name: _ending_places(event) for event in EVENTS.values() if event.closes}
"""The places of outcome and duration among the facts of each end."""
