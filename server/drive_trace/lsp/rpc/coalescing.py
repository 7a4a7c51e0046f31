"""Work that is asked for again and again while it is being done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from typing import Any, Generic, TypeVar

Result = TypeVar("Result")


class Turns(Generic[Result]):
    """Does one thing at a time for each key. Whoever asks while it is being done waits for the next
    turn, which all of them share: it begins after they asked, so that what it finds is new enough.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Future[Result]] = {}
        self._next: dict[Hashable, asyncio.Future[Result]] = {}

    async def take(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        """The result of ``work``, or of that of somebody else who waits with the same key. It goes
        on where who asked is cancelled, as others may wait for it.
        """
        turn = self._next.get(key)
        if turn is None:
            turn = self._next[key] = asyncio.ensure_future(self._in_turn(key, work))
            turn.add_done_callback(_noticed)
        return await asyncio.shield(turn)

    async def _in_turn(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        before = self._running.get(key)
        if before is not None:
            await asyncio.wait([before])
        own = self._running[key] = self._next.pop(key)
        try:
            return await work()
        finally:
            if self._running.get(key) is own:
                del self._running[key]


def _noticed(turn: asyncio.Future[Any]) -> None:
    """What went wrong is told to who asked; it may be that nobody waits any more."""
    if not turn.cancelled():
        turn.exception()
