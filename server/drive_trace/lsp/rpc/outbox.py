"""What waits to be read by the client: written in a thread of its own, and bounded."""

from __future__ import annotations

import logging
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO

log = logging.getLogger(__name__)

_MOST_WAITING = 64_000_000
"""Bytes that may wait when a message is added. One message can be larger."""


class Outbox:
    """Writes to the client, however slowly that reads. If it does not read, everything is dropped:
    no response may be missing from a stream that goes on.
    """

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._added = 0
        self._written = 0  # by the thread alone, as the other one is by the callers'
        self._is_broken = False
        self._writer = Thread(target=self._write, name="writer", daemon=True)
        self._writer.start()

    def write(self, data: bytes) -> None:
        """Queue a part of a message. Raises BrokenPipeError if the client reads no more."""
        waiting = self._added - self._written
        if waiting > _MOST_WAITING and not self._is_broken:
            self._is_broken = True
            log.error(
                "the editor does not read what it is sent (%d MB wait); drive-trace ends",
                waiting // 1_000_000,
            )
        if self._is_broken:
            raise BrokenPipeError
        self._added += len(data)
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
