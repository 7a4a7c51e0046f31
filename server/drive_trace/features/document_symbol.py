"""``textDocument/documentSymbol``: runs, slices, dispatches, rounds and lines as a tree or a list.

Made as JSON text: a trace of 100,000 lines has as many symbols.
"""

from __future__ import annotations

import json
from typing import NamedTuple

from lsprotocol.types import SymbolKind

from drive_trace.analysis import Analysis
from drive_trace.features.outline import (
    Caption,
    Outline,
    OutlineLeaf,
    OutlineNode,
    facts_shown,
    label_of,
    label_of_line,
)
from drive_trace.features.positions import LineRanges
from drive_trace.features.raw_json import JsonText
from drive_trace.features.runs import Joined, nothing_joined
from drive_trace.stopping import unless_stopped
from drive_trace.text.spans import PositionEncoding
from drive_trace.trace.line import Line
from drive_trace.vocabulary import Entity

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
