"""Work that does not hold up other messages: in slices of the loop, in threads, in turns, or later.

A waiting request can be cancelled. Its work in a thread or a turn goes on: nothing can stop a read
from a disk, and others may wait for the same turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Generator, Hashable
from contextlib import suppress
from threading import Thread
from time import perf_counter
from typing import Any, Generic, Protocol, TypeVar

from pygls.exceptions import JsonRpcContentModified

from drive_trace.tasks import Task, finish

Result = TypeVar("Result")

SLICE = 0.01
"""Seconds for which a task may hold up other messages."""
_TIMES = 5
"""How often a task is begun anew."""
_PAUSE = 0.04
"""Seconds without a further request after which a debounced action is done."""
_PATIENCE = 0.3
"""Seconds of uninterrupted requests after which it is done all the same."""


# Cooperative tasks


class Changing(Protocol):
    """A trace, or several, as the editor has them."""

    @property
    def edits(self) -> int:
        """Counts the changes. A response begun before the last change is out of date."""


def begun(trace: Changing, made: object) -> object:
    """What a feature returned. If that is a task, its result if it takes no longer than a slice,
    else a coroutine that goes on with it.
    """
    if not isinstance(made, Generator):
        return made
    edits = trace.edits
    done = _slice(made)
    return done[0] if done is not None else _rest(trace, edits, made)


async def in_slices(trace: Changing, task: Task[Result]) -> Result:
    """The result of a task. Raises JsonRpcContentModified if the trace changes meanwhile."""
    edits = trace.edits
    done = _slice(task)
    return done[0] if done is not None else await _rest(trace, edits, task)


async def in_slices_anew(traces: Changing, make: Callable[[], Task[Result]]) -> Result:
    """The result of a task, begun anew if the traces change meanwhile, and the last time without
    pauses. For views of the current state, which have no use for an error.
    """
    for _ in range(_TIMES):
        with suppress(JsonRpcContentModified):
            return await in_slices(traces, make())
    return finish(make())


def check_unchanged(trace: Changing, edits: int) -> None:
    """Raise JsonRpcContentModified if the trace has had more changes than that."""
    if trace.edits != edits:
        raise JsonRpcContentModified("the trace has changed meanwhile")


async def _rest(trace: Changing, edits: int, task: Task[Result]) -> Result:
    while True:
        await asyncio.sleep(0)
        check_unchanged(trace, edits)
        done = _slice(task)
        if done is not None:
            return done[0]


def _slice(task: Task[Result]) -> tuple[Result] | None:
    """The result, if it is there when the slice ends."""
    end = perf_counter() + SLICE
    while True:
        try:
            next(task)
        except StopIteration as done:
            return (done.value,)
        if perf_counter() >= end:
            return None


# Threads


async def in_thread(work: Callable[..., Result], *given: Any) -> Result:
    """The result of ``work(*given)``, done in a thread of its own.

    Threads of asyncio's pool are few, and the process waits for them at its end; a read from a
    network folder may never come back.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Result] = loop.create_future()

    def settle(result: Any, error: BaseException | None) -> None:
        if future.done():
            return
        if error is not None:
            future.set_exception(error)
        else:
            future.set_result(result)

    def run() -> None:
        result, error = None, None
        try:
            result = work(*given)
        except Exception as raised:  # noqa: BLE001 - raised where the result is awaited
            error = raised
        with suppress(RuntimeError):  # the loop has ended
            loop.call_soon_threadsafe(settle, result, error)

    Thread(target=run, daemon=True).start()
    return await future


# Work that is requested again and again


class Turns(Generic[Result]):
    """Does one thing at a time for each key. Requests that come meanwhile share the next turn,
    which begins after them, so that its result is new enough.
    """

    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Future[Result]] = {}
        self._next: dict[Hashable, asyncio.Future[Result]] = {}

    async def take(self, key: Hashable, work: Callable[[], Awaitable[Result]]) -> Result:
        """The result of ``work``, or of the work of another request that waits with this key."""
        turn = self._next.get(key)
        if turn is None:
            turn = self._next[key] = asyncio.ensure_future(self._in_turn(key, work))
            # Its error is raised in those who wait; maybe nobody does any more.
            turn.add_done_callback(lambda done: done.cancelled() or done.exception())
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


class Debouncer:
    """Does something once for a burst of requests with one key: soon after the burst ends, and now
    and then while it lasts.
    """

    def __init__(self, act: Callable[[str], object]) -> None:
        self._act = act
        self._waiting: dict[str, tuple[asyncio.TimerHandle, float]] = {}

    def request(self, key: str) -> None:
        """Act on ``key`` soon."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        handle, since = self._waiting.get(key, (None, now))
        if handle is not None:
            handle.cancel()
        due = min(now + _PAUSE, since + _PATIENCE)
        self._waiting[key] = (loop.call_at(due, self._fire, key), since)

    def drop(self, key: str) -> None:
        """Do not act on ``key`` any more."""
        waiting = self._waiting.pop(key, None)
        if waiting is not None:
            waiting[0].cancel()

    def _fire(self, key: str) -> None:
        self._waiting.pop(key, None)
        self._act(key)
