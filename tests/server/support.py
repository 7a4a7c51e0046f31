"""What the tests of the server at the end of two pipes share: texts, and what is asked often."""

from pathlib import Path
from typing import Any

from tests.support.client_text import graded
from tests.support.editor import Document
from tests.support.raw_client import RawClient

PASSED = '"passed"'
REJECTED = graded("pass", "passed", None)
ODD = "\u2028\u2029\x85 🚀 日本"
URI = "file:///traces/run-0/trace.jsonl"
START = {"line": 0, "character": 0}
NOWHERE = {"start": START, "end": START}
INITIALIZE = {
    "id": 1,
    "method": "initialize",
    "params": {"processId": None, "rootUri": None, "capabilities": {}},
}


def still_answers(client: RawClient, encoding: str = "utf-16") -> bool:
    """Whether a document can still be opened, edited and asked about."""
    document = Document(client, REJECTED, encoding)
    assert document.shown() == [("unknown-value", document.range_of(PASSED))]
    assert document.replace("passed", "pass") == []
    assert document.hover_text('"correctness-recorded"').startswith("**not computable")
    return True


def refused(client: RawClient, message_id: Any) -> int:
    """The error code of a response."""
    code = client.response(message_id)["error"]["code"]
    assert isinstance(code, int)
    return code


def published(client: RawClient, uri: str) -> list[Any]:
    """What was published for a document so far."""
    every = client.received("textDocument/publishDiagnostics")
    return [each for each in every if each["uri"] == uri]


def write(path: Path, text: str) -> Path:
    """A file, with the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8", newline="")
    return path


def folder(path: Path) -> dict[str, Any]:
    """The params of ``initialize`` in a workspace of one folder."""
    return {"workspaceFolders": [{"uri": path.as_uri(), "name": path.name}]}


ALL_TRACES = {"initializationOptions": {"diagnostics": {"scope": "workspace"}}}
"""The params of a client that shows the findings of closed traces, too."""


def start_command(client: RawClient, name: str, argument: Any) -> int:
    """Send a command of the server's; its request's id."""
    params = {"command": f"driveTrace.{name}", "arguments": [argument]}
    return client.start_request("workspace/executeCommand", params)


def command(client: RawClient, name: str, **argument: Any) -> Any:
    """The result of a command of the server's."""
    params = {"command": f"driveTrace.{name}", "arguments": [argument]}
    return client.request("workspace/executeCommand", params)


def show_run(client: RawClient, document: Document, run: str = "run-1") -> str:
    card = command(client, "showRun", uri=document.uri, runId=run)
    assert isinstance(card, str)
    return card


def raw(body: bytes) -> bytes:
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


HOVER = {"textDocument": {"uri": URI}, "position": START}
