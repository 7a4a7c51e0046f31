"""What goes in and out: the stream of messages, and the server's log.

Reading is tolerant where the specification lets clients differ (header names in any case,
``Content-Type``, other headers), strict where a mistake would swallow the messages behind it.

The log is on standard error, and in the client's log if its settings say so. No failure of a log
may reach the code that logs: standard error can be closed, full, or a pipe that nobody reads.
"""

from __future__ import annotations

import asyncio
import logging
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from queue import SimpleQueue
from threading import Thread, current_thread, main_thread
from typing import BinaryIO, NamedTuple

log = logging.getLogger(__name__)

MAX_LENGTH = 1 << 30
"""No message is longer, in bytes; a larger ``Content-Length`` is a broken stream."""
_MAX_HEADER = 1 << 16
_MOST_PASSED_OVER = 32
"""Lines, or pieces of a very long one, that may stand before the next ``Content-Length``."""
_LENGTH = re.compile(rb"\s*content-length\s*:\s*(\d{1,15})\s*", re.IGNORECASE)
_OTHER = re.compile(rb"\s*(?!content-length\s*:)[\w-]+\s*:", re.IGNORECASE)
_MISSED = re.compile(rb"\s*\S.*content-length\s*:", re.IGNORECASE)
_MOST_WAITING = 64_000_000
"""Bytes that may wait beside the largest piece when a message is added."""


class Pipes(NamedTuple):
    """Where the client's messages come from, and where ours go."""

    source: BinaryIO
    out: BinaryIO


def claim_pipes() -> Pipes | None:
    """Take standard input and output for the protocol alone: what is printed from now on goes to
    standard error. None if there is no standard input, as the client is gone already.
    """
    if sys.stdin is None:
        return None
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    source = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    if sys.platform != "win32":  # a client may share its own non-blocking ones
        os.set_blocking(source.fileno(), True)
        os.set_blocking(out.fileno(), True)
    return Pipes(source, out)


class BrokenStreamError(Exception):
    """The stream no longer shows where the next message starts."""


def read_messages(stream: BinaryIO, begin: Callable[[], object] = bool) -> Iterator[bytes]:
    """The bodies of the messages in a stream, until it ends; the last may be cut short. ``begin``
    is called before each.

    Skips header blocks without a usable ``Content-Length`` and searches for the next one. Raises
    BrokenStreamError if that is not found soon, or inside of something else.
    """
    while (length := _read_headers(stream)) is not None:
        begin()
        # Not held here while the next one is waited for: a message can be as large as a trace.
        yield stream.read(length)


def header(length: int) -> bytes:
    """What goes before a body of that many bytes."""
    return b"Content-Length: %d\r\n\r\n" % length


def _read_headers(stream: BinaryIO) -> int | None:
    """The length of the next body; None at the end of the stream."""
    length: int | None = None
    passed_over, has_warned = 0, False
    while line := stream.readline(_MAX_HEADER):
        if found := _LENGTH.fullmatch(line):
            length = int(found[1])
            if length > MAX_LENGTH:
                raise BrokenStreamError(f"Content-Length {length} is more than {MAX_LENGTH}")
        elif line.strip():
            passed_over += 1
            if _MISSED.match(line):
                raise BrokenStreamError("a message is longer than its Content-Length")
            if passed_over > _MOST_PASSED_OVER:
                raise BrokenStreamError(f"no Content-Length in {_MOST_PASSED_OVER} lines")
            if not has_warned and not _OTHER.match(line):
                has_warned = True
                log.warning("expected a Content-Length; what stands in its place is passed over")
        elif length is not None:
            return length
    return None


