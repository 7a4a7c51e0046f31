"""A server process at the other end of two pipes, and messages as they go over the wire."""

import json
import queue
import subprocess
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Any


class ServerGoneError(Exception):
    """The server ended, or wrote to stdout what is no message, while something was expected."""


def frame(message: Any) -> bytes:
    """The message with its `Content-Length`; text that UTF-8 cannot hold is sent escaped."""
    try:
        body = json.dumps(message, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


def read_message(stream: IO[bytes]) -> Any:
    """The next message, or None at the end; ValueError for anything that is no message."""
    body = _read_body(stream)
    return None if body is None else json.loads(body)


def _read_body(stream: IO[bytes]) -> bytes | None:
    length = b""
    while (header := stream.readline()) != b"\r\n":
        if not header:
            return None
        name, _, value = header.partition(b": ")
        if name == b"Content-Length":
            length = value
        elif name != b"Content-Type":
            raise ValueError(f"not a header: {header!r}")
    return stream.read(int(length))


class ServerProcess:
    """A running command; a thread reads its messages into a queue. `popen` goes to `Popen`.

    The thread parses none: that would hold up who measures how long the server takes.
    """

    def __init__(self, command: Sequence[str], **popen: Any) -> None:
        # Opened twice: who reads it must not move the offset at which the server writes.
        self._folder = tempfile.TemporaryDirectory()
        self._log = Path(self._folder.name, "log").open("wb")  # noqa: SIM115 - closed by close()
        self.popen: subprocess.Popen[bytes] = subprocess.Popen(
            list(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, **popen
        )
        assert self.popen.stdin is not None
        assert self.popen.stdout is not None
        self.stdin, self._stdout = self.popen.stdin, self.popen.stdout
        self._inbox: queue.Queue[tuple[bytes, float] | str] = queue.Queue()
        self._farewell = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def write(self, data: bytes) -> None:
        try:
            self.stdin.write(data)
            self.stdin.flush()
        except BrokenPipeError as error:
            raise self._gone("closed its stdin") from error

    def next_message(self, deadline: float, what: str) -> tuple[Any, float]:
        """The next message, before the deadline in monotonic seconds, and when all of it was there,
        by `time.perf_counter`; `what` is awaited.
        """
        if self._farewell:
            raise self._gone(f"{self._farewell}, while waiting for {what}")
        try:
            found = self._inbox.get(timeout=max(0.0, deadline - time.monotonic()))
            if not isinstance(found, str):
                return json.loads(found[0]), found[1]
            self._farewell = found
        except queue.Empty:
            raise TimeoutError(f"still waiting for {what}\n{self.stderr()}") from None
        except ValueError as error:
            self._farewell = f"wrote no message: {error!r}"
        raise self._gone(f"{self._farewell}, while waiting for {what}")

    def stderr(self) -> str:
        """What the server has logged."""
        return Path(self._folder.name, "log").read_bytes().decode(errors="replace")

    def close(self) -> None:
        """End this very process, if it still runs, and release the pipes."""
        self.popen.kill()  # does nothing to a process that has ended
        self.popen.wait()
        self._reader.join(5.0)
        for stream in (self.stdin, self._stdout, self._log):
            with suppress(BrokenPipeError):
                stream.close()
        self._folder.cleanup()

    def _read(self) -> None:
        farewell = "closed its stdout"
        try:
            while (body := _read_body(self._stdout)) is not None:
                self._inbox.put((body, time.perf_counter()))
        except (OSError, ValueError) as error:
            farewell = f"wrote no message: {error!r}"
        self._inbox.put(farewell)

    def _gone(self, reason: str) -> ServerGoneError:
        code = self.popen.poll()
        return ServerGoneError(f"the server {reason} (exit code {code})\n{self.stderr()}")
