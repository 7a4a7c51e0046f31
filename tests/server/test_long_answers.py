"""The server in plain JSON-RPC: answers about all of a long trace."""

from typing import Any

import pytest

from tests.server.support import refused
from tests.support.client_text import triage
from tests.support.raw_client import RawClient, frame

LINE = triage().replace(":", " : ")
LINES = 10_000
URI = "file:///long/trace.jsonl"
MODIFIED = -32801
AT_THE_RUN = {"line": 0, "character": LINE.index('"run-1"') + 1}
LONG: dict[str, dict[str, Any]] = {
    "textDocument/documentSymbol": {},
    "textDocument/foldingRange": {},
    "textDocument/semanticTokens/full": {},
    "textDocument/formatting": {"options": {"tabSize": 2, "insertSpaces": True}},
    "textDocument/rename": {"position": AT_THE_RUN, "newName": "other"},
    "textDocument/references": {"position": AT_THE_RUN, "context": {"includeDeclaration": True}},
}


@pytest.fixture
def long(alone: RawClient) -> RawClient:
    alone.initialize({"workspace": {"workspaceEdit": {"documentChanges": True}}})
    alone.open(URI, LINE * LINES)
    return alone


def asked(request_id: str, method: str) -> bytes:
    params = {"textDocument": {"uri": URI}, **LONG[method]}
    return frame({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params})


def typed(version: int) -> bytes:
    start = {"line": 0, "character": 0}
    change = {"range": {"start": start, "end": start}, "text": " "}
    document = {"uri": URI, "version": version}
    params = {"textDocument": document, "contentChanges": [change]}
    return frame({"jsonrpc": "2.0", "method": "textDocument/didChange", "params": params})


@pytest.mark.parametrize("method", LONG)
def test_who_types_does_not_wait_for_it(long: RawClient, method: str) -> None:
    long.send_bytes(asked("before", method) + typed(2) + asked("after", method))
    # The change was taken in before the first answer was there, which is about nothing any more.
    assert refused(long, "before") == MODIFIED
    assert long.response("after")["result"] is not None


def test_symbols_and_folds_of_one_moment(long: RawClient) -> None:
    symbols, folds = "textDocument/documentSymbol", "textDocument/foldingRange"
    long.send_bytes(
        b"".join(asked(f"{n} {each}", each) for n in (1, 2) for each in (symbols, folds))
    )
    for each in (symbols, folds):
        one, two = (long.response(f"{n} {each}")["result"] for n in (1, 2))
        assert one == two
        assert one is not None


def test_a_trace_that_is_closed_meanwhile(long: RawClient) -> None:
    method = "textDocument/documentSymbol"
    params = {"textDocument": {"uri": URI}}
    closed = {"jsonrpc": "2.0", "method": "textDocument/didClose", "params": params}
    long.send_bytes(asked("before", method) + frame(closed) + asked("after", method))
    assert refused(long, "before") == MODIFIED
    assert long.response("after")["result"] == []
