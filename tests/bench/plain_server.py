"""A language server with nothing but pygls's own workspace, to compare with."""

from __future__ import annotations

from lsprotocol import types
from pygls.lsp.server import LanguageServer

server = LanguageServer("plain", "1")


@server.feature(types.TEXT_DOCUMENT_DID_OPEN)
@server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
def publish_nothing(
    ls: LanguageServer, params: types.DidOpenTextDocumentParams | types.DidChangeTextDocumentParams
) -> None:
    document = params.text_document
    published = types.PublishDiagnosticsParams(document.uri, [], document.version)
    ls.text_document_publish_diagnostics(published)


server.start_io()
