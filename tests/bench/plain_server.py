"""The floor of the server: pygls's own workspace, the capabilities of ours, and nothing to say."""

from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("plain", "1")
_TOKENS = types.SemanticTokensLegend(["property", "string", "number"], [])
_FEATURES: dict[str, Any] = {
    types.CODE_ACTION_RESOLVE: None,
    types.CODE_LENS_RESOLVE: None,
    types.COMPLETION_ITEM_RESOLVE: None,
    types.INLAY_HINT_RESOLVE: None,
    types.TEXT_DOCUMENT_CODE_ACTION: types.CodeActionOptions(resolve_provider=True),
    types.TEXT_DOCUMENT_CODE_LENS: types.CodeLensOptions(resolve_provider=True),
    types.TEXT_DOCUMENT_COMPLETION: types.CompletionOptions(
        trigger_characters=['"'], resolve_provider=True
    ),
    types.TEXT_DOCUMENT_DEFINITION: None,
    types.TEXT_DOCUMENT_DID_SAVE: None,
    types.TEXT_DOCUMENT_DOCUMENT_HIGHLIGHT: None,
    types.TEXT_DOCUMENT_DOCUMENT_LINK: types.DocumentLinkOptions(),
    types.TEXT_DOCUMENT_DOCUMENT_SYMBOL: None,
    types.TEXT_DOCUMENT_FOLDING_RANGE: None,
    types.TEXT_DOCUMENT_FORMATTING: None,
    types.TEXT_DOCUMENT_HOVER: None,
    types.TEXT_DOCUMENT_INLAY_HINT: None,
    types.TEXT_DOCUMENT_RANGE_FORMATTING: None,
    types.TEXT_DOCUMENT_REFERENCES: None,
    types.TEXT_DOCUMENT_RENAME: types.RenameOptions(prepare_provider=True),
    types.TEXT_DOCUMENT_SELECTION_RANGE: None,
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_FULL: _TOKENS,
    types.TEXT_DOCUMENT_SEMANTIC_TOKENS_RANGE: _TOKENS,
    types.WORKSPACE_SYMBOL: types.WorkspaceSymbolOptions(),
}


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def publish_nothing(
    ls: LanguageServer, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams
) -> None:
    document = params.text_document
    published = types.PublishDiagnosticsParams(document.uri, [], document.version)
    ls.text_document_publish_diagnostics(published)


def nothing(*_: Any) -> None:
    return None


for method, options in _FEATURES.items():
    server.feature(method, options)(nothing)
for command in ("showRun", "turnRuleOff", "addToBaseline", "showRule"):
    server.command(command)(nothing)
server.start_io()
