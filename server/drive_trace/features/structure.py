"""``textDocument/documentSymbol``, ``textDocument/foldingRange`` and
``textDocument/selectionRange``: runs, their slices, dispatches and rounds, and the lines in them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, cast

from lsprotocol import types
from lsprotocol.types import SymbolKind

from drive_trace.analysis import Analysis
from drive_trace.features.results import JsonText, LineRanges, dumps, range_between
from drive_trace.features.runs import Joined, nothing_joined, of_one_file
from drive_trace.json_text import Node, NodeKind
from drive_trace.json_text.lexemes import strings_named
from drive_trace.scorecard.run_score import Verdict
from drive_trace.stopping import unless_stopped
from drive_trace.text.escaping import plain
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.text.wording import compact, duration, plural
from drive_trace.trace.document import Point
from drive_trace.trace.line import (
    REJECTING,
    FlaggedLine,
    Line,
    LineStatus,
    earliest,
    event_of,
    latest,
)
from drive_trace.trace.places import Part, Place, resolve, syntax_of
from drive_trace.trace.structure import Nesting, lines_naming, nesting_of, nestings, slice_around
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

# The tree


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


_LONGEST_NAME = 100
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
    run_id, score = (
        plain(node.value, _LONGEST_NAME).strip() or _NAMELESS,
        analysis.score_run(node.value),
    )
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
        return plain(node.value, _LONGEST_NAME).strip() or _NAMELESS
    is_dispatch = node.entity is Entity.DISPATCH
    text = _opener_text(node.opener, "dispatch_name" if is_dispatch else "round_number")
    if text is not None:
        name = plain(text, _LONGEST_NAME).strip() or _NAMELESS
        return name if is_dispatch else f"Round {name}"
    value = f"{node.value[:8]}…" if node.value in Form.UUID else plain(node.value, _LONGEST_NAME)
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
        return plain(str(model), _LONGEST_NAME)
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
    name = plain(line.event_name or "", _LONGEST_NAME).strip() or "line"
    if line.status is LineStatus.UNKNOWN:
        return Caption(name, "not in the vocabulary")
    codes = dict.fromkeys(each.kind for each in line.diagnostics if each.kind in REJECTING)
    return Caption(f"⚠ {name} · rejected", ", ".join(codes))


def _in_words(field: FieldType, value: object) -> str:
    if isinstance(value, int):
        return f"{compact(value)} {field.name.replace('_', ' ')}"
    if field.names is Entity.PATH:
        return plain("/".join(str(value).split("/")[-2:]), _LONGEST_NAME)
    if field.name in CORRECTNESS_FIELDS:
        return f"{field.name} {value if value is not None else '—'}"
    return plain(str(value), _LONGEST_NAME)


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


# Symbols


FIRST_KINDS = frozenset(range(SymbolKind.File, SymbolKind.Array + 1))
"""The kinds that every client knows."""

_KINDS = {
    Entity.RUN: SymbolKind.Module.value,
    Entity.SLICE: SymbolKind.Namespace.value,
    Entity.DISPATCH: SymbolKind.Class.value,
    Entity.ROUND: SymbolKind.Method.value,
}


class SymbolOptions(NamedTuple):
    """What the client can show, and what other files hold."""

    is_tree: bool = False
    kinds: frozenset[int] = FIRST_KINDS
    has_tags: bool = False
    """Whether it can strike out events that no longer count."""
    joined: Joined = nothing_joined
    """For the verdicts in the names of runs."""


def document_symbols(
    analysis: Analysis,
    roots: Outline,
    uri: str,
    encoding: PositionEncoding,
    options: SymbolOptions,
) -> JsonText:
    """All symbols of an outline, in the order of the trace. A symbol's range goes from its first
    line to its last, so that the ranges of concurrent dispatches or runs overlap.
    """
    writer = _Writer(analysis, uri, encoding, options)
    parts: list[str] = []
    if options.is_tree:
        writer.add_tree(parts, roots)
    else:
        writer.add_flat(parts, roots)
    return JsonText("".join(parts).encode())


class _Writer:
    """Writes symbols."""

    def __init__(
        self, analysis: Analysis, uri: str, encoding: PositionEncoding, options: SymbolOptions
    ) -> None:
        self._analysis = analysis
        self._joined = options.joined
        self._ranges = LineRanges(analysis, encoding)
        self._uri = _text(uri)
        self._known: dict[tuple[object, ...], str] = {}
        """The members of lines by their facts, as most lines are like others."""
        self._is_tree = options.is_tree
        event, rejected = SymbolKind.Event.value, SymbolKind.Null.value
        self._event = event if event in options.kinds else SymbolKind.Property.value
        self._rejected = rejected if rejected in options.kinds else SymbolKind.String.value
        self._has_tags = options.has_tags

    def add_tree(self, parts: list[str], children: Outline) -> None:
        """``DocumentSymbol[]``."""
        add, text = parts.append, self._ranges.text
        separator = "["
        for child in unless_stopped(children):
            if isinstance(child, OutlineLeaf):
                own = text(child.record, child.record)
                members = self._members_of_line(child.line)
                add(f'{separator}{{{members},"range":{own},"selectionRange":{own}}}')
            else:
                opener = child.first if child.opener is None else child.opener.record
                whole, own = text(child.first, child.last), text(opener, opener)
                members = self._about(child)
                add(f'{separator}{{{members},"range":{whole},"selectionRange":{own},"children":')
                self.add_tree(parts, child.children)
                add("}")
            separator = ","
        add("]" if children else "[]")

    def add_flat(self, parts: list[str], roots: Outline) -> None:
        """``SymbolInformation[]``."""
        parts.append("[")
        self._add_within(parts, roots, "")
        parts.append("]")

    def _add_within(self, parts: list[str], children: Outline, within: str) -> None:
        for child in unless_stopped(children):
            if isinstance(child, OutlineLeaf):
                members, where = (
                    self._members_of_line(child.line),
                    self._ranges.text(child.record, child.record),
                )
            else:
                members, where = self._about(child), self._ranges.text(child.first, child.last)
            separator = "," if len(parts) > 1 else ""
            place = f'"location":{{"uri":{self._uri},"range":{where}}}'
            parts.append(f"{separator}{{{members},{place}{within}}}")
            if isinstance(child, OutlineNode):
                name = _text(label_of(self._analysis, child, self._joined).name)
                self._add_within(parts, child.children, f',"containerName":{name}')

    def _about(self, node: OutlineNode) -> str:
        return self._members(label_of(self._analysis, node, self._joined), _KINDS[node.entity])

    def _members_of_line(self, line: Line) -> str:
        if line.event is None:
            kind = self._rejected if line.is_rejected else self._event
            return self._members(label_of_line(line), kind)
        facts = facts_shown(line)
        known = self._known.get(facts)
        if known is None:
            known = self._known[facts] = self._members(label_of_line(line), self._event)
        return f'{known},"tags":[1]' if self._has_tags and self._is_superseded(line) else known

    def _members(self, label: Caption, kind: int) -> str:
        detail = f',"detail":{_text(label.detail)}' if label.detail and self._is_tree else ""
        return f'"name":{_text(label.name)}{detail},"kind":{kind}'

    def _is_superseded(self, line: Line) -> bool:
        event = line.event
        if event is None or not event.is_feed:
            return False
        return self._analysis.index.runs[line.run].events(event.name).last is not line


def _text(value: str) -> str:
    """A string in JSON, all ASCII: one wide character would make the whole answer wide."""
    return json.dumps(value)


# Folds


class FoldingOptions(NamedTuple):
    """What the client can show, and what other files hold."""

    most: int | None = None
    has_text: bool = False
    """Whether it shows a text in place of the folded lines."""
    joined: Joined = nothing_joined
    """For the verdicts in the names of runs."""


class _Fold(NamedTuple):
    first: int
    last: int
    node: OutlineNode


def folding_ranges(analysis: Analysis, roots: Outline, options: FoldingOptions) -> JsonText:
    """The folds of an outline in order, nested, at most one a line. Of too many, the largest."""
    has_several = sum(isinstance(root, OutlineNode) for root in roots) > 1
    nodes = (node for node in containers(roots) if has_several or node.entity is not Entity.RUN)
    every = [_Fold(node.first, node.last, node) for node in nodes if node.first < node.last]
    folds = [*_nested(every)]
    if options.most is not None and len(folds) > options.most:
        largest = sorted(folds, key=lambda fold: fold.first - fold.last)[: max(0, options.most)]
        folds = sorted(largest, key=lambda fold: fold.first)
    line_of = analysis.document.protocol_line
    answer = []
    for fold in unless_stopped(folds):
        folding: dict[str, object] = {
            "startLine": line_of(fold.first),
            "endLine": line_of(fold.last + 1) - 1,
            "kind": "region",
        }
        if options.has_text:
            folding["collapsedText"] = label_of(analysis, fold.node, options.joined).name
        answer.append(folding)
    return JsonText(dumps(answer))


def _nested(folds: Iterable[_Fold]) -> Iterable[_Fold]:
    """Folds that do not cross each other. If dispatches or runs overlap, the first one is folded;
    of two that start on one line, the outer one.
    """
    open_folds: list[_Fold] = []
    for fold in sorted(folds, key=lambda fold: (fold.first, -fold.last)):
        while open_folds and open_folds[-1].last < fold.first:
            open_folds.pop()
        if open_folds and (fold.first == open_folds[-1].first or fold.last > open_folds[-1].last):
            continue
        open_folds.append(fold)
        yield fold


# Selections


_MOST_WITHIN = 32
"""The most selections within a line. An undeclared field may be nested a million deep."""


class _Extent(NamedTuple):
    """The lines of something."""

    first: Line | None
    last: Line | None


def selection_range(
    analysis: Analysis, point: Point, encoding: PositionEncoding
) -> types.SelectionRange:
    """The ranges that a selection grows to, from the innermost on."""
    document = analysis.document
    line = document.lines[point.record]
    whole = resolve(line.text, Place(Part.WHOLE))
    within = list(_within(line.text, point.offset))[:_MOST_WITHIN]
    spots = [
        (Point(point.record, span.start), Point(point.record, span.end))
        for span in (whole, *within)
        if span.start <= point.offset <= span.end
    ]
    last = len(document.lines) - 1
    found = types.SelectionRange(
        range_between(analysis, Point(0, 0), Point(last, len(document.lines[last].text)), encoding)
    )
    for start, end in (*_around(analysis, point.record), *spots):
        wider, here = found.range, range_between(analysis, start, end, encoding)
        if here != wider:
            found = types.SelectionRange(here, found)
    return found


def _around(analysis: Analysis, record: int) -> list[tuple[Point, Point]]:
    """The run, slice, dispatch and round of a line, each as wide as all its lines."""
    document = analysis.document
    line = document.lines[record]
    nesting = nesting_of(analysis.index, document.lines, record)
    found: list[tuple[Point, Point]] = []
    inner = _Extent(line, line)
    for extent in _extents(analysis, nesting, line):
        first = earliest((inner.first, extent.first)) or line
        last = latest((inner.last, extent.last)) or line
        inner = _Extent(first, last)
        end = document.number(last)
        found.append((Point(document.number(first), 0), Point(end, len(last.text))))
    return found[::-1]


def _extents(analysis: Analysis, nesting: Nesting, line: Line) -> Iterator[_Extent]:
    """The lines of the round, dispatch, slice and run of a line, innermost first."""
    index, run_id = analysis.index, nesting.run
    if run_id is None:
        return
    for entity, value in ((Entity.ROUND, nesting.round), (Entity.DISPATCH, nesting.dispatch)):
        if value is not None:
            yield _extent(lines_naming(index, run_id, LIFETIMES[entity], value))
    if nesting.slice is not None:
        yield _Extent(*slice_around(index, run_id, nesting.slice, line))
    run, rejected = index.runs.get(run_id), index.rejected.get(run_id)
    valid = run.by_event.values() if run is not None else ()
    yield _extent((*valid, *filter(None, (rejected,))))


def _extent(sets: Iterable[Sequence[Line]]) -> _Extent:
    """The first and the last of some lines; no sequence is empty."""
    ends = [(lines[0], lines[-1]) for lines in sets]
    return _Extent(earliest(first for first, _ in ends), latest(last for _, last in ends))


def _within(text: str, offset: int) -> Iterator[Span]:
    """The values and pairs of a record around a code point, outermost first. A string is followed
    by its inside.
    """
    node = syntax_of(text).root
    while node is not None:
        yield node.span
        if node.kind is NodeKind.STRING and node.span.end - node.span.start > 1:
            inner = Span(node.span.start + 1, node.span.end - 1)
            if inner.start <= offset <= inner.end:
                yield inner
        node, spans = _step(node, offset)
        yield from spans


def _step(node: Node, offset: int) -> tuple[Node | None, tuple[Span, ...]]:
    """The inner value at a code point, and the selections on the way there."""
    for member in node.members:
        key, value = member.key_span, member.value
        pair = Span(key.start, value.span.end if value is not None else key.end)
        if not pair.start <= offset <= pair.end:
            continue
        if key.start <= offset <= key.end:
            inner = Span(key.start + 1, key.end - 1)
            is_inside = inner.start <= offset <= inner.end
            return None, (pair, key, inner) if is_inside else (pair, key)
        is_at_value = value is not None and value.span.start <= offset
        return value if is_at_value else None, (pair,)
    inside = (item for item in node.items if item.span.start <= offset <= item.span.end)
    return next(inside, None), ()
