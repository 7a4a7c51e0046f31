"""The server in plain JSON-RPC: requests, notifications and bytes that no client should send."""

from typing import Any

import pytest

from tests.server.support import HOVER, NOWHERE, REJECTED, raw, refused, still_answers
from tests.support.raw_client import RawClient
from tests.support.sessions.conversation import INVALID, PARAMS, PARSE, UNKNOWN, encoded
from tests.support.sessions.wrong import BODIES, IGNORED, NO_IDS, REFUSED, UNHEARD

pytestmark = pytest.mark.end_to_end


# Wrong things over the wire: those that random sessions choose from, each once


def test_what_is_no_request_is_refused_without_an_id(client: RawClient) -> None:
    asked = {"jsonrpc": "2.0", "method": "textDocument/hover"}
    without = [(encoded({**asked, "id": each}), INVALID) for each in NO_IDS]
    for body, code in [*BODIES, *without, (b"[" * 200_000, PARSE)]:
        client.send_bytes(raw(body))
        assert refused(client, None) == code, body[:60]


@pytest.mark.parametrize("method", [5, None, ["shutdown"], {}])
def test_an_id_that_is_known_is_given_back(method: Any, client: RawClient) -> None:
    client.send(id="known", method=method)
    assert refused(client, "known") == -32600


def test_requests_that_are_refused(client: RawClient) -> None:
    again = {"processId": None, "rootUri": None, "capabilities": {}}
    for method, params, code in (
        *((method, params, PARAMS) for method, params in REFUSED),
        *((method, {}, UNKNOWN) for method in UNHEARD),
        ("textDocument/hover", None, PARAMS),
        ("initialize", again, INVALID),
    ):
        for message_id in ("a string", 0, -7, 2**53):
            given = {} if params is None else {"params": params}
            client.send(id=message_id, method=method, **given)
            assert refused(client, message_id) == code, (method, params)


@pytest.mark.parametrize("message_id", [2**64 - 1, 2**64, 2**64 + 1, -(2**63) - 1, 10**40])
def test_an_id_may_be_as_large_as_it_likes(message_id: int, client: RawClient) -> None:
    client.send(id=message_id, method="textDocument/hover", params=HOVER)
    assert client.response(message_id)["result"] is None
    client.send(id=message_id, method="textDocument/unheard-of")
    assert refused(client, message_id) == -32601
    client.notify("$/cancelRequest", {"id": message_id})


def test_a_number_may_be_written_as_json_allows(client: RawClient) -> None:
    position = b'{"line":0.0,"character":0e5}'
    params = b'{"textDocument":{"uri":"file:///x"},"position":%b}' % position
    method = b'"method":"textDocument/hover"'
    client.send_bytes(raw(b'{"jsonrpc":"2.0","id":"x",%b,"params":%b}' % (method, params)))
    assert client.response("x")["result"] is None


@pytest.mark.parametrize("data", [None, 5, [], {}, {"uri": 5, "runId": []}, {"kind": "event"}])
def test_a_lens_that_is_not_ours_resolves_to_nothing(data: Any, client: RawClient) -> None:
    lens = client.request("codeLens/resolve", {"range": NOWHERE, "data": data})
    assert lens["command"]["title"] == "the trace has changed"


@pytest.mark.parametrize("depth", [100, 300, 600, 900])
def test_deep_data_is_sent_back_or_refused(depth: int, client: RawClient) -> None:
    data: Any = 1
    for _ in range(depth):
        data = [data]
    answer = client.response(
        client.start_request("codeLens/resolve", {"range": NOWHERE, "data": data})
    )
    assert "result" in answer or answer["error"]["code"] == -32602
    assert "result" in answer or depth > 100


def test_notifications_that_do_nothing(client: RawClient) -> None:
    for method, params in IGNORED:
        client.notify(method, params)
        client.send(method=method, params=None)
        assert client.request("textDocument/hover", HOVER) is None, (method, params)


def test_responses_that_nobody_asked_for(client: RawClient) -> None:
    for message_id in (12345, "x", None, 1.5, []):
        client.send(id=message_id, result=None)
        client.send(id=message_id, error={"code": 1, "message": "x"})
    assert client.request("textDocument/hover", HOVER) is None


def test_headers_as_clients_write_them(client: RawClient) -> None:
    def body(message_id: str) -> bytes:
        return b'{"jsonrpc":"2.0","id":"%b","method":"no\xc3\xa9"}' % message_id.encode()

    size = len(body("a"))
    for headers in (
        b"content-length: %d\r\n\r\n",
        b"CONTENT-LENGTH:%d\r\n\r\n",
        b"Content-Length: %d\n\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
        b"Content-Length: %d\r\nX-Other: 5\r\nContent-Type: x\r\n\r\n",
    ):
        client.send_bytes(headers % size + body("a"))
        assert refused(client, "a") == -32601
    # In pieces, cut inside a header and inside a character, and several at once.
    for at in range(1, len(raw(body("b")))):
        piece = raw(body("b"))[at - 1 : at]
        client.send_bytes(piece)
    client.send_bytes(raw(body("b"))[-1:] + raw(body("c")) + raw(body("d")))
    assert [refused(client, each) for each in ("b", "c", "d")] == [-32601] * 3


@pytest.mark.parametrize(
    "garbage",
    [
        b"\r\n",
        b"\r\n\r\n\r\n",
        b"garbage\r\n",
        b"garbage\r\n\r\n",
        b"\0\xff\xfe\n\n",
        b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        b'{"jsonrpc":"2.0","method":"exit"}\r\n',
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: many\r\n\r\n",
        b"Content-Length:\r\n\r\n",
        b"x" * 200_000 + b"\r\n\r\n",
    ],
    ids=lambda garbage: repr(garbage[:24]),
)
def test_garbage_between_messages(garbage: bytes, client: RawClient) -> None:
    client.send_bytes(garbage)
    assert client.request("textDocument/hover", HOVER) is None


def test_after_a_wrong_request_all_is_well(client: RawClient) -> None:
    client.send_bytes(raw(b"{") + raw(b"[]") + b"garbage\r\n\r\n")
    assert refused(client, None) in (-32700, -32600)
    assert still_answers(client)


@pytest.mark.parametrize("uri", ["", " ", "\0", "x", "file:", "file://"])
def test_a_document_with_an_odd_name_is_one_as_others(uri: str, client: RawClient) -> None:
    client.open(uri, REJECTED)
    assert [each["code"] for each in client.diagnostics(uri, 1)] == ["unknown-value"]
    client.notify("textDocument/didSave", {"textDocument": {"uri": uri}})
    client.notify("workspace/didChangeWatchedFiles", {"changes": [{"uri": uri, "type": 1}]})
    assert client.request("textDocument/codeLens", {"textDocument": {"uri": uri}})
    client.notify("textDocument/didClose", {"textDocument": {"uri": uri}})
    assert still_answers(client)
