"""``textDocument/documentSymbol``: runs, slices, dispatches, rounds and lines as a tree or a list.

Made as JSON text: a trace of 100,000 lines has as many symbols.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from lsprotocol.types import SymbolKind

from drive_trace.api import Analysis
from drive_trace.features.json_text import JsonText, dumps
from drive_trace.features.line_ranges import LineRanges
from drive_trace.features.outline import Label, Leaf, Node, label_of, label_of_line, outline
from drive_trace.text import PositionEncoding
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
    """What the client can show."""

    is_tree: bool = False
    kinds: frozenset[int] = FIRST_KINDS
    has_tags: bool = False
    """Whether what no longer counts can be struck out."""


def document_symbols(
    analysis: Analysis, uri: str, encoding: PositionEncoding, options: SymbolOptions
) -> JsonText:
    """All symbols, in the order of the trace. A symbol's range holds all lines of what is in it,
    and so those of others where dispatches or runs overlap.
    """
    writer = _Writer(analysis, uri, encoding, options)
    roots = outline(analysis)
    text = writer.tree(roots) if options.is_tree else writer.flat(roots)
    return JsonText(text.encode())


class _Writer:
    """Writes symbols, and remembers the names that it has written."""

    def __init__(
        self, analysis: Analysis, uri: str, encoding: PositionEncoding, options: SymbolOptions
    ) -> None:
        self._analysis = analysis
        self._ranges = LineRanges(analysis, encoding)
        self._uri = _text(uri)
        self._known: dict[str, str] = {}
        event, rejected = SymbolKind.Event.value, SymbolKind.Null.value
        self._event = event if event in options.kinds else SymbolKind.Property.value
        self._rejected = rejected if rejected in options.kinds else SymbolKind.String.value
        self._has_tags = options.has_tags

    def tree(self, children: Sequence[Node | Leaf]) -> str:
        """``DocumentSymbol[]``."""
        parts: list[str] = []
        for child in children:
            label, kind, tags = self._about(child)
            whole, own = self._where(child)
            detail = f',"detail":{self._said(label.detail)}' if label.detail else ""
            inner = (
                f',"children":{self.tree(child.children)}'
                if isinstance(child, Node) and child.children
                else ""
            )
            parts.append(
                f'{{"name":{self._said(label.name)}{detail},"kind":{kind}{tags},'
                f'"range":{whole},"selectionRange":{own}{inner}}}'
            )
        return f"[{','.join(parts)}]"

    def flat(self, roots: Sequence[Node | Leaf]) -> str:
        """``SymbolInformation[]``."""
        parts: list[str] = []
        self._add_flat(parts, roots, "")
        return f"[{','.join(parts)}]"

    def _add_flat(self, parts: list[str], children: Sequence[Node | Leaf], within: str) -> None:
        for child in children:
            label, kind, tags = self._about(child)
            whole, _ = self._where(child)
            container = f',"containerName":{within}' if within else ""
            name = self._said(label.name)
            parts.append(
                f'{{"name":{name},"kind":{kind}{tags},'
                f'"location":{{"uri":{self._uri},"range":{whole}}}{container}}}'
            )
            if isinstance(child, Node):
                self._add_flat(parts, child.children, name)

    def _about(self, child: Node | Leaf) -> tuple[Label, int, str]:
        if isinstance(child, Node):
            return label_of(self._analysis, child), _KINDS[child.entity], ""
        line = child.line
        kind = self._rejected if line.is_rejected else self._event
        tags = ',"tags":[1]' if self._has_tags and self._is_superseded(line) else ""
        return label_of_line(line), kind, tags

    def _where(self, child: Node | Leaf) -> tuple[str, str]:
        if isinstance(child, Leaf):
            own = self._ranges.text(child.record, child.record)
            return own, own
        own = self._ranges.text(child.first, child.first)
        if child.opener is not None:
            record = self._analysis.document.number(child.opener)
            own = self._ranges.text(record, record)
        return self._ranges.text(child.first, child.last), own

    def _is_superseded(self, line: Line) -> bool:
        event = line.event
        if event is None or not event.is_feed:
            return False
        return self._analysis.index.runs[line.run].events(event.name).last is not line

    def _said(self, text: str) -> str:
        known = self._known.get(text)
        if known is None:
            known = self._known[text] = _text(text)
        return known


def _text(value: str) -> str:
    return dumps(value).decode()
