"""The raw client against servers of a few lines: it waits, answers, and never hangs."""

import sys

import pytest

from tests.support.raw_client import RawClient, ResponseError, ServerGoneError

# Echoes params; `refuse` is an error, `ask` makes it ask the client first, `exit` ends it.
ECHO = """
import json, sys
def send(**message):
    body = json.dumps(message).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\\r\\n\\r\\n%b" % (len(body), body))
    sys.stdout.buffer.flush()
while header := sys.stdin.buffer.readline():
    sys.stdin.buffer.readline()
    message = json.loads(sys.stdin.buffer.read(int(header.split(b":")[1])))
    method, params = message.get("method"), message.get("params")
    if method == "exit":
        print("bye", file=sys.stderr)
        sys.exit(3)
    elif method == "ask":
        send(id="mine", method=params, params={"items": [1, 2]})
    elif method == "refuse":
        send(id=message["id"], error={"code": -32602, "message": "no", "data": params})
    elif method is None:
        send(method="told", params={"told": message})
    elif "id" in message:
        send(id=message["id"], result=params)
    else:
        send(method="textDocument/publishDiagnostics", params=params)
"""


def server(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_requests_errors_and_exit_code() -> None:
    with RawClient(server(ECHO)) as client:
        first = client.start_request("echo", {"text": "日本 🚀 \ud800"})
        second = client.start_request("echo", [2])
        assert client.response(second)["result"] == [2]
        assert client.response(first)["result"] == {"text": "日本 🚀 \ud800"}
        with pytest.raises(ResponseError, match="-32602: no") as refused:
            client.request("refuse", "why")
        assert refused.value.data == "why"
        assert client.shutdown() == 3
        assert "bye" in client.stderr()


def test_diagnostics_of_a_version() -> None:
    with RawClient(server(ECHO)) as client:
        for version in (1, 2, 3):
            params = {"uri": "u", "version": version, "diagnostics": [version]}
            client.notify("textDocument/didSomething", params)
        assert client.diagnostics("u", 2) == [2]
        assert client.diagnostics("u") == [1]
        client.forget()
        assert client.diagnostics("u", 3) == [3]


@pytest.mark.parametrize(
    ("method", "answer"),
    [
        ("workspace/configuration", {"result": [None, None]}),
        ("window/showDocument", {"error": {"code": -1, "message": "closed"}}),
        ("unheard/of", {"error": {"code": -32601, "message": "no handler for unheard/of"}}),
    ],
)
def test_the_servers_requests_are_answered(method: str, answer: dict[str, object]) -> None:
    def refuse(_: object) -> None:
        raise ResponseError(-1, "closed")

    with RawClient(server(ECHO), handlers={"window/showDocument": refuse}) as client:
        client.notify("ask", method)
        told = client.notification("told")["told"]
        assert told == {"jsonrpc": "2.0", "id": "mine", **answer}
        assert [request["method"] for request in client.requests] == [method]


def test_a_wait_ends_at_its_deadline_or_with_the_server() -> None:
    with RawClient(server(ECHO)) as client:
        with pytest.raises(TimeoutError, match="still waiting for never"):
            client.notification("never", timeout=0.01)
        client.notify("exit")
        with pytest.raises(ServerGoneError, match="waiting for never"):
            client.notification("never")
    assert client.server.popen.returncode == 3


def test_anything_else_on_stdout_is_named() -> None:
    unheard = pytest.raises(ServerGoneError, match="not a header: b'hello")
    with RawClient(server("print('hello')")) as client, unheard:
        client.notification("never")


def test_a_process_that_ignores_everything_is_ended() -> None:
    with RawClient(server("import threading; threading.Event().wait()")) as client:
        client.send_bytes(b"garbage")
        assert client.server.popen.poll() is None
    assert client.server.popen.returncode is not None
