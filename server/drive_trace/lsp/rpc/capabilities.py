"""What the client can do, read once from the JSON of ``initialize``.

A client that does not mention a feature gets its plain form; one that mentions it gets no more
than it declares. Where the plain form would lose something (markup, related places, literal code
actions), silence counts as consent: such clients are scripts that read whatever comes. What has
another type than the protocol gives it, or a value that nobody knows yet, is passed over: a client
may be newer than this server.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote

from lsprotocol import types
from pygls.uris import to_fs_path

from drive_trace.features.completion import Abilities
from drive_trace.features.semantic_tokens import TokenLook
from drive_trace.features.structure import FIRST_KINDS, FoldingOptions, SymbolOptions
from drive_trace.text.spans import PositionEncoding

Value = TypeVar("Value")

_MEMBERS = {
    "relatedInformation": "relatedInformation",
    "codeDescription": "codeDescriptionSupport",
    "tags": "tagSupport",
}
"""The optional members of a diagnostic, with the capability that names each."""


def _declared_at(path: str) -> Any:
    """A field that is True if the client declares the capability at this path, by true or by an
    object that says more.
    """
    return field(default=False, metadata={"path": path})


@dataclass(frozen=True, slots=True)
class Client:
    """One client's capabilities, and where it works."""

    encoding: PositionEncoding = PositionEncoding.UTF16
    process_id: int | None = None
    """The process whose end ends the server."""
    folders: tuple[Path, ...] = ()
    """The workspace's folders when it was opened."""
    pulls_diagnostics: bool = _declared_at("textDocument.diagnostic")
    """Whether it requests diagnostics; then none are pushed."""
    refreshes_diagnostics: bool = _declared_at("workspace.diagnostics.refreshSupport")
    refreshes_lenses: bool = _declared_at("workspace.codeLens.refreshSupport")
    refreshes_hints: bool = _declared_at("workspace.inlayHint.refreshSupport")
    hover_format: types.MarkupKind = types.MarkupKind.Markdown
    diagnostic_members: frozenset[str] = frozenset(_MEMBERS)
    """The optional members of a diagnostic that it reads."""
    completion: Abilities = field(default_factory=Abilities)
    symbols: SymbolOptions = field(default_factory=SymbolOptions)
    folding: FoldingOptions = field(default_factory=FoldingOptions)
    tokens: TokenLook = field(default_factory=TokenLook)
    reads_location_links: bool = _declared_at("textDocument.definition.linkSupport")
    """Whether a definition may say which token it leads from."""
    reads_link_tooltips: bool = _declared_at("textDocument.documentLink.tooltipSupport")
    resolves_hint_tooltips: bool = False
    """Whether it requests an inlay hint's explanation when somebody points at it."""
    reads_document_changes: bool = _declared_at("workspace.workspaceEdit.documentChanges")
    reads_action_literals: bool = True
    """Whether a code action may be more than a command."""
    resolves_action_edits: bool = False
    """Whether it requests a code action's edit when somebody picks the action."""
    reads_disabled_actions: bool = _declared_at("textDocument.codeAction.disabledSupport")
    applies_edits: bool = _declared_at("workspace.applyEdit")
    waits_for_edits: bool = _declared_at("textDocument.synchronization.willSaveWaitUntil")
    """Whether it requests edits before it saves a document."""
    prepares_renames: bool = _declared_at("textDocument.rename.prepareSupport")
    """Whether it requests what would be renamed before it asks the person for a name."""
    shows_documents: bool = _declared_at("window.showDocument.support")
    reads_contents: bool = _declared_at("workspace.textDocumentContent")
    """Whether it shows documents whose text it requests, and that are no files."""
    asks: bool = _declared_at("window.showMessage")
    """Whether it lets the person choose an answer to a message."""
    shows_progress: bool = _declared_at("window.workDoneProgress")
    registers_watchers: bool = _declared_at("workspace.didChangeWatchedFiles.dynamicRegistration")
    """Whether it reports files that change on disk, once the server registers for that."""
    registers_settings: bool = _declared_at("workspace.didChangeConfiguration.dynamicRegistration")
    """Whether it reports settings that change, once the server registers for that."""
    gives_settings: bool = _declared_at("workspace.configuration")
    """Whether the server can request its settings."""


def member_at(given: object, path: Iterable[str]) -> object:
    """The value at a path of members; None if there is none."""
    for step in path:
        given = given.get(step) if isinstance(given, dict) else None
    return given


def _at(declared: object, path: str, kind: type[Value]) -> Value | None:
    """The value at a path, step by step; None if there is none of this type."""
    value = member_at(declared, path.split("."))
    return value if isinstance(value, kind) and not isinstance(value, bool) else None


