"""Work that does not hold up other messages: in threads, shared, or later.

A waiting request can be cancelled. Its read from a disk or its turn goes on: nothing can stop a
read, and others may wait for the same turn.
"""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import Awaitable, Callable, Coroutine, Hashable
from concurrent.futures import Future
from contextlib import suppress
from threading import Event, Lock, Thread
from typing import Any, Generic, TypeVar
from weakref import WeakValueDictionary

from drive_trace.stopping import StoppedError, stoppable

Result = TypeVar("Result")

_TIMES = 5
"""How often work is begun anew."""
_PAUSE = 0.01
"""Seconds without a further request after which a debounced action is done."""
_PATIENCE = 0.3
"""Seconds of uninterrupted requests after which it is done all the same."""
_PRECEDENCE = 0.05
"""Seconds that long work waits at most for what came later."""


# Threads


async def in_thread(work: Callable[..., Result], *given: Any) -> Result:
    """The result of ``work(*given)``, done in a thread of its own.

    Threads of asyncio's pool are few, and the process waits for them at its end; a read from a
    network folder may never come back. WebAssembly has no threads: there it is done at once.
    """
    if sys.platform == "emscripten":
        await asyncio.sleep(0)
        return work(*given)
    done: Future[Result] = Future()
    done.set_running_or_notify_cancel()  # who waits may be cancelled, the thread may not

    def run() -> None:
        try:
            done.set_result(work(*given))
        except Exception as error:  # noqa: BLE001 - raised where the result is awaited
            done.set_exception(error)

    Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)


def without_collecting(read: Callable[[], Result]) -> Result:
    """The result of reading a trace. That makes no garbage, and looking for some takes a third of
    the time: it walks millions of new objects in one go, while others wait. Freezing keeps later
    collections from walking the trace, too.
    """
    gc.disable()
    try:
        return read()
    finally:
        gc.freeze()
        gc.enable()


_running: set[asyncio.Future[Any]] = set()
"""What goes on by itself; asyncio keeps no reference to it."""


def in_background(work: Coroutine[Any, Any, Result]) -> asyncio.Future[Result]:
    """Start some work that goes on whether or not anybody waits for it."""
    task = asyncio.ensure_future(work)
    _running.add(task)
    task.add_done_callback(_running.discard)
    return task


class _Stop(Event):
    """Set to stop some work, which looks between two lines. There it lets what came later go first:
    where two threads compute, each takes twice as long, and a hover is not to wait for symbols.
    """

    latest = known = Event()

    def is_set(self) -> bool:
        """Whether to stop, once what came later is done or has had its time."""
        if (latest := _Stop.latest) is not self.known:
            self.known = latest
            if not super().is_set():
                latest.wait(_PRECEDENCE)
        return super().is_set()

    def set(self) -> None:
        """Stop it, and at once: what it lets go first may wait for its end."""
        super().set()
        self.known.set()


def go_first() -> Event:
    """Let what begins now go before long work in threads, until it sets this."""
    _Stop.latest = done = Event()
    return done


class Readers:
    """Long work in threads that reads the open traces. Whoever changes a trace stops it first, so
    that none sees a trace half changed.
    """

    def __init__(self) -> None:
        self._running: set[tuple[_Stop, Lock]] = set()
        """What stops each, and what its thread holds as long as it works."""

    async def read(self, work: Callable[[], Result]) -> Result:
        """The result of some work. Raises StoppedError if a trace changes meanwhile."""
        reader = stop, working = _Stop(), Lock()
        stop.known = done = go_first()

        def run() -> Result:
            try:
                with working:
                    if stop.is_set():  # before it has begun
                        raise StoppedError
                    return stoppable(stop, work)
            finally:
                self._running.discard(reader)

        self._running.add(reader)
        try:
            return await in_thread(run)
        finally:
            stop.set()  # as when the request was cancelled
            done.set()

    async def read_anew(self, work: Callable[[], Result]) -> Result:
        """The same, but begun anew if a trace changes meanwhile, and the last time on the loop. For
        views of the current state, which have no use for an error.
        """
        for _ in range(_TIMES):
            with suppress(StoppedError):
                return await self.read(work)
        return work()

    def stop(self) -> None:
        """Stop all work, and wait until it has ended: a moment, as it looks between two lines."""
        running = [*self._running]
        for stop, _ in running:
            stop.set()
        for _, working in running:
            with working:
                pass


# Work that is requested again and again


class SharedWork(Generic[Result]):
    """Does one thing at a time for each key. Requests that come meanwhile share the next time,
    which begins after them, so that its result is new enough.
    """

    def __init__(self) -> None:
        self._locks: WeakValueDictionary[Hashable, asyncio.Lock] = WeakValueDictionary()
        self._next: dict[Hashable, asyncio.Future[Result]] = {}

    async def result_of(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        """The result of ``work``, or of the work of another request that waits with this key."""
        turn = self._next.get(key)
        if turn is None:
            turn = self._next[key] = asyncio.ensure_future(self._in_turn(key, work))
            # Its error is raised in those who wait; maybe nobody does any more.
            turn.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(turn)

    async def _in_turn(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        lock = self._locks.get(key) or asyncio.Lock()
        self._locks[key] = lock
        async with lock:
            del self._next[key]
            return await work()


class Debouncer:
    """Does something once for a burst of requests with one key: soon after the burst ends, and now
    and then while it lasts; but not twice within the seconds of ``rest``.
    """

    def __init__(self, act: Callable[[str], object], rest: float = 0.0) -> None:
        self._act, self._rest = act, rest
        self._acted: dict[str, float] = {}
        """When it was last done, on the loop's clock."""
        self._waiting: dict[str, tuple[asyncio.TimerHandle, float]] = {}

    def request(self, key: str) -> None:
        """Act on ``key`` soon."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        handle, since = self._waiting.get(key, (None, now))
        if handle is not None:
            handle.cancel()
        pause = min(_PAUSE, max(0.0, since + _PATIENCE - now))  # the loop of Pyodide knows no past
        rest = self._acted.get(key, now - self._rest) + self._rest - now
        self._waiting[key] = (loop.call_later(max(pause, rest), self._fire, key), since)

    def drop(self, key: str) -> None:
        """Do not act on ``key`` any more."""
        self._acted.pop(key, None)
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting[0].cancel()

    def _fire(self, key: str) -> None:
        self._waiting.pop(key, None)
        self._acted[key] = asyncio.get_running_loop().time()
        self._act(key)
