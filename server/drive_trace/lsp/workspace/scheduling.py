"""When diagnostics are sent: soon after typing pauses, and now and then while it does not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

PAUSE = 0.04
"""Seconds without a further edit after which a document is published."""
PATIENCE = 0.3
"""Seconds of uninterrupted typing after which it is published all the same."""


class Debouncer:
    """Calls something once for a burst of requests, a document at a time."""

    def __init__(self, act: Callable[[str], None]) -> None:
        self._act = act
        self._waiting: dict[str, tuple[asyncio.TimerHandle, float]] = {}

    def request(self, key: str) -> None:
        """Act on ``key`` soon."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        handle, since = self._waiting.get(key, (None, now))
        if handle is not None:
            handle.cancel()
        due = min(now + PAUSE, since + PATIENCE)
        self._waiting[key] = (loop.call_at(due, self._fire, key), since)

    def drop(self, key: str) -> None:
        """Do not act on ``key`` any more."""
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting[0].cancel()

    def _fire(self, key: str) -> None:
        self._waiting.pop(key, None)
        self._act(key)
