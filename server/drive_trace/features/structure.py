"""``textDocument/documentSymbol``, ``textDocument/foldingRange`` and
``textDocument/selectionRange``: runs, their slices, dispatches and rounds, and the lines in them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import NamedTuple, TypeAlias, cast

from lsprotocol import types
from lsprotocol.types import SymbolKind, SymbolTag

from drive_trace import vocabulary
from drive_trace.analysis import Analysis
from drive_trace.features.results import JsonText, View, json_list, plain_between, range_between
from drive_trace.features.runs import Joined, nothing_joined, of_one_file
from drive_trace.json_text import Node, NodeKind, strings_named
from drive_trace.scorecard.run_score import Verdict
from drive_trace.scorecard.scoring import score_in
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import Span
from drive_trace.text.wording import compact, duration, plain, plural
from drive_trace.trace import places, scope, times
from drive_trace.trace.document import Point
from drive_trace.trace.line import REJECTING, FlaggedLine, Line, LineStatus, event_of
from drive_trace.vocabulary import CORRECTNESS_FIELDS, EVENTS, Entity, EventType, FieldType, Form

# The tree


class OutlineLeaf(NamedTuple):
    """A line that starts nothing."""

    line: Line
    record: int
    """The line's number from 0."""


@dataclass(slots=True, eq=False)
class OutlineNode:
    """A run, slice, dispatch or round, and what is in it."""

    entity: Entity
    value: str
    """Its id."""
    first: int
    """The record of its first line."""
    last: int
    """The record of its last line. Lines of others can stand between."""
    opener: OutlineLeaf | None = None
    """The line that starts it, valid or rejected. A run has none, as its first line is like any
    other.
    """
    closer: Line | None = None
    """The last line that ends it; a rejected one if there is no valid one."""
    children: list[OutlineNode | OutlineLeaf] = field(default_factory=list)


Outline: TypeAlias = "Sequence[OutlineNode | OutlineLeaf]"
"""The runs of a trace, and the lines that belong to none."""
_LEVELS = (Entity.RUN, Entity.SLICE, Entity.DISPATCH, Entity.ROUND)
"""What the members of a nesting name."""


def outline(analysis: Analysis) -> Outline:
    """The runs of a trace, and the lines that belong to none."""
    lines = analysis.document.lines
    roots: list[OutlineNode | OutlineLeaf] = []
    nodes: dict[tuple[OutlineNode | None, Entity, str], OutlineNode] = {}
    within = zip(lines, scope.nestings(analysis.index, lines), strict=True)
    for record, (line, nesting) in enumerate(unless_stopped(within)):
        if line.status is LineStatus.BLANK:
            continue
        outer, children = None, roots
        for entity, value in zip(_LEVELS, nesting, strict=True):
            if value is None:
                continue
            node = nodes.get((outer, entity, value))
            if node is None:
                node = nodes[outer, entity, value] = OutlineNode(entity, value, record, record)
                children.append(node)
            node.last = record
            outer, children = node, node.children
        if outer is None:
            roots.append(OutlineLeaf(line, record))
        else:
            _put(outer, OutlineLeaf(line, record))
    return roots


def containers(roots: Outline) -> Iterator[OutlineNode]:
    """Every run, slice, dispatch and round, each before its children."""
    for root in roots:
        if isinstance(root, OutlineNode):
            yield root
            yield from containers(root.children)


def _put(node: OutlineNode, leaf: OutlineLeaf) -> None:
    event, entity = event_of(leaf.line), node.entity
    if event is not None and entity is not Entity.RUN:
        if event.opens is entity and node.opener is None:
            node.opener = leaf
            return
        is_best = leaf.line.event is not None or node.closer is None or node.closer.event is None
        if event.closes is entity and is_best:
            node.closer = leaf.line
    node.children.append(leaf)


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
    run_id = plain(node.value, _LONGEST_NAME).strip() or _NAMELESS
    score = score_in(analysis.index, node.value)
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
    return times.milliseconds_between(node.opener.line.text_fact("ts"), closer.text_fact("ts"))


