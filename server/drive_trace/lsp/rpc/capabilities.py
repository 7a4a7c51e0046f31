"""What the client can do, read once from ``initialize``.

A client that does not mention a feature gets its plain form; one that mentions it gets no more
than it declares. Where the plain form would lose something (markup, related places, literal code
actions), silence counts as consent: such clients are scripts that read whatever comes.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from cattrs import Converter
from lsprotocol import types
from pygls.capabilities import get_capability
from pygls.uris import to_fs_path

from drive_trace.features.completion import Abilities
from drive_trace.features.semantic_tokens import LEGEND
from drive_trace.features.structure import FIRST_KINDS, FoldingOptions, SymbolOptions
from drive_trace.text.spans import PositionEncoding


def _declared_at(path: str) -> Any:
    """A field that is True if the client declares the capability at this path."""
    return field(default=False, metadata={"path": path})


@dataclass(frozen=True, slots=True)
class Client:
    """One client's capabilities, and where it works."""

    encoding: PositionEncoding = PositionEncoding.UTF16
    process_id: int | None = None
    """The process whose end ends the server."""
    folders: tuple[Path, ...] = ()
    """The workspace's folders when it was opened."""
    pulls_diagnostics: bool = False
    """Whether it requests diagnostics; then none are pushed."""
    refreshes_diagnostics: bool = _declared_at("workspace.diagnostics.refresh_support")
    refreshes_lenses: bool = _declared_at("workspace.code_lens.refresh_support")
    refreshes_hints: bool = _declared_at("workspace.inlay_hint.refresh_support")
    hover_format: types.MarkupKind = types.MarkupKind.Markdown
    diagnostic_members: frozenset[str] = field(
        default_factory=lambda: frozenset({"relatedInformation", "codeDescription", "tags"})
    )
    """The optional members of a diagnostic that it reads."""
    completion: Abilities = field(default_factory=Abilities)
    symbols: SymbolOptions = field(default_factory=SymbolOptions)
    folding: FoldingOptions = field(default_factory=FoldingOptions)
    token_types: frozenset[str] = frozenset(LEGEND.token_types)
    """The types of semantic tokens that it knows."""
    token_modifiers: frozenset[str] = frozenset(LEGEND.token_modifiers)
    reads_location_links: bool = _declared_at("text_document.definition.link_support")
    """Whether a definition may say which token it leads from."""
    reads_link_tooltips: bool = _declared_at("text_document.document_link.tooltip_support")
    resolves_hint_tooltips: bool = False
    """Whether it requests an inlay hint's explanation when somebody points at it."""
    resolves_symbols: bool = False
    """Whether it requests the place of a workspace's symbol when somebody goes there."""
    reads_document_changes: bool = _declared_at("workspace.workspace_edit.document_changes")
    reads_annotations: bool = _declared_at("workspace.workspace_edit.change_annotation_support")
    reads_action_literals: bool = True
    """Whether a code action may be more than a command."""
    resolves_action_edits: bool = False
    """Whether it requests a code action's edit when somebody picks the action."""
    reads_disabled_actions: bool = _declared_at("text_document.code_action.disabled_support")
    applies_edits: bool = _declared_at("workspace.apply_edit")
    shows_documents: bool = _declared_at("window.show_document.support")
    asks: bool = _declared_at("window.show_message")
    """Whether it lets the person choose an answer to a message."""
    shows_progress: bool = _declared_at("window.work_done_progress")
    registers_watchers: bool = _declared_at(
        "workspace.did_change_watched_files.dynamic_registration"
    )
    """Whether it reports files that change on disk, once the server registers for that."""
    registers_settings: bool = _declared_at(
        "workspace.did_change_configuration.dynamic_registration"
    )
    """Whether it reports settings that change, once the server registers for that."""
    gives_settings: bool = _declared_at("workspace.configuration")
    """Whether the server can request its settings."""


