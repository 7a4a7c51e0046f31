"""The server in plain JSON-RPC: requests, notifications and bytes that no client should send."""

from typing import Any

import pytest

from tests.server.support import HOVER, NOWHERE, raw, refused
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


@pytest.mark.parametrize("data", [None, 5, [], {}, {"uri": 5, "runId": []}, {"kind": "event"}])
def test_a_lens_that_is_not_ours_resolves_to_nothing(data: Any, client: RawClient) -> None:
    lens = client.request("codeLens/resolve", {"range": NOWHERE, "data": data})
    assert lens["command"]["title"] == "the trace has changed"


def test_notifications_that_do_nothing(client: RawClient) -> None:
    for method, params in IGNORED:
        client.notify(method, params)
        client.send(method=method, params=None)
        assert client.request("textDocument/hover", HOVER) is None, (method, params)
