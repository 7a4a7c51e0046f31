"""The raw client never hangs, and hides nothing. All else of it, the tests of the server need."""

import sys

import pytest

from tests.support.raw_client import RawClient, ServerGoneError

EXITS = "import sys; sys.stdin.buffer.readline(); sys.exit(3)"


def server(code: str) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", code]


def test_a_wait_ends_at_its_deadline_or_with_the_server() -> None:
    with RawClient(server(EXITS)) as client:
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
