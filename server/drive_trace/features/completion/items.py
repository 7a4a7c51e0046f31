"""Completion items as one client reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.completion.snippets import Piece, render
from drive_trace.features.positions import range_of
from drive_trace.text.escaping import printable
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.cursor import Cursor
from drive_trace.vocabulary.slips import nearest

_Kind = types.CompletionItemKind
_OLD_KINDS = {
    _Kind.Event: _Kind.Snippet,
    _Kind.Struct: _Kind.Snippet,
    _Kind.EnumMember: _Kind.Enum,
    _Kind.Folder: _Kind.File,
}
"""What stands for a kind that a client does not know."""
_LONGEST = 200
"""Characters of a label."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a client can do with completion items."""

    snippets: bool = False
    replaces_rest: bool = False
    """Whether what it replaces can be trusted to reach beyond the cursor: Neovim's does not, and
    those that do tell inserting from replacing.
    """
    label_details: bool = False
    kinds: frozenset[types.CompletionItemKind] = frozenset(list(_Kind)[:18])
    documentation: types.MarkupKind | None = None
    """None where it reads bare text only."""


class Offer(NamedTuple):
    """Something that can be put at the cursor."""

    label: str
    pieces: tuple[Piece, ...]
    kind: types.CompletionItemKind
    note: str = ""
    """What it is, in plain words."""
    about: Mapping[str, object] | None = None
    """What its documentation is made of, when somebody wants to see it."""
    word: str | None = None
    """What it is found by; None: its label."""


class Target(NamedTuple):
    """Where what is offered goes."""

    analysis: Analysis
    record: int
    offset: int
    cursor: Cursor
    encoding: PositionEncoding

    @property
    def typed(self) -> str:
        """What stands there before the cursor."""
        line = self.analysis.document.lines[self.record]
        return line.text[self.cursor.span.start : self.offset]


def items(offers: Iterable[Offer], target: Target, client: Abilities) -> list[types.CompletionItem]:
    """The offers as items, in their order. What was typed wrongly finds what it is nearest to."""
    offers = list(offers)
    meant = _meant(offers, target.cursor.word)
    if meant is not None:
        offers.sort(key=lambda offer: offer is not meant)
    # All of the token, also what stands behind the cursor: a text that is inserted before the rest
    # of a string or number would break it.
    replaced = range_of(target.analysis, target.record, target.cursor.span, target.encoding)
    made = []
    for place, offer in enumerate(offers):
        text, is_snippet = render(offer.pieces, snippets=client.snippets)
        found_by = target.cursor.lead + (offer.word or offer.label)
        item = types.CompletionItem(
            label=printable(offer.label, _LONGEST),
            kind=offer.kind if offer.kind in client.kinds else _OLD_KINDS.get(offer.kind),
            sort_text=f"{place:04}",
            filter_text=target.typed if offer is meant else found_by,
            insert_text_format=types.InsertTextFormat.Snippet if is_snippet else None,
            text_edit=_edit(text, replaced, target, client),
            data=dict(offer.about) if offer.about else None,
        )
        _note(item, offer, client)
        made.append(item)
    return made


def _meant(offers: Iterable[Offer], word: str) -> Offer | None:
    """The offer that a misspelt word is nearest to."""
    by_label = {offer.label: offer for offer in offers}
    if not word or any(each.startswith(word) for each in by_label):
        return None
    found = nearest(word, by_label)
    return by_label[found] if found is not None else None


def _edit(text: str, replaced: types.Range, target: Target, client: Abilities) -> types.TextEdit:
    """Puts a text in place of the token, or of its part before the cursor if it ends alike."""
    line = target.analysis.document.lines[target.record].text
    rest = line[target.offset : target.cursor.span.end]
    if client.replaces_rest or not rest or not text.endswith(rest):
        return types.TextEdit(replaced, text)
    before = Span(target.cursor.span.start, target.offset)
    where = range_of(target.analysis, target.record, before, target.encoding)
    return types.TextEdit(where, text.removesuffix(rest))


def _note(item: types.CompletionItem, offer: Offer, client: Abilities) -> None:
    note = printable(offer.note, _LONGEST) if offer.note else None
    if client.label_details:
        item.label_details = types.CompletionItemLabelDetails(description=note) if note else None
    else:
        item.detail = note