def ending_of(closer: Line) -> tuple[str, int | None]:
    """The outcome that a valid end records, and how long it claims that took, in milliseconds; None
    if its event has no duration.
    """
    event = cast("EventType", closer.event)
    kept = [event.fields[name] for name in event.keeps]
    outcome = next(each.name for each in kept if isinstance(each.shape, vocabulary.OneOfShape))
    length = next((each.name for each in kept if each.unit == "milliseconds"), None)
    claimed = cast("int", closer.fact(length)) if length is not None else None
    return str(closer.fact(outcome)), claimed


def _detail_of(node: OutlineNode) -> str:
    opener, closer = node.opener, node.closer
    findings = ""
    if node.entity is Entity.ROUND and closer is not None and closer.event is not None:
        findings = plural(cast("int", closer.fact("findings_filed")), "finding")
    if opener is None or opener.line.event is None:
        missing = "never started" if opener is None else "its start is rejected"
        return f"{missing} · {findings}" if findings else missing
    if node.entity is Entity.DISPATCH and (model := opener.line.fact("model")) is not None:
        return plain(str(model), _LONGEST_NAME)
    return findings


def label_of_line(line: Line) -> Caption:
    """The label of a line: its event, and what distinguishes it from others of that type."""
    event = line.event
    if event is None:
        return _label_of_flagged(cast("FlaggedLine", line))
    values = ((field, line.fact(field.name)) for field in _SHOWN[event.name])
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
        and not isinstance(field.shape, vocabulary.BooleanShape)
        and (field.names or not getattr(field.shape, "form", None))
        and (event.is_feed or not isinstance(field.shape, vocabulary.IntegerShape))
    )


_SHOWN = {name: _shown(event) for name, event in EVENTS.items()}


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


def document_symbols(view: View, roots: Outline, uri: str, options: SymbolOptions) -> JsonText:
    """All symbols of an outline, in the order of the trace: ``DocumentSymbol[]`` or
    ``SymbolInformation[]``. A symbol's range goes from its first line to its last, so that the
    ranges of concurrent dispatches or runs overlap.
    """
    maker = _SymbolMaker(view, uri, options)
    return json_list(maker.tree(roots) if options.is_tree else maker.flat(roots))


class _SymbolMaker(NamedTuple):
    """Makes symbols of an outline."""

    view: View
    uri: str
    options: SymbolOptions

    def tree(self, children: Outline) -> Iterator[dict[str, object]]:
        """``DocumentSymbol[]``."""
        for child in unless_stopped(children):
            made, detail = self._named(child)
            if detail:
                made["detail"] = detail
            if isinstance(child, OutlineLeaf):
                made["range"] = made["selectionRange"] = self._range(child.record, child.record)
            else:
                opener = child.first if child.opener is None else child.opener.record
                made["range"] = self._range(child.first, child.last)
                made["selectionRange"] = self._range(opener, opener)
                made["children"] = json_list(self.tree(child.children))
            yield made

    def flat(self, children: Outline, within: object = None) -> Iterator[dict[str, object]]:
        """``SymbolInformation[]``."""
        for child in unless_stopped(children):
            made, _ = self._named(child)
            if isinstance(child, OutlineLeaf):
                ends = child.record, child.record
            else:
                ends = child.first, child.last
            made["location"] = {"uri": self.uri, "range": self._range(*ends)}
            if within is not None:
                made["containerName"] = within
            yield made
            if isinstance(child, OutlineNode):
                yield from self.flat(child.children, made["name"])

    def _named(self, child: OutlineNode | OutlineLeaf) -> tuple[dict[str, object], str]:
        """The members that both forms have, and the detail."""
        if isinstance(child, OutlineNode):
            label = label_of(self.view.analysis, child, self.options.joined)
            return {"name": label.name, "kind": _KINDS[child.entity]}, label.detail
        label, line = label_of_line(child.line), child.line
        # What readers reject is shown as nothing.
        wanted = SymbolKind.Null if line.is_rejected else SymbolKind.Event
        plain_kind = SymbolKind.String if line.is_rejected else SymbolKind.Property
        kind = wanted if wanted in self.options.kinds else plain_kind
        made: dict[str, object] = {"name": label.name, "kind": kind.value}
        if self.options.has_tags and line.event is not None and line.event.is_feed:
            feed = self.view.index.runs[line.run].events(line.event.name)
            if feed.last is not line:  # it counts no more
                made["tags"] = [SymbolTag.Deprecated.value]
        return made, label.detail

    def _range(self, first: int, last: int) -> object:
        end = Point(last, len(self.view.lines[last].text))
        return plain_between(self.view, Point(first, 0), end)


