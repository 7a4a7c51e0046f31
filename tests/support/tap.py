"""Starts a server and writes down what it and its client say to each other.

    DRIVE_TRACE_MESSAGES=FOLDER python tap.py COMMAND [ARGUMENT...]

The server takes this process over, so that pid, exit code and signals are its own. A child passes
the bytes on, both ways and unchanged, and ends with it. Into FOLDER goes a file for each server,
with a JSON object a line:

    {"from": "client", "id": 1, "method": "initialize"}    a request; "token" is for partial results
    {"from": "server", "message": {...}}                   any message, as it went over the wire
    {"from": "server", "stray": "..."}                     bytes that belong to no message

The standard library is all that it needs.
"""

import json
import os
import re
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator

FOLDER = "DRIVE_TRACE_MESSAGES"
"""The variable that names the folder; where it is not set, nothing is written."""

# Clients in tests write headers in every way that a server has to read, and garbage between them.
_OF_CLIENT = re.compile(rb"(?im)^content-length:[ \t]*(\d+)[ \t]*\r?\n(?:[^\r\n][^\n]*\n)*\r?\n")
_OF_SERVER = re.compile(rb"(?:Content-Type: [^\r\n]+\r\n)?Content-Length: (\d+)\r\n\r\n")


class Recording:
    """A file of what was said; both sides may speak at once."""

    def __init__(self, folder: str) -> None:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - as quick to start as can be
        number, _ = tempfile.mkstemp(".jsonl", dir=folder)
        self._file = os.fdopen(number, "wb")
        self._lock = threading.Lock()
        self._client, self._server = bytearray(), bytearray()

    def client(self, data: bytes) -> None:
        for _, body in _messages(self._client, data, _OF_CLIENT):
            try:
                message = json.loads(body)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict) and {"id", "method"} <= message.keys():
                asked = {"from": "client", "id": message["id"], "method": message["method"]}
                params = message.get("params")
                if isinstance(params, dict) and "partialResultToken" in params:
                    asked["token"] = params["partialResultToken"]
                self._write(json.dumps(asked).encode())

    def server(self, data: bytes) -> None:
        for stray, body in _messages(self._server, data, _OF_SERVER):
            self._stray(stray)
            self._write(b'{"from":"server","message":%b}' % body)

    def close(self) -> None:
        """A message that the server's end has cut off is not counted against it."""
        if not self._server.startswith(b"Content-"):
            self._stray(bytes(self._server))
        self._file.close()

    def _stray(self, data: bytes) -> None:
        if data:
            text = data.decode(errors="backslashreplace")
            self._write(json.dumps({"from": "server", "stray": text}).encode())

    def _write(self, line: bytes) -> None:
        with self._lock:
            # A line end in JSON is white space: in a string it would be escaped.
            self._file.write(line.replace(b"\n", b" ") + b"\n")
            self._file.flush()  # the process may be killed at any time


def _messages(
    pending: bytearray, data: bytes, header: re.Pattern[bytes]
) -> Iterator[tuple[bytes, bytes]]:
    """What comes before each message that is now complete, and its body."""
    pending += data
    while found := header.search(pending):
        end = found.end() + int(found[1])
        if end > len(pending):
            return
        yield bytes(pending[: found.start()]), bytes(pending[found.end() : end])
        del pending[:end]


def _pass_on(source: int, target: int, record: Callable[[bytes], None]) -> None:
    """Record and pass on until either end is closed; then close both."""
    try:
        while data := os.read(source, 1 << 16):
            record(data)
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(target, rest) :]
    except BrokenPipeError:
        pass
    finally:
        os.close(source)
        os.close(target)


def record(sent: bytes, received: bytes) -> None:
    """Record what a client has sent and received without a tap between."""
    if FOLDER in os.environ:
        recording = Recording(os.environ[FOLDER])
        recording.client(sent)
        recording.server(received)
        recording.close()


def main(*command: str) -> None:
    if FOLDER in os.environ:
        _interpose(Recording(os.environ[FOLDER]))
    os.execvp(command[0], command)


def _interpose(recording: Recording) -> None:
    """Put a child between this process' standard input and output and those who hold them."""
    server_reads, to_server = os.pipe()
    from_server, server_writes = os.pipe()
    if os.fork() == 0:
        os.close(server_reads)
        os.close(server_writes)
        client = threading.Thread(target=_pass_on, args=(0, to_server, recording.client))
        client.daemon = True  # a client need not close what nobody reads
        client.start()
        _pass_on(from_server, 1, recording.server)
        recording.close()
        os._exit(0)
    os.dup2(server_reads, 0)
    os.dup2(server_writes, 1)  # whatever else is open here closes when the server takes over


if __name__ == "__main__":
    main(*sys.argv[1:])
