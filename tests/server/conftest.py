"""Servers as processes at the end of two pipes, spoken to in plain JSON-RPC."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.server.support import still_answers
from tests.support.command import SERVE
from tests.support.editor import ABOUT_RULES
from tests.support.raw_client import RawClient, ServerGoneError


def capabilities(encoding: str, **more: Any) -> dict[str, Any]:
    return {"general": {"positionEncodings": [encoding]}, **more}


@pytest.fixture(scope="package")
def servers() -> Iterator[Callable[[str], RawClient]]:
    """A server for each encoding, which tests share: each has documents of its own there.
    Whatever they did, it still answers at the end, and was silent about the client's mistakes.
    """
    running: dict[str, RawClient] = {}

    def server(encoding: str) -> RawClient:
        if encoding not in running:
            running[encoding] = RawClient(SERVE)
            result = running[encoding].initialize(capabilities(encoding))
            promised = result["capabilities"]
            assert promised["positionEncoding"] == encoding
            assert promised["textDocumentSync"]["openClose"] is True
            assert promised["textDocumentSync"]["change"] == 2
            assert promised["hoverProvider"]
            assert promised["codeLensProvider"] == {"resolveProvider": True}
            assert promised["codeActionProvider"]["codeActionKinds"][0] == "quickfix"
            assert promised["executeCommandProvider"] == {
                "commands": ["driveTrace.showRun", *ABOUT_RULES]
            }
        return running[encoding]

    try:
        yield server
        for encoding, client in running.items():
            assert still_answers(client, encoding)
            assert client.received("window/showMessage") == []
            assert client.received("window/logMessage") == []
            assert client.shutdown() == 0
            assert "Traceback" not in client.stderr()
            with pytest.raises(ServerGoneError, match="closed its stdout"):
                client.notification("nothing but messages came before the end")
    finally:
        for client in running.values():
            client.server.close()


@pytest.fixture
def client(servers: Callable[[str], RawClient]) -> RawClient:
    return servers("utf-16")


@pytest.fixture
def alone() -> Iterator[RawClient]:
    """A server that a test has for itself, not initialized yet."""
    with RawClient(SERVE) as client:
        yield client
        assert "Traceback" not in client.stderr()
