"""Completion items as one client reads them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from lsprotocol import types

from drive_trace.analysis import Analysis
from drive_trace.features.completion.snippets import Piece, render
from drive_trace.features.hover.fields import about_event, about_field, field_at
from drive_trace.features.markup import markup, plain
from drive_trace.features.positions import range_of
from drive_trace.text.escaping import printable
from drive_trace.text.spans import PositionEncoding, Span
from drive_trace.trace.cursor import Cursor
from drive_trace.trace.places import Part, Place
from drive_trace.vocabulary import EVENTS
from drive_trace.vocabulary.slips import nearest

_Kind = types.CompletionItemKind
_OLD_KINDS = {
    _Kind.Event: _Kind.Snippet,
    _Kind.Struct: _Kind.Snippet,
    _Kind.EnumMember: _Kind.Enum,
    _Kind.Folder: _Kind.File,
}
"""The replacement of a kind that a client does not know."""
_LONGEST = 200
"""The most characters of a label."""


@dataclass(frozen=True, slots=True)
class Abilities:
    """What a client can do with completion items."""

    snippets: bool = False
    replaces_rest: bool = False
    """Whether its edits can replace text after the cursor. Neovim's cannot; clients that can
    distinguish inserting from replacing.
    """
    label_details: bool = False
    kinds: frozenset[types.CompletionItemKind] = frozenset(list(_Kind)[:18])
    documentation: types.MarkupKind | None = None
    """The format of documentation; None for plain strings."""


class Candidate(NamedTuple):
    """Something that can be written at the cursor."""

    label: str
    pieces: tuple[Piece, ...]
    kind: types.CompletionItemKind
    note: str = ""
    """A description in plain words."""
    about: Mapping[str, object] | None = None
    """The data that its documentation is made of later."""
    word: str | None = None
    """The text by which it is found; None for its label."""


class Target(NamedTuple):
    """The place that a completion replaces."""

    analysis: Analysis
    record: int
    offset: int
    cursor: Cursor
    encoding: PositionEncoding

    @property
    def typed(self) -> str:
        """The text of that place before the cursor."""
        line = self.analysis.document.lines[self.record]
        return line.text[self.cursor.span.start : self.offset]


def items(
    candidates: Iterable[Candidate], target: Target, client: Abilities
) -> list[types.CompletionItem]:
    """The candidates as items, in their order. The nearest one to a misspelt word comes first."""
    candidates = list(candidates)
    meant = _meant(candidates, target.cursor.word)
    if meant is not None:
        candidates.sort(key=lambda candidate: candidate is not meant)
    # The whole token, also its part after the cursor: inserting before the rest of a string or
    # number would break it.
    replaced = range_of(target.analysis, target.record, target.cursor.span, target.encoding)
    made = []
    for place, candidate in enumerate(candidates):
        text, is_snippet = render(candidate.pieces, snippets=client.snippets)
        found_by = target.cursor.lead + (candidate.word or candidate.label)
        item = types.CompletionItem(
            label=printable(candidate.label, _LONGEST),
            kind=candidate.kind
            if candidate.kind in client.kinds
            else _OLD_KINDS.get(candidate.kind),
            sort_text=f"{place:04}",
            filter_text=target.typed if candidate is meant else found_by,
            insert_text_format=types.InsertTextFormat.Snippet if is_snippet else None,
            text_edit=_edit(text, replaced, target, client),
            data=dict(candidate.about) if candidate.about else None,
        )
        _note(item, candidate, client)
        made.append(item)
    return made


def _meant(candidates: Iterable[Candidate], word: str) -> Candidate | None:
    """The candidate that is nearest to a misspelt word."""
    by_label = {candidate.label: candidate for candidate in candidates}
    if not word or any(each.startswith(word) for each in by_label):
        return None
    found = nearest(word, by_label)
    return by_label[found] if found is not None else None


def _edit(text: str, replaced: types.Range, target: Target, client: Abilities) -> types.TextEdit:
    """Replaces the token, or only its part before the cursor if the rest is the same."""
    line = target.analysis.document.lines[target.record].text
    rest = line[target.offset : target.cursor.span.end]
    if client.replaces_rest or not rest or not text.endswith(rest):
        return types.TextEdit(replaced, text)
    before = Span(target.cursor.span.start, target.offset)
    where = range_of(target.analysis, target.record, before, target.encoding)
    return types.TextEdit(where, text.removesuffix(rest))


def _note(item: types.CompletionItem, candidate: Candidate, client: Abilities) -> None:
    note = printable(candidate.note, _LONGEST) if candidate.note else None
    if client.label_details:
        item.label_details = types.CompletionItemLabelDetails(description=note) if note else None
    else:
        item.detail = note


# ``completionItem/resolve``


def resolve_completion(
    item: types.CompletionItem, kind: types.MarkupKind | None
) -> types.CompletionItem:
    """An item with its documentation, if the vocabulary has any for it; as bare text for clients
    that read no markup.
    """
    data = item.data if isinstance(item.data, dict) else {}
    event = EVENTS.get(str(data.get("event", "")))
    path = data.get("field")
    text = None
    if isinstance(path, list) and path:
        field = field_at(event, Place(Part.VALUE, tuple(path)))
        text = about_field(field, data.get("value")) if field is not None else None
    elif event is not None:
        text = about_event(event)
    if text is not None:
        item.documentation = markup(text, kind) if kind is not None else plain(text)
    return item
