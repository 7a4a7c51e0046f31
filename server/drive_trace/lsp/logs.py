"""The server's log: on standard error, and in the client's own log where that is wanted."""

from __future__ import annotations

import asyncio
import logging
import sys
import threading
from collections.abc import Callable

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
"""What the client's log can take, from nothing to everything."""


def log_to_stderr() -> None:
    """Warnings and errors, of all libraries, go to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setLevel(logging.WARNING)
    handler.setFormatter(logging.Formatter("%(levelname)s %(name)s: %(message)s"))
    logging.getLogger().addHandler(handler)


class ClientLog(logging.Handler):
    """Sends the server's own records to the client; those of the libraries that do the sending
    stay out, as each would make the next one.
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
        """Send a record; what goes wrong with that is not logged again."""
        if threading.current_thread() is not threading.main_thread():
            self._loop.call_soon_threadsafe(self.emit, record)
        elif not self._is_sending:
            self._is_sending = True
            try:
                self._send(types.LogMessageParams(_kind(record.levelno), self.format(record)))
            finally:
                self._is_sending = False


def _kind(level: int) -> types.MessageType:
    if level >= logging.ERROR:
        return types.MessageType.Error
    if level >= logging.WARNING:
        return types.MessageType.Warning
    return types.MessageType.Info if level >= logging.INFO else types.MessageType.Log