class Outbox:
    """Writes to the client, however slowly that reads. If it does not read, everything is dropped:
    no response may be missing from a stream that goes on.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._added = self._largest = 0
        self._written = 0  # by the thread alone, as the other one is by the callers'
        self._is_broken = False
        self._writer = Thread(target=self._write, name="writer", daemon=True)
        self._writer.start()

    @property
    def waiting(self) -> int:
        """How many bytes wait to be written."""
        return self._added - self._written

    def write(self, data: bytes) -> None:
        """Queue a part of a message. Raises BrokenPipeError if the client reads no more."""
        waiting = self.waiting
        if waiting - self._largest > _MOST_WAITING and not self._is_broken:
            self._is_broken = True
            log.error(
                "the editor does not read what it is sent (%d MB wait); drive-trace ends",
                waiting // 1_000_000,
            )
        if self._is_broken:
            raise BrokenPipeError
        self._added += len(data)
        self._largest = max(self._largest if waiting else 0, len(data))
        self._queue.put(data)

    def flush(self) -> None:
        """Do nothing: the thread flushes when nothing waits."""

    def close(self, patience: float) -> None:
        """Write the rest, if that takes no more than ``patience`` seconds."""
        if not self._is_broken:
            self._queue.put(None)
            self._writer.join(patience)

    def _write(self) -> None:
        try:
            while (data := self._queue.get()) is not None and not self._is_broken:
                self._out.write(data)
                if self._queue.empty():
                    self._out.flush()
                self._written += len(data)
            self._out.flush()
        except (OSError, ValueError):  # the client has gone
            self._is_broken = True


class Messages:
    """Gives whole messages to the client, each with its header, where nothing can wait."""

    def __init__(self, send: Callable[[bytes], object]) -> None:
        self._send = send
        self._pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Take a part of a message."""
        self._pieces.append(data)

    def flush(self) -> None:
        """Give the message."""
        message = b"".join(self._pieces)
        self._pieces.clear()
        self._send(message)


# The log

_OWN = logging.getLogger("drive_trace")
_LEVELS = {
    "off": logging.CRITICAL + 1,
    "error": logging.ERROR,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}
"""The levels of the client's log, from nothing to everything."""
_KINDS = {logging.ERROR: 1, logging.WARNING: 2, logging.INFO: 3, logging.NOTSET: 4}
"""The protocol's types of messages, by the least level of each."""
_LONGEST = 4000
"""The most characters of one record, which may quote what a client sent."""
_MOST_LOGGED = 4_000_000
"""Records are dropped while so many bytes wait to be written."""
_PATIENCE = 1.0
"""Seconds that the last records have to be written at the end."""


class _StderrLog(logging.Handler):
    """Writes from a thread of its own, as a write can take for ever."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        self._outbox = Outbox(sys.stderr.buffer)

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record. Never fails, and never waits."""
        with suppress(Exception):
            if self._outbox.waiting < _MOST_LOGGED:
                text = f"{_text_of(self, record)}\n"
                self._outbox.write(text.encode(sys.stderr.encoding, "backslashreplace"))

    def close(self) -> None:
        """Write the remaining records, if that does not take long."""
        self._outbox.close(_PATIENCE)
        super().close()


class ClientLog(logging.Handler):
    """Sends the server's own records to the client. Records of the libraries that send stay out:
    each would cause the next one.
    """

    def __init__(self, send: Callable[[dict[str, object]], None]) -> None:
        """``send`` sends the params of ``window/logMessage``."""
        super().__init__(_LEVELS["off"])
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._is_sending = False
        _OWN.addHandler(self)

    def use(self, level: str) -> None:
        """Send records of this level and above."""
        self.setLevel(_LEVELS[level])
        _OWN.setLevel(min(logging.WARNING, self.level))

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record. A failure is not logged again."""
        if current_thread() is not main_thread():
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self.emit, record)
        elif not self._is_sending:
            self._is_sending = True
            try:
                kind = next(kind for level, kind in _KINDS.items() if record.levelno >= level)
                self._send({"type": kind, "message": _text_of(self, record)})
            except Exception:  # noqa: BLE001 - whoever logs has nothing to do with it
                self.setLevel(_LEVELS["off"])
            finally:
                self._is_sending = False


def log_to_stderr() -> logging.Handler:
    """Send warnings and errors of all libraries to standard error. Close the handler at the end."""
    handler = _StderrLog()
    logging.getLogger().addHandler(handler)
    return handler


def _text_of(handler: logging.Handler, record: logging.LogRecord) -> str:
    text = handler.format(record)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
