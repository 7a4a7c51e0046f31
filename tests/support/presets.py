"""What editors declare in `initialize`: one for each position encoding.

Neovim and Emacs are pytest-lsp's recordings. Its newest VS Code is of 2022, so that one is written
down here, after vscode-languageclient 9 (LSP 3.17), without what this server has nothing to do
with.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lsprotocol import types
from lsprotocol.converters import get_converter
from pytest_lsp import client_capabilities

if TYPE_CHECKING:
    from collections.abc import Callable

_DYNAMIC = {"dynamicRegistration": True}

VSCODE: dict[str, Any] = {
    "general": {
        "positionEncodings": ["utf-16"],
        "staleRequestSupport": {
            "cancel": True,
            "retryOnContentModified": ["textDocument/semanticTokens/full"],
        },
        "regularExpressions": {"engine": "ECMAScript", "version": "ES2020"},
        "markdown": {"parser": "marked", "version": "1.1.0"},
    },
    "window": {
        "showMessage": {"messageActionItem": {"additionalPropertiesSupport": True}},
        "showDocument": {"support": True},
        "workDoneProgress": True,
    },
    "workspace": {
        "applyEdit": True,
        "codeLens": {"refreshSupport": True},
        "configuration": True,
        "diagnostics": {"refreshSupport": True},
        "didChangeConfiguration": _DYNAMIC,
        "didChangeWatchedFiles": {**_DYNAMIC, "relativePatternSupport": True},
        "executeCommand": _DYNAMIC,
        "foldingRange": {"refreshSupport": True},
        "inlayHint": {"refreshSupport": True},
        "inlineValue": {"refreshSupport": True},
        "semanticTokens": {"refreshSupport": True},
        "workspaceEdit": {
            "documentChanges": True,
            "resourceOperations": ["create", "rename", "delete"],
            "failureHandling": "textOnlyTransactional",
            "normalizesLineEndings": True,
            "changeAnnotationSupport": {"groupsOnLabel": True},
        },
        "workspaceFolders": True,
    },
    "textDocument": {
        "synchronization": {
            **_DYNAMIC,
            "willSave": True,
            "willSaveWaitUntil": True,
            "didSave": True,
        },
        "publishDiagnostics": {
            "relatedInformation": True,
            "versionSupport": False,
            "tagSupport": {"valueSet": [1, 2]},
            "codeDescriptionSupport": True,
            "dataSupport": True,
        },
        "diagnostic": {**_DYNAMIC, "relatedDocumentSupport": False},
        "completion": {
            **_DYNAMIC,
            "contextSupport": True,
            "insertTextMode": 2,
            "completionItem": {
                "snippetSupport": True,
                "commitCharactersSupport": True,
                "documentationFormat": ["markdown", "plaintext"],
                "deprecatedSupport": True,
                "preselectSupport": True,
                "tagSupport": {"valueSet": [1]},
                "insertReplaceSupport": True,
                "resolveSupport": {
                    "properties": ["documentation", "detail", "additionalTextEdits"]
                },
                "insertTextModeSupport": {"valueSet": [1, 2]},
                "labelDetailsSupport": True,
            },
            "completionItemKind": {"valueSet": list(range(1, 26))},
            "completionList": {
                "itemDefaults": ["commitCharacters", "editRange", "insertTextFormat"]
            },
        },
        "hover": {**_DYNAMIC, "contentFormat": ["markdown", "plaintext"]},
        "codeLens": _DYNAMIC,
        "codeAction": {
            **_DYNAMIC,
            "isPreferredSupport": True,
            "disabledSupport": True,
            "dataSupport": True,
            "honorsChangeAnnotations": True,
            "resolveSupport": {"properties": ["edit"]},
            "codeActionLiteralSupport": {
                "codeActionKind": {
                    "valueSet": [
                        "",
                        "quickfix",
                        "refactor",
                        "refactor.extract",
                        "refactor.inline",
                        "refactor.rewrite",
                        "source",
                        "source.organizeImports",
                    ]
                }
            },
        },
        "inlayHint": {
            **_DYNAMIC,
            "resolveSupport": {
                "properties": ["tooltip", "textEdits", "label.tooltip", "label.location"]
            },
        },
        "documentSymbol": {**_DYNAMIC, "hierarchicalDocumentSymbolSupport": True},
        "foldingRange": {**_DYNAMIC, "rangeLimit": 5000, "lineFoldingOnly": True},
        "semanticTokens": {
            **_DYNAMIC,
            "requests": {"range": True, "full": {"delta": True}},
            "tokenTypes": ["string", "number", "keyword", "property"],
            "tokenModifiers": ["declaration", "deprecated"],
            "formats": ["relative"],
        },
    },
    "notebookDocument": {
        "synchronization": {**_DYNAMIC, "executionSummarySupport": True},
    },
}


class Preset(NamedTuple):
    """An editor."""

    name: str
    capabilities: Callable[[], types.ClientCapabilities]
    encoding: str
    """The one that it prefers."""

    def parameters(self) -> types.InitializeParams:
        return types.InitializeParams(
            capabilities=self.capabilities(),
            client_info=types.ClientInfo(self.name),
            workspace_folders=[types.WorkspaceFolder(uri="file:///projects", name="projects")],
        )


def _vscode() -> types.ClientCapabilities:
    return get_converter().structure(VSCODE, types.ClientCapabilities)


PRESETS = (
    Preset("vscode", _vscode, "utf-16"),
    Preset("neovim", lambda: client_capabilities("neovim@v0.11"), "utf-8"),
    Preset("emacs", lambda: client_capabilities("emacs"), "utf-32"),
)