def read_client(params: types.InitializeParams) -> Client:
    """The capabilities that a client declares in ``initialize``."""
    declared = params.capabilities

    def value(path: str) -> Any:
        return get_capability(declared, path)

    action, fold = "text_document.code_action", "text_document.folding_range"
    flags: dict[str, Any] = {
        each.name: bool(value(each.metadata["path"]))
        for each in fields(Client)
        if "path" in each.metadata
    }
    token_types, token_modifiers = _tokens(declared)
    hint_members = value("text_document.inlay_hint.resolve_support.properties") or ()
    action_members = value(f"{action}.resolve_support.properties") or ()
    symbol_members = value("workspace.symbol.resolve_support.properties") or ()
    return Client(
        encoding=choose_encoding(declared),
        process_id=params.process_id,
        folders=tuple(_folders(params)),
        pulls_diagnostics=value("text_document.diagnostic") is not None,
        hover_format=_hover_format(value("text_document.hover.content_format")),
        diagnostic_members=_diagnostic_members(declared),
        completion=_completion(declared),
        symbols=_symbols(value("text_document.document_symbol")),
        folding=FoldingOptions(
            value(f"{fold}.range_limit"),
            has_text=bool(value(f"{fold}.folding_range.collapsed_text")),
        ),
        token_types=token_types,
        token_modifiers=token_modifiers,
        resolves_hint_tooltips="tooltip" in hint_members,
        resolves_symbols="location.range" in symbol_members,
        reads_action_literals=(
            value(action) is None or bool(value(f"{action}.code_action_literal_support"))
        ),
        resolves_action_edits="edit" in action_members and bool(value(f"{action}.data_support")),
        **flags,
    )


def choose_encoding(capabilities: types.ClientCapabilities) -> PositionEncoding:
    """The first encoding of the client's list that we know; without a list, UTF-16."""
    for kind in get_capability(capabilities, "general.position_encodings") or ():
        value = kind.value if isinstance(kind, types.PositionEncodingKind) else kind
        if value in list(PositionEncoding):
            return PositionEncoding(value)
    return PositionEncoding.UTF16


DocumentKey = tuple[str, str]
_DRIVE = re.compile(r"(?i)\Afile:///[a-z](?=:)")


def key_of(uri: str) -> DocumentKey:
    """One key for all spellings of a URI: ``file:///C:/a%20b`` is ``file:///c%3A/a b``."""
    stop = next((at for at, each in enumerate(uri) if each in "?#"), len(uri))
    path = unquote(uri[:stop], errors="surrogateescape")
    return _DRIVE.sub(lambda found: found[0].lower(), path), uri[stop:]


def path_of(uri: str) -> Path | None:
    """The file or folder that a URI names; None for what is not on this machine's disk."""
    try:
        path = to_fs_path(uri) if uri.startswith("file:") else None
    except ValueError:  # no URI
        return None
    return _usable(path)


def _usable(path: str | None) -> Path | None:
    """A path from a client, if the system can look for it."""
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
    """The types and modifiers that the client lists; all if it does not mention tokens."""
    listed = get_capability(declared, "text_document.semantic_tokens") or LEGEND
    return frozenset(listed.token_types), frozenset(listed.token_modifiers)


def _diagnostic_members(declared: types.ClientCapabilities) -> frozenset[str]:
    """Declared for pushed or for pulled diagnostics, which have the same members."""
    kinds = [
        each
        for path in ("publish_diagnostics", "diagnostic")
        if (each := get_capability(declared, f"text_document.{path}")) is not None
    ]
    if not any(isinstance(each, types.PublishDiagnosticsClientCapabilities) for each in kinds):
        return Client().diagnostic_members
    names = {
        "relatedInformation": "related_information",
        "codeDescription": "code_description_support",
        "tags": "tag_support",
    }
    return frozenset(
        member for member, name in names.items() if any(getattr(each, name, None) for each in kinds)
    )


def without_unknown(params: Any, converter: Converter) -> Any:
    """The params of ``initialize`` without the members that lsprotocol cannot read.

    A client may be newer than lsprotocol, and some send what the specification does not have.
    Neither is a reason to refuse the client.
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
    """A value without the parts that cannot be read."""
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