# Folds


class FoldingOptions(NamedTuple):
    """What the client can show, and what other files hold."""

    most: int | None = None
    has_text: bool = False
    """Whether it shows a text in place of the folded lines."""
    joined: Joined = nothing_joined
    """For the verdicts in the names of runs."""


def folding_ranges(analysis: Analysis, roots: Outline, options: FoldingOptions) -> JsonText:
    """The folds of an outline in order, nested, at most one a line. Of too many, the largest."""
    has_several = sum(isinstance(root, OutlineNode) for root in roots) > 1
    nodes = (node for node in containers(roots) if has_several or node.entity is not Entity.RUN)
    folds = [*_nested(node for node in nodes if node.first < node.last)]
    if options.most is not None and len(folds) > options.most:
        largest = sorted(folds, key=lambda fold: fold.first - fold.last)[: max(0, options.most)]
        folds = sorted(largest, key=lambda fold: fold.first)
    line_of = analysis.document.protocol_line

    def text_of(fold: OutlineNode) -> dict[str, str]:
        return {"collapsedText": label_of(analysis, fold, options.joined).name}

    return json_list(
        {"startLine": line_of(fold.first), "endLine": line_of(fold.last + 1) - 1, "kind": "region"}
        | (text_of(fold) if options.has_text else {})
        for fold in folds
    )


def _nested(folds: Iterable[OutlineNode]) -> Iterator[OutlineNode]:
    """Folds that do not cross each other. If dispatches or runs overlap, the first one is folded;
    of two that start on one line, the outer one.
    """
    open_folds: list[OutlineNode] = []
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


def selection_range(view: View, roots: Outline, point: Point) -> types.SelectionRange:
    """The ranges that a selection grows to, from the innermost on: what is around a point within
    its line, the line, and what the line is in by the outline, each as wide as all its lines.
    """
    lines = view.lines
    text = lines[point.record].text
    whole = places.resolve(text, places.Place(places.Part.WHOLE))
    within = islice(_within(text, point.offset), _MOST_WITHIN)
    nesting = scope.nestings(view.index, lines)[point.record]
    around = [(0, len(lines) - 1), *((node.first, node.last) for node in _path(roots, nesting))]
    spots = [(Point(first, 0), Point(last, len(lines[last].text))) for first, last in around]
    spots += [
        (Point(point.record, span.start), Point(point.record, span.end))
        for span in (whole, *within)
        if span.start <= point.offset <= span.end
    ]
    found: types.SelectionRange | None = None
    for start, end in spots:
        here = range_between(view, start, end)
        if found is None or here != found.range:
            found = types.SelectionRange(here, found)
    assert found is not None
    return found


def _path(nodes: Outline, nesting: scope.Nesting) -> Iterator[OutlineNode]:
    """What a line is in, outermost first."""
    for level in zip(_LEVELS, nesting, strict=True):
        for node in nodes if level[1] is not None else ():
            if isinstance(node, OutlineNode) and (node.entity, node.value) == level:
                yield node
                nodes = node.children
                break


def _within(text: str, offset: int) -> Iterator[Span]:
    """The values and pairs of a record around a code point, outermost first. A string is followed
    by its inside.
    """
    node = places.syntax_of(text).root
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
