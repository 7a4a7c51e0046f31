"""What the client can do, read once from ``initialize``.

A client that says nothing at all about a feature is taken to read what the
specification calls its plain form; one that speaks of it gets no more than it
declares. Where an answer without the newer form would lose something (markup,
related places, literal code actions), silence counts as consent: such clients
are scripts that read whatever comes.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cattrs import Converter
from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.uris import to_fs_path

from drive_trace.features.completion.items import Abilities
from drive_trace.features.document_symbol import FIRST_KINDS, SymbolOptions
from drive_trace.features.folding_range import FoldingOptions
from drive_trace.features.tokens import LEGEND
from drive_trace.text.spans import PositionEncoding


@dataclass(frozen=True, slots=True)
class Client:
    """One client's abilities, and where it works."""

    encoding: PositionEncoding = PositionEncoding.UTF16
    process_id: int | None = None
    """The process whose end ends the server."""
    folders: tuple[Path, ...] = ()
    """The workspace's folders when it was opened."""
    pulls_diagnostics: bool = False
    """Whether it asks for diagnostics; then none are pushed."""
    refreshes_diagnostics: bool = False
    refreshes_lenses: bool = False
    hover_format: types.MarkupKind = types.MarkupKind.Markdown
    diagnostic_members: frozenset[str] = field(
        default_factory=lambda: frozenset({"relatedInformation", "codeDescription", "tags"})
    )
    """The optional members of a diagnostic that it reads."""
    completion: Abilities = field(default_factory=Abilities)
    reads_location_links: bool = False
    """Whether a definition may say which token it leads from."""
    symbols: SymbolOptions = field(default_factory=SymbolOptions)
    folding: FoldingOptions = field(default_factory=FoldingOptions)
    reads_link_tooltips: bool = False
    token_types: frozenset[str] = frozenset(LEGEND.token_types)
    """The types of semantic tokens that it knows."""
    token_modifiers: frozenset[str] = frozenset(LEGEND.token_modifiers)
    resolves_hint_tooltips: bool = False
    """Whether it asks for an inlay hint's explanation when somebody points at it."""
    reads_document_changes: bool = False
    reads_annotations: bool = False
    reads_action_literals: bool = True
    """Whether a code action may be more than a command."""
    resolves_action_edits: bool = False
    """Whether it asks for a code action's edit when that is picked."""
    reads_disabled_actions: bool = False
    applies_edits: bool = False
    shows_documents: bool = False
    registers_watchers: bool = False
    """Whether it can be asked to tell of files that change on disk."""
    registers_settings: bool = False
    """Whether it can be asked to tell of settings that change."""
    gives_settings: bool = False
    """Whether it can be asked for its settings."""
    refreshes_hints: bool = False
    shows_progress: bool = False
    resolves_symbols: bool = False
    """Whether it asks for the place of a workspace's symbol when somebody goes there."""


def read_client(params: types.InitializeParams) -> Client:
    """The abilities that a client declares in ``initialize``."""
    declared = params.capabilities

    def has(path: str) -> bool:
        return bool(get_capability(declared, path, False))

    actions = get_capability(declared, "text_document.code_action")
    token_types, token_modifiers = _tokens(declared)
    resolved = get_capability(declared, "text_document.inlay_hint.resolve_support.properties")
    return Client(
        encoding=choose_encoding(declared),
        process_id=params.process_id,
        folders=tuple(_folders(params)),
        pulls_diagnostics=get_capability(declared, "text_document.diagnostic") is not None,
        refreshes_diagnostics=has("workspace.diagnostics.refresh_support"),
        refreshes_lenses=has("workspace.code_lens.refresh_support"),
        hover_format=_hover_format(get_capability(declared, "text_document.hover.content_format")),
        diagnostic_members=_diagnostic_members(declared),
        completion=_completion(declared),
        reads_location_links=has("text_document.definition.link_support"),
        symbols=_symbols(get_capability(declared, "text_document.document_symbol")),
        folding=FoldingOptions(
            get_capability(declared, "text_document.folding_range.range_limit"),
            has_text=has("text_document.folding_range.folding_range.collapsed_text"),
        ),
        reads_link_tooltips=has("text_document.document_link.tooltip_support"),
        token_types=token_types,
        token_modifiers=token_modifiers,
        resolves_hint_tooltips="tooltip" in (resolved or ()),
        reads_document_changes=has("workspace.workspace_edit.document_changes"),
        reads_annotations=has("workspace.workspace_edit.change_annotation_support"),
        reads_action_literals=(
            actions is None or has("text_document.code_action.code_action_literal_support")
        ),
        resolves_action_edits=_resolves_edits(declared),
        reads_disabled_actions=has("text_document.code_action.disabled_support"),
        applies_edits=has("workspace.apply_edit"),
        shows_documents=has("window.show_document.support"),
        registers_watchers=has("workspace.did_change_watched_files.dynamic_registration"),
        registers_settings=has("workspace.did_change_configuration.dynamic_registration"),
        gives_settings=has("workspace.configuration"),
        refreshes_hints=has("workspace.inlay_hint.refresh_support"),
        shows_progress=has("window.work_done_progress"),
        resolves_symbols="location.range" in (_symbol_properties(declared) or ()),
    )


def _resolves_edits(declared: types.ClientCapabilities) -> bool:
    lazy = get_capability(declared, "text_document.code_action.resolve_support.properties") or ()
    return "edit" in lazy and bool(
        get_capability(declared, "text_document.code_action.data_support", False)
    )


