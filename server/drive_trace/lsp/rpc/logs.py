"""The server's log: on standard error, and in the client's log if its settings say so.

No failure of a log may reach the code that logs: standard error can be closed, full,
or a pipe that nobody reads.
"""

from __future__ import annotations

import asyncio
import logging
import queue
import sys
import threading
from collections.abc import Callable
from contextlib import suppress

from lsprotocol import types

OWN = logging.getLogger("drive_trace")
_LEVELS = {
    "off": logging.CRITICAL + 1,
    "error": logging.ERROR,
    "warning": logging.WARNING,
    "info": logging.INFO,
    "debug": logging.DEBUG,
}
LEVELS = tuple(_LEVELS)
"""The levels of the client's log, from nothing to everything."""

_LONGEST = 4000
"""The most characters of one record, which may quote what a client sent."""
_MOST_WAITING = 1000
"""The most records that wait to be written. More are dropped."""
_PATIENCE = 1.0
"""Seconds that the last records have to be written at the end."""


class _StderrLog(logging.Handler):
    """Writes from a thread of its own, as a write can take for ever."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
        self._waiting: queue.Queue[str | None] = queue.Queue(_MOST_WAITING)
        self._stream = sys.stderr
        self._writer = threading.Thread(target=self._write, name="log", daemon=True)
        self._writer.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record. Never fails, and never waits."""
        with suppress(Exception):
            self._waiting.put_nowait(_text_of(self, record))

    def close(self) -> None:
        """Write the remaining records, if that does not take long."""
        with suppress(queue.Full):
            self._waiting.put_nowait(None)
            self._writer.join(_PATIENCE)
        super().close()

    def _write(self) -> None:
        while (text := self._waiting.get()) is not None:
            with suppress(Exception):
                self._stream.write(f"{text}\n")
                self._stream.flush()


class ClientLog(logging.Handler):
    """Sends the server's own records to the client. Records of the libraries that send stay out:
    each would cause the next one.
    """

    def __init__(self, send: Callable[[types.LogMessageParams], None]) -> None:
        super().__init__(_LEVELS["off"])
        self._send = send
        self._loop = asyncio.get_running_loop()
        self._is_sending = False
        OWN.addHandler(self)

    def use(self, level: str) -> None:
        """Send records of this level and above: one of :data:`LEVELS`."""
        self.setLevel(_LEVELS[level])
        OWN.setLevel(min(logging.WARNING, self.level))

    def emit(self, record: logging.LogRecord) -> None:
        """Send a record. A failure is not logged again."""
        if threading.current_thread() is not threading.main_thread():
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self.emit, record)
        elif not self._is_sending:
            self._is_sending = True
            try:
                text = _text_of(self, record)
                self._send(types.LogMessageParams(_kind(record.levelno), text))
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


def _kind(level: int) -> types.MessageType:
    if level >= logging.ERROR:
        return types.MessageType.Error
    if level >= logging.WARNING:
        return types.MessageType.Warning
    return types.MessageType.Info if level >= logging.INFO else types.MessageType.Log
