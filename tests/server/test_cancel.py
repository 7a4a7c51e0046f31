"""The server in plain JSON-RPC: requests that the client takes back."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.server.support import HOVER, refused, start_command
from tests.support.client_text import graded, triage
from tests.support.command import SERVE
from tests.support.editor import Document
from tests.support.raw_client import RawClient, frame

SHOWS = {"window": {"showDocument": {"support": True}}}


def cancel(request_id: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": request_id}}


def hover(request_id: Any, uri: str = HOVER["textDocument"]["uri"]) -> dict[str, Any]:
    params = {**HOVER, "textDocument": {"uri": uri}}
    return {"jsonrpc": "2.0", "id": request_id, "method": "textDocument/hover", "params": params}


def test_a_request_that_waits_its_turn_is_not_begun(alone: RawClient) -> None:
    alone.initialize()
    item = {"uri": "file:///large", "languageId": "x", "version": 1, "text": triage() * 30_000}
    opened = {"jsonrpc": "2.0", "method": "textDocument/didOpen", "params": {"textDocument": item}}
    # All of it has arrived long before the trace is read, for which they wait.
    asked = [hover(each, "file:///large") for each in ("a", 7, "7")]
    alone.send_bytes(b"".join(map(frame, [opened, *asked, cancel("a"), cancel(7)])))
    assert [refused(alone, each) for each in ("a", 7)] == [-32800] * 2
    assert "result" in alone.response("7")
    # The ids may be used again.
    assert alone.request("textDocument/hover", HOVER) is None
    alone.send_bytes(frame(hover("a")))
    assert alone.response("a")["result"] is None


def test_a_cancel_that_is_a_request_cancels_nothing(alone: RawClient) -> None:
    alone.initialize()
    alone.send_bytes(frame({**cancel("a"), "id": "b"}) + frame(hover("a")))
    assert refused(alone, "b") == -32601
    assert alone.response("a")["result"] is None


class Patient:
    """A client that is asked to show a run, and does not get round to it."""

    def __init__(self) -> None:
        self.client = RawClient(SERVE, handlers={"window/showDocument": self._asked})
        self.meanwhile: Any = None

    def _asked(self, _params: Any) -> Any:
        self.meanwhile()
        return {"success": True}

    def show(self) -> int:
        document = Document(self.client, graded("pass", "pass", "pass"))
        return start_command(self.client, "showRun", {"uri": document.uri, "runId": "run-1"})


@pytest.fixture
def patient() -> Iterator[Patient]:
    patient = Patient()
    with patient.client:
        patient.client.initialize(SHOWS)
        yield patient
        assert "Traceback" not in patient.client.stderr()


def test_a_request_that_waits_for_the_client_is_given_up(patient: Patient) -> None:
    client = patient.client
    patient.meanwhile = lambda: client.notify("$/cancelRequest", {"id": request})
    request = patient.show()
    assert refused(client, request) == -32800
    # What the client answers afterwards is an answer to nothing.
    assert client.request("textDocument/hover", HOVER) is None
    assert client.received("window/showMessage") == []


def test_an_id_that_is_being_served_is_not_served_twice(patient: Patient) -> None:
    client = patient.client
    patient.meanwhile = lambda: client.send_bytes(frame(hover(request)))
    request = patient.show()
    answers = [client.response(request), client.response(request)]
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32600, None]


def test_shutdown_gives_up_what_is_being_served(patient: Patient) -> None:
    client = patient.client
    patient.meanwhile = lambda: client.start_request("shutdown")
    request = patient.show()
    assert refused(client, request) == -32800
    assert client.response(request + 1)["result"] is None
    client.notify("exit")
    assert client.wait_exit() == 0