def choose_encoding(capabilities: types.ClientCapabilities) -> PositionEncoding:
    """The first encoding of the client's list that we know; without a list, UTF-16."""
    for kind in get_capability(capabilities, "general.position_encodings") or ():
        value = kind.value if isinstance(kind, types.PositionEncodingKind) else kind
        if value in list(PositionEncoding):
            return PositionEncoding(value)
    return PositionEncoding.UTF16


def path_of(uri: str) -> Path | None:
    """The file or folder that a URI names; None for what is not on this machine's disk."""
    try:
        path = to_fs_path(uri) if uri.startswith("file:") else None
    except ValueError:  # no URI
        return None
    return _usable(path)


def _usable(path: str | None) -> Path | None:
    """A path from a client, if it is one that can be asked for."""
    if not path or "\0" in path or not os.path.isabs(path):  # noqa: PTH117 - Path may raise
        return None
    try:
        os.fsencode(path)
    except ValueError:  # characters that no path has
        return None
    return Path(path)


def _folders(params: types.InitializeParams) -> list[Path]:
    if params.workspace_folders is not None:
        uris = [folder.uri for folder in params.workspace_folders]
    elif params.root_uri is not None:
        uris = [params.root_uri]
    else:
        folder = _usable(params.root_path)
        return [folder] if folder is not None else []
    return [folder for uri in uris if (folder := path_of(uri)) is not None]


def _completion(declared: types.ClientCapabilities) -> Abilities:
    item = get_capability(declared, "text_document.completion.completion_item")
    kinds = get_capability(declared, "text_document.completion.completion_item_kind.value_set")
    formats = getattr(item, "documentation_format", None)
    plain = Abilities()
    return Abilities(
        snippets=bool(getattr(item, "snippet_support", False)),
        replaces_rest=bool(getattr(item, "insert_replace_support", False)),
        label_details=bool(getattr(item, "label_details_support", False)),
        kinds=frozenset(each for each in types.CompletionItemKind if each in kinds)
        if kinds
        else plain.kinds,
        documentation=_hover_format(formats) if formats else None,
    )


def _symbol_properties(declared: types.ClientCapabilities) -> Any:
    return get_capability(declared, "workspace.symbol.resolve_support.properties")


def _hover_format(formats: Any) -> types.MarkupKind:
    """The first format of the client's list; without a list, Markdown."""
    known = [each for each in formats or () if isinstance(each, types.MarkupKind)]
    return known[0] if known else types.MarkupKind.Markdown


def _symbols(declared: types.DocumentSymbolClientCapabilities | None) -> SymbolOptions:
    if declared is None:
        return SymbolOptions()
    kinds = declared.symbol_kind.value_set if declared.symbol_kind is not None else None
    tags = declared.tag_support.value_set if declared.tag_support is not None else ()
    return SymbolOptions(
        is_tree=bool(declared.hierarchical_document_symbol_support),
        kinds=frozenset(map(int, kinds)) if kinds is not None else FIRST_KINDS,
        has_tags=types.SymbolTag.Deprecated in tags,
    )


def _tokens(declared: types.ClientCapabilities) -> tuple[frozenset[str], frozenset[str]]:
    """The types and modifiers that the client lists; all, where it does not speak of them."""
    said = get_capability(declared, "text_document.semantic_tokens")
    if not isinstance(said, types.SemanticTokensClientCapabilities):
        return Client().token_types, Client().token_modifiers
    return frozenset(said.token_types), frozenset(said.token_modifiers)


def _diagnostic_members(declared: types.ClientCapabilities) -> frozenset[str]:
    """By what is said of pushed or of pulled diagnostics; both say the same things."""
    said = [
        each
        for path in ("publish_diagnostics", "diagnostic")
        if (each := get_capability(declared, f"text_document.{path}")) is not None
    ]
    if not any(isinstance(each, types.PublishDiagnosticsClientCapabilities) for each in said):
        return Client().diagnostic_members
    names = {
        "relatedInformation": "related_information",
        "codeDescription": "code_description_support",
        "tags": "tag_support",
    }
    return frozenset(
        member for member, name in names.items() if any(getattr(each, name, None) for each in said)
    )


def without_what_is_unknown(params: Any, converter: Converter) -> Any:
    """The params of ``initialize`` without the members that lsprotocol cannot read.

    A client newer than lsprotocol may name values that it does not know, and some send what the
    specification does not have; that is no reason to refuse the client.
    """
    if not isinstance(params, dict) or not isinstance(params.get("capabilities"), dict):
        return params

    def is_readable(some: Any) -> bool:
        try:
            converter.structure({"capabilities": {}, **some}, types.InitializeParams)
        except Exception:  # noqa: BLE001 - converters raise whatever their hooks raise
            return False
        return True

    return _readable(params, is_readable)


def _readable(value: Any, is_readable: Callable[[Any], bool]) -> Any:
    """A value without what cannot be read of it."""
    if is_readable(value):
        return value
    kept: Any
    if isinstance(value, dict):
        kept = {}
        for name, member in value.items():
            rest = _readable(member, lambda each: is_readable({**kept, name: each}))  # noqa: B023
            kept = kept if rest is _NOTHING else {**kept, name: rest}
    elif isinstance(value, list):
        kept = []
        for item in value:
            rest = _readable(item, lambda each: is_readable([*kept, each]))  # noqa: B023
            kept = kept if rest is _NOTHING else [*kept, rest]
    else:
        return _NOTHING
    return kept if is_readable(kept) else _NOTHING


_NOTHING = object()
