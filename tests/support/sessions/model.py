"""What the client knows: its own texts, its settings, and which diagnostics a text must have."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from drive_trace.analysis import Analysis
from drive_trace.features.findings import DiagnosticMaker, DiagnosticOptions
from drive_trace.storage.linked_files import rule_url
from drive_trace.text.spans import PositionEncoding
from tests.support.client_text import offset_of

ALL_MEMBERS = frozenset({"relatedInformation", "codeDescription", "tags"})
_CAPABILITY_OF = {
    "relatedInformation": ("relatedInformation", True),
    "codeDescription": ("codeDescriptionSupport", True),
    "tags": ("tagSupport", {"valueSet": [1, 2]}),
}


@dataclass(frozen=True)
class Client:
    """What a client can do, and how it treats what the server asks."""

    encoding: str = "utf-16"
    pulls: bool = False
    members: frozenset[str] | None = None
    """The optional members of a diagnostic that it declares; None: it says nothing of them."""
    document_changes: bool = False
    lazy_actions: bool = False
    """Whether it asks for the edit of an action when that is picked."""
    rich: bool = False
    """Whether it shows trees of symbols, texts of folds and links of definitions."""
    markdown: bool = True
    refreshes: bool = False
    shows_documents: bool = False
    answers: str = "result"
    """What becomes of the server's requests: "result", "error", "twice" or "never"."""

    @property
    def read_members(self) -> frozenset[str]:
        return ALL_MEMBERS if self.members is None else self.members

    def capabilities(self) -> dict[str, Any]:
        document: dict[str, Any] = {
            "hover": {"contentFormat": ["markdown" if self.markdown else "plaintext"]},
            "codeAction": self._actions(),
            "documentSymbol": {"hierarchicalDocumentSymbolSupport": self.rich},
            "foldingRange": {"foldingRange": {"collapsedText": self.rich}},
            "definition": {"linkSupport": self.rich},
        }
        if self.members is not None:
            said = (_CAPABILITY_OF[each] for each in self.members)
            document["publishDiagnostics"] = dict(said)
        if self.pulls:
            document["diagnostic"] = {}
        return {
            "general": {"positionEncodings": [self.encoding]},
            "textDocument": document,
            "window": {"showDocument": {"support": self.shows_documents}},
            "workspace": {
                "applyEdit": True,
                "symbol": {"resolveSupport": {"properties": ["location.range"]}}
                if self.rich
                else {},
                "codeLens": {"refreshSupport": self.refreshes},
                "diagnostics": {"refreshSupport": self.refreshes},
                "workspaceEdit": {"documentChanges": self.document_changes},
            },
        }

    def _actions(self) -> dict[str, Any]:
        lazy = {"dataSupport": True, "resolveSupport": {"properties": ["edit"]}}
        literal = {"codeActionLiteralSupport": {"codeActionKind": {"valueSet": []}}}
        return {**literal, **(lazy if self.lazy_actions else {})}


@dataclass
class Buffer:
    """An open document as the client has it."""

    version: int
    text: str
    near: int | None = None
    """The record in which the last edit began."""

    def change(self, version: int, changes: list[Any], encoding: str) -> None:
        """Carry out changes as the protocol says, in code that is the tests' own."""
        for change in changes:
            if "range" not in change:
                self.text, self.near = change["text"], None
                continue
            start, end = (
                offset_of(self.text, change["range"][each], encoding) for each in ("start", "end")
            )
            start, end = min(start, end), max(start, end)
            before = self.text[:start]
            self.text = before + change["text"] + self.text[end:]
            self.near = min(before.count("\n"), self.text.count("\n"))
        self.version = version


# Diagnostics


class Settings(NamedTuple):
    """What the client has set."""

    max_findings: int = 1000
    rule_url: str = ""

    def updated(self, given: Any) -> Settings:
        """After a change of configuration; what does not fit is left as it was."""
        section = given.get("driveTrace", given) if isinstance(given, dict) else None
        section = section if isinstance(section, dict) else {}
        most, url = section.get("maxFindings"), section.get("ruleUrl")
        fits = type(most) is int and most >= 1
        is_url = isinstance(url, str) and (not url or url.startswith("https://"))
        return Settings(most if fits else self.max_findings, url if is_url else self.rule_url)


class State(NamedTuple):
    """Of what diagnostics are made."""

    client: Client
    settings: Settings
    uri: str
    version: int | None
    """None: the document is not open."""
    text: str | None
    """What is open, or else what is on disk in the workspace."""
    near: int | None = None

    @property
    def given(self) -> Any:
        """The diagnostics that a client is given that asks."""
        if self.text is None:
            return []
        return _fresh(self.client, self.settings, self.uri, self.text, self.near)

    @property
    def sent(self) -> Any:
        """The diagnostics that are sent to a client that does not ask."""
        return [] if self.version is None else self.given


@lru_cache(maxsize=512)
def _fresh(client: Client, settings: Settings, uri: str, text: str, near: int | None) -> Any:
    analysis = Analysis(text)
    options = DiagnosticOptions(
        uri=uri,
        encoding=PositionEncoding(client.encoding),
        most=settings.max_findings,
        url_of=partial(rule_url, template=settings.rule_url),
        members=client.read_members,
    )
    line = None if near is None else analysis.document.lines[near]
    return json.loads(DiagnosticMaker(analysis, options).as_json(line))


@dataclass
class World:
    """What is open, what is on disk, and what is set."""

    client: Client
    disk: dict[str, str]
    """Traces on disk: the text by the URI. Each is in a folder of its own."""
    buffers: dict[str, Buffer] = field(default_factory=dict)
    folders: set[str] = field(default_factory=set)
    settings: Settings = field(default_factory=Settings)

    def state(self, uri: str) -> State:
        buffer = self.buffers.get(uri)
        if buffer is None:
            text = self.disk.get(uri) if folder_of(uri) in self.folders else None
            return State(self.client, self.settings, uri, None, text)
        return State(self.client, self.settings, uri, buffer.version, buffer.text, buffer.near)


def folder_of(uri: str) -> str:
    return uri.rpartition("/")[0]


_OLD = 1_780_000_000
"""Seconds. Traces that were just written are read in another way, which a test that takes longer
would leave at some moment.
"""


def write_disk(folder: Path, texts: dict[str, str]) -> dict[str, str]:
    """Write traces, each into a folder of that name; their texts by their URIs."""
    disk = {}
    for name, text in texts.items():
        path = folder / name / "trace.jsonl"
        path.parent.mkdir(parents=True)
        path.write_bytes(text.encode())
        os.utime(path, (_OLD, _OLD))
        disk[path.as_uri()] = text
    return disk
