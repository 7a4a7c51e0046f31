"""The server in plain JSON-RPC: requests, notifications and bytes that no client should send."""

from itertools import cycle
from typing import Any

import pytest

from tests.server.support import HOVER, NOWHERE, raw, refused, still_answers
from tests.support.raw_client import RawClient
from tests.support.sessions.conversation import INVALID, PARAMS, PARSE, UNKNOWN, encoded
from tests.support.sessions.wrong import BODIES, IGNORED, NO_IDS, REFUSED, UNHEARD

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


@pytest.mark.parametrize("data", [None, 5, [], {}, {"uri": 5, "runId": []}, {"kind": "event"}])
def test_a_lens_that_is_not_ours_resolves_to_nothing(data: Any, client: RawClient) -> None:
    lens = client.request("codeLens/resolve", {"range": NOWHERE, "data": data})
    assert lens["command"]["title"] == "the trace has changed"


def test_notifications_that_do_nothing(client: RawClient) -> None:
    for method, params in IGNORED:
        client.notify(method, params)
        client.send(method=method, params=None)
        assert client.request("textDocument/hover", HOVER) is None, (method, params)


def test_after_a_wrong_request_all_is_well(client: RawClient) -> None:
    client.send_bytes(raw(b"{") + raw(b"[]") + b"garbage\r\n\r\n")
    assert refused(client, None) in (-32700, -32600)
    assert still_answers(client)


# How messages may come


HEADERS = (
    b"Content-Length: %d\r\n\r\n",
    b"content-length:%d\r\n\r\n",
    b"CONTENT-LENGTH: %d\n\n",
    b"Content-Type: x; charset=utf-8\r\nContent-Length: %d\r\nX-Other: 5\r\n\r\n",
)
GARBAGE = (
    b"",
    b"\r\n",
    b"garbage\r\n\r\n",
    b"\0\xff\xfe\n\n",
    b"Content-Length: -5\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: x\r\n\r\n",
    b'{"jsonrpc":"2.0","method":"exit"}\r\n',
)
CUTS = (1, 8, 17, 24, 70)


def test_a_session_whose_messages_come_in_pieces(
    alone: RawClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    write, forms = alone.server.write, zip(*map(cycle, (GARBAGE, HEADERS, CUTS)), strict=True)
    used = set()

    def write_in_pieces(message: bytes) -> None:
        (garbage, header, cut), body = next(forms), message.partition(b"\r\n\r\n")[2]
        used.add((garbage, header))
        sent = garbage + header % len(body) + body
        write(sent[:cut])
        write(sent[cut:])

    monkeypatch.setattr(alone.server, "write", write_in_pieces)
    alone.initialize()
    while len(used) < len(GARBAGE) * len(HEADERS):
        assert still_answers(alone)
    assert alone.shutdown() == 0
    assert "Traceback" not in alone.stderr()
    assert "ERROR" not in alone.stderr()