def _has(declared: object, path: str) -> bool:
    """Whether a capability is declared: by true, or by an object that says more."""
    value = member_at(declared, path.split("."))
    return value is True or isinstance(value, dict)


def _strings(declared: object, path: str) -> list[str]:
    return [each for each in _at(declared, path, list) or () if isinstance(each, str)]


def _numbers(declared: object, path: str) -> frozenset[int] | None:
    """The integers of a list; None where there is no list."""
    found = _at(declared, path, list)
    return None if found is None else frozenset(each for each in found if type(each) is int)


def read_client(params: Mapping[str, Any]) -> Client:
    """The capabilities that a client declares in the params of ``initialize``."""
    declared = params.get("capabilities")
    text = _at(declared, "textDocument", dict) or {}
    encodings = _strings(declared, "general.positionEncodings")
    known = (PositionEncoding(each) for each in encodings if each in list(PositionEncoding))
    action = text.get("codeAction")
    flags: dict[str, Any] = {
        each.name: _has(declared, path)
        for each in fields(Client)
        if (path := each.metadata.get("path"))
    }
    encoding = next(known, PositionEncoding.UTF16)
    client = Client(
        encoding=encoding,
        process_id=_at(params, "processId", int),
        folders=tuple(_folders(params)),
        hover_format=_markup(text, "hover.contentFormat") or types.MarkupKind.Markdown,
        completion=_completion(text),
        symbols=_symbols(text),
        tokens=_tokens(text, encoding),
        folding=FoldingOptions(
            _at(text, "foldingRange.rangeLimit", int),
            has_text=_has(text, "foldingRange.foldingRange.collapsedText"),
        ),
        resolves_hint_tooltips="tooltip" in _strings(text, "inlayHint.resolveSupport.properties"),
        reads_action_literals=(action is None or _has(action, "codeActionLiteralSupport")),
        resolves_action_edits=(
            "edit" in _strings(action, "resolveSupport.properties") and _has(action, "dataSupport")
        ),
        **flags,
    )
    # The members are declared for pushed or for pulled diagnostics, which have the same ones.
    pushed = _at(text, "publishDiagnostics", dict)
    if pushed is not None:
        kinds = pushed, text.get("diagnostic")
        members = {
            member for member, name in _MEMBERS.items() if any(_has(each, name) for each in kinds)
        }
        client = replace(client, diagnostic_members=frozenset(members))
    return client


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


def _folders(params: Mapping[str, Any]) -> list[Path]:
    folders = _at(params, "workspaceFolders", list)
    if folders is not None:
        uris = [_at(each, "uri", str) for each in folders]
    elif (root := _at(params, "rootUri", str)) is not None:
        uris = [root]
    else:
        folder = _usable(_at(params, "rootPath", str))
        return [folder] if folder is not None else []
    return [folder for uri in uris if uri and (folder := path_of(uri)) is not None]


def _completion(text: object) -> Abilities:
    item = "completion.completionItem"
    kinds = _numbers(text, "completion.completionItemKind.valueSet")
    return Abilities(
        snippets=_has(text, f"{item}.snippetSupport"),
        replaces_rest=_has(text, f"{item}.insertReplaceSupport"),
        label_details=_has(text, f"{item}.labelDetailsSupport"),
        kinds=frozenset(each for each in types.CompletionItemKind if each in kinds)
        if kinds
        else Abilities().kinds,
        documentation=_markup(text, f"{item}.documentationFormat"),
    )


def _markup(text: object, path: str) -> types.MarkupKind | None:
    """The first format of the client's list that is one."""
    known = [each for each in _strings(text, path) if each in list(types.MarkupKind)]
    return types.MarkupKind(known[0]) if known else None


def _tokens(text: object, encoding: PositionEncoding) -> TokenLook:
    if not _at(text, at := "semanticTokens", dict):
        return TokenLook(encoding)
    known = (frozenset(_strings(text, f"{at}.{each}")) for each in ("tokenTypes", "tokenModifiers"))
    return TokenLook(encoding, *known)


def _symbols(text: object) -> SymbolOptions:
    at = "documentSymbol"
    return SymbolOptions(
        is_tree=_has(text, f"{at}.hierarchicalDocumentSymbolSupport"),
        kinds=_numbers(text, f"{at}.symbolKind.valueSet") or FIRST_KINDS,
        has_tags=types.SymbolTag.Deprecated in (_numbers(text, f"{at}.tagSupport.valueSet") or ()),
    )
