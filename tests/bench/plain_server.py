"""A language server with nothing but pygls's own workspace, and nothing to say, to compare with."""

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


@server.feature(types.TEXT_DOCUMENT_HOVER)
def hover_over_nothing(_: types.HoverParams) -> types.Hover | None:
    return None


@server.feature(types.TEXT_DOCUMENT_CODE_LENS)
def no_lenses(_: types.CodeLensParams) -> list[types.CodeLens]:
    return []


server.start_io()
