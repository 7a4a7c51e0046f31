"""The server in plain JSON-RPC over TCP: how it starts and how it ends."""

from __future__ import annotations

import re
import socket
import struct
import subprocess
from typing import Any

import pytest

from tests.cli.support import process
from tests.server.support import HOVER, INITIALIZE
from tests.support import tap
from tests.support.command import COMMAND
from tests.support.raw_client import frame


class Connection:
    """A server that listens, and a socket to it."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [COMMAND, "serve", "--tcp", "0"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert self.process.stderr is not None
        said = self.process.stderr.readline().decode()
        found = re.fullmatch(r"drive-trace: listening on 127\.0\.0\.1:(\d+)\n", said)
        assert found, said
        self.socket = socket.create_connection(("127.0.0.1", int(found[1])), timeout=60)
        self.stream = self.socket.makefile("rwb")

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()
        self.process.kill()
        self.process.communicate()

    def send(self, *messages: Any) -> None:
        self.sent = b"".join(frame({"jsonrpc": "2.0", **message}) for message in messages)
        self.stream.write(self.sent)
        self.stream.flush()

    def received(self) -> bytes:
        """All that comes until the connection is closed."""
        received = self.stream.read()
        tap.record(self.sent, received)
        return received

    def ended(self) -> tuple[int, str, str]:
        out, err = self.process.communicate(timeout=60)
        return self.process.returncode, out.decode(), err.decode()


def test_tcp() -> None:
    with Connection() as connection:
        connection.send(
            INITIALIZE,
            {"id": 2, "method": "textDocument/hover", "params": HOVER},
            {"id": 3, "method": "shutdown"},
            {"method": "exit"},
        )
        answers = connection.received().decode()
        assert [f'"id":{each}' in answers for each in (1, 2, 3)] == [True] * 3
        assert connection.ended() == (0, "", "")


@pytest.mark.parametrize("how", ["closed", "reset", "half-closed"])
def test_tcp_clients_that_go_away(how: str) -> None:
    with Connection() as connection:
        connection.send(INITIALIZE)
        assert connection.stream.readline().startswith(b"Content-Length")
        if how == "half-closed":
            connection.socket.shutdown(socket.SHUT_WR)
        else:
            linger = struct.pack("ii", how == "reset", 0)
            connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            connection.stream.close()
            connection.socket.close()
        code, out, err = connection.ended()
        assert (code, out) == (1, "")
        assert "Traceback" not in err


def test_tcp_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ran = process("serve", "--tcp", str(port))
    said = f"drive-trace: cannot listen on 127.0.0.1:{port}: Address already in use\n"
    assert ran == (2, "", said)
